# Words that are written by halves, solves that take longer than the limit of a wait, chunks that lose values, two
# streams, graphs after a time-out.
# needs: nothing else
# writes: waits.log
# takes: 40 s

begin "waits and streams"
run_logged waits 120 "$GPU_WAITS"
tee -a "$out" <"$log"
report waits $status
