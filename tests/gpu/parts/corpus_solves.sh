# Single solves of the corpus in the natural and in the multicolor order, with the settings of chunk, and by cuSPARSE.
# CORPUS: the folder that bench/corpus/make.py filled (default: build/corpus).
# needs: nothing else
# writes: corpus_solves.jsonl: a line for each algorithm, setting and triangle
# takes: 4 min

begin "solves of the corpus, in the natural and in the multicolor order"
rm -f "$results/corpus_solves.jsonl"
find_corpus
: >"$results/corpus_solves.log"
for order in "" multicolor:; do
  for ((i = 0; i < ${#at[@]}; i += 10)); do
    some=("${at[@]:i:10}")
    run_logged group 120 "$BENCH" -a chunk,thread,sell -r 10 -m 5 -o "$results/corpus_solves.jsonl" \
      "${some[@]/#/$order}"
    cat "$log" >>"$results/corpus_solves.log"
    show "$wrong"
    report "$order$(basename "${some[0]}") and on" $status "$log"
  done
done
rm -f "$results/group.log"
