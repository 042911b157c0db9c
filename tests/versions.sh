#!/usr/bin/env bash
# Runs `make check` and `make check-petsc` with PETScs of conf/petsc.versions: all, or those that are named.
#
#   tests/versions.sh [VERSION...]
#
# conf/petsc.sh builds each PETSc for the host, without optimization, in $SPTRSV_CACHE/versions, where it is kept: about
# 3 minutes each on 2 cores. The tests take 4 minutes more. The library and its tests are built in
# build/versions/VERSION.
# Writes build/versions/VERSION.log and, where all versions were to run, results/versions.txt.
# A PETSc that cannot be downloaded is skipped; one that cannot be built is a failure.
set -u
cd "$(dirname "$0")/.." || exit 1
unset PETSC_DIR PETSC_ARCH MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES TEST_OPTIONS
cache=${SPTRSV_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sptrsvgpu}
versions=("$@")
[ $# -gt 0 ] || mapfile -t versions < <(awk '!/^#/ { print $1 }' conf/petsc.versions)
passed=0 failed=0 skipped=0 lines=
mkdir -p build/versions "$cache/versions" "$cache/sdist"
[ -e "$cache/versions/sdist" ] || ln -s ../sdist "$cache/versions/sdist"

build_petsc() { # VERSION: prints where it is, as shell assignments
  PETSC_VERSION=$1 PETSC_KIND=host PETSC_OPTIMIZE=-O0 SPTRSV_CACHE=$cache/versions conf/petsc.sh build
}

run_make() { # VERSION TARGET
  make --no-print-directory BUILD="build/versions/$1" PETSC_DIR="$PETSC_DIR" PETSC_ARCH="$PETSC_ARCH" "$2" \
    </dev/null 2>&1 | tee -a "build/versions/$1.log"
}

run_tests() { # VERSION: p, f, s are what passed, failed, was skipped
  local output
  p=0 f=0 s=0
  output=$(run_make "$1" check)
  if grep -q '^OK (host)$' <<<"$output"; then p=1; else f=1; fi
  output=$(run_make "$1" check-petsc | grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$')
  if [[ $output =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
    p=$((p + BASH_REMATCH[1])) f=$((f + BASH_REMATCH[2])) s=$((s + BASH_REMATCH[3]))
  else
    f=$((f + 1))
  fi
}

write_results() {
  echo "The tests on the host with each PETSc: make check and make check-petsc, by tests/versions.sh"
  echo
  echo "date     $(date -u +%F)"
  printf 'sources  '
  find makefile conf include src tests examples -type f ! -name '*.pyc' | LC_ALL=C sort | xargs cat | sha256sum | cut -c1-16
  echo "host     $(uname -m), $(uname -s), $(mpicc --version | sed -n '1s/ (.*)//p'), $(nproc) cores"
  echo
  printf '%s' "$lines"
}

for version in "${versions[@]}"; do
  log=build/versions/$version.log start=$SECONDS note=
  echo "== PETSc $version, log in $log"
  : >"$log"
  if answer=$(build_petsc "$version" 2>>"$log"); then
    eval "$answer"
    run_tests "$version"
    grep -E '^ *FAILED' "$log"
  elif [ ! -f "$cache/sdist/petsc-$version.tar.gz" ]; then
    p=0 f=0 s=1 note=", no download"
  else
    p=0 f=1 s=0 note=", not built"
  fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  line=$(printf 'PETSc %-7s %4d passed, %d failed, %d skipped%s' "$version" $p $f $s "$note")
  lines+=$line$'\n'
  echo "$line, $((SECONDS - start)) s"
done
if [ $# = 0 ]; then write_results >results/versions.txt; fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
