# Set-ups of real matrices, by several preconditioners; PCApply without the waits of the log.
# needs: a PETSc with CUDA
# writes: setup.jsonl: a line for each matrix and preconditioner
# takes: 75 s

begin "set-ups, ms"
rm -f "$results/setup.jsonl"
for m in "-dim 2 -n 1000" "-dim 3 -n 128" G3_circuit wave Dubcova1 ct2010 cage10 web-NotreDame Pd; do
  case $m in
  -*) ;;
  *)
    f=$(find_matrices "$m")
    [ -n "$f" ] || continue
    m="-f $f"
    ;;
  esac
  run_logged setup 120 "$SETUP" $m -dll_append "$LIB" -use_gpu_aware_mpi 0 -o "$results/setup.jsonl"
  line='.*"matrix": "\([^"]*\)".*"preconditioner": "\([^"]*\)".*"first_ms": \([0-9.e+-]*\)'
  line=$line', "same_pattern_ms": \([0-9.e+-]*\).*"apply_ms": \([0-9.e+-]*\|null\).*'
  sed -n "s/$line/\1, \2: \3, new values \4, PCApply \5/p" "$log" | tee -a "$out"
  [ $status = 0 ] || report "setup $m" $status "$log"
done
