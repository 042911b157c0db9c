# The same for families of generated matrices (bench/families.c). FAMILIES: family:NAME ... (default: all).
# needs: nothing else
# writes: families.jsonl
# takes: 200 s, at most 500 s

begin "triangular solves of generated families"
rm -f "$results/families.jsonl"
: >"$results/families.log"
# a process for each family, so that an error in one does not end the others
until=$((SECONDS + 500)) made=0
for family in $FAMILIES; do
  left=$((until - SECONDS))
  if [ $left -lt 10 ]; then report "from $family on: no time left" 1 && break; fi
  run_logged family $((left < 60 ? left : 60)) "$BENCH" -a chunk,thread,sell -r 4 -m 15 -pairs 0 -o \
    "$results/families.jsonl" "$family"
  cat "$log" >>"$results/families.log"
  if [ $status = 0 ]; then made=$((made + 1)); else report "$family" $status "$log"; fi
done
rm -f "$log"
log=$results/families.log
show "WRONG|DIFFER|captured"
[ $made = 0 ] || report "$made families, double" 0
[ ! -f "$results/families.jsonl" ] || python3 bench/table.py --summary "$results/families.jsonl" | tee -a "$out"
