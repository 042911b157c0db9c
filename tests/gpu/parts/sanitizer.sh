# compute-sanitizer on small matrices. SANITIZER_CASES: triangles for initcheck (default: 16).
# needs: compute-sanitizer of the CUDA toolkit
# writes: sanitizer*.log
# takes: about 3 min

count_errors() { # the errors in the log, counted
  grep -E "WRONG|DIFFER|: [A-Za-z]*rror|hazard|gave up| at .*\(|Uninitialized" "$log" |
    sed 's/0x[0-9a-f]*/0x/g; s/block ([^)]*)/block/g; s/thread ([^)]*)/thread/g' | sort | uniq -c | sort -rn |
    head -12 | tee -a "$out"
}
sanitize() { # NAME TITLE TOOL [OPTION...] COMMAND...
  run_logged "sanitizer-$1" 120 compute-sanitizer --tool "$3" --error-exitcode 9 "${@:4}"
  report "$2: $(grep SUMMARY "$log" | tail -1 | sed 's/=* *//')" $status
  [ $status = 0 ] || count_errors
}

begin "compute-sanitizer"
small=(diag:1 diag:33 band:500:3 g2d5:40 g3d7:12 g3d27:8 rand:2000:4 dense:150 arrow:700 rmat:10:8)
for tool in memcheck synccheck; do
  for precision in double float; do
    sanitize $tool-$precision "$tool, $precision" $tool "$BENCH" -a ours -m 0 -p $precision "${small[@]}"
  done
done
sanitize initcheck initcheck initcheck "$DAGS" -rows 200 -cases "${SANITIZER_CASES:-16}" -least 1

# racecheck takes values in shared memory that are their own flags for races: see the part races
for precision in double float; do
  sanitize racecheck-$precision "racecheck, $precision, without chunk and levels_find" racecheck \
    --kernel-name-exclude kernel_substring=levels_find "$BENCH" -a thread,warp -m 0 -p $precision "${small[@]}"
done
