# Time to solution of open matrices and grids, compared with other preconditioners and solves, on the GPU and the CPU.
# needs: a PETSc with CUDA; for the ways of hypre and Ginkgo, programs built with HYPRE_DIR and GINKGO_DIR
# (bench/makefile)
# writes: rivals.jsonl
# takes: about 8 min

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
run_systems() { # WAY VALUES FILES COMMAND...: a process
  local names=${3//"$SPTRSV_MATRICES"\//}
  timeout -k 5 15 "${@:4}" -ways "$1" -values "$2" -f "$3" -limit 1 -runs 3 -dll_append "$LIB" -use_gpu_aware_mpi 0 \
    -o "$results/rivals.jsonl" >>"$results/rivals.log" 2>&1
  status=$?
  report "$1, $2 ${names:0:40}" $status
}
run_rivals() { # WAY COMMAND...: a process for each kind of system, so that an error in one does not end the others
  run_systems "$1" own "$(join "${own[@]}")" "${@:2}"
  run_systems "$1" laplacian "$(join "${graphs[@]}")" "${@:2}"
  run_systems "$1" own "$(join "${grids[@]}")" "${@:2}"
}
for way in jacobi ilu sliced_ell sweeps_2 sweeps_5 $(print_built_ways) natural multicolor auto; do
  run_rivals $way "$SOLUTIONS"
done
# GAMG's set-up may not end
for system in "${own[@]}" "${grids[@]}"; do run_systems gamg own "$system" "$SOLUTIONS"; done
for system in "${graphs[@]}"; do run_systems gamg laplacian "$system" "$SOLUTIONS"; done
for way in bjacobi gamg; do
  for ranks in 1 $((cores > 1 ? cores / 2 : 1)) "$cores"; do
    run_rivals $way mpiexec -n "$ranks" "$SOLUTIONS" -host
  done
done
cut -c1-150 "$results/rivals.log" | tee -a "$out"
