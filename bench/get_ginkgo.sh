#!/usr/bin/env bash
# Builds the part of Ginkgo that its ILU(0) on the GPU needs, for the ways ginkgo_ilu and ginkgo_ilu_multicolor of
# bench/solutions.c.
#
#   bench/get_ginkgo.sh FOLDER [SOURCES]
#   make build/bench/solutions GINKGO_DIR=FOLDER     (full paths; then the program has these ways)
#
#   FOLDER     gets include/ and lib/libginkgo.a; FOLDER/build is where it is built. Stopped, the script continues there
#   SOURCES    a folder with Ginkgo's sources, or a git repository (default:
#              https://github.com/ginkgo-project/ginkgo)
#
# Variables: GINKGO_TAG, of a git repository (default: v1.11.0); CUDA_ARCH, one compute capability (default: 90); JOBS
# (default: all cores); CXX (default: g++); NVCC (default: nvcc).
# Needs: git where SOURCES is a repository, nvcc, binutils. It takes about 10 minutes on 2 cores. Ginkgo's own build
# would make all of Ginkgo.
#
# Without cmake, because it builds all or nothing. Compiled are the classes that are needed, and of the GPU's kernels
# those of the factorization and the solves, for double precision and 32-bit indices. All other kernels are Ginkgo's own
# stubs for what was not compiled, which are errors. The stubs are weak, so a kernel replaces its stub.
# What is not used has no definition at all. A program is therefore linked with -Wl,--gc-sections. No messages
# (GKO_VERBOSE_LEVEL 0): with them, a solve copies a flag to the host, and waits.
set -eu -o pipefail
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2
  exit 2
fi
mkdir -p "$1/build" "$1/include/ginkgo" "$1/lib"
folder=$(cd "$1" && pwd)
sources=${2:-https://github.com/ginkgo-project/ginkgo}

classes="factorization/ilu solver/lower_trs solver/upper_trs
  matrix/csr matrix/csr_lookup matrix/dense matrix/coo matrix/ell matrix/hybrid matrix/sellp matrix/fbcsr
  matrix/sparsity_csr matrix/diagonal matrix/permutation matrix/scaled_permutation
  base/array base/composition base/device_matrix_data base/executor base/memory"
gpu_host="device exception executor memory nvtx scoped_device_id stream timer version event_kernels"
gpu="cuda/solver/lower_trs_kernels.cu cuda/solver/upper_trs_kernels.cu
  common/cuda_hip/factorization/factorization_kernels.cpp common/cuda_hip/factorization/lu_kernels.cpp
  common/cuda_hip/matrix/csr_kernels.instantiate.cpp common/cuda_hip/components/prefix_sum_kernels.cpp
  common/unified/matrix/csr_kernels.cpp common/unified/matrix/dense_kernels.instantiate.cpp
  common/unified/components/fill_array_kernels.cpp"

if [ ! -e "$folder/source/core/CMakeLists.txt" ]; then
  rm -rf "$folder/source" "$folder/source.part"
  if [ -e "$sources/core/CMakeLists.txt" ]; then
    mkdir "$folder/source.part"
    for part in accessor common core cuda devices include; do cp -R "$sources/$part" "$folder/source.part"; done
  else
    git -c advice.detachedHead=false clone -q --depth 1 -b "${GINKGO_TAG:-v1.11.0}" "$sources" "$folder/source.part"
  fi
  mv "$folder/source.part" "$folder/source"
fi
cd "$folder/source"
# of the files with the most kernels, one kernel
keep() { # KERNEL FILE
  sed -i "/^\/\/ begin/,/^\/\/ end/{/(GKO_DECLARE_$1)/!d}" "$2"
  grep -q "(GKO_DECLARE_$1)" "$2" || { echo "this is another version of Ginkgo: $2 has no $1" >&2; exit 1; }
}
keep CSR_BUILD_LOOKUP_KERNEL common/cuda_hip/matrix/csr_kernels.instantiate.cpp
keep DENSE_FILL_KERNEL common/unified/matrix/dense_kernels.instantiate.cpp
cp -R include/ginkgo "$folder/include"

# what cmake would write; all that can be left out is, the messages, too
sed -e 's/^#cmakedefine01 \(.*\)/#define \1 0/' -e '/^#cmakedefine /{/CXXABI\|UINT64/!d; s/cmake//}' \
  -e 's/@[A-Za-z_]*@/0/g' include/ginkgo/config.hpp.in >"$folder/build/config.hpp"
cmp -s "$folder/build/config.hpp" "$folder/include/ginkgo/config.hpp" ||
  cp "$folder/build/config.hpp" "$folder/include/ginkgo/config.hpp"

# the macros that list types, for kernels
{
  echo '#include <ginkgo/core/base/types.hpp>'
  while read -r name types; do
    printf '#undef GKO_INSTANTIATE_FOR_EACH_%s\n#define GKO_INSTANTIATE_FOR_EACH_%s(m) template m(%s)\n' \
      "$name" "$name" "$types"
  done <<'END'
NON_COMPLEX_VALUE_TYPE double
VALUE_TYPE double
VALUE_AND_SCALAR_TYPE double, double
INDEX_TYPE int32
NON_COMPLEX_VALUE_AND_INDEX_TYPE double, int32
VALUE_AND_INT32_TYPE double, int32
VALUE_AND_INDEX_TYPE double, int32
END
} >"$folder/build/types.hpp"

export CXX=${CXX:-g++} NVCC=${NVCC:-nvcc} folder arch="${CUDA_ARCH:-90}"
compile() { # FILE: build/FILE.o
  local out="$folder/build/${1//\//_}.o" sections="-fPIC -ffunction-sections -fdata-sections" language=cu
  local flags=(-std=c++17 -I"$folder/include" -I. -w)
  [ -e "$out" ] && return
  echo "$1"
  case $1 in cuda/base/*) language=c++ ;; esac
  # shellcheck disable=SC2086
  case $1 in
    core/* | devices/*) $CXX "${flags[@]}" -O1 $sections -c "$1" -o "$out.part" ;;
    *) $NVCC -x $language "${flags[@]}" -O3 -arch="sm_$arch" --expt-relaxed-constexpr --expt-extended-lambda \
      -Xcompiler "${sections// /,}" -DGKO_COMPILING_CUDA -DGKO_DEVICE_NAMESPACE=cuda \
      -DTHRUST_CUB_WRAPPED_NAMESPACE=gko -include "$folder/build/types.hpp" -c "$1" -o "$out.part" ;;
  esac && mv "$out.part" "$out"
}
export -f compile
objects() { local f; for f in "$@"; do echo "$folder/build/${f//\//_}.o"; done; }

stubs=() host=() device=(devices/machine_topology.cpp)
for d in cuda omp reference hip dpcpp; do stubs+=("core/device_hooks/${d}_hooks.cpp"); done
for d in cuda omp hip dpcpp; do device+=("devices/$d/executor.cpp"); done
for f in $classes; do host+=("core/$f.cpp"); done
for f in $gpu_host; do gpu="$gpu cuda/base/$f.cpp"; done
# shellcheck disable=SC2086
printf '%s\n' $gpu "${stubs[@]}" "${host[@]}" "${device[@]}" |
  xargs -P "${JOBS:-$(nproc)}" -I{} bash -c 'compile {} || exit 255' # which stops xargs

objcopy --weaken "$folder/build/core_device_hooks_cuda_hooks.cpp.o" "$folder/build/stubs.o"
# one file, since the linker would be content with the stub of an archive's other member
# shellcheck disable=SC2046,SC2086
ld -r -o "$folder/build/cuda.o" $(objects $gpu) "$folder/build/stubs.o"
rm -f "$folder/lib/libginkgo.a"
# shellcheck disable=SC2046
ar rcs "$folder/lib/libginkgo.a" "$folder/build/cuda.o" $(objects "${stubs[@]:1}" "${host[@]}" "${device[@]}")
ls -l "$folder/lib/libginkgo.a"
