# racecheck of compute-sanitizer over `chunk` and its set-ups, search of level sets included, on small matrices. Values
# in shared memory that are their own flags are reported as races; tests/gpu/races.py sorts the reports by place.
# needs: compute-sanitizer of the CUDA toolkit
# writes: races-*.log
# takes: 70 s, at most 320 s

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
