#!/usr/bin/env bash
# Runs everything that needs a GPU: tests, sanitizers, long runs and benchmarks. `make check-gpu` builds the programs,
# calls this script, and says in variables where the programs are.
#
#   PARTS      names of parts (default: harness memory waits matrices solve sanitizer profile setup petsc). A part is a
#              file of tests/gpu/parts; its first lines say what it does, needs and writes, how long it takes on an H200
#              with 16 cores (`about` marks an estimate), and which variables it reads. PARTS=help prints these lines
#   RESULTS    the folder for results (default: results). On several GPUs parts can run side by side, each call with its
#              own RESULTS and CUDA_VISIBLE_DEVICES
#
# Writes RESULTS/gpu.txt anew: the GPU and the software, the parts that ran, how long they took, what failed. The exit
# status is 1 if something failed.
#
# Where a run may take at most ten minutes: PARTS="petsc ranks setup orders", PARTS="solutions", PARTS="repeats dense
# recblock ag", PARTS="solve", PARTS="families", PARTS="harness matrices profile", PARTS="dags same shared errors",
# PARTS="sanitizer memory applies", PARTS="waits threads races scalars ampere", PARTS="rivals", PARTS="rivals_corpus"
# with each half of the files, PARTS="rivals_corpus_host" with each of its WAYS, each with its own RESULTS, whose lines
# are then joined. `make plots` makes tables and plots of all results.
set -u
parts=${PARTS:-harness memory waits matrices solve sanitizer profile setup petsc}
folder=$(dirname "$0")
results=${RESULTS:-results}
make=${MAKE:-make}
device="-mat_type aijcusparse -vec_type cuda -dm_mat_type aijcusparse -dm_vec_type cuda -use_gpu_aware_mpi 0"
wrong='WRONG|DIFFER|captured|^[0-9]* wrong' # lines of benchmark programs that are shown
failed=0 log="" status=0
known=$(cd "$folder/parts" && printf '%s ' *.sh | sed 's/\.sh / /g; s/ $//')
out=$results/gpu.txt

print_head() { sed -n '/^#/!q; s/^# //p' "$folder/parts/$1.sh"; } # PART: its first lines
say() { printf '%s\n' "$*" | tee -a "$out"; }
begin() { printf '\n== %s\n' "$1" | tee -a "$out"; } # TITLE
report() { # NAME STATUS [LOG]: the outcome of a test, and the end of the log of one that failed
  if [ "$2" = 0 ]; then say "ok      $1"; return; fi
  say "FAILED  $1 (exit status $2$([ "$2" != 124 ] || echo ": ran out of time"))"
  [ -z "${3:-}" ] || grep -v '^ *$' "$3" | tail -n 3 | cut -c1-200 | sed 's/^/        /' | tee -a "$out"
  failed=1
}
run_logged() { # NAME SECONDS COMMAND...: writes RESULTS/NAME.log; sets log and status
  log=$results/$1.log
  timeout -k 5 "$2" "${@:3}" >"$log" 2>&1
  status=$?
}
show() { grep -E "$1" "$log" | head -n "${2:-1000}" | tee -a "$out"; } # PATTERN [COUNT]: these lines of the log
run_long_program() { # NAME SECONDS COMMAND...: a part that is one program; shows its last line and its errors
  rm -f "$results/$1.jsonl"
  run_logged "$@" -o "$results/$1.jsonl"
  show "^WRONG" 20
  report "$1: $(tail -n 1 "$log" | cut -c1-200)" $status "$log"
}
find_matrices() { # NAME...: prints the files of these matrices
  local m f
  for m in "$@"; do
    f=$(compgen -G "$SPTRSV_MATRICES/$m.mtx*" | head -1)
    if [ -n "$f" ]; then printf '%s\n' "$f"; else echo "no matrix $m in $SPTRSV_MATRICES" >&2; fi
  done
}
find_all_matrices() { # [-r]: prints the files of all matrices, or of MATRICES, by size; -r: the largest first
  find -L ${MATRICES:-"$SPTRSV_MATRICES"} -maxdepth 1 -name '*.mtx*' -printf '%s %p\n' 2>/dev/null | sort -n "$@" |
    cut -d' ' -f2-
}
join() { # WORD...: with commas
  local IFS=,
  echo "$*"
}
find_corpus() { # sets at to the files of the corpus; reports whether it is there and whole
  mapfile -t at < <(find -L "${CORPUS:-build/corpus}" -name '*.mtx.xz' | sort)
  [ ${#at[@]} -gt 0 ] || report "there is no corpus; bench/corpus/make.py makes it" 1
  run_logged group 60 python3 bench/corpus/make.py --check "${CORPUS:-build/corpus}"
  report "corpus: patterns as in bench/corpus/patterns.tsv" $status "$log"
}
list_compared() { # own, laplacian, grids or generated: prints the systems in which others are compared
  case $1 in
  own) find_matrices Dubcova1 slam_city10000 rail_79841_A cage10 BentPipe2D100 pyamg_recirc_flow \
    hymls_cavity2D_64_Re1000 ;;
  laplacian) find_matrices delaunay_n15 finance256 ct2010 nh2010 de2010 cs4 nasa4704 bcsstk16 ;;
  grids) printf '%s\n' g2d5:1000 g3d7:128 ;;
  generated) # the half of the corpus for reporting
    python3 bench/corpus/make.py --list | sed -n 's/ report$//p' | while read -r name; do
      find -L "${CORPUS:-build/corpus}" -name "$name-*.mtx.xz"
    done | sort ;;
  esac
}
begin_comparison() { # TITLE: of a part that calls compare_ways
  begin "$1"
  rm -f "$results/$part.jsonl"
  : >"$results/$part.log"
}
compare_ways() { # SECONDS WAYS VALUES FILES COMMAND...: solves systems in these ways, in a process of their own, so
  # that an error does not end others; FILES with commas. Appends to RESULTS/PART.jsonl and RESULTS/PART.log
  local first=${4%%,*} commas=${4//[^,]/}
  timeout -k 5 "$1" "${@:5}" -ways "$2" -values "$3" -f "$4" -dll_append "$LIB" -use_gpu_aware_mpi 0 \
    -o "$results/$part.jsonl" >>"$results/$part.log" 2>&1
  status=$?
  report "${2:0:20}, $3, $((${#commas} + 1)) systems from $(basename "$first") on" $status
}
list_ranks() { # on how many cores ways run on the CPU: 1, half, all
  local cores quota period
  cores=$(nproc)
  if read -r quota period 2>/dev/null </sys/fs/cgroup/cpu.max && [ "$quota" != max ] &&
    [ $((quota / period)) -lt "$cores" ]; then
    cores=$((quota / period))
  fi
  printf '%s\n' 1 $((cores / 2)) "$cores" | sort -nu | sed '/^0$/d'
}
print_built_ways() { # prints the ways of hypre and Ginkgo that the program of solutions has
  if grep -aq "hypre, error %d" "$SOLUTIONS"; then echo hypre_ilu hypre_sweeps hypre_ilu_multicolor; fi
  if grep -aq "Ginkgo: %s" "$SOLUTIONS"; then echo ginkgo_ilu ginkgo_ilu_multicolor; fi
}

petsc_uses() { # NAME YES NO: prints the word that fits PETSC_USE_NAME
  grep -q "^#define PETSC_USE_$1 " "$PETSC_DIR/$PETSC_ARCH/include/petscconf.h" && echo "$2" || echo "$3"
}
say_versions() {
  say "sources  $(tests/sources.sh makefile conf include src bench)"
  say "gpu      $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -1)"
  say "cuda     $(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')"
  [ ! -f "${PETSC_DIR-}/include/petscversion.h" ] ||
    say "petsc    $(sed -n 's/^#define PETSC_VERSION_\(MAJOR\|MINOR\|SUBMINOR\) *\([0-9]*\).*/\2/p' \
    "$PETSC_DIR/include/petscversion.h" | paste -sd.), $(petsc_uses COMPLEX complex real) $(petsc_uses REAL_SINGLE \
    single double), indices of $(petsc_uses 64BIT_INDICES 64 32) bits"
  say "date     $(date -u +%F)"
}
said() { sed -n "s/^$1  *//p" "$out" | head -1; } # WORD: what say_versions printed after it

if [ "$parts" = help ]; then
  for part in $known; do printf '%s\n' "$part" && print_head "$part" | sed 's/^/  /'; done
  exit 0
fi
for part in $parts; do
  case " $known " in *" $part "*) ;; *) echo "there is no part $part; there are: $known" && exit 1 ;; esac
done
mkdir -p "$results"
if ! nvidia-smi -L >/dev/null 2>&1; then
  out=/dev/null
  say_versions
  say ""
  say "no GPU here (nvidia-smi finds none): nothing is run. All parts need an NVIDIA GPU; besides"
  for part in $parts; do say "  $part: $(print_head "$part" | sed -n 's/^needs: //p')"; done
  say "and the real matrices in SPTRSV_MATRICES=$SPTRSV_MATRICES ($(find -L "$SPTRSV_MATRICES" -maxdepth 1 \
    -name '*.mtx*' 2>/dev/null | wc -l) there)"
  exit 1
fi
: >"$out"
say_versions
export RESULT_FIELDS="\"gpu\": \"$(said gpu)\", \"sources\": \"$(said sources)\", \"date\": \"$(said date)\""

for part in $parts; do
  started=$SECONDS
  (
    . "$folder/parts/$part.sh"
    exit $failed
  ) || failed=1
  say "($part: $((SECONDS - started)) s)"
done
say ""
[ $failed = 0 ] && say "all passed" || say "something failed"
exit $failed
