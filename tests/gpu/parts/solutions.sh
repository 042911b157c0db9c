# Time to solution, set-up included, of all real matrices. MATRICES: others, generated ones by name, files by path.
# needs: a PETSc with CUDA
# writes: solutions.jsonl
# takes: 190 s, at most 500 s

begin "time to solution, set-up included: jacobi, cuSPARSE's ILU, and ours in each order"
rm -f "$results/solutions.jsonl"
# Four small matrices share a process, a large one has its own: an error or a long set-up ends one process only.
mapfile -t at < <(find_all_matrices)
until=$((SECONDS + 500)) group=g2d5:1000,g3d7:128 inside=4
if [ -n "${MATRICES:-}" ]; then group=$(printf '%s\n' $MATRICES | grep -v / | paste -sd,); fi
: >"$results/solutions.log"
for i in "${!at[@]}"; do
  group=$group,${at[i]} inside=$((inside + 1))
  [ $inside -ge 4 ] || [ $i -ge $((${#at[@]} - 16)) ] || continue
  left=$((until - SECONDS))
  if [ $left -lt 10 ]; then report "solutions of ${group#,}: no time left" 1
  else
    run_logged group $((left < 100 ? left : 100)) "$SOLUTIONS" -f "${group#,}" -limit 5 -runs 3 -dll_append "$LIB" \
      -use_gpu_aware_mpi 0 -o "$results/solutions.jsonl"
    cat "$log" >>"$results/solutions.log"
    [ $status = 0 ] || report "solutions of ${group#,}" $status "$log"
  fi
  group="" inside=0
done
rm -f "$results/group.log"
[ ! -f "$results/solutions.jsonl" ] || python3 bench/solutions.py "$results/solutions.jsonl" | sed '/^<details>/,$d' |
  tee -a "$out"
