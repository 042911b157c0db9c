# Times of applies of ILU(0), both triangular solves, by sptrsvgpu and by others, on the GPU; the KSP solves stop early.
# CORPUS: the folder that bench/corpus/make.py filled (default: build/corpus).
# needs: a PETSc with CUDA; for the ways of hypre and Ginkgo, programs built with HYPRE_DIR and GINKGO_DIR
# (bench/makefile)
# writes: applies.jsonl
# takes: 2 min

begin_comparison "applies of ILU(0), by sptrsvgpu and by others"
mapfile -t own < <(list_compared own; list_compared grids)
mapfile -t graphs < <(list_compared laplacian)
mapfile -t generated < <(list_compared generated)
[ ${#generated[@]} -gt 0 ] || report "there is no corpus; bench/corpus/make.py makes it" 1
run_applies() { # WAYS VALUES FILE...
  compare_ways 60 "$1" "$2" "$(join "${@:3}")" "$SOLUTIONS" -limit 0.002 -runs 1
}
for ways in natural,multicolor,ilu,sliced_ell,sweeps_2,sweeps_5 $(print_built_ways); do
  run_applies "$ways" own "${own[@]}"
  run_applies "$ways" laplacian "${graphs[@]}"
  for ((i = 0; i < ${#generated[@]}; i += 20)); do run_applies "$ways" own "${generated[@]:i:20}"; done
done
