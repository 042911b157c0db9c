#!/usr/bin/env bash
# Runs `make check` and `make check-petsc` with the PETScs of conf/petsc.versions, and with the first of them with other
# scalars and indices; and `make pretend-harness` with these built with CUDA: with all, or with those that are named.
#
#   tests/versions.sh [VERSION[-complex][-single][-int64][-cuda]...]
#
# conf/petsc.sh builds each PETSc for the host, without optimization, in $SPTRSV_CACHE/versions, where it is kept: about
# 3 minutes each on 2 cores. The tests take 4 minutes more. One with CUDA is in $SPTRSV_CACHE and takes 7 and 7 minutes;
# a GPU is not needed. The library and its tests are built in build/versions/NAME.
# Writes build/versions/NAME.log, and the lines of these PETScs in results/versions.txt.
# A PETSc that cannot be downloaded is skipped; one that cannot be built is a failure.
set -u
cd "$(dirname "$0")/.." || exit 1
unset PETSC_DIR PETSC_ARCH MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES TEST_OPTIONS
cache=${SPTRSV_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sptrsvgpu}
versions=("$@")
all=()
mapfile -t all < <(awk '!/^#/ { print $1 }' conf/petsc.versions)
for kind in -int64 -single -complex -complex-single -complex-int64; do all+=("${all[0]}$kind"); done
for kind in -int64 -single -complex -complex-single; do all+=("${all[0]}$kind-cuda"); done
[ $# -gt 0 ] || versions=("${all[@]}")
passed=0 failed=0 skipped=0
declare -A lines
mkdir -p build/versions "$cache/versions" "$cache/sdist"
[ -e "$cache/versions/sdist" ] || ln -s ../sdist "$cache/versions/sdist"

build_petsc() { # NAME: prints where it is, as shell assignments
  local scalar=real precision=double indices=32 kind=host optimize=-O0 folder=$cache/versions
  case $1- in *-complex-*) scalar=complex ;; esac
  case $1- in *-single-*) precision=single ;; esac
  case $1- in *-int64-*) indices=64 ;; esac
  case $1- in *-cuda-*) kind=cuda optimize=-O1 folder=$cache ;; esac
  PETSC_VERSION=${1%%-*} PETSC_SCALAR=$scalar PETSC_PRECISION=$precision PETSC_INDICES=$indices PETSC_KIND=$kind \
    PETSC_OPTIMIZE=$optimize SPTRSV_CACHE=$folder conf/petsc.sh build
}

run_make() { # NAME TARGET
  make --no-print-directory BUILD="build/versions/$1" PETSC_DIR="$PETSC_DIR" PETSC_ARCH="$PETSC_ARCH" "$2" \
    </dev/null 2>&1 | tee -a "build/versions/$1.log"
}

run_tests() { # NAME: p, f, s are what passed, failed, was skipped
  local output target=check-petsc
  p=0 f=0 s=0
  if [[ $1 == *-cuda ]]; then
    target=pretend-harness
  else
    output=$(run_make "$1" check)
    if grep -q '^OK (host)$' <<<"$output"; then p=1; else f=1; fi
  fi
  output=$(run_make "$1" $target | grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$')
  if [[ $output =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
    p=$((p + BASH_REMATCH[1])) f=$((f + BASH_REMATCH[2])) s=$((s + BASH_REMATCH[3]))
  else
    f=$((f + 1))
  fi
}

sources=$(tests/sources.sh makefile conf include src tests examples)

write_results() { # the new lines, and the other ones as they are
  local file=results/versions.txt name line
  {
    echo "The tests with each PETSc, by tests/versions.sh: make check and make check-petsc on the host; with CUDA, make"
    echo "pretend-harness: matrices on a pretended device."
    echo
    for name in "${all[@]}"; do
      line=${lines[$name]-$(grep -E "^PETSc $name " $file)}
      [ -z "$line" ] || echo "$line"
    done
  } >$file.new
  mv $file.new $file
}

for version in "${versions[@]}"; do
  log=build/versions/$version.log start=$SECONDS note=
  echo "== PETSc $version, log in $log"
  : >"$log"
  if [[ $version == *-cuda ]] && ! command -v nvcc >/dev/null; then
    p=0 f=0 s=1 note=", no nvcc"
  elif answer=$(build_petsc "$version" 2>>"$log"); then
    eval "$answer"
    run_tests "$version"
    grep -E '^ *FAILED' "$log"
  elif [ ! -f "$cache/sdist/petsc-${version%%-*}.tar.gz" ]; then
    p=0 f=0 s=1 note=", no download"
  else
    p=0 f=1 s=0 note=", not built"
  fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  line=$(printf 'PETSc %-26s %4d passed, %d failed, %d skipped%s' "$version" $p $f $s "$note")
  compiler=$(mpicc --version 2>/dev/null | sed -n '1s/ (.*)//p')
  lines[$version]="$line; $(date -u +%F), sources $sources, $compiler"
  write_results
  echo "$line, $((SECONDS - start)) s"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
