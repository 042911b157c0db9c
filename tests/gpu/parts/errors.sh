# Backward errors of L, U, L^T and U^T of the real matrices, by several processes at a time.
# needs: the real matrices that it names
# writes: errors.jsonl
# takes: about 90 s

begin "backward errors of L, U, L^T, U^T of the real matrices"
rm -f "$results/errors.jsonl" "$results"/errors-*.jsonl
# large matrices come first; a process for each matrix, so that an error in one does not end the others
find_all_matrices -r |
  xargs -P "${ERRORS_AT_ONCE:-8}" -I{} sh -c '
    name=$(basename "$2")
    timeout -k 5 "$3" "$1" -o "$4/errors-$name.jsonl" "$2" >"$4/errors-$name.log" 2>&1 ||
      echo "FAILED $name (exit status $?)" >>"$4/errors-$name.log"
  ' errors "$ERRORS" {} "${ERRORS_SECONDS:-80}" "$results"
cat "$results"/errors-*.jsonl >"$results/errors.jsonl" 2>/dev/null
log=$results/errors.log
cat "$results"/errors-*.log >"$log" 2>/dev/null
rm -f "$results"/errors-*
show "^(WRONG|FAILED)" 40
! grep -qE "^(WRONG|FAILED)" "$log" && [ -s "$results/errors.jsonl" ]
status=$?
report "errors of $(cut -d'"' -f4 "$results/errors.jsonl" | sort -u | wc -l) matrices" $status
