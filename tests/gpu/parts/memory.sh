# Device memory: streams, captures, a full device, memory that is given back; also under compute-sanitizer, if there
# is one.
# needs: nothing else
# writes: memory*.log
# takes: about 2 min

begin "device memory"
run_logged memory 120 "$GPU_MEMORY"
tee -a "$out" <"$log"
report memory $status
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck initcheck; do
    run_logged memory-$tool 300 compute-sanitizer --tool $tool $([ $tool = initcheck ] ||
      echo --report-api-errors no) --error-exitcode 9 "$GPU_MEMORY" small
    report "memory, $tool" $status "$log"
  done
  run_logged memory-overrun 60 compute-sanitizer --error-exitcode 9 "$GPU_MEMORY" overrun
  [ $status = 9 ]
  report "memory, an overrun is reported" $? "$log"
fi
