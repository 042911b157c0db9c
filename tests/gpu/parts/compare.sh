# These sources against another build of them: bits and times of solves, and set-ups by PETSc. Each of ROUNDS rounds
# (default 3) measures the old build, then the new one. BENCH_OPTIONS: options of bench/bench.cu (default: -a
# thread,sell,chunk -m 10). MATRICES: their files.
# needs: OLD, the build folder of the other sources, with bench/bench, or with bench/setup, the library and its PETSc
# writes: compare.jsonl: the lines of both, with "build"
# takes: for each matrix and round about 0.3 s for solves, and 4 s for set-ups

begin "the build in $OLD against these sources"
rm -f "$results/compare.jsonl"
mapfile -t at < <(find_all_matrices)
measure() { # BUILD SECONDS PROGRAM ARGUMENT...
  local lines=$results/compare.lines
  rm -f "$lines"
  run_logged "compare-$1" "$2" "$3" -o "$lines" "${@:4}"
  [ $status = 0 ] || report "$3" $status "$log"
  sed "s/^{/{\"build\": \"$1\", /" "$lines" >>"$results/compare.jsonl"
  rm -f "$lines"
}
for _ in $(seq "${ROUNDS:-3}"); do
  if [ -x "$OLD/bench/bench" ]; then
    for build in old new; do
      case $build in old) program=$OLD/bench/bench ;; new) program=$BENCH ;; esac
      measure $build 300 "$program" ${BENCH_OPTIONS:--a thread,sell,chunk -m 10} "${at[@]}"
    done
  fi
  [ -x "$OLD/bench/setup" ] || continue
  for file in "${at[@]}"; do
    for build in old new; do
      case $build in old) program=$OLD/bench/setup lib=$OLD/lib/libsptrsvgpu.so ;; new) program=$SETUP lib=$LIB ;; esac
      measure $build 60 "$program" -f "$file" -use_gpu_aware_mpi 0 -dll_append "$lib"
    done
  done
done
python3 bench/compare.py "$results/compare.jsonl" 2>&1 | tee -a "$out"
report "the same bits" "${PIPESTATUS[0]}"
