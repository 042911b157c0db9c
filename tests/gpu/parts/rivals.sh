# Time to solution of open matrices and grids, compared with other preconditioners and solves, on the GPU and the CPU.
# needs: a PETSc with CUDA; for the ways of hypre and Ginkgo, programs built with HYPRE_DIR and GINKGO_DIR
# (bench/makefile)
# writes: rivals.jsonl
# takes: about 8 min

begin_comparison "sptrsvgpu and other preconditioners and triangular solves, on the GPU and on the CPU"
mapfile -t own < <(list_compared own)
mapfile -t graphs < <(list_compared laplacian)
mapfile -t grids < <(list_compared grids)
limits=(-limit 1 -runs 3)
run_rivals() { # WAY COMMAND...: a process for each kind of system
  compare_ways 15 "$1" own "$(join "${own[@]}")" "${@:2}" "${limits[@]}"
  compare_ways 15 "$1" laplacian "$(join "${graphs[@]}")" "${@:2}" "${limits[@]}"
  compare_ways 15 "$1" own "$(join "${grids[@]}")" "${@:2}" "${limits[@]}"
}
for way in jacobi ilu sliced_ell sweeps_2 sweeps_5 $(print_built_ways) natural multicolor auto; do
  run_rivals $way "$SOLUTIONS"
done
# GAMG's set-up may not end
for system in "${own[@]}" "${grids[@]}"; do compare_ways 15 gamg own "$system" "$SOLUTIONS" "${limits[@]}"; done
for system in "${graphs[@]}"; do compare_ways 15 gamg laplacian "$system" "$SOLUTIONS" "${limits[@]}"; done
for way in bjacobi gamg; do
  for ranks in $(list_ranks); do
    run_rivals $way mpiexec -n "$ranks" "$SOLUTIONS" -host
  done
done
cut -c1-150 "$results/rivals.log" | tee -a "$out"
