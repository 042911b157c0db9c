# Time to solution of the half of the corpus for reporting, compared with other preconditioners and solves, on the GPU.
# CORPUS: the folder that bench/corpus/make.py filled (default: build/corpus), or one with some of its files.
# needs: as rivals
# writes: rivals_corpus.jsonl
# takes: 11 min for 74 systems

begin_comparison "sptrsvgpu and other preconditioners and triangular solves, generated systems"
mapfile -t systems < <(list_compared generated)
[ ${#systems[@]} -gt 0 ] || report "there is no corpus; bench/corpus/make.py makes it" 1
for ((i = 0; i < ${#systems[@]}; i += 10)); do
  for ways in jacobi,ilu,sliced_ell,sweeps_2,sweeps_5,natural,multicolor,auto $(print_built_ways); do
    compare_ways 40 "$ways" own "$(join "${systems[@]:i:10}")" "$SOLUTIONS" -limit 1 -runs 3
  done
done
# GAMG's set-up may not end
for system in "${systems[@]}"; do compare_ways 15 gamg own "$system" "$SOLUTIONS" -limit 1 -runs 3; done
cut -c1-150 "$results/rivals_corpus.log" | tee -a "$out"
