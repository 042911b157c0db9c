#!/usr/bin/env bash
# Builds the part of hypre that its ILU needs, with CUDA, for the ways hypre_ilu and hypre_sweeps of bench/solutions.c.
#
#   bench/get_hypre.sh FOLDER [SOURCES]
#   make build/bench/solutions HYPRE_DIR=FOLDER     (full paths; then the program has these ways)
#
#   FOLDER     gets include/ and lib/libHYPRE.a; FOLDER/build is where it is built. Stopped, the script continues there
#   SOURCES    a folder with hypre's sources, or a git repository (default: https://github.com/hypre-space/hypre)
#
# Variables: HYPRE_TAG, of a git repository (default: v3.1.0); CUDA_ARCH, one compute capability (default: 90; none: for
# the host alone); JOBS (default: all cores); MPICC and MPICXX, those of PETSc (default: mpicc and mpicxx).
# Needs: git where SOURCES is a repository, cmake 3.21, nvcc. It takes about half an hour on 2 cores. hypre's structured
# grids and the solvers for them are left out.
#
# Options: real double precision and 32-bit indices like PETSc's; memory of the GPU, not unified memory, from CUDA's
# pool, because an allocation by cudaMalloc in each solve would wait for the GPU. hypre prefers Umpire's pool.
set -eu -o pipefail
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
  exit 2
fi
mkdir -p "$1"
folder=$(cd "$1" && pwd)
sources=${2:-https://github.com/hypre-space/hypre}
arch=${CUDA_ARCH:-90}
needed="utilities multivector krylov seq_mv seq_block_mv parcsr_mv parcsr_block_mv IJ_mv distributed_matrix"
needed="$needed matrix_matrix distributed_ls parcsr_ls"

if [ ! -e "$folder/source/src/CMakeLists.txt" ]; then
  rm -rf "$folder/source"
  if [ -e "$sources/src/CMakeLists.txt" ]; then
    rm -rf "$folder/source.part" && mkdir "$folder/source.part" && cp -R "$sources/src" "$folder/source.part"
    mv "$folder/source.part" "$folder/source"
  else
    git -c advice.detachedHead=false clone -q --depth 1 -b "${HYPRE_TAG:-v3.1.0}" "$sources" "$folder/source"
  fi
fi
sed -i.all "s/^set(HYPRE_DIRS .*/set(HYPRE_DIRS $needed)/" "$folder/source/src/CMakeLists.txt"
grep -q "^set(HYPRE_DIRS $needed)" "$folder/source/src/CMakeLists.txt" ||
  { echo "this is another version of hypre: src/CMakeLists.txt has no line HYPRE_DIRS" >&2; exit 1; }

options=(-DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_PREFIX="$folder"
  -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_C_COMPILER="${MPICC:-mpicc}" -DCMAKE_CXX_COMPILER="${MPICXX:-mpicxx}")
if [ "$arch" != none ]; then
  options+=(-DHYPRE_ENABLE_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES="$arch" -DHYPRE_ENABLE_UNIFIED_MEMORY=OFF
    -DHYPRE_ENABLE_UMPIRE=OFF -DHYPRE_ENABLE_DEVICE_MALLOC_ASYNC=ON)
fi
if command -v ccache >/dev/null; then
  options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
fi
cmake -S "$folder/source/src" -B "$folder/build" "${options[@]}" >"$folder/configure.log" 2>&1 ||
  { tail -n 30 "$folder/configure.log" >&2; exit 1; }
cmake --build "$folder/build" -j "${JOBS:-$(nproc)}"
cmake --install "$folder/build" >/dev/null
ls -l "$folder/lib/libHYPRE.a"
