# Programs of PETSc, unchanged, with several preconditioners; also with cg and cgdevice.
# needs: a PETSc with CUDA
# writes: petsc.jsonl: a line for each program and preconditioner, and for each program and KSP type
# takes: about 120 s

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

# Compares cg and cgdevice in turn, three times; the medians of the times count. cgdevice may take an iteration more or
# less in each solve, as sums on a GPU round differently.
compare_types() { # NAME COMMAND...
  local name=$1 run type status fields more cg_s device_s
  local -A times=() line=() iterations=() ended=()
  for run in 1 2 3; do
    for type in cg cgdevice; do
      status=0
      run_once "${@:2}" -dll_append "$LIB" -pc_type sptrsvgpu -pc_sptrsvgpu_ordering multicolor -ksp_type $type \
        -ksp_view -snes_converged_reason || status=$?
      if [ $status != 0 ]; then report "$name, $type" $status "$results/petsc.log" && return; fi
      if [ -z "$its" ] || [ -z "$ksp_s" ]; then
        report "$name, $type: no iterations, or no time of KSPSolve" 1 && return
      fi
      times[$type]+=" $ksp_s" iterations[$type]=$its ended[$type]="$solves solves, $reasons"
      fields="\"runs\": $run, \"solves\": $solves, \"reasons\": \"$reasons\", \"iterations\": $its"
      fields+=", \"kspsolve_s\": $(median ${times[$type]}), $RESULT_FIELDS"
      line[$type]="{\"problem\": \"$name\", \"preconditioner\": \"sptrsvgpu, multicolor\", "
      line[$type]+="\"method\": \"$type\", $fields}"
    done
  done
  printf '%s\n' "${line[@]}" | sort | tee -a "$results/petsc.jsonl" "$out"
  grep -q "scalars on the GPU" "$results/petsc.log" || report "$name: cgdevice did not solve on the GPU" 1
  more=$((iterations[cgdevice] - iterations[cg]))
  [ "${ended[cg]}" = "${ended[cgdevice]}" ] && [ ${more#-} -le "$solves" ] ||
    report "$name: ${iterations[cgdevice]} iterations, ${ended[cgdevice]}; cg: ${iterations[cg]}, ${ended[cg]}" 1
  cg_s=$(median ${times[cg]}) device_s=$(median ${times[cgdevice]})
  awk "BEGIN { exit ($device_s > 1.03 * $cg_s) }" || report "$name: cgdevice takes $device_s s, cg $cg_s s" 1
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
