#!/usr/bin/env bash
# Everything that needs a GPU, in one go: the tests with matrices on the device, every algorithm on every matrix against
# the host, the sanitizers on a small set, times against cuSPARSE, and unchanged PETSc programs. Called by `make
# check-gpu`, which says where things are.
#
#   PARTS      which of those below (default: harness memory waits matrices solve sanitizer profile setup petsc)
#   BENCH_OPTIONS  how much the solves are measured (default: -r 10 -pairs 1; see bench/bench.cu)
#   MATRICES   of solve and solutions: generated ones by name, files by path (default: those of the benchmark and all
#              files)
#   CORPUS     of corpus: the folder that bench/corpus/make.py filled
#   FAMILIES   of families: family:NAME ... (default: all)
#   RESULTS    where the results go (default: results). On several GPUs parts can run side by side, with a RESULTS and
#              CUDA_VISIBLE_DEVICES each
#
# Writes RESULTS/gpu.txt (what ran, on what, how long, with which outcome). Exit status 1 where something failed. The
# parts, what they write there, and the time they take on an H200 with 16 cores (~: an estimate, none was kept):
#
#   harness    harness.log                    220 s    PETSc's tests
#   memory     memory.log                     ~2 min   device memory: streams, captures, a full device, all given back;
#                                                      the same by compute-sanitizer where there is one
#   waits      waits.log                      ~20 s    words probed by halves, solves longer than the limit of a wait,
#                                                      two streams, graphs after a time-out
#   matrices   matrices.log                   35 s     ILU(0) of the real matrices against PETSc's own
#   solve      solve.jsonl                    9 min    a line for each algorithm, setting and triangle
#   families   families.jsonl                 200 s    the same of families of generated matrices (bench/families.c); at
#                                                      most 500 s
#   dags       dags.jsonl                     ~2 min   1,000,000 solves of random triangles; DAGS_SECONDS: at most so
#                                                      long, with fewer solves (120)
#   same       same.jsonl                     ~1 min   1,000,000 solves of one plan, five times; SAME_SECONDS: for each
#                                                      at most (20)
#   shared     shared.jsonl                   ~2 min   several processes, with and without MPS; other work on the GPU;
#                                                      memory nearly full
#   ampere     ampere.jsonl                   ~2 min   real matrices by code for compute capability 8.0, without
#                                                      clusters
#                                                      and in 163 KB and 99 KB of shared memory; at most 140 s
#   errors     errors.jsonl                   ~90 s    backward errors on the real matrices, several processes at a time
#   sanitizer  sanitizer*.log                 ~3 min   needs compute-sanitizer
#   profile    profile.jsonl                  ~2 min   hardware counters; needs ncu
#   setup      setup.jsonl                    75 s     a line for each matrix and way to set up; PCApply without the
#                                                      waits of the log
#   petsc      petsc.jsonl                    35 s     a line for each program and preconditioner
#   ranks      ranks.jsonl                    ~1 min   block Jacobi and additive Schwarz on two ranks, on a GPU each
#                                                      where there are two
#   orders     orders.jsonl                   130 s    the same in each order, with what auto takes; the time of an
#                                                      ordering
#   solutions  solutions.jsonl                190 s    time to solution, set-up included, of all real matrices; at most
#                                                      500 s
#   corpus     corpus.jsonl               ~3 min   the same in each order and in that of auto, of the corpus
#                                                  (bench/corpus); at most 280 s
#   krylov     krylov.jsonl             ~2 min   KSP types cgdevice and bcgsdevice beside cg and bcgs
#   rivals     rivals.jsonl                   ~5 min   time to solution beside other preconditioners and solves, on the
#                                                      GPU and on the CPU
#   repeats    repeats.jsonl                  175 s    the same bits 1,000 times, of every factorization and solve; at
#                                                      most 260 s
#   dense      dense.jsonl                    ~1 min   dense triangles, and sparse ones with dense parts
#   recblock   recblock.jsonl                 ~1 min   recblock's settings
#   ag         ag_search.jsonl                ~1 min   searches among ag's schemes
#
# Where a run may not take longer than ten minutes: PARTS="petsc ranks setup orders", PARTS="solutions", PARTS="repeats
# dense recblock ag", PARTS="solve", PARTS="families", PARTS="harness matrices profile", PARTS="dags same shared
# errors", PARTS="sanitizer memory"; each writes gpu.txt anew. `make plots` makes tables and plots of all of it.
set -u
parts=${PARTS:-harness memory waits matrices solve sanitizer profile setup petsc}
known=" harness memory waits matrices solve families ampere dags same shared errors sanitizer profile setup petsc ranks"
known="$known orders solutions corpus krylov rivals repeats dense recblock ag "
results=${RESULTS:-results}
make=${MAKE:-make}
device="-mat_type aijcusparse -vec_type cuda -dm_mat_type aijcusparse -dm_vec_type cuda -use_gpu_aware_mpi 0"
failed=0
mkdir -p "$results"
out=$results/gpu.txt

has() { case " $parts " in *" $1 "*) true ;; *) false ;; esac; }
say() { printf '%s\n' "$*" | tee -a "$out"; }
verdict() { # NAME STATUS [LOG]: of a failure also how its log ends
  if [ "$2" = 0 ]; then say "ok      $1"; return; fi
  say "FAILED  $1 (exit status $2$([ "$2" != 124 ] || echo ": ran out of time"))"
  [ -z "${3:-}" ] || grep -v '^ *$' "$3" | tail -n 3 | cut -c1-200 | sed 's/^/        /' | tee -a "$out"
  failed=1
}
part="" started=0
end() { # what the part that comes to its end took
  [ -z "$part" ] || say "($part: $((SECONDS - started)) s)"
  part=""
}
begin() { # NAME TITLE: is it asked for? Then it begins
  has "$1" || return 1
  end
  part=$1 started=$SECONDS
  say ""
  say "== $2"
}
files() { # NAME...: the files of these matrices, those that are there
  local m f
  for m in "$@"; do
    f=$(compgen -G "$SPTRSV_MATRICES/$m.mtx*" | head -1)
    if [ -n "$f" ]; then printf '%s\n' "$f"; else echo "no matrix $m in $SPTRSV_MATRICES" >&2; fi
  done
}

if nvidia-smi -L >/dev/null 2>&1; then : >"$out";
  else out=/dev/null; fi # where there is none, what it says is only printed
say "sources  $(export LC_ALL=C; find makefile conf include src bench -type f | sort | xargs cat | sha256sum |
  cut -c1-16)" # in an order that no locale changes
say "gpu      $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -1)"
say "cuda     $(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')"
petsc_uses() { grep -q "^#define PETSC_USE_$1 " "$PETSC_DIR/$PETSC_ARCH/include/petscconf.h" && echo "$2" || echo "$3"; }
say "petsc    $(sed -n 's/^#define PETSC_VERSION_\(MAJOR\|MINOR\|SUBMINOR\) *\([0-9]*\).*/\2/p' \
  "$PETSC_DIR/include/petscversion.h" | paste -sd.), $(petsc_uses COMPLEX complex real) $(petsc_uses REAL_SINGLE \
  single double), indices of $(petsc_uses 64BIT_INDICES 64 32) bits"
say "date     $(date -u +%F)"
about() { sed -n "s/^$1  *//p" "$out" | head -1; } # what was just said
[ $out = /dev/null ] ||
  export RESULT_FIELDS="\"gpu\": \"$(about gpu)\", \"sources\": \"$(about sources)\", \"date\": \"$(about date)\""

for p in $parts; do
  case $known in *" $p "*) ;; *) say "there is no part $p; there are:$known" && exit 1 ;; esac
done
if [ $out = /dev/null ]; then
  say ""
  say "no GPU here (nvidia-smi finds none): nothing is run. All parts need an NVIDIA GPU; besides"
  for p in $parts; do
    case $p in
    harness | matrices | setup | petsc | ranks | orders | solutions | corpus | krylov | rivals)
      say "  $p: a PETSc with CUDA" ;;
    memory | waits | solve | families | ampere | dags | same | shared | repeats) say "  $p: nothing else" ;;
    sanitizer) say "  sanitizer: compute-sanitizer of the CUDA toolkit" ;;
    profile) say "  profile: ncu (Nsight Compute) and Python" ;;
    dense) say "  dense: cuBLAS" ;;
    recblock | ag | errors) say "  $p: the real matrices that it names" ;;
    esac
  done
  say "and the real matrices in SPTRSV_MATRICES=$SPTRSV_MATRICES ($(find -L "$SPTRSV_MATRICES" -maxdepth 1 \
    -name '*.mtx*' 2>/dev/null | wc -l) there)"
  exit 1
fi

if begin harness "PETSc's harness: $device"; then
  timeout -k 5 900 $make -s check-petsc TEST_OPTIONS="$device" >"$results/harness.log" 2>&1
  status=$?
  grep -E "^(not ok|FAIL)|passed, " "$results/harness.log" | head -40 | tee -a "$out"
  verdict harness $status "$results/harness.log"
fi

if begin memory "device memory"; then
  timeout -k 5 120 "$GPU_MEMORY" >"$results/memory.log" 2>&1
  status=$?
  cat "$results/memory.log" | tee -a "$out"
  verdict memory $status
  if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck initcheck; do
      timeout -k 5 300 compute-sanitizer --tool $tool $([ $tool = initcheck ] ||
        echo --report-api-errors no) --error-exitcode 9 "$GPU_MEMORY" small >"$results/memory-$tool.log" 2>&1
      verdict "memory, $tool" $? "$results/memory-$tool.log"
    done
    timeout -k 5 60 compute-sanitizer --error-exitcode 9 "$GPU_MEMORY" overrun >"$results/memory-overrun.log" 2>&1
    [ $? = 9 ]
    verdict "memory, an overrun is reported" $? "$results/memory-overrun.log"
  fi
fi

if begin waits "waits and streams"; then
  timeout -k 5 120 "$GPU_WAITS" >"$results/waits.log" 2>&1
  status=$?
  cat "$results/waits.log" | tee -a "$out"
  verdict waits $status
fi

if begin matrices "ILU(0) of the real matrices, against PETSc's own: $device"; then
  timeout -k 5 600 $make -s check-matrices TEST_OPTIONS="$device -mat_sptrsvgpu_factorization device" \
    >"$results/matrices.log" 2>&1
  status=$?
  grep -E "^not ok|passed, " "$results/matrices.log" | head -40 | tee -a "$out"
  verdict matrices $status "$results/matrices.log"
fi

if begin solve "triangular solves"; then
  rm -f "$results/solve.jsonl"
  made="g2d5:1000 g2d9:1000 g3d7:64 g3d7:128 g3d27:50 g3d27:80 band:100000:3 rand:1000000:3 rmat:20:16"
  timeout -k 5 1500 "$BENCH" -o "$results/solve.jsonl" ${BENCH_OPTIONS:--r 10 -pairs 1} \
    ${MATRICES:-$made "$SPTRSV_MATRICES"/*.mtx*} >"$results/solve.log" 2>&1
  status=$?
  # every algorithm is also captured in a graph and replayed, with the same bits
  grep -E "WRONG|DIFFER|captured|^[0-9]* wrong|bandwidth" "$results/solve.log" | tee -a "$out"
  verdict "double" $status "$results/solve.log"
  [ ! -f "$results/solve.jsonl" ] || python3 bench/table.py --summary "$results/solve.jsonl" | tee -a "$out"
  timeout -k 5 600 "$BENCH" -p float -m 0 -a ours g2d5:300 g3d7:40 rmat:14:8 dense:200 \
    $(printf '%s\n' ${MATRICES:-"$SPTRSV_MATRICES"/*.mtx*} | grep /) >"$results/solve-float.log" 2>&1
  status=$?
  grep -E "WRONG|DIFFER|^[0-9]* wrong" "$results/solve-float.log" | tee -a "$out"
  verdict "float" $status "$results/solve-float.log"
fi

if begin families "triangular solves of generated families"; then
  rm -f "$results/families.jsonl"
  : >"$results/families.log"
  # one to a process: what stops one is not the end of the others
  until=$((SECONDS + 500)) made=0
  for family in $FAMILIES; do
    left=$((until - SECONDS))
    if [ $left -lt 10 ]; then verdict "from $family on: no time left" 1 && break; fi
    timeout -k 5 $((left < 60 ? left : 60)) "$BENCH" -a chunk,thread,sell -r 4 -m 15 -pairs 0 -o \
      "$results/families.jsonl" "$family" >"$results/family.log" 2>&1
    status=$?
    cat "$results/family.log" >>"$results/families.log"
    if [ $status = 0 ]; then made=$((made + 1)); else verdict "$family" $status "$results/family.log"; fi
  done
  rm -f "$results/family.log"
  grep -E "WRONG|DIFFER|captured" "$results/families.log" | tee -a "$out"
  [ $made = 0 ] || verdict "$made families, double" 0
  [ ! -f "$results/families.jsonl" ] || python3 bench/table.py --summary "$results/families.jsonl" | tee -a "$out"
fi

. tests/gpu/long.sh # ampere, dags, same, shared, errors, sanitizer

if begin profile "hardware counters of solves"; then
  if command -v ncu >/dev/null; then
    mapfile -t at < <(files boyd2_kkt rail_79841_A ct2010 nh2010 ACTIVSg25k_Ybus cs4 cit-Cora circuit_3)
    timeout -k 5 300 python3 bench/profile.py "$BENCH" "$results/profile.jsonl" g2d5:300 "${at[@]}" \
      >"$results/profile.log" 2>&1
    status=$?
    verdict "counters of $(grep -c '"kernels"' "$results/profile.log") solves" $status "$results/profile.log"
  else
    say "skipped: there is no ncu (Nsight Compute)"
  fi
fi

if begin dense "dense triangles, and dense parts of sparse ones"; then
  rm -f "$results/dense.jsonl"
  timeout -k 5 120 "$DENSE" -o "$results/dense.jsonl" >"$results/dense.log" 2>&1
  status=$?
  grep -E "WRONG|DIFFER|^[0-9]* wrong" "$results/dense.log" | tee -a "$out"
  verdict "dense triangles, double" $status "$results/dense.log"
  timeout -k 5 120 "$DENSE" -p float -m 0 32 100 1000 3000 >"$results/dense-float.log" 2>&1
  verdict "dense triangles, float" $? "$results/dense-float.log"
  mapfile -t at < <(files circuit_1 circuit_3 rajat01 qc324 as-caida_826 web-NotreDame)
  timeout -k 5 120 "$BENCH" -a dense,thread,chunk,cusparse -o \
    "$results/dense.jsonl" dense:1024 dense:4096 arrow:1000000 arrow:50000:128 "${at[@]}" >"$results/dense-sparse.log" \
    2>&1
  status=$?
  grep -E "WRONG|DIFFER|^[0-9]* wrong" "$results/dense-sparse.log" | tee -a "$out"
  verdict "dense parts of sparse triangles" $status "$results/dense-sparse.log"
fi

if begin recblock "recblock: types, depths, thresholds"; then
  rm -f "$results/recblock.jsonl"
  settings=thread,chunk,sell
  for s in depth=1 depth=3 depth=5 depth={0,1,2,3,4,6}:thresholds=fitted type={column,row}:depth=3 \
    type={column,row}:depth=3:thresholds=fitted; do settings=$settings,recblock:$s; done
  mapfile -t at < <(files delaunay_n16 luxembourg_osm wave ct2010 finance256 cont-300_kkt rail_79841_A as-caida_826 \
    ACTIVSg25k_Ybus vsp_model1_crew1_cr42_south31 Dubcova1 PGPgiantcompo cage10 slam_city10000 boyd2_kkt web-NotreDame \
    G3_circuit)
  timeout -k 5 120 "$BENCH" -m 4 -o "$results/recblock.jsonl" -a $settings "${at[@]}" >"$results/recblock.log" 2>&1
  status=$?
  # more than 20,000 level sets: the paper has cuSPARSE solve these
  settings=recblock,recblock:depth=3:thresholds=fitted,recblock:depth=0:triangle=cusparse
  [ $status != 0 ] || timeout -k 5 30 "$BENCH" -m 4 -o "$results/recblock.jsonl" \
    -a $settings,recblock:depth=0:thresholds=fitted band:100000:3 >>"$results/recblock.log" 2>&1 || status=$?
  grep -E "WRONG|DIFFER|captured|^[0-9]* wrong" "$results/recblock.log" | tee -a "$out"
  verdict recblock $status "$results/recblock.log"
fi

if begin ag "searches among ag's schemes, 2 s a matrix"; then
  rm -f "$results/ag_search.jsonl"
  mapfile -t at < <(files Dubcova1 cage10 circuit_3 hymls_cavity2D_64_Re1000 astro-ph finance256 delaunay_n16 \
    as-caida_826 cit-Cora ACTIVSg25k_Ybus slam_ais2klinik ct2010 rail_79841_A luxembourg_osm wave \
    vsp_model1_crew1_cr42_south31 web-NotreDame cont-300_kkt boyd2_kkt G3_circuit)
  timeout -k 5 120 "$AG" -search 2 -o "$results/ag_search.jsonl" "${at[@]}" >"$results/ag.log" 2>&1
  status=$?
  grep -E "WRONG|tries|^[0-9]* wrong" "$results/ag.log" | tee -a "$out"
  verdict "ag" $status "$results/ag.log"
fi

if begin setup "set-ups, ms"; then
  rm -f "$results/setup.jsonl"
  for m in "-dim 2 -n 1000" "-dim 3 -n 128" G3_circuit wave Dubcova1 ct2010 cage10 web-NotreDame Pd; do
    case $m in
    -*) ;;
    *)
      f=$(files "$m")
      [ -n "$f" ] || continue
      m="-f $f"
      ;;
    esac
    timeout -k 5 120 "$SETUP" $m -dll_append "$LIB" -use_gpu_aware_mpi 0 -o "$results/setup.jsonl" \
      >"$results/setup.log" 2>&1
    status=$?
    line='.*"matrix": "\([^"]*\)".*"preconditioner": "\([^"]*\)".*"first_ms": \([0-9.e+-]*\)'
    line=$line', "same_pattern_ms": \([0-9.e+-]*\).*"apply_ms": \([0-9.e+-]*\|null\).*'
    sed -n "s/$line/\1, \2: \3, new values \4, PCApply \5/p" "$results/setup.log" | tee -a "$out"
    [ $status = 0 ] || verdict "setup $m" $status "$results/setup.log"
  done
fi

# Runs a program of PETSc's twice: with the synchronization that timing each event needs, and for KSPSolve, which is
# without the set-up, without it. Sets its, sums of all solves; setup_s, apply_ms, ksp_s; and what the factor's view
# says: levels, algorithms, order.
once() { # COMMAND...
  local status=0 n apply log=$results/petsc.log
  timeout -k 5 300 "$@" -ksp_rtol 1e-8 -use_gpu_aware_mpi 0 -ksp_converged_reason -mat_sptrsvgpu_view -options_left 0 \
    -log_view_gpu_time -log_view >"$log" 2>&1 || status=$?
  its=$(sed -n 's/^ *Linear .*solve.* iterations \([0-9]*\).*/\1/p' "$log" | awk '{ n += $1 } END { if (NR) print n }')
  read -r n apply < <(awk '$1 == "PCApply" { print $2, $4 }' "$log")
  setup_s=$(awk '$1 == "PCSetUp" { print $4 }' "$log")
  apply_ms=$(awk "BEGIN { if (${n:-0}) printf \"%.4g\", 1e3 * ${apply:-0} / ${n:-1}; else print \"null\" }")
  levels=$(sed -n 's/^ *\([0-9]*\) level sets of .*/\1/p' "$log" | head -1)
  algorithms=$(sed -n 's/^ *algorithm \([a-z]*\): .*/\1/p' "$log" | head -2 | paste -sd' ')
  order=$(sed -n 's/^ *\([a-z]* order: .*\)/\1/p' "$log" | head -1 | tr -d '"\\')
  timeout -k 5 300 "$@" -ksp_rtol 1e-8 -use_gpu_aware_mpi 0 -log_view >"$log" 2>&1 || status=$?
  ksp_s=$(awk '$1 == "KSPSolve" { print $4 }' "$log")
  return $status
}

median() { printf '%s\n' "$@" | sort -g | sed -n "$((($# + 1) / 2))p"; }

# The same, $runs times, but that a failure is the last of them; setup_s, apply_ms, ksp_s: medians
runs=1
program() { # COMMAND...
  local status=0 r setups=() applies=() ksps=()
  for ((r = 0; r < runs && !status; r++)); do
    once "$@" || status=$?
    setups+=("$setup_s") applies+=("$apply_ms") ksps+=("$ksp_s")
  done
  [ $status = 0 ] || return $status
  setup_s=$(median "${setups[@]}") apply_ms=$(median "${applies[@]}") ksp_s=$(median "${ksps[@]}")
  return $status
}

fields() { # of a line, as `program` left them
  printf '"iterations": %s, "setup_s": %s, "apply_ms": %s, "kspsolve_s": %s' \
    "${its:-null}" "${setup_s:-null}" "$apply_ms" "${ksp_s:-null}"
}

solve() { # NAME PRECONDITIONER ITERATIONS COMMAND...
  local name=$1 pc=$2 expected=$3 status=0
  shift 3
  program "$@" -ksp_type cg || status=$?
  printf '{"problem": "%s", "preconditioner": "%s", %s}\n' "$name" "$pc" "$(fields)" |
    tee -a "$results/petsc.jsonl" "$out"
  [ $status = 0 ] || verdict "$name $pc" $status "$results/petsc.log"
  [ "${its:-}" = "$expected" ] || verdict "$name $pc: ${its:-no} iterations, should be $expected" 1
}

in_orders() { # NAME ITERATIONS-IN-THE-NATURAL-ORDER-OR-"" COMMAND...
  local name=$1 expected=$2 o status
  shift 2
  for o in natural multicolor auto; do
    status=0
    program "$@" -dll_append "$LIB" -pc_type sptrsvgpu -pc_sptrsvgpu_ordering $o || status=$?
    printf '{"problem": "%s", "order": "%s", "runs": %s, "levels": %s, %s, "algorithms": "%s", "view": "%s"}\n' \
      "$name" $o $runs "${levels:-null}" "$(fields)" "$algorithms" "$order" | tee -a "$results/orders.jsonl" "$out"
    [ $status = 0 ] || verdict "$name $o" $status "$results/petsc.log"
    [ $o != natural ] || [ -z "$expected" ] || [ "${its:-}" = "$expected" ] ||
      verdict "$name: ${its:-no} iterations, should be $expected" 1
  done
}

tutorials=$PETSC_DIR/src/ksp/ksp/tutorials
tutorial() { # the programs of PETSc that are tried
  local e
  for e in ex45 ex2; do
    [ -x "$tutorials/$e" ] || (cd "$tutorials" && $make -s $e) >/dev/null 2>&1
  done
}
ex45=("$tutorials/ex45" -da_grid_x 128 -da_grid_y 128 -da_grid_z 128 -dm_mat_type aijcusparse -dm_vec_type cuda)
ex2=("$tutorials/ex2" -m 1000 -n 1000 -mat_type aijcusparse -vec_type cuda)

if begin petsc "unchanged PETSc programs, CG, rtol 1e-8"; then
  rm -f "$results/petsc.jsonl"
  tutorial
  for pc in jacobi ilu sptrsvgpu capellini; do
    load="" three=171 two=562
    case $pc in
    sptrsvgpu | capellini) load="-dll_append $LIB" ;;
    jacobi) three=362 two=1715 ;;
    esac
    solve "ksp ex45 128^3" $pc $three "${ex45[@]}" $load -pc_type $pc
    solve "ksp ex2 1000^2" $pc $two "${ex2[@]}" $load -pc_type $pc
  done
fi

if begin ranks "two ranks, $(nvidia-smi -L | grep -c '^GPU') GPUs: CG, rtol 1e-8"; then
  rm -f "$results/ranks.jsonl"
  tutorial
  for pc in bjacobi asm; do
    expected="" # as PETSc's own on the host
    for sub in "host ilu" "cuda ilu" "cuda sptrsvgpu"; do
      on=${sub% *} status=0
      [ $on = cuda ] && types="-dm_mat_type aijcusparse -dm_vec_type cuda" || types=""
      program mpiexec -n 2 "$tutorials/ex45" -da_grid_x 128 -da_grid_y 128 -da_grid_z 128 $types -dll_append "$LIB" \
        -pc_type $pc -sub_pc_type "${sub#* }" -ksp_type $([ $pc = asm ] && echo gmres || echo cg) || status=$?
      printf '{"problem": "ksp ex45 128^3", "ranks": 2, "preconditioner": "%s", "block": "%s", %s}\n' \
        $pc "${sub#* }, $on" "$(fields)" | tee -a "$results/ranks.jsonl" "$out"
      [ $status = 0 ] || verdict "$pc, $sub" $status "$results/petsc.log"
      [ "${its:-}" = "${expected:=${its:-}}" ] || verdict "$pc, $sub: ${its:-no} iterations, should be $expected" 1
    done
  done
fi

if begin orders "orders: unchanged PETSc programs, and examples, in each"; then
  rm -f "$results/orders.jsonl"
  tutorial
  runs=5 # of those that there are targets for
  in_orders "ex45, 128^3" 171 "${ex45[@]}" -ksp_type cg
  in_orders "ex2, 1000^2" 562 "${ex2[@]}" -ksp_type cg
  runs=1
  in_orders "ex4, 1000^2, 4 Newton steps" "" "$EXAMPLES/ex4" -da_grid_x 1000 -da_grid_y 1000 -ksp_type cg \
    -dm_mat_type aijcusparse -dm_vec_type cuda
  for m in G3_circuit slam_city10000 Dubcova1 BentPipe2D100; do
    f=$(files $m)
    [ -n "$f" ] || continue
    in_orders $m "" "$EXAMPLES/ex2" -f "$f" -mat_type aijcusparse -ksp_type \
      "$([ $m = BentPipe2D100 ] && echo gmres || echo cg)"
  done
  mapfile -t at < <(files G3_circuit slam_city10000 Dubcova1 BentPipe2D100 wave slam_ais2klinik)
  timeout -k 5 120 "$REPEATS" -n 200 -o "$results/orders.jsonl" order:g3d7:128 order:g2d5:1000 "${at[@]/#/order:}" \
    >"$results/orders.log" 2>&1
  status=$?
  grep -E "ordering|wrong" "$results/orders.log" | tee -a "$out"
  verdict "orderings, 20 times each" $status "$results/orders.log"
fi

if begin solutions "time to solution, set-up included: jacobi, cuSPARSE's ILU, and ours in each order"; then
  rm -f "$results/solutions.jsonl"
  # small matrices four to a process, large ones by themselves: what stops one, a set-up of minutes say, is not the end
  # of the others
  mapfile -t at < <(find -L ${MATRICES:-"$SPTRSV_MATRICES"} -maxdepth 1 -name '*.mtx*' -printf '%s %p\n' 2>/dev/null |
    sort -n | cut -d' ' -f2-)
  until=$((SECONDS + 500)) group=g2d5:1000,g3d7:128 inside=4
  if [ -n "${MATRICES:-}" ]; then group=$(printf '%s\n' $MATRICES | grep -v / | paste -sd,); fi
  : >"$results/solutions.log"
  for i in "${!at[@]}"; do
    group=$group,${at[i]} inside=$((inside + 1))
    [ $inside -ge 4 ] || [ $i -ge $((${#at[@]} - 16)) ] || continue
    left=$((until - SECONDS))
    if [ $left -lt 10 ]; then verdict "solutions of ${group#,}: no time left" 1
    else
      timeout -k 5 $((left < 100 ? left : 100)) "$SOLUTIONS" -f "${group#,}" -limit 5 -runs 3 -dll_append "$LIB" \
        -use_gpu_aware_mpi 0 -o "$results/solutions.jsonl" >>"$results/solutions.log" 2>&1
      status=$?
      [ $status = 0 ] || verdict "solutions of ${group#,}" $status "$results/solutions.log"
    fi
    group="" inside=0
  done
  [ ! -f "$results/solutions.jsonl" ] || python3 bench/solutions.py "$results/solutions.jsonl" | sed '/^<details>/,$d' |
    tee -a "$out"
fi

if begin corpus "time to solution, set-up included, of the corpus: ours in each order"; then
  rm -f "$results/corpus.jsonl"
  mapfile -t at < <(find -L "${CORPUS:-build/corpus}" -name '*.mtx.xz' | sort)
  [ ${#at[@]} -gt 0 ] || verdict "corpus: there is none; bench/corpus/make.py makes it" 1
  until=$((SECONDS + 280))
  : >"$results/corpus.log"
  for ((i = 0; i < ${#at[@]}; i += 10)); do
    left=$((until - SECONDS)) some=("${at[@]:i:10}")
    if [ $left -lt 5 ]; then verdict "corpus from ${some[0]} on: no time left" 1 && break; fi
    timeout -k 5 $((left < 60 ? left : 60)) "$SOLUTIONS" -f "$(IFS=,; echo "${some[*]}")" -values own \
      -ways natural,bmc,auto -limit 3 -runs 3 \
      -dll_append "$LIB" -use_gpu_aware_mpi 0 -o "$results/corpus.jsonl" >>"$results/corpus.log" 2>&1
    status=$?
    [ $status = 0 ] || verdict "corpus from ${some[0]} on" $status "$results/corpus.log"
  done
  verdict "$(cut -d'"' -f4 "$results/corpus.jsonl" | sort -u | wc -l) of ${#at[@]} systems" $?
fi

if begin krylov "KSP types with scalars on the GPU beside PETSc's own: time of KSPSolve"; then
  rm -f "$results/krylov.jsonl"
  mapfile -t at < <(files delaunay_n15 delaunay_n16 finance256 ct2010 nh2010 Dubcova1 slam_city10000 slam_ais2klinik \
    de2010 \
    cs4 wave G3_circuit rail_79841_A cage10 BentPipe2D100 hymls_cavity2D_64_Re1000 pyamg_recirc_flow)
  timeout -k 5 300 "$KRYLOV" -f "$(IFS=,; echo "g2d5:1000,g3d7:128,${at[*]}")" -dll_append "$LIB" -use_gpu_aware_mpi 0 \
    -o "$results/krylov.jsonl" >"$results/krylov.log" 2>&1
  status=$?
  verdict "$(grep -c '"matrix"' "$results/krylov.jsonl") comparisons" $status "$results/krylov.log"
  cut -c1-110 "$results/krylov.log" | tee -a "$out"
fi

if begin rivals "sptrsvgpu beside other preconditioners and triangular solves, on the GPU and on the CPU"; then
  rm -f "$results/rivals.jsonl"
  : >"$results/rivals.log"
  mapfile -t own < <(files Dubcova1 slam_city10000 rail_79841_A cage10 BentPipe2D100 pyamg_recirc_flow \
    hymls_cavity2D_64_Re1000)
  mapfile -t graphs < <(files delaunay_n15 finance256 ct2010 nh2010 de2010 cs4 nasa4704 bcsstk16)
  cores=$(nproc)
  if read -r quota period 2>/dev/null </sys/fs/cgroup/cpu.max && [ "$quota" != max ] &&
    [ $((quota / period)) -lt "$cores" ]; then
    cores=$((quota / period))
  fi
  rivals() { # WAY OPTIONS...: a process for each kind of system, so that what stops one loses no other
    local way=$1 of
    shift
    for of in "own $(IFS=,; echo "${own[*]}")" "laplacian $(IFS=,; echo "${graphs[*]}")" "own g2d5:1000,g3d7:128"; do
      timeout -k 5 15 "$@" -ways "$way" -values ${of% *} -f "${of#* }" -limit 1 -runs 3 -dll_append "$LIB" \
        -use_gpu_aware_mpi 0 -o "$results/rivals.jsonl" >>"$results/rivals.log" 2>&1
      verdict "$way, ${of:0:40}" $?
    done
  }
  for way in jacobi gamg ilu sliced_ell sweeps_2 sweeps_5 natural bmc auto; do rivals $way "$SOLUTIONS"; done
  for way in bjacobi gamg; do
    for ranks in 1 $((cores > 1 ? cores / 2 : 1)) "$cores"; do rivals $way mpiexec -n "$ranks" "$SOLUTIONS" -host; done
  done
  cut -c1-150 "$results/rivals.log" | tee -a "$out"
fi

if begin repeats "the same bits, 1,000 times"; then
  rm -f "$results/repeats.jsonl"
  mapfile -t at < <(files EVSL_A5795)
  timeout -k 5 220 "$REPEATS" -n 1000 -o "$results/repeats.jsonl" full:96 g2d5:60 rmat:11:8 \
    "${at[@]}" order:g2d5:60 arrow:2000:3 full:500 >"$results/repeats.log" 2>&1
  status=$?
  grep -E "DIFFER|vary|FAILED|refused|^[0-9]* wrong" "$results/repeats.log" | tee -a "$out"
  verdict "double: $(grep -c "the same bits" "$results/repeats.log") things repeated" $status "$results/repeats.log"
  timeout -k 5 40 "$REPEATS" -p float -n 200 -o "$results/repeats.jsonl" full:96 g2d5:60 rmat:11:8 \
    >"$results/repeats-float.log" 2>&1
  status=$?
  grep -E "DIFFER|FAILED|^[0-9]* wrong" "$results/repeats-float.log" | tee -a "$out"
  verdict "float: $(grep -c "the same bits" "$results/repeats-float.log") things repeated" $status \
    "$results/repeats-float.log"
fi

end
say ""
[ $failed = 0 ] && say "all passed" || say "something failed"
exit $failed
