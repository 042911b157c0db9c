# Time to solution of the half of the corpus for reporting on the CPU, by bjacobi and GAMG on 1 core, half of them, all.
# CORPUS: as for rivals_corpus; WAYS: default "bjacobi gamg". A call deletes the lines of the one before it: with one of
# the WAYS in each of two calls, give each its own RESULTS, and join their lines.
# needs: a PETSc with CUDA; mpiexec
# writes: rivals_corpus_host.jsonl
# takes: about 4 min for bjacobi, 7 min for gamg, at most 10 min each

begin_comparison "preconditioners on the CPU, generated systems"
mapfile -t systems < <(list_compared generated)
[ ${#systems[@]} -gt 0 ] || report "there is no corpus; bench/corpus/make.py makes it" 1
for way in ${WAYS:-bjacobi gamg}; do
  ends=$((SECONDS + 440))
  for ranks in $(list_ranks); do
    on_host=(mpiexec -n "$ranks" "$SOLUTIONS" -host -limit 1 -runs 3)
    for ((i = 0; i < ${#systems[@]}; i += 10)); do
      some=("${systems[@]:i:10}")
      if [ $SECONDS -gt $ends ]; then report "$way on $ranks cores from ${some[0]} on: no time left" 1 && break; fi
      compare_ways 40 "$way" own "$(join "${some[@]}")" "${on_host[@]}"
      [ $status = 0 ] && continue
      # a set-up did not end: those that have no line yet, each in a process of its own
      for system in "${some[@]}"; do
        grep -qs "^{\"matrix\": \"$(basename "$system" .mtx.xz)\".*\"ranks\": $ranks, \"way\": \"$way\"" \
          "$results/$part.jsonl" || compare_ways 10 "$way" own "$system" "${on_host[@]}"
      done
    done
  done
done
cut -c1-150 "$results/$part.log" | tee -a "$out"
