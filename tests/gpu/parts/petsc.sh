# Programs of PETSc, unchanged, with several preconditioners.
# needs: a PETSc with CUDA
# writes: petsc.jsonl: a line for each program and preconditioner
# takes: 35 s

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
