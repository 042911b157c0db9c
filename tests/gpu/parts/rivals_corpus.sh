# Time to solution of the half of the corpus for reporting, compared with other preconditioners and solves, on the GPU.
# CORPUS: the folder that bench/corpus/make.py filled (default: build/corpus), or one with some of its files.
# needs: as rivals
# writes: rivals_corpus.jsonl
# takes: 11 min

begin "sptrsvgpu and other preconditioners and triangular solves, generated systems"
rm -f "$results/rivals_corpus.jsonl"
: >"$results/rivals_corpus.log"
mapfile -t systems < <(list_compared generated)
[ ${#systems[@]} -gt 0 ] || report "there is no corpus; bench/corpus/make.py makes it" 1
run_generated() { # WAYS SECONDS FILE...: a process, so that an error in one does not end the others
  timeout -k 5 "$2" "$SOLUTIONS" -f "$(join "${@:3}")" -values own -ways "$1" -limit 1 -runs 3 -dll_append "$LIB" \
    -use_gpu_aware_mpi 0 -o "$results/rivals_corpus.jsonl" >>"$results/rivals_corpus.log" 2>&1
  status=$?
  report "${1:0:12}..., corpus from $(basename "$3") on" $status
}
for ((i = 0; i < ${#systems[@]}; i += 10)); do
  for ways in jacobi,ilu,sliced_ell,sweeps_2,sweeps_5,natural,multicolor,auto $(print_built_ways); do
    run_generated "$ways" 40 "${systems[@]:i:10}"
  done
done
for system in "${systems[@]}"; do run_generated gamg 15 "$system"; done # its set-up may not end
cut -c1-150 "$results/rivals_corpus.log" | tee -a "$out"
