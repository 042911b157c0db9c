# Block Jacobi and additive Schwarz on two ranks, on a GPU each if there are two.
# needs: a PETSc with CUDA
# writes: ranks.jsonl
# takes: about 1 min

. "$folder/petsc_programs.sh"

begin "two ranks, $(nvidia-smi -L | grep -c '^GPU') GPUs: CG, rtol 1e-8"
rm -f "$results/ranks.jsonl"
build_tutorials
for pc in bjacobi asm; do
  expected="" # the iterations of PETSc's own block on the host
  for sub in "host ilu" "cuda ilu" "cuda sptrsvgpu"; do
    on=${sub% *} status=0
    [ $on = cuda ] && types="-dm_mat_type aijcusparse -dm_vec_type cuda" || types=""
    run_program mpiexec -n 2 "$tutorials/ex45" -da_grid_x 128 -da_grid_y 128 -da_grid_z 128 $types -dll_append "$LIB" \
      -pc_type $pc -sub_pc_type "${sub#* }" -ksp_type $([ $pc = asm ] && echo gmres || echo cg) || status=$?
    printf '{"problem": "ksp ex45 128^3", "ranks": 2, "preconditioner": "%s", "block": "%s", %s}\n' \
      $pc "${sub#* }, $on" "$(result_fields)" | tee -a "$results/ranks.jsonl" "$out"
    [ $status = 0 ] || report "$pc, $sub" $status "$results/petsc.log"
    [ "${its:-}" = "${expected:=${its:-}}" ] || report "$pc, $sub: ${its:-no} iterations, should be $expected" 1
  done
done
