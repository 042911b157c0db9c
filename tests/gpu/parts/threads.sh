# Several threads with objects of their own on one GPU: the same bits as by one thread.
# needs: nothing else
# writes: threads.log
# takes: 3 s

begin "threads"
run_logged threads 120 "$GPU_THREADS" g2d5:60 g2d5:300 g3d7:24 g3d27:20 band:3000:9 arrow:2000:3
show "^FAILED" 20
report "threads: $(tail -n 1 "$log")" $status "$log"
