#!/usr/bin/env bash
# Several processes on one GPU, each checking its answers (dags.c), with and without MPS; other work on the GPU
# (crowd.cu); memory that is nearly full (full.cu). Called by tests/gpu/run.sh, which sets where the programs are.
#
#   shared.sh RESULTS     DAGS, CROWD, FULL: the programs; SECONDS_EACH: how long processes run side by side (6)
#
# A line for each on standard output; exit status 1 where something failed. What the programs print: RESULTS/shared.log.
set -u
results=$1
seconds=${SECONDS_EACH:-6}
json=$results/shared.jsonl log=$results/shared.log
failed=0
: >"$log"

tell() { # NAME STATUS: of a failure also how the log ends
  if [ "$2" = 0 ]; then echo "ok      $1"; return; fi
  echo "FAILED  $1 (exit status $2)"
  grep -v '^ *$' "$log" | tail -n 3 | cut -c1-200 | sed 's/^/        /'
  failed=1
}

# So many processes at a time, of seeds of their own.
together() { # NAME PROCESSES [VARIABLE=VALUE...]
  local name=$1 n=$2 i status=0 pids=() out launches multiprocessors
  shift 2
  out=$(mktemp -d)
  for ((i = 1; i <= n; i++)); do
    env "$@" timeout -k 5 $((seconds + 60)) "$DAGS" -launches 1e9 -seconds "$seconds" -rows 20000 \
      -seed $((i * 1000000)) -o "$json" >"$out/$i" 2>&1 &
    pids+=($!)
  done
  for i in "${pids[@]}"; do wait "$i" || status=$?; done
  cat "$out"/* >>"$log"
  launches=$(sed -n 's/^\([0-9]*\) launches of .*/\1/p' "$out"/* | awk '{ n += $1 } END { print n + 0 }')
  multiprocessors=$(sed -n 's/.* on \([0-9]*\) multiprocessors.*/\1/p' "$out"/* | sort -u | paste -sd' ')
  rm -r "$out"
  tell "$name: $launches launches, each process on $multiprocessors multiprocessors" $status
}

for n in 2 4; do together "$n processes" $n; done

# MPS of this script's own: with folders and a server of its own, whatever else runs here
if command -v nvidia-cuda-mps-control >/dev/null; then
  folder=$(mktemp -d)
  export CUDA_MPS_PIPE_DIRECTORY=$folder/pipe CUDA_MPS_LOG_DIRECTORY=$folder/log
  mkdir "$CUDA_MPS_PIPE_DIRECTORY" "$CUDA_MPS_LOG_DIRECTORY"
  if timeout 20 nvidia-cuda-mps-control -d >>"$log" 2>&1 && timeout -k 5 60 "$DAGS" -cases 2 >>"$log" 2>&1 &&
    [ -n "$(echo get_server_list | timeout 20 nvidia-cuda-mps-control)" ]; then
    for n in 2 4; do together "$n processes, MPS" $n; done
    # a cluster of 16 blocks needs 16 multiprocessors of one part of the GPU
    together "2 processes, MPS, 10% of the multiprocessors each" 2 CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=10
  else
    echo "skipped: MPS does not start here: $(tail -qn 1 "$CUDA_MPS_LOG_DIRECTORY"/*.log 2>/dev/null | cut -c1-160)"
  fi
  echo quit | timeout 20 nvidia-cuda-mps-control >>"$log" 2>&1
  unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
  rm -rf "$folder"
else
  echo "skipped: MPS: there is no nvidia-cuda-mps-control"
fi

# another process's kernels hold all multiprocessors, for 4 s each; the default limit of a wait is 10 s
timeout -k 5 60 "$CROWD" spin -seconds 4 >>"$log" 2>&1 &
spinning=$!
together "beside a process whose kernels run for 4 s" 1
wait $spinning || tell "crowd spin" $?

alone() { # NAME SECONDS COMMAND...: its last line is told
  local name=$1 limit=$2 status=0
  shift 2
  timeout -k 5 "$limit" "$@" -o "$json" >>"$log" 2>&1 || status=$?
  tell "$name: $(tail -n 1 "$log" | cut -c1-160)" $status
}
alone "multiprocessors held for 3 s by another stream" 90 "$CROWD" held
alone "another stream that fills the GPU" 90 "$CROWD" busy
alone "memory nearly full at every set-up" 120 "$FULL"
exit $failed
