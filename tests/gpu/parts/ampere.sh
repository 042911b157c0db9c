# Real matrices by code for compute capability 8.0: without clusters, in 163 KB and in 99 KB of shared memory.
# needs: nothing else
# writes: ampere.jsonl
# takes: about 2 min, at most 140 s

begin "solves without clusters, in 163 KB and 99 KB of shared memory, by code for 8.0"
rm -f "$results/ampere.jsonl"
[ -x "$AMPERE" ] || $make -s ampere >"$results/ampere.log" 2>&1
# small matrices come first; the count shows how many there was time for
mapfile -t at < <(find_all_matrices)
run_logged ampere 140 "$AMPERE" -a chunk,thread,sell -m 10 -limits 166912,101376 -o "$results/ampere.jsonl" "${at[@]}"
show "WRONG|DIFFER|^[0-9]* wrong|bandwidth"
report "$(cut -d'"' -f8 "$results/ampere.jsonl" | sort -u | wc -l) of ${#at[@]} matrices" $status "$log"
[ ! -f "$results/ampere.jsonl" ] || python3 bench/ampere.py "$results/ampere.jsonl" | tee -a "$out"
