# Solves of real matrices with values of each type, compared with cuSPARSE; double and complex also with the next two
# settings of each algorithm.
# needs: nothing else
# writes: scalars.jsonl
# takes: 160 s, at most 600 s

begin "solves with values of each type"
rm -f "$results/scalars.jsonl"
# small matrices come first; the count shows how many there was time for
mapfile -t at < <(find_all_matrices)
for precision in double complex float complex-float; do
  case $precision in *float) settings=1 ;; *) settings=3 ;; esac
  run_logged scalars-$precision 148 "$BENCH" -p $precision -a thread,sell,chunk,cusparse -r $settings -m 10 \
    -o "$results/scalars.jsonl" g2d5:300 g2d5:1000 g3d7:64 "${at[@]}"
  show "WRONG|DIFFER|^[0-9]* wrong|bandwidth"
  report "$precision: $(grep "\"precision\": \"$precision\"" "$results/scalars.jsonl" | cut -d'"' -f4 | sort -u |
    wc -l) of $((${#at[@]} + 3)) matrices" $status "$log"
done
