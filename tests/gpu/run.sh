#!/usr/bin/env bash
# Everything that needs a GPU, in one go: the tests with matrices on the device, every algorithm on every matrix against the host, the
# sanitizers on a small set, times against cuSPARSE, and two unchanged PETSc programs. Called by `make check-gpu`, which says where things are.
#
#   PARTS      which of: harness matrices solve sanitizer profile setup petsc (default: all), and ag, recblock and dense
#   BENCH_OPTIONS  how much the solves are measured (default: -r 10 -pairs 1; see tests/bench/bench.cu)
#   RESULTS    where the results go (default: results)
#
# Writes RESULTS/gpu.txt (what ran, on what, with which outcome), RESULTS/solve.jsonl (a line for each algorithm and triangle),
# RESULTS/recblock.jsonl (the same of recblock's settings) and RESULTS/petsc.jsonl (a line for each PETSc solve), RESULTS/setup.jsonl (a line for each matrix and way to set up),
# RESULTS/dense.jsonl (dense triangles, and sparse ones with dense parts), RESULTS/ag_search.jsonl (searches among ag's schemes) and
# RESULTS/profile.jsonl (hardware counters, by ncu). Exit status 1 where something failed.
set -u
parts=${PARTS:-harness matrices solve sanitizer profile setup petsc}
results=${RESULTS:-results}
make=${MAKE:-make}
device="-mat_type aijcusparse -vec_type cuda -dm_mat_type aijcusparse -dm_vec_type cuda -use_gpu_aware_mpi 0"
failed=0
mkdir -p "$results"
out=$results/gpu.txt

has() { case " $parts " in *" $1 "*) true ;; *) false ;; esac; }
say() { printf '%s\n' "$*" | tee -a "$out"; }
verdict() { # NAME STATUS
  if [ "$2" = 0 ]; then say "ok      $1"; else say "FAILED  $1 (exit status $2)"; failed=1; fi
}

: >"$out"
say "sources  $(cat makefile conf/* include/* src/*/* tests/bench/* | sha256sum | cut -c1-16)"
say "gpu      $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1)"
say "cuda     $(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')"
say "petsc    $(sed -n 's/^#define PETSC_VERSION_\(MAJOR\|MINOR\|SUBMINOR\) *\([0-9]*\).*/\2/p' "$PETSC_DIR/include/petscversion.h" | paste -sd.)"
say "date     $(date -u +%F)"

if has harness; then
  say ""
  say "== PETSc's harness: $device"
  timeout 900 $make -s check-petsc TEST_OPTIONS="$device" >"$results/harness.log" 2>&1
  status=$?
  grep -E "^(not ok|FAIL)|passed, " "$results/harness.log" | head -40 | tee -a "$out"
  verdict harness $status
fi

if has matrices; then
  say ""
  say "== ILU(0) of the real matrices, against PETSc's own: $device"
  timeout 600 $make -s check-matrices TEST_OPTIONS="$device -mat_sptrsvgpu_factorization device" >"$results/matrices.log" 2>&1
  status=$?
  grep -E "^not ok|passed, " "$results/matrices.log" | head -40 | tee -a "$out"
  verdict matrices $status
fi

if has solve; then
  say ""
  say "== triangular solves"
  rm -f "$results/solve.jsonl"
  timeout 1500 "$BENCH" -o "$results/solve.jsonl" ${BENCH_OPTIONS:--r 10 -pairs 1} ${MATRICES:-g2d5:1000 g2d9:1000 g3d7:128 g3d27:80 band:100000:3 rand:1000000:3 rmat:20:16 "$SPTRSV_MATRICES"/*.mtx*} >"$results/solve.log" 2>&1
  status=$?
  # every algorithm is also captured in a graph and replayed, with the same bits
  grep -E "WRONG|DIFFER|captured|^[0-9]* wrong|bandwidth|calibration" "$results/solve.log" | tee -a "$out"
  verdict "double" $status
  python3 tests/bench/table.py --summary "$results/solve.jsonl" | tee -a "$out"
  timeout 600 "$BENCH" -p float -m 0 -a ours g2d5:300 g3d7:40 rmat:14:8 dense:200 "$SPTRSV_MATRICES"/*.mtx* >"$results/solve-float.log" 2>&1
  status=$?
  grep -E "WRONG|DIFFER|^[0-9]* wrong" "$results/solve-float.log" | tee -a "$out"
  verdict "float" $status
fi

if has sanitizer; then
  say ""
  say "== compute-sanitizer"
  say "(racecheck without chunk and the search for level sets: they hand values over in words of shared memory that are their own flags, which the tool takes for hazards)"
  for tool in memcheck racecheck synccheck; do
    algorithms=ours
    except=()
    [ $tool != racecheck ] || algorithms=thread,warp except=(--kernel-name-exclude kernel_substring=levels_find)
    for precision in double float; do
      timeout 300 compute-sanitizer --tool $tool --error-exitcode 9 ${except[@]+"${except[@]}"} "$BENCH" -a $algorithms -m 0 -p $precision diag:1 diag:33 band:500:3 g2d5:40 g3d7:12 g3d27:8 rand:2000:4 dense:150 arrow:700 rmat:10:8 >"$results/sanitizer.log" 2>&1
      status=$?
      verdict "$tool, $precision: $(grep SUMMARY "$results/sanitizer.log" | tail -1 | sed 's/=* *//')" $status
      [ $status = 0 ] || grep -E "WRONG|DIFFER|: [A-Za-z]*rror|hazard|gave up| at .*\(" "$results/sanitizer.log" | sed 's/0x[0-9a-f]*/0x/g; s/block ([^)]*)/block/g; s/thread ([^)]*)/thread/g' | sort | uniq -c | sort -rn | head -12 | tee -a "$out"
    done
  done
fi

if has profile; then
  say ""
  say "== hardware counters of solves"
  if command -v ncu >/dev/null; then
    at=()
    for m in boyd2_kkt rail_79841_A ct2010 nh2010 ACTIVSg25k_Ybus cs4 cit-Cora circuit_3; do at+=("$SPTRSV_MATRICES/$m".mtx*); done
    timeout 300 python3 tests/bench/profile.py "$BENCH" "$results/profile.jsonl" g2d5:300 "${at[@]}" >"$results/profile.log" 2>&1
    status=$?
    verdict "counters of $(grep -c '"kernels"' "$results/profile.log") solves" $status
  else
    say "skipped: there is no ncu (Nsight Compute)"
  fi
fi

if has dense; then
  say ""
  say "== dense triangles, and dense parts of sparse ones"
  rm -f "$results/dense.jsonl"
  timeout 120 "$DENSE" -o "$results/dense.jsonl" >"$results/dense.log" 2>&1
  status=$?
  grep -E "WRONG|DIFFER|^[0-9]* wrong" "$results/dense.log" | tee -a "$out"
  verdict "dense triangles, double" $status
  timeout 120 "$DENSE" -p float -m 0 32 100 1000 3000 >"$results/dense-float.log" 2>&1
  verdict "dense triangles, float" $?
  at=()
  for m in circuit_1 circuit_3 rajat01 qc324 as-caida_826 web-NotreDame; do at+=("$SPTRSV_MATRICES/$m".mtx*); done
  timeout 120 "$BENCH" -a dense,thread,chunk,inverse,cusparse -o "$results/dense.jsonl" dense:1024 dense:4096 arrow:1000000 arrow:50000:128 "${at[@]}" >"$results/dense-sparse.log" 2>&1
  status=$?
  grep -E "WRONG|DIFFER|^[0-9]* wrong" "$results/dense-sparse.log" | tee -a "$out"
  verdict "dense parts of sparse triangles" $status
fi

if has recblock; then
  say ""
  say "== recblock: types, depths, thresholds"
  rm -f "$results/recblock.jsonl"
  settings=thread,chunk,inverse
  for s in depth=1 depth=3 depth=5 depth={0,1,2,3,4,6}:thresholds=fitted type={column,row}:depth=3 type={column,row}:depth=3:thresholds=fitted; do settings=$settings,recblock:$s; done
  files=()
  for m in delaunay_n16 luxembourg_osm wave ct2010 finance256 cont-300_kkt rail_79841_A as-caida_826 ACTIVSg25k_Ybus vsp_model1_crew1_cr42_south31 Dubcova1 PGPgiantcompo cage10 slam_city10000 boyd2_kkt web-NotreDame G3_circuit; do files+=("$(ls "$SPTRSV_MATRICES/$m".mtx* | head -1)"); done
  timeout 120 "$BENCH" -m 4 -o "$results/recblock.jsonl" -a $settings "${files[@]}" >"$results/recblock.log" 2>&1
  status=$?
  # more than 20,000 level sets: the paper has cuSPARSE solve these
  [ $status != 0 ] || timeout 30 "$BENCH" -m 4 -o "$results/recblock.jsonl" -a recblock,recblock:depth=3:thresholds=fitted,recblock:depth=0:triangle=cusparse,recblock:depth=0:thresholds=fitted band:100000:3 >>"$results/recblock.log" 2>&1 || status=$?
  grep -E "WRONG|DIFFER|captured|^[0-9]* wrong" "$results/recblock.log" | tee -a "$out"
  verdict recblock $status
fi

if has ag; then
  say ""
  say "== searches among ag's schemes, 2 s a matrix"
  rm -f "$results/ag_search.jsonl"
  named=""
  for m in Dubcova1 cage10 circuit_3 hymls_cavity2D_64_Re1000 astro-ph finance256 delaunay_n16 as-caida_826 cit-Cora ACTIVSg25k_Ybus slam_ais2klinik ct2010 rail_79841_A luxembourg_osm wave vsp_model1_crew1_cr42_south31 web-NotreDame cont-300_kkt boyd2_kkt G3_circuit; do
    named="$named $(ls "$SPTRSV_MATRICES/$m".mtx* | head -1)"
  done
  timeout 120 "$AG" -search 2 -o "$results/ag_search.jsonl" $named >"$results/ag.log" 2>&1
  status=$?
  grep -E "WRONG|tries|^[0-9]* wrong" "$results/ag.log" | tee -a "$out"
  verdict "ag" $status
fi

if has setup; then
  say ""
  say "== set-ups, ms"
  rm -f "$results/setup.jsonl"
  for m in "-dim 2 -n 1000" "-dim 3 -n 128" G3_circuit wave Dubcova1 ct2010 cage10 web-NotreDame Pd; do
    case $m in -*) ;; *) m="-f $(ls "$SPTRSV_MATRICES/$m".mtx* | head -1)" ;; esac
    timeout 120 "$SETUP" $m -dll_append "$LIB" -use_gpu_aware_mpi 0 -o "$results/setup.jsonl" >"$results/setup.log" 2>&1
    status=$?
    sed -n 's/.*"matrix": "\([^"]*\)".*"preconditioner": "\([^"]*\)".*"first_ms": \([0-9.e+-]*\), "same_pattern_ms": \([0-9.e+-]*\).*/\1, \2: \3, new values \4/p' "$results/setup.log" | tee -a "$out"
    [ $status = 0 ] || verdict "setup $m" $status
  done
fi

solve() { # NAME PRECONDITIONER ITERATIONS COMMAND...
  local name=$1 pc=$2 expected=$3 log=$results/petsc.log
  shift 3
  timeout 300 "$@" -ksp_type cg -ksp_rtol 1e-8 -use_gpu_aware_mpi 0 -ksp_converged_reason -log_view_gpu_time -log_view >"$log" 2>&1
  local status=$?
  local its setup apply n ksp
  its=$(sed -n 's/.*iterations \([0-9]*\).*/\1/p' "$log" | head -1)
  read -r n apply < <(awk '$1 == "PCApply" { print $2, $4 }' "$log")
  setup=$(awk '$1 == "PCSetUp" { print $4 }' "$log")
  # times of a run without the synchronisation that timing each event needs
  timeout 300 "$@" -ksp_type cg -ksp_rtol 1e-8 -use_gpu_aware_mpi 0 -log_view >"$log" 2>&1 || status=$?
  ksp=$(awk '$1 == "KSPSolve" { print $4 }' "$log")
  printf '{"problem": "%s", "preconditioner": "%s", "iterations": %s, "setup_s": %s, "apply_ms": %s, "kspsolve_s": %s}\n' "$name" "$pc" "${its:-null}" "${setup:-null}" "$(awk "BEGIN { if (${n:-0}) printf \"%.4g\", 1e3 * ${apply:-0} / ${n:-1}; else print \"null\" }")" "${ksp:-null}" | tee -a "$results/petsc.jsonl" "$out"
  [ $status = 0 ] || verdict "$name $pc" $status
  [ "${its:-}" = "$expected" ] || verdict "$name $pc: ${its:-no} iterations, should be $expected" 1
}

if has petsc; then
  say ""
  say "== unchanged PETSc programs, CG, rtol 1e-8"
  rm -f "$results/petsc.jsonl"
  tutorials=$PETSC_DIR/src/ksp/ksp/tutorials
  for e in ex45 ex2; do
    [ -x "$tutorials/$e" ] || (cd "$tutorials" && $make -s $e) >/dev/null 2>&1
  done
  for pc in jacobi ilu sptrsvgpu capellini; do
    load="" three=171 two=562
    case $pc in
    sptrsvgpu | capellini) load="-dll_append $LIB" ;;
    jacobi) three=362 two=1715 ;;
    esac
    solve "ksp ex45 128^3" $pc $three "$tutorials/ex45" -da_grid_x 128 -da_grid_y 128 -da_grid_z 128 -dm_mat_type aijcusparse -dm_vec_type cuda $load -pc_type $pc
    solve "ksp ex2 1000^2" $pc $two "$tutorials/ex2" -m 1000 -n 1000 -mat_type aijcusparse -vec_type cuda $load -pc_type $pc
  done
fi

say ""
[ $failed = 0 ] && say "all passed" || say "something failed"
exit $failed
