#!/usr/bin/env bash
# Finds or builds the PETSc that sptrsvgpu is built against.
#
#   conf/petsc.sh         find it or, where there is none, build it; prints what it does
#   conf/petsc.sh --find  only look; exit status 1 where there is none
#
# Both end by printing shell assignments on standard output (PETSC_DIR, PETSC_ARCH, PETSC_PYTHONPATH);
# everything meant for people goes to standard error.
#
#   PETSC_DIR, PETSC_ARCH  where given, that PETSc is taken as it is and nothing is built
#   SPTRSV_CACHE           folder for a PETSc of our own, shared by all clones (default ~/.cache/sptrsvgpu)
#
# A PETSc of our own is trusted only if its `complete` stamp, written last, is there. An interrupted build goes
# on where it stopped; one that was killed so hard that it could not say so starts its compilation again.
set -euo pipefail

version=3.26.1
sha256=a4dc46c1b4403545ac2274741ce10801366c4a9a7b2683b678d18f6663b93496 # of its source distribution
say() { printf 'sptrsvgpu set-up: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

answer() { # DIR ARCH PYTHONPATH
  printf 'PETSC_DIR=%q\nPETSC_ARCH=%q\nPETSC_PYTHONPATH=%q\n' "$1" "$2" "$3"
}

if [ -n "${PETSC_DIR:-}" ]; then
  [ -f "$PETSC_DIR/${PETSC_ARCH:-}/lib/petsc/conf/petscvariables" ] ||
    die "PETSC_DIR=$PETSC_DIR PETSC_ARCH=${PETSC_ARCH:-} is not a built PETSc (no lib/petsc/conf/petscvariables); unset both to have one built"
  [ -f "$PETSC_DIR/include/petsc.h" ] || die "PETSC_DIR=$PETSC_DIR has no include/petsc.h"
  answer "$PETSC_DIR" "${PETSC_ARCH:-}" "${PETSC_PYTHONPATH:-}"
  exit 0
fi
unset PETSC_DIR PETSC_ARCH # the makefile gives them empty, which PETSc's configure takes for a relative path

nvcc=$(command -v nvcc || true)
if [ -n "$nvcc" ]; then kind=cuda; else kind=host; fi
cache=${SPTRSV_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sptrsvgpu}
case $cache in
*[[:space:]]*) die "PETSc's makefiles take no space in a path: SPTRSV_CACHE=$cache" ;;
/*) ;;
*) cache=$PWD/$cache ;;
esac
root=$cache/petsc-$version-$kind
dir=$root/src
arch=arch-$kind
site=$root/site # petsc4py

finish() {
  answer "$dir" "$arch" "$([ -d "$site/petsc4py" ] && echo "$site" || true)"
  exit 0
}
[ -f "$root/complete" ] && finish
[ "${1:-}" != --find ] || exit 1

mkdir -p "$root"
exec 9>"$root/lock"
if ! flock -n 9; then
  say "another set-up is at work in $root; waiting for it"
  flock 9
fi
[ -f "$root/complete" ] && finish

say "no PETSc given (PETSC_DIR) and none built before; building PETSc $version ($kind) in $root"
say "once, about 10 minutes on 2 cores, 15 with petsc4py; it may be interrupted and started again"

# Debian packages: an MPI, BLAS/LAPACK, what the examples read files with, what petsc4py compiles with
missing=()
need() { # PACKAGE TEST...
  local package=$1
  shift
  "$@" >/dev/null 2>&1 || missing+=("$package")
}
header() { echo "#include <$1>" | ${CC:-cc} -E - ; }
library() { echo 'int main(void){return 0;}' | ${CC:-cc} -x c - -o /dev/null "-l$1"; }
need build-essential c++ --version
need mpich mpicc --version
need libopenblas-dev library openblas
need zlib1g-dev header zlib.h
need liblzma-dev header lzma.h
need xz-utils xz --version
need python3 python3 --version
need python3-dev python3 -c 'import os, sysconfig; assert os.path.exists(sysconfig.get_path("include") + "/Python.h")'
need python3-pip python3 -m pip --version
need python3-venv python3 -c 'import venv, ensurepip'
if [ ${#missing[@]} -gt 0 ]; then
  command -v apt-get >/dev/null || die "missing: ${missing[*]} (Debian's names); install them and start again"
  say "installing from Debian (20 s): ${missing[*]}"
  sudo=
  [ "$(id -u)" = 0 ] || sudo=sudo
  update() { # a new machine may be at its own first one, and apt waits for no other's lists
    local tries=30
    until LC_ALL=C $sudo apt-get update -qq; do
      grep -q 'Could not get lock' "$root/apt.log" && [ $((--tries)) -gt 0 ] || return 1
      sleep 10
    done
  }
  { update && DEBIAN_FRONTEND=noninteractive $sudo apt-get -o DPkg::Lock::Timeout=300 install -y -qq "${missing[@]}"; } >"$root/apt.log" 2>&1 ||
    { tail -20 "$root/apt.log" >&2; die "apt-get failed; log in $root/apt.log"; }
fi

pip=(python3 -m pip --disable-pip-version-check)

if [ ! -f "$root/unpacked" ]; then
  say "fetching the source distribution of PETSc $version from PyPI (17 MB)"
  rm -rf "$dir" "$root/sdist"
  mkdir -p "$root/sdist"
  PETSC_CONFIGURE_OPTIONS= "${pip[@]}" download -q --no-deps --no-binary petsc -d "$root/sdist" "petsc==$version" >"$root/download.log" 2>&1 ||
    { tail -20 "$root/download.log" >&2; die "the download failed; start again once PyPI can be reached"; }
  echo "$sha256  $root/sdist/petsc-$version.tar.gz" | sha256sum -c --quiet >/dev/null 2>&1 || die "the download is not PETSc $version as it was published (checksum differs); start again, or give a PETSc of your own by PETSC_DIR"
  mkdir "$dir"
  tar xf "$root/sdist/petsc-$version.tar.gz" -C "$dir" --strip-components=1
  touch "$root/unpacked"
fi

cd "$dir"
if [ ! -f "$root/configured" ]; then
  say "configuring PETSc (1 minute; log: $root/configure.log)"
  rm -rf "$arch"
  options=(--with-cc=mpicc --with-cxx=mpicxx --with-fc=0 --with-debugging=0 --with-x=0 COPTFLAGS=-O2 CXXOPTFLAGS=-O2)
  if [ $kind = cuda ]; then
    options+=(--with-cuda=1 --with-cuda-nvml=0 --with-cuda-arch="${SPTRSV_CUDA_ARCH:-90}" CUDAOPTFLAGS=-O2)
  else
    options+=(--with-cuda=0)
  fi
  python3 ./configure PETSC_ARCH=$arch "${options[@]}" >"$root/configure.log" 2>&1 ||
    { tail -30 "$root/configure.log" >&2; die "PETSc's configure failed; log in $root/configure.log"; }
  touch "$root/configured"
fi

if [ -f "$root/compiling" ]; then # killed without a chance to tell make: some object may be cut short
  say "an earlier build ended abruptly: compiling from the start"
  rm -rf "$dir/$arch/obj" "$dir/$arch/lib/"libpetsc*
fi
if [ ! -f "$root/compiled" ]; then
  say "compiling PETSc (8 minutes on 2 cores; log: $root/make.log)"
  touch "$root/compiling"
  interrupted() { # make removes what it was writing when it is interrupted
    kill -TERM "$make" 2>/dev/null || true # not INT, which a job in the background of a script ignores
    wait "$make" 2>/dev/null || true
    rm -f "$root/compiling"
    die "interrupted; start again to go on"
  }
  make=
  trap interrupted INT TERM HUP
  make PETSC_DIR="$dir" PETSC_ARCH=$arch MAKE_NP="$(nproc)" all >"$root/make.log" 2>&1 9>&- &
  make=$!
  status=0
  wait $make || status=$?
  rm -f "$root/compiling"
  trap - INT TERM HUP
  [ $status = 0 ] || { tail -30 "$root/make.log" >&2; die "PETSc did not compile; log in $root/make.log"; }
  touch "$root/compiled"
fi

if [ ! -d "$site/petsc4py" ]; then
  say "building petsc4py for the Python example (2 minutes; log: $root/petsc4py.log)"
  rm -rf "$site.part"
  if PETSC_DIR=$dir PETSC_ARCH=$arch "${pip[@]}" install -q --target "$site.part" numpy "petsc4py==$version" >"$root/petsc4py.log" 2>&1 9>&-; then
    mv "$site.part" "$site"
  else
    say "petsc4py did not build (log: $root/petsc4py.log): the Python example will be skipped"
  fi
fi

touch "$root/complete"
say "PETSc $version ($kind) is ready in $root"
finish
