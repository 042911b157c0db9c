# Time to solution of open matrices and grids, compared with other preconditioners and solves, on the GPU and the CPU.
# needs: a PETSc with CUDA; for the ways of hypre and Ginkgo, programs built with HYPRE_DIR and GINKGO_DIR
# (bench/makefile)
# writes: rivals.jsonl
# takes: about 6 min

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
cut -c1-150 "$results/rivals.log" | tee -a "$out"
