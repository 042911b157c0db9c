# Programs of PETSc and examples in each order of the rows; the time of an ordering.
# needs: a PETSc with CUDA
# writes: orders.jsonl
# takes: 130 s

. "$folder/petsc_programs.sh"

run_in_orders() { # NAME ITERATIONS-IN-THE-NATURAL-ORDER-OR-"" COMMAND...
  local name=$1 expected=$2 o status
  shift 2
  for o in natural multicolor auto; do
    status=0
    run_program "$@" -dll_append "$LIB" -pc_type sptrsvgpu -pc_sptrsvgpu_ordering $o || status=$?
    printf '{"problem": "%s", "order": "%s", "runs": %s, "levels": %s, %s, "algorithms": "%s", "view": "%s"}\n' \
      "$name" $o $runs "${levels:-null}" "$(result_fields)" "$algorithms" "$order" |
      tee -a "$results/orders.jsonl" "$out"
    [ $status = 0 ] || report "$name $o" $status "$results/petsc.log"
    [ $o != natural ] || [ -z "$expected" ] || [ "${its:-}" = "$expected" ] ||
      report "$name: ${its:-no} iterations, should be $expected" 1
  done
}

begin "orders: unchanged PETSc programs, and examples, in each order"
rm -f "$results/orders.jsonl"
build_tutorials
runs=5 # medians, for the systems that docs compare with a target
run_in_orders "ex45, 128^3" 171 "${ex45[@]}" -ksp_type cg
run_in_orders "ex2, 1000^2" 562 "${ex2[@]}" -ksp_type cg
runs=1
run_in_orders "ex4, 1000^2, 4 Newton steps" "" "$EXAMPLES/ex4" -da_grid_x 1000 -da_grid_y 1000 -ksp_type cg \
  -dm_mat_type aijcusparse -dm_vec_type cuda
for m in G3_circuit slam_city10000 Dubcova1 BentPipe2D100; do
  f=$(find_matrices $m)
  [ -n "$f" ] || continue
  run_in_orders $m "" "$EXAMPLES/ex2" -f "$f" -mat_type aijcusparse -ksp_type \
    "$([ $m = BentPipe2D100 ] && echo gmres || echo cg)"
done
mapfile -t at < <(find_matrices G3_circuit slam_city10000 Dubcova1 BentPipe2D100 wave slam_ais2klinik)
run_logged orders 120 "$REPEATS" -n 200 -o "$results/orders.jsonl" order:g3d7:128 order:g2d5:1000 "${at[@]/#/order:}"
show "ordering|wrong"
report "orderings, 20 times each" $status "$log"
