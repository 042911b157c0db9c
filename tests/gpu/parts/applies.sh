# Times of applies of ILU(0), both triangular solves, by sptrsvgpu and by others, on the GPU; the KSP solves stop early.
# CORPUS: the folder that bench/corpus/make.py filled (default: build/corpus).
# needs: a PETSc with CUDA; for the ways of hypre and Ginkgo, programs built with HYPRE_DIR and GINKGO_DIR
# (bench/makefile)
# writes: applies.jsonl
# takes: 2 min

begin "applies of ILU(0), by sptrsvgpu and by others"
rm -f "$results/applies.jsonl"
: >"$results/applies.log"
run_applies() { # WAYS VALUES FILE...: a process, so that an error in one does not end the others
  timeout -k 5 60 "$SOLUTIONS" -ways "$1" -values "$2" -f "$(join "${@:3}")" -limit 0.002 -runs 1 -dll_append "$LIB" \
    -use_gpu_aware_mpi 0 -o "$results/applies.jsonl" >>"$results/applies.log" 2>&1
  status=$?
  report "${1:0:20}, $2, $(($# - 2)) systems from $(basename "$3") on" $status
}
mapfile -t own < <(list_compared own; list_compared grids)
mapfile -t graphs < <(list_compared laplacian)
mapfile -t generated < <(list_compared generated)
[ ${#generated[@]} -gt 0 ] || report "there is no corpus; bench/corpus/make.py makes it" 1
for ways in natural,multicolor,ilu,sliced_ell,sweeps_2,sweeps_5 $(print_built_ways); do
  run_applies "$ways" own "${own[@]}"
  run_applies "$ways" laplacian "${graphs[@]}"
  for ((i = 0; i < ${#generated[@]}; i += 20)); do run_applies "$ways" own "${generated[@]:i:20}"; done
done
