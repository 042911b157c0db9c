# Runs programs of PETSc, for the parts petsc, ranks and orders. bundle.sh packs these programs.

# Runs a program of PETSc. Sets its: the iterations of all solves; solves: how many; reasons: why they ended, each once;
# ksp_s: the time of KSPSolve, which is without the set-up; all empty where the output lacks them.
run_once() { # COMMAND...
  local status=0 log=$results/petsc.log
  timeout -k 5 300 "$@" -ksp_rtol 1e-8 -use_gpu_aware_mpi 0 -ksp_converged_reason -log_view >"$log" 2>&1 || status=$?
  its=$(sed -n 's/^ *Linear .*solve.* iterations \([0-9]*\).*/\1/p' "$log" | awk '{ n += $1 } END { if (NR) print n }')
  solves=$(grep -c '^ *Linear .*solve.* iterations ' "$log")
  reasons=$(sed -n 's/^ *[A-Za-z]*inear .*due to \([A-Z_]*\) *iterations.*/\1/p' "$log" | sort -u | paste -sd' ')
  ksp_s=$(awk '$1 == "KSPSolve" { print $4 }' "$log")
  return $status
}

# Runs it with the synchronization that the times of events need, and again without it for ksp_s. Also sets setup_s and
# apply_ms; levels, algorithms and order: from the factor's view.
run_twice() { # COMMAND...
  local status=0 n apply log=$results/petsc.log
  run_once "$@" -mat_sptrsvgpu_view -options_left 0 -log_view_gpu_time || status=$?
  read -r n apply < <(awk '$1 == "PCApply" { print $2, $4 }' "$log")
  setup_s=$(awk '$1 == "PCSetUp" { print $4 }' "$log")
  apply_ms=$(awk "BEGIN { if (${n:-0}) printf \"%.4g\", 1e3 * ${apply:-0} / ${n:-1}; else print \"null\" }")
  levels=$(sed -n 's/^ *\([0-9]*\) level sets of .*/\1/p' "$log" | head -1)
  algorithms=$(sed -n 's/^ *algorithm \([a-z]*\): .*/\1/p' "$log" | head -2 | paste -sd' ')
  order=$(sed -n 's/^ *\([a-z]* order: .*\)/\1/p' "$log" | head -1 | tr -d '"\\')
  run_once "$@" || status=$?
  return $status
}

median() { printf '%s\n' "$@" | sort -g | sed -n "$((($# + 1) / 2))p"; }

# The same $runs times, or until a failure; sets setup_s, apply_ms, ksp_s to medians
runs=1
run_program() { # COMMAND...
  local status=0 r setups=() applies=() ksps=()
  for ((r = 0; r < runs && !status; r++)); do
    run_twice "$@" || status=$?
    setups+=("$setup_s") applies+=("$apply_ms") ksps+=("$ksp_s")
  done
  [ $status = 0 ] || return $status
  setup_s=$(median "${setups[@]}") apply_ms=$(median "${applies[@]}") ksp_s=$(median "${ksps[@]}")
  return $status
}

result_fields() { # prints what run_program set
  printf '"iterations": %s, "setup_s": %s, "apply_ms": %s, "kspsolve_s": %s' \
    "${its:-null}" "${setup_s:-null}" "$apply_ms" "${ksp_s:-null}"
}

programs=(ksp/ksp/tutorials/ex45 ksp/ksp/tutorials/ex2 snes/tutorials/ex5 ts/tutorials/ex13)
tutorials=$PETSC_DIR/src/ksp/ksp/tutorials
build_tutorials() {
  local e
  for e in "${programs[@]}"; do
    [ -x "$PETSC_DIR/src/$e" ] || $make -s -C "$PETSC_DIR/src/${e%/*}" PETSC_DIR="$PETSC_DIR" PETSC_ARCH="$PETSC_ARCH" \
      "${e##*/}" >/dev/null
  done
}
ex45=("$tutorials/ex45" -da_grid_x 128 -da_grid_y 128 -da_grid_z 128 -dm_mat_type aijcusparse -dm_vec_type cuda)
ex2=("$tutorials/ex2" -m 1000 -n 1000 -mat_type aijcusparse -vec_type cuda)
ex5=("$PETSC_DIR/src/snes/tutorials/ex5" -da_grid_x 1000 -da_grid_y 1000 -dm_mat_type aijcusparse -dm_vec_type cuda)
ex13=("$PETSC_DIR/src/ts/tutorials/ex13" -da_grid_x 1000 -da_grid_y 1000 -mat_type aijcusparse -dm_vec_type cuda
  -ts_max_steps 4 -snes_type ksponly)
