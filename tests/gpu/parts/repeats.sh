# Every factorization and solve 1,000 times: the same bits.
# needs: nothing else
# writes: repeats.jsonl
# takes: 175 s, at most 260 s

begin "the same bits, 1,000 times"
rm -f "$results/repeats.jsonl"
mapfile -t at < <(find_matrices EVSL_A5795)
run_logged repeats 220 "$REPEATS" -n 1000 -o "$results/repeats.jsonl" full:96 g2d5:60 rmat:11:8 \
  "${at[@]}" order:g2d5:60 arrow:2000:3 full:500
show "DIFFER|vary|FAILED|refused|^[0-9]* wrong"
report "double: $(grep -c "the same bits" "$log") things repeated" $status "$log"
run_logged repeats-float 40 "$REPEATS" -p float -n 200 -o "$results/repeats.jsonl" full:96 g2d5:60 rmat:11:8
show "DIFFER|FAILED|^[0-9]* wrong"
report "float: $(grep -c "the same bits" "$log") things repeated" $status "$log"
