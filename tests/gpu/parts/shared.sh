# Several processes on one GPU, each of which checks its answers (dags.c), with and without MPS; other work on the GPU
# (crowd.cu); memory that is nearly full (full.cu). SECONDS_EACH: how long processes run side by side (default: 6).
# needs: nothing else
# writes: shared.log: what the programs print
# takes: about 2 min

seconds=${SECONDS_EACH:-6}
log=$results/shared.log

run_side_by_side() { # NAME PROCESSES [VARIABLE=VALUE...]: so many processes at a time, each with its own seed
  local name=$1 n=$2 i status=0 pids=() printed launches multiprocessors
  shift 2
  printed=$(mktemp -d)
  for ((i = 1; i <= n; i++)); do
    env "$@" timeout -k 5 $((seconds + 60)) "$DAGS" -launches 1e9 -seconds "$seconds" -rows 20000 \
      -seed $((i * 1000000)) >"$printed/$i" 2>&1 &
    pids+=($!)
  done
  for i in "${pids[@]}"; do wait "$i" || status=$?; done
  cat "$printed"/* >>"$log"
  launches=$(sed -n 's/^\([0-9]*\) launches of .*/\1/p' "$printed"/* | awk '{ n += $1 } END { print n + 0 }')
  multiprocessors=$(sed -n 's/.* on \([0-9]*\) multiprocessors.*/\1/p' "$printed"/* | sort -u | paste -sd' ')
  rm -r "$printed"
  report "$name: $launches launches, each process on $multiprocessors multiprocessors" $status "$log"
}

run_alone() { # NAME SECONDS COMMAND...: shows its last line
  local name=$1 limit=$2 status=0
  shift 2
  timeout -k 5 "$limit" "$@" >>"$log" 2>&1 || status=$?
  report "$name: $(tail -n 1 "$log" | cut -c1-160)" $status "$log"
}

run_with_mps() { # starts a server of its own, in folders of its own
  local server n
  server=$(mktemp -d)
  export CUDA_MPS_PIPE_DIRECTORY=$server/pipe CUDA_MPS_LOG_DIRECTORY=$server/log
  mkdir "$CUDA_MPS_PIPE_DIRECTORY" "$CUDA_MPS_LOG_DIRECTORY"
  if timeout 20 nvidia-cuda-mps-control -d >>"$log" 2>&1 && timeout -k 5 60 "$DAGS" -cases 2 >>"$log" 2>&1 &&
    [ -n "$(echo get_server_list | timeout 20 nvidia-cuda-mps-control)" ]; then
    for n in 2 4; do run_side_by_side "$n processes, MPS" $n; done
    # a cluster of 16 blocks needs 16 multiprocessors of one part of the GPU
    run_side_by_side "2 processes, MPS, 10% of the multiprocessors each" 2 CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=10
  else
    say "skipped: MPS does not start here: $(tail -qn 1 "$CUDA_MPS_LOG_DIRECTORY"/*.log 2>/dev/null | cut -c1-160)"
  fi
  echo quit | timeout 20 nvidia-cuda-mps-control >>"$log" 2>&1
  unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
  rm -rf "$server"
}

begin "several processes on one GPU, MPS, other work on the GPU, memory nearly full"
: >"$log"
for n in 2 4; do run_side_by_side "$n processes" $n; done
if command -v nvidia-cuda-mps-control >/dev/null; then run_with_mps
else say "skipped: MPS: there is no nvidia-cuda-mps-control"; fi

# another process's kernels hold all multiprocessors, for 4 s each; the default limit of a wait is 30 s
timeout -k 5 60 "$CROWD" spin -seconds 4 >>"$log" 2>&1 &
spinning=$!
run_side_by_side "beside a process whose kernels run for 4 s" 1
wait $spinning || report "crowd spin" $? "$log"

run_alone "multiprocessors held for 3 s by another stream" 90 "$CROWD" held
run_alone "another stream that fills the GPU" 90 "$CROWD" busy
run_alone "memory nearly full at every set-up" 120 "$FULL"
show "^WRONG" 20
