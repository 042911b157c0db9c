# racecheck of compute-sanitizer over `chunk` and its set-ups, search of level sets included, on small matrices. Values
# in shared memory that are their own flags are reported as races; tests/gpu/races.py sorts the reports by place.
# needs: compute-sanitizer of the CUDA toolkit
# writes: races-*.log
# takes: 100 s (about), at most 480 s

begin "racecheck, by place"
small=(diag:1 diag:33 band:500:3 g2d5:40 g3d7:12 g3d27:8 rand:2000:4 dense:150 arrow:700 rmat:10:8)
[ -x "$LINES_BENCH" ] || $make -s lines >"$results/lines.log" 2>&1
for precision in double complex; do
  run_logged races-$precision 160 compute-sanitizer --tool racecheck --racecheck-report analysis --print-limit 0 \
    "$LINES_BENCH" -a chunk -m 0 -p $precision "${small[@]}"
  explained=$(python3 tests/gpu/races.py "$log")
  status=$?
  report "$precision" $status
  say "$explained"
done
begin "racecheck finds a planted race: no barrier in chunk_sums (make planted)"
[ -x "$PLANTED_BENCH" ] || $make -s planted >"$results/planted.log" 2>&1
run_logged races-planted 160 compute-sanitizer --tool racecheck --racecheck-report analysis --print-limit 0 \
  "$PLANTED_BENCH" -a chunk -m 0 -p double dense:150 arrow:700
explained=$(python3 tests/gpu/races.py "$log")
grep -q "UNEXPLAINED.*chunk_sums" <<<"$explained"
report "planted" $?
say "$explained"
