#!/usr/bin/env bash
# Compiles the rooms of src that call PETSc, with the headers of each PETSc in conf/petsc.versions, without CUDA and,
# where there is a toolkit, with it; also with 64-bit indices, and with complex or single scalars. No PETSc is built:
# the headers are those of the source distributions, which are downloaded where the cache lacks them.
#
#   PETSC_DIR, PETSC_ARCH  a configured PETSc, on whose petscconf.h those of the others are modeled
#   CC                     its compiler
#   CUDA_DIR               the toolkit (default: where nvcc is, or /usr/local/cuda)
#   SPTRSV_CACHE           as for conf/petsc.sh
#
# Each PETSc counts once for each configuration; those that cannot be downloaded are skipped. On 2 cores 40 s,
# and a minute for the downloads.
set -u
cd "$(dirname "$0")/.." || exit 1
cache=${SPTRSV_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sptrsvgpu}/sdist
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

configured=
for include in "$PETSC_DIR/${PETSC_ARCH:-}/include" "$PETSC_DIR/include"; do
  if [ -f "$include/petscconf.h" ]; then configured=$include && break; fi
done
if [ -z "$configured" ]; then
  echo "PETSC_DIR=$PETSC_DIR PETSC_ARCH=${PETSC_ARCH:-} is not a configured PETSc"
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi

toolkit=
nvcc=$(command -v nvcc || true)
for dir in "${CUDA_DIR:-}" "${nvcc%/bin/nvcc}" /usr/local/cuda; do
  if [ -f "$dir/include/cuda_runtime.h" ]; then toolkit=$dir/include && break; fi
done
kinds=host
most=host # the configuration whose scalars and indices are changed
if [ -n "$toolkit" ]; then most=cuda kinds+=" cuda"; else echo "no CUDA toolkit found: without CUDA only"; fi
kinds+=" $most-int64 $most-single $most-complex $most-complex-single-int64"

configure() { # KIND: writes petscconf.h in a folder of that name
  local precision=DOUBLE
  case $1 in *single*) precision=SINGLE ;; esac
  mkdir -p "$work/$1"
  {
    grep -vE -e '^#define PETSC_(HAVE_(CUDA|CUPM|DEVICE|HIP|SYCL)|PKG_(CUDA|HIP)|DEVICELANGUAGE)' \
      -e '^#define PETSC_USE_(COMPLEX|REAL_|64BIT_INDICES)' \
      -e '^#define PETSC_HAVE_(I_MPI|MVAPICH|MPICH|OPENMPI|OMPI)' "$configured/petscconf.h"
    echo "#define PETSC_USE_REAL_$precision 1"
    case $1 in *complex*) echo '#define PETSC_USE_COMPLEX 1' ;; esac
    case $1 in *int64*) echo '#define PETSC_USE_64BIT_INDICES 1' ;; esac
    case $1 in cuda*) printf '#define PETSC_HAVE_%s 1\n' CUDA CUPM DEVICE ;; esac
    # PETSc's headers compare mpi.h with the MPI of the configuration, under names that have changed but for this one
    printf '#define %s 1\n' PETSC_HAVE_MSMPI_VERSION MSMPI_VER
  } >"$work/$1/petscconf.h"
}

fetch() { # VERSION: 2 where it cannot be downloaded
  [ -f "$cache/petsc-$1.tar.gz" ] && return
  mkdir -p "$cache"
  PETSC_CONFIGURE_OPTIONS='' python3 -m pip --disable-pip-version-check download -q --no-deps --no-binary petsc \
    -d "$work/sdist" "petsc==$1" >"$work/download.log" 2>&1 || return 2
  mv "$work/sdist/petsc-$1.tar.gz" "$cache"
}

unpack() { # VERSION SHA256
  fetch "$1" || { echo "PETSc $1: skipped, the download failed: $(tail -n 1 "$work/download.log")" && return 2; }
  if ! echo "$2  $cache/petsc-$1.tar.gz" | sha256sum -c --quiet >/dev/null 2>&1; then
    rm -f "$cache/petsc-$1.tar.gz"
    echo "PETSc $1: FAILED, the source distribution is not the one that was published (its checksum differs)"
    return 1
  fi
  mkdir "$work/$1"
  tar xf "$cache/petsc-$1.tar.gz" -C "$work/$1" --strip-components=1 "petsc-$1/include"
}

compile() { # VERSION KIND
  local options=(-fsyntax-only -std=c11 -Wall -Wextra -Wno-unused-parameter -Werror)
  options+=(-Iinclude -Isrc/kernels "-I$work/$2" "-I$work/$1/include" "-I$configured")
  case $2 in cuda*) options+=("-I$toolkit" -DTRSV_CUDA) ;; esac
  # what each file begins with is compiled once, but for the file that asks for more of the system's headers
  local begin=$work/$2/begin.h all=(src/{petsc,mat,ksp,pc,plugin}/*.c)
  local alone=(src/plugin/filename.c)
  echo '#include "src/petsc/common.h"' >"$begin"
  {
    "${CC:-mpicc}" "${options[@]:1}" -I. -c -x c-header "$begin" -o "$begin.gch" &&
      "${CC:-mpicc}" "${options[@]}" "${alone[@]}" &&
      printf '%s\n' "${all[@]}" | grep -vxF "${alone[@]}" |
      xargs -P "$(nproc)" -n 3 "${CC:-mpicc}" "${options[@]}" -Winvalid-pch -I. -include "$begin"
  } >"$work/log" 2>&1
}

for kind in $kinds; do configure "$kind"; done
while read -r version sha256; do
  unpack "$version" "$sha256"
  case $? in
  0) ;;
  2) skipped=$((skipped + 1)) && continue ;;
  *) failed=$((failed + 1)) && continue ;;
  esac
  for kind in $kinds; do
    if compile "$version" "$kind"; then
      passed=$((passed + 1))
      echo "PETSc $version, $kind: ok"
    else
      failed=$((failed + 1))
      echo "PETSc $version, $kind: FAILED"
      grep 'error:' "$work/log" | sed "s#^$work/##" | sort -u | head -n 20
    fi
  done
  rm -rf "${work:?}/$version"
done < <(grep -v '^#' conf/petsc.versions)
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
