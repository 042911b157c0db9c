#!/usr/bin/env bash
# Runs `make check` and `make check-petsc` with PETScs of conf/petsc.versions: all, or those that are named.
#
#   tests/versions.sh [VERSION...]
#
# Each PETSc is built by conf/petsc.sh for the host, without optimization, in $SPTRSV_CACHE/versions, and kept there: about 3 minutes
# each on 2 cores, and as long for the tests. The library and its tests are built in build/versions/VERSION.
# Writes build/versions/VERSION.log and, where all versions ran, results/versions.txt.
# A PETSc that cannot be downloaded counts as one that is skipped, one that cannot be built as a failure.
set -u
cd "$(dirname "$0")/.." || exit 1
unset PETSC_DIR PETSC_ARCH MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES TEST_OPTIONS
cache=${SPTRSV_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sptrsvgpu}
mapfile -t all < <(awk '!/^#/ { print $1 }' conf/petsc.versions)
versions=("$@")
[ $# -gt 0 ] || versions=("${all[@]}")
export TIMEOUT=${TIMEOUT:-300} # seconds a test, which may be slow with a PETSc without optimization
passed=0 failed=0 skipped=0 lines=
mkdir -p build/versions "$cache/versions" "$cache/sdist"
[ -e "$cache/versions/sdist" ] || ln -s ../sdist "$cache/versions/sdist"

build_petsc() { # VERSION: prints where it is
  PETSC_VERSION=$1 PETSC_KIND=host PETSC_OPTIMIZE=-O0 SPTRSV_CACHE=$cache/versions conf/petsc.sh build
}

run_make() { # VERSION TARGET, with $where
  make --no-print-directory BUILD="build/versions/$1" $where CUDA_ARCH= "$2" </dev/null 2>&1 | tee -a "build/versions/$1.log"
  return "${PIPESTATUS[0]}"
}

count() { # VERSION: adds to p, f, s what the tests passed, failed and skipped
  local last
  p=0 f=0 s=0
  if run_make "$1" check | grep -q '^OK (host)'; then p=1; else f=1; fi
  last=$(run_make "$1" check-petsc | grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' | tail -n 1)
  if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
    p=$((p + BASH_REMATCH[1])) f=$((f + BASH_REMATCH[2])) s=$((s + BASH_REMATCH[3]))
  else
    f=$((f + 1))
  fi
}

say() { echo "$*" && lines+="$*"$'\n'; }

for version in "${versions[@]}"; do
  start=$SECONDS p=0 f=0 s=0 note=
  : >"build/versions/$version.log"
  if answer=$(build_petsc "$version" 2>>"build/versions/$version.log"); then
    eval "$answer"
    where="PETSC_DIR=$PETSC_DIR PETSC_ARCH=$PETSC_ARCH"
    count "$version"
  elif [ ! -f "$cache/sdist/petsc-$version.tar.gz" ]; then
    s=1 note=", no download"
  else
    f=1 note=", not built: see build/versions/$version.log"
  fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  say "$(printf 'PETSc %-7s %4d passed, %2d failed, %2d skipped%s' "$version" $p $f $s "$note")"
  grep -E '^ *FAILED' "build/versions/$version.log" || true
  echo "  $((SECONDS - start)) s; log in build/versions/$version.log"
done

if [ $# = 0 ]; then
  mkdir -p results
  {
    echo "Tests on the host with each PETSc, by tests/versions.sh: make check and make check-petsc"
    echo "date     $(date -u +%F)"
    echo "sources  $(export LC_ALL=C; find makefile conf include src tests examples -type f | sort | xargs cat | sha256sum | cut -c1-16)"
    echo "host     $(uname -m), $(${CC:-cc} --version | head -n 1), $(mpichversion 2>/dev/null | head -n 1 || mpirun --version | head -n 1)"
    printf '%s' "$lines"
  } >results/versions.txt
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
