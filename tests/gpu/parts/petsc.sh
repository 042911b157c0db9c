# Programs of PETSc, unchanged, with several preconditioners; also with cg and cgdevice.
# needs: a PETSc with CUDA
# writes: petsc.jsonl: a line for each program and preconditioner, and for each program and KSP type
# takes: about 100 s

. "$folder/petsc_programs.sh"

compare() { # NAME PRECONDITIONER ITERATIONS COMMAND...
  local name=$1 pc=$2 expected=$3 status=0
  shift 3
  run_program "$@" -ksp_type cg || status=$?
  printf '{"problem": "%s", "preconditioner": "%s", %s}\n' "$name" "$pc" "$(result_fields)" |
    tee -a "$results/petsc.jsonl" "$out"
  [ $status = 0 ] || report "$name $pc" $status "$results/petsc.log"
  [ "${its:-}" = "$expected" ] || report "$name $pc: ${its:-no} iterations, should be $expected" 1
}

compare_types() { # NAME COMMAND...: cg and cgdevice; cgdevice may take an iteration more or less in each solve
  local name=$1 type cg_solves cg_reasons cg_its cg_s status
  for type in cg cgdevice; do
    status=0
    cg_solves=${solves-} cg_reasons=${reasons-} cg_its=${its:-0} cg_s=${ksp_s:-0}
    run_program "${@:2}" -dll_append "$LIB" -pc_type sptrsvgpu -pc_sptrsvgpu_ordering multicolor -ksp_type $type \
      -ksp_view -snes_converged_reason || status=$?
    printf '{"problem": "%s", "preconditioner": "sptrsvgpu, multicolor", "method": "%s", "solves": %s, ' \
      "$name" $type "${solves:-null}" >>"$results/petsc.jsonl"
    printf '"reasons": "%s", %s, %s}\n' "${reasons:-}" "$(result_fields)" "$RESULT_FIELDS" >>"$results/petsc.jsonl"
    tail -n 1 "$results/petsc.jsonl" | tee -a "$out"
    [ $status = 0 ] || report "$name, $type" $status "$results/petsc.log"
  done
  grep -q "scalars on the GPU" "$results/petsc.log" || report "$name: cgdevice did not solve on the GPU" 1
  [ "${solves:-0} ${reasons:-}" = "$cg_solves $cg_reasons" ] && [ $((${its:-0} - cg_its)) -le "$solves" ] &&
    [ $((cg_its - ${its:-0})) -le "$solves" ] ||
    report "$name: ${its:-no} iterations in ${solves:-0} solves, ${reasons:-}; cg: $cg_its in $cg_solves, $cg_reasons" 1
  awk "BEGIN { exit (${ksp_s:-0} > 1.03 * $cg_s) }" || report "$name: cgdevice takes ${ksp_s:-0} s, cg $cg_s s" 1
}

begin "unchanged PETSc programs, CG, rtol 1e-8"
rm -f "$results/petsc.jsonl"
build_tutorials
for pc in jacobi ilu sptrsvgpu capellini; do
  load="" three=171 two=562
  case $pc in
  sptrsvgpu | capellini) load="-dll_append $LIB" ;;
  jacobi) three=362 two=1715 ;;
  esac
  compare "ksp ex45 128^3" $pc $three "${ex45[@]}" $load -pc_type $pc
  compare "ksp ex2 1000^2" $pc $two "${ex2[@]}" $load -pc_type $pc
done
begin "unchanged PETSc programs, cg and cgdevice, rtol 1e-8"
compare_types "ksp ex45 128^3" "${ex45[@]}"
compare_types "ksp ex2 1000^2" "${ex2[@]}"
compare_types "snes ex5 1000^2" "${ex5[@]}"
compare_types "ts ex13 1000^2" "${ex13[@]}"
