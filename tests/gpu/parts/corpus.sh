# Time to solution, set-up included, of the corpus in each order. CORPUS: the folder that bench/corpus/make.py filled
# (default: build/corpus).
# needs: a PETSc with CUDA
# writes: corpus.jsonl
# takes: about 3 min, at most 280 s

begin "time to solution, set-up included, of the corpus: ours in each order"
rm -f "$results/corpus.jsonl"
find_corpus
until=$((SECONDS + 280))
: >"$results/corpus.log"
for ((i = 0; i < ${#at[@]}; i += 10)); do
  left=$((until - SECONDS)) some=("${at[@]:i:10}")
  if [ $left -lt 5 ]; then report "corpus from ${some[0]} on: no time left" 1 && break; fi
  run_logged group $((left < 60 ? left : 60)) "$SOLUTIONS" -f "$(join "${some[@]}")" -values own \
    -ways natural,multicolor,auto -limit 3 -runs 3 -dll_append "$LIB" -use_gpu_aware_mpi 0 -o "$results/corpus.jsonl"
  cat "$log" >>"$results/corpus.log"
  [ $status = 0 ] || report "corpus from ${some[0]} on" $status "$log"
done
rm -f "$results/group.log"
found=$(cut -d'"' -f4 "$results/corpus.jsonl" | sort -u | wc -l)
report "$found of ${#at[@]} systems" $((found != ${#at[@]}))
