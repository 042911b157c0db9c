#!/usr/bin/env bash
# Finds or builds the PETSc that sptrsvgpu is built against.
#
#   conf/petsc.sh find      looks for one; installs, downloads and builds nothing; exit status 2: there is none,
#                           1: PETSC_DIR cannot be used
#   conf/petsc.sh build     builds one in the cache if it is not there yet, and prints which other one find prefers
#   conf/petsc.sh petsc4py  builds petsc4py for the one in the cache
#
# find looks at PETSC_DIR (with or without PETSC_ARCH), CONDA_PREFIX, `pkg-config PETSc` and the cache, in this order.
# A PETSC_DIR that cannot be used is an error; one of the others is reported and skipped.
#
#   PETSC_VERSION  of the one to build: a line of conf/petsc.versions (default: the first)
#   PETSC_KIND     cuda or host (default: cuda where there is nvcc)
#   PETSC_SCALAR   real or complex (default: real)
#   PETSC_PRECISION  double or single (default: double)
#   PETSC_INDICES  32 or 64 bits (default: 32)
#   CUDA_ARCH      the GPUs to build for, see conf/cuda_arch.sh
#   PETSC_OPTIMIZE  flags of the compilers (default -O1, nearly PETSc's own default; for benchmarks: -O3)
#   SPTRSV_CACHE   folder of what is built, shared by all clones (default ~/.cache/sptrsvgpu)
#
# Prints shell assignments: PETSC_DIR, PETSC_ARCH, PETSC_FROM (where it was found), PETSC4PY (a folder for PYTHONPATH,
# or nothing), CUDA (0 or 1), CUDA_ARCH (what to build for). Messages go to standard error.
# An interrupted build continues where it stopped. A build is used only if it has the file `complete`, written last.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'sptrsvgpu: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
. conf/cuda_arch.sh
gpus=$(cuda_gpus)

# ---- what can be used

variable() { sed -n "s/^$2 *= *//p" "$1" | head -n 1; } # FILE NAME: of a makefile
at() { if [ -n "$2" ]; then echo "$1/$2"; else echo "$1"; fi; } # DIR ARCH: where what depends on the configuration is

number() { # HEADER: major * 1000 + minor; the development branch counts as the release that it becomes
  awk '$2 == "PETSC_VERSION_RELEASE" { r = $3 }
       $2 == "PETSC_VERSION_MAJOR" { a = $3 } $2 == "PETSC_VERSION_MINOR" { b = $3 }
       END { print 1000 * a + b + (r == 0) }' "$1"
}

refusal() { # DIR ARCH: why it cannot be used; nothing where it can
  local dir=$1 arch=$2 variables precision
  variables=$(at "$dir" "$arch")/lib/petsc/conf/petscvariables
  case $dir$arch in *[[:space:]]*) echo "its path has a space in it, which PETSc's makefiles do not take" &&
    return ;; esac
  if [ ! -f "$variables" ] || [ ! -f "$dir/include/petscversion.h" ]; then
    echo "it is not a built PETSc (no $variables)"
    return
  fi
  if [ "$(number "$dir/include/petscversion.h")" -lt 3020 ]; then
    echo "it is older than 3.20, the oldest that sptrsvgpu takes"
    return
  fi
  precision=$(variable "$variables" PETSC_PRECISION)
  case $precision in
  single | double) ;;
  *) echo "its scalars are $precision; sptrsvgpu takes single and double" && return ;;
  esac
  if [ "$(cuda "$dir" "$arch")" = 1 ]; then
    cuda_refusal "$(variable "$variables" CUDAC_FLAGS)"
  fi
}

cuda() { # DIR ARCH: 1 with CUDA, else 0
  if grep -qs 'define PETSC_HAVE_CUDA 1' "$(at "$1" "$2")/include/petscconf.h"; then echo 1; else echo 0; fi
}

answer() { # DIR ARCH FROM [PETSC4PY]
  local with archs=
  with=$(cuda "$1" "$2")
  if [ "$with" = 1 ]; then archs=$(cuda_archs | paste -sd,); fi
  printf 'PETSC_DIR=%q\nPETSC_ARCH=%q\nPETSC_FROM=%q\nPETSC4PY=%q\nCUDA=%s\nCUDA_ARCH=%s\n' "$1" "$2" "${3// /-}" \
    "${4:-}" "$with" "$archs"
  exit 0
}

# ---- where to look

default_arch() { # DIR: of a PETSc that is used where it was built, the one configured last; of an installed one, none
  [ -f "$1/include/petscconf.h" ] || variable "$1/lib/petsc/conf/petscvariables" PETSC_ARCH 2>/dev/null || true
}

find_given() {
  local why arch=${PETSC_ARCH:-}
  [ -n "${PETSC_DIR:-}" ] || return 0
  case $PETSC_DIR in /*) ;; *) die "PETSC_DIR=$PETSC_DIR is not an absolute path" ;; esac
  [ -n "$arch" ] || arch=$(default_arch "$PETSC_DIR")
  why=$(refusal "$PETSC_DIR" "$arch")
  if [ -n "$why" ] && [ -n "${PETSC_ARCH:-}" ] && [ -f "$PETSC_DIR/include/petscconf.h" ]; then
    why="it is an installed PETSc, which has no PETSC_ARCH: unset that"
  fi
  [ -z "$why" ] || die "PETSC_DIR=$PETSC_DIR PETSC_ARCH=${PETSC_ARCH:-} cannot be used: $why"
  answer "$PETSC_DIR" "$arch" PETSC_DIR "${PETSC4PY:-$([ "$PETSC_DIR" != "$dir" ] || [ ! -d "$site/petsc4py" ] ||
    echo "$site")}"
}

consider() { # DIR FROM: an installed one, if it is there and can be used
  local why
  [ -f "$1/include/petscversion.h" ] || return 0
  why=$(refusal "$1" "")
  if [ -z "$why" ]; then answer "$1" "" "$2"; fi
  say "passed over the PETSc in $1 ($2): $why"
}

find_conda() { if [ -n "${CONDA_PREFIX:-}" ]; then consider "$CONDA_PREFIX" CONDA_PREFIX; fi; }

find_pkg_config() {
  local name prefix
  command -v pkg-config >/dev/null || return 0
  for name in PETSc petsc; do
    prefix=$(pkg-config --variable=prefix $name 2>/dev/null || true)
    if [ -n "$prefix" ]; then consider "$prefix" "pkg-config $name" && return 0; fi
  done
}

cache=${SPTRSV_CACHE:-${XDG_CACHE_HOME:-${HOME:?set HOME or SPTRSV_CACHE}/.cache}/sptrsvgpu}
case $cache in
*[[:space:]]*) die "PETSc's makefiles do not take a space in a path: SPTRSV_CACHE=$cache" ;;
/*) ;;
*) cache=$PWD/$cache ;;
esac
kind=${PETSC_KIND:-$(if command -v nvcc >/dev/null; then echo cuda; else echo host; fi)}
version=${PETSC_VERSION:-$(awk '!/^#/ { print $1; exit }' conf/petsc.versions)}
[ "$kind" != cuda ] || [ -z "${CUDA_ARCH:-}" ] || cuda_archs >/dev/null # ends at what is wrong with CUDA_ARCH
capability=$(if [ "$kind" = cuda ]; then cuda_petsc; fi)
optimize=${PETSC_OPTIMIZE:--O1}
scalar=${PETSC_SCALAR:-real} precision=${PETSC_PRECISION:-double} indices=${PETSC_INDICES:-32}
case $scalar in real | complex) ;; *) die "PETSC_SCALAR=$scalar is neither real nor complex" ;; esac
case $precision in single | double) ;; *) die "PETSC_PRECISION=$precision is neither single nor double" ;; esac
case $indices in 32 | 64) ;; *) die "PETSC_INDICES=$indices is neither 32 nor 64" ;; esac
variant= # what differs from PETSc's own defaults
[ $scalar = real ] || variant+=-complex
[ $precision = double ] || variant+=-single
[ $indices = 32 ] || variant+=-int64
root=$cache/petsc-$version$variant-$kind${capability:+-${capability//,/-}}
dir=$root/src
arch=arch-$kind
site=$root/site

find_cached() {
  [ ! -f "$root/complete" ] || answer "$dir" $arch cache "$([ ! -d "$site/petsc4py" ] || echo "$site")"
}

name_other_gpus() { # of the PETScs in the cache that were built for them
  local others
  [ "$kind" = cuda ] || return 0
  others=$(ls -d "$cache/petsc-$version$variant-cuda-"*/complete 2>/dev/null |
    sed 's|.*-cuda-\(.*\)/complete|\1|; s/-/, /g' | paste -sd';') || true
  [ -z "$others" ] ||
    say "the PETSc in the cache is for compute capability $others; needed is one for ${capability//,/, }"
}

# ---- a PETSc of our own

missing=()
need() { # PACKAGE TEST...: Debian's package where the test fails
  local package=$1
  shift
  "$@" >/dev/null 2>&1 || missing+=("$package")
}
header() { echo "#include <$1>" | ${CC:-cc} -E - ; }
library() { echo 'int main(void){return 0;}' | ${CC:-cc} -x c - -o /dev/null "-l$1"; }

update() { # Debian's lists; another apt may be at work on a new machine
  local tries=30
  until LC_ALL=C $sudo apt-get update -qq; do
    grep -q 'Could not get lock' "$root/apt.log" && [ $((--tries)) -gt 0 ] || return 1
    sleep 10
  done
}

# an MPI, BLAS and LAPACK, what the examples read files with, Python for PETSc's configure, pkg-config for programs
install_packages() {
  need build-essential c++ --version
  need mpich mpiexec --version
  need libmpich-dev library mpich
  need libopenblas-dev library openblas
  need zlib1g-dev header zlib.h
  need liblzma-dev header lzma.h
  need xz-utils xz --version
  need python3 python3 --version
  need python3-pip python3 -m pip --version
  need pkg-config pkg-config --version
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null || die "missing: ${missing[*]} (Debian's names); install them and start again"
  sudo=
  [ "$(id -u)" = 0 ] || sudo=sudo
  say "installing from Debian: ${missing[*]} (20 s)"
  { update && DEBIAN_FRONTEND=noninteractive $sudo apt-get -o DPkg::Lock::Timeout=300 install -y -qq \
    "${missing[@]}"; } \
    >"$root/apt.log" 2>&1 || { tail -20 "$root/apt.log" >&2; die "apt-get failed; log in $root/apt.log"; }
}

pip() { PETSC_CONFIGURE_OPTIONS= python3 -m pip --disable-pip-version-check "$@"; }

unpack() {
  local sha256 name=petsc-$version.tar.gz
  [ ! -f "$root/unpacked" ] || return 0
  sha256=$(awk -v v="$version" '$1 == v { print $2 }' conf/petsc.versions)
  [ -n "$sha256" ] || die "conf/petsc.versions has no PETSc $version; it has: $(awk '!/^#/ { printf "%s ", $1 }' \
    conf/petsc.versions)"
  rm -rf "$dir"
  mkdir -p "$cache/sdist" "$dir"
  if [ ! -f "$cache/sdist/$name" ]; then
    say "fetching the source distribution of PETSc $version from PyPI (17 MB)"
    pip download -q --no-deps --no-binary petsc -d "$root/sdist" "petsc==$version" >"$root/download.log" 2>&1 ||
      { tail -20 "$root/download.log" >&2; die "the download failed; start again once PyPI can be reached"; }
    mv "$root/sdist/$name" "$cache/sdist/$name"
  fi
  if ! echo "$sha256  $cache/sdist/$name" | sha256sum -c --quiet >/dev/null 2>&1; then
    rm -f "$cache/sdist/$name"
    die "the download is not PETSc $version as it was published (its checksum differs); start again, or set PETSC_DIR"
  fi
  tar xf "$cache/sdist/$name" -C "$dir" --strip-components=1
  touch "$root/unpacked"
}

configure() {
  local options=(--with-cc=mpicc --with-cxx=mpicxx --with-fc=0 --with-debugging=0 \
    --with-x=0 COPTFLAGS="$optimize" CXXOPTFLAGS="$optimize")
  [ ! -f "$root/configured" ] || return 0
  options+=(--with-scalar-type=$scalar --with-precision=$precision --with-64-bit-indices=$((indices == 64)))
  say "configuring PETSc (1 minute; log: $root/configure.log)"
  if [ "$kind" = cuda ]; then
    options+=(--with-cuda=1 --with-cuda-arch="$capability" CUDAOPTFLAGS="$optimize")
    ! grep -qs with-cuda-nvml "$dir"/config/BuildSystem/config/packages/CUDA.py ||
      options+=(--with-cuda-nvml=0) # 3.26 on
  else
    options+=(--with-cuda=0)
  fi
  (cd "$dir" && rm -rf $arch && env -u PETSC_DIR -u PETSC_ARCH python3 ./configure PETSC_ARCH=$arch "${options[@]}") \
    >"$root/configure.log" 2>&1 ||
    { tail -30 "$root/configure.log" >&2; die "PETSc's configure failed; log in $root/configure.log"; }
  touch "$root/configured"
}

compile() {
  local status=0 make= log=$root/make.log
  [ ! -f "$root/compiled" ] || return 0
  if [ -f "$root/compiling" ]; then # killed without a chance to remove what was half written
    say "an earlier build ended abruptly: compiling from the start"
    rm -rf "$dir/$arch/obj" "$dir/$arch/lib/"libpetsc*
  fi
  say "compiling PETSc (log: $log)"
  touch "$root/compiling"
  interrupted() { # make removes what it was writing when it is interrupted
    kill -TERM -- "-$make" 2>/dev/null || true # not INT, which a job in the background of a script ignores
    wait "$make" 2>/dev/null || true
    rm -f "$root/compiling"
    die "interrupted; start again to go on"
  }
  trap interrupted INT TERM HUP
  set -m # a process group of its own, which can be ended as a whole
  env -u MAKEFLAGS -u MAKELEVEL make -C "$dir" PETSC_DIR="$dir" PETSC_ARCH=$arch MAKE_NP="$(nproc)" MAKE_LOAD=1000 all \
    >"$log" 2>&1 9>&- &
  set +m
  make=$!
  progress "$make" "$log"
  wait $make || status=$?
  rm -f "$root/compiling"
  trap - INT TERM HUP
  [ $status = 0 ] || { tail -30 "$log" >&2; die "PETSc did not compile; log in $log"; }
  touch "$root/compiled"
}

progress() { # PID LOG: tells every 30 s how far the compilation is
  local all done start=$SECONDS
  while kill -0 "$1" 2>/dev/null; do
    for _ in {1..30}; do sleep 1; kill -0 "$1" 2>/dev/null || return 0; done
    done=$(grep -cE '^ *(CC|CXX|CUDAC) ' "$2" || true)
    all=$(sources)
    [ "$done" -gt 0 ] && [ "$done" -le "$all" ] || continue
    say "  PETSc: $done of $all files, about $(((SECONDS - start) * (all - done) / done / 60 + 1)) min left"
  done
}

sources() { # how many files there are to compile
  tr ' ' '\n' <"$dir/$arch/lib/petsc/conf/files" | grep -cE '^src/.*[.](c|cxx|cu)$' || true
}

name_preferred() { # the PETSc that make takes even where the cache has one
  local found
  found=$({ find_given; find_conda; find_pkg_config; } 2>/dev/null | sed -n 's/^PETSC_DIR=//p') || true
  [ -z "$found" ] || [ "$found" = "$dir" ] ||
    say "make uses the PETSc in $found, which it finds before the one that 'make petsc' builds in the cache"
}

build() {
  [ ! -f "$root/complete" ] || return 0
  mkdir -p "$root"
  exec 9>"$root/lock"
  if ! flock -n 9; then
    say "another set-up is at work in $root; waiting for it"
    flock 9
  fi
  [ ! -f "$root/complete" ] || return 0
  name_other_gpus
  say "building PETSc $version$variant ($kind${capability:+, compute capability $capability}) in $root," \
    "once for all clones"
  say "about 7 minutes on 2 cores; it may be interrupted and started again; rm -r $root removes it"
  unpack >"$root/unpack.log" 2>&1 9>&- & # while packages are installed, where Python has pip by now
  install_packages
  wait $! || unpack
  configure
  compile
  touch "$root/complete"
}

build_petsc4py() {
  [ ! -d "$site/petsc4py" ] || return 0
  build
  need python3-dev python3 -c 'import os, sysconfig; assert os.path.exists(sysconfig.get_path("include") + "/Python.h")'
  install_packages
  say "building petsc4py (1 minute; log: $root/petsc4py.log)"
  rm -rf "$site.part"
  PETSC_DIR=$dir PETSC_ARCH=$arch CFLAGS=-O0 pip install -q --target "$site.part" numpy "petsc4py==$version" \
    >"$root/petsc4py.log" 2>&1 ||
    { tail -20 "$root/petsc4py.log" >&2; die "petsc4py did not build; log in $root/petsc4py.log"; }
  mv "$site.part" "$site"
}

case ${1:-} in
find)
  find_given
  find_conda
  find_pkg_config
  find_cached
  name_other_gpus
  exit 2
  ;;
build)
  name_preferred
  build
  say "PETSc $version$variant is in $dir"
  find_cached
  ;;
petsc4py)
  build_petsc4py
  say "petsc4py of PETSc $version$variant is in $site"
  find_cached
  ;;
*) die "usage: conf/petsc.sh find | build | petsc4py" ;;
esac
