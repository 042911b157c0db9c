# Time to solution, compared with other preconditioners and solves, on the GPU and on the CPU; of the corpus the half
# for reporting, on the GPU. CORPUS: the folder that bench/corpus/make.py filled (default: build/corpus).
# needs: a PETSc with CUDA; for the ways of hypre and Ginkgo, programs built with HYPRE_DIR and GINKGO_DIR
# (bench/makefile)
# writes: rivals.jsonl
# takes: about 15 min

begin "sptrsvgpu and other preconditioners and triangular solves, on the GPU and on the CPU"
rm -f "$results/rivals.jsonl"
: >"$results/rivals.log"
cores=$(nproc)
if read -r quota period 2>/dev/null </sys/fs/cgroup/cpu.max && [ "$quota" != max ] &&
  [ $((quota / period)) -lt "$cores" ]; then
  cores=$((quota / period))
fi
mapfile -t own < <(list_compared own)
mapfile -t graphs < <(list_compared laplacian)
mapfile -t grids < <(list_compared grids)
run_rivals() { # WAY COMMAND...: a process for each kind of system, so that an error in one does not end the others
  local way=$1 of
  shift
  for of in "own $(join "${own[@]}")" "laplacian $(join "${graphs[@]}")" "own $(join "${grids[@]}")"; do
    timeout -k 5 15 "$@" -ways "$way" -values ${of% *} -f "${of#* }" -limit 1 -runs 3 -dll_append "$LIB" \
      -use_gpu_aware_mpi 0 -o "$results/rivals.jsonl" >>"$results/rivals.log" 2>&1
    report "$way, ${of:0:40}" $?
  done
}
for way in jacobi gamg ilu sliced_ell sweeps_2 sweeps_5 $(print_built_ways) natural multicolor auto; do
  run_rivals $way "$SOLUTIONS"
done
for way in bjacobi gamg; do
  for ranks in 1 $((cores > 1 ? cores / 2 : 1)) "$cores"; do
    run_rivals $way mpiexec -n "$ranks" "$SOLUTIONS" -host
  done
done
mapfile -t systems < <(list_compared generated)
[ ${#systems[@]} -gt 0 ] || report "there is no corpus; bench/corpus/make.py makes it" 1
run_generated() { # WAYS SECONDS FILE...
  timeout -k 5 "$2" "$SOLUTIONS" -f "$(join "${@:3}")" -values own -ways "$1" -limit 1 -runs 3 \
    -dll_append "$LIB" -use_gpu_aware_mpi 0 -o "$results/rivals.jsonl" >>"$results/rivals.log" 2>&1
  status=$?
  report "${1:0:12}..., corpus from $(basename "$3") on" $status
}
for ((i = 0; i < ${#systems[@]}; i += 10)); do
  for ways in jacobi,ilu,sliced_ell,sweeps_2,sweeps_5,natural,multicolor,auto $(print_built_ways); do
    run_generated "$ways" 40 "${systems[@]:i:10}"
  done
done
for system in "${systems[@]}"; do run_generated gamg 15 "$system"; done # its set-up may not end
cut -c1-150 "$results/rivals.log" | tee -a "$out"
