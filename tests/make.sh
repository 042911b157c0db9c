#!/usr/bin/env bash
# What the makefile and the set-up promise: make info for scripts, make run, and clear answers where PETSc is not there.
set -u
cd "$(dirname "$0")/.." || exit 1
make=${MAKE:-make}
unset MAKEFLAGS MAKELEVEL MFLAGS TEST_OPTIONS CUDA_ARCH
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
. tests/check.sh

LIB= PETSC_DIR_HERE= # what this clone is built with
eval "$(env timeout 60 $make -s info | sed 's/^PETSC_DIR=/PETSC_DIR_HERE=/; s/^PETSC_ARCH=/PETSC_ARCH_HERE=/')"
without="env -u PETSC_DIR -u PETSC_ARCH -u CONDA_PREFIX -u CUDA_ARCH PKG_CONFIG_PATH= PKG_CONFIG_LIBDIR=$empty"
ours=petsc-$(awk '!/^#/ { print $1; exit }' conf/petsc.versions) # the one that make petsc builds
given="env -u CONDA_PREFIX PETSC_DIR=$PETSC_DIR_HERE"

# ---- make info, make help

info() { # what it prints can be evaluated, and is true
  local p v=
  for p in MAJOR MINOR SUBMINOR;
    do v+=${v:+.}$(awk -v p=SPTRSVGPU_VERSION_$p '$2 == p { print $3 }' include/sptrsvgpu.h); done
  [ "$VERSION" = "$v" ] && [ -f "$LIB" ] &&
    [ -f "$PETSC_DIR_HERE/$PETSC_ARCH_HERE/lib/petsc/conf/petscvariables" ] && [[ $CUDA = [01] ]] &&
      [ -n "$PETSC_FROM" ]
}
info_only() { # nothing but assignments
  [ "$($make -s info 2>/dev/null |
    grep -vcE '^(VERSION|LIB|PETSC_DIR|PETSC_ARCH|PETSC_FROM|PETSC4PY|CUDA|CUDA_ARCH)=')" = 0 ]
}
helps() { # every goal that it names is there
  local goal
  for goal in $($make -s help | sed -n 's/^make  *\([a-z0-9]*\)  .*/\1/p'); do
    [ "$goal" = build ] ||
      grep -qE "^[a-z0-9 ]*\b$goal\b[a-z0-9 ]*:" makefile conf/install.mk examples/makefile tests/makefile ||
      { echo "no goal $goal"; return 1; }
  done
}

# ---- where no PETSc is (U2)

stand_ins() { # programs that would install, download or build: they note their call and fail
  local program
  mkdir -p "$empty/bin"
  for program in apt-get sudo pip pip3; do printf '#!/bin/sh\necho %s >>%s/called\nexit 1\n' $program "$empty" \
    >"$empty/bin/$program"; done
  printf '#!/bin/sh\ncase "$*" in *pip*--version) ;; *pip*) echo pip >>%s/called; exit 1;; esac\nexec %s "$@"\n' \
    "$empty" "$(command -v python3)" >"$empty/bin/python3"
  chmod +x "$empty/bin"/*
  rm -f "$empty/called"
}
nothing_set_up() { # parsing, dry runs and misspelt goals do nothing at all
  local goals out
  stand_ins
  for goals in "-n run" "-n test" "-n lib" "-n install" "-n no_such_goal" no_such_goal info lib check; do
    out=$($without PATH="$empty/bin:$PATH" SPTRSV_CACHE="$empty/cache" timeout 60 $make -s BUILD="$empty/build" $goals \
      2>&1)
    [ ! -e "$empty/called" ] && [ ! -e "$empty/cache" ] && [ ! -e "$empty/build" ] ||
      { echo "make $goals did something: $out"; return 1; }
  done
  out=$($without SPTRSV_CACHE="$empty/cache" timeout 60 $make -s info 2>/dev/null)
  [ $? != 0 ] && [ -z "$out" ]
}
says_how() { # make alone names both ways out
  local out
  out=$($without SPTRSV_CACHE="$empty/cache" timeout 60 $make lib 2>&1)
  [ $? != 0 ] && grep -q "set PETSC_DIR.*make petsc" <<<"$out"
}
# make run says that it builds one; configure sees no PETSC_DIR of the environment. A stand-in for configure reports
fresh() {
  local kind src out
  stand_ins
  for kind in cuda host; do
    src=$empty/fresh/$ours-$kind$([ $kind = host ] || echo "-${CUDA_ARCH%%,*}")/src
    mkdir -p "$src/config/BuildSystem/config/packages" &&
      touch "$src/../unpacked" "$src/config/BuildSystem/config/packages/CUDA.py"
    printf '%s\n' 'import os' \
      'raise SystemExit("environment: " + str([x for x in ("PETSC_DIR", "PETSC_ARCH") if x in os.environ]))' \
      >"$src/configure"
  done
  out=$($without PATH="$empty/bin:$PATH" SPTRSV_CACHE="$empty/fresh" timeout 60 $make run 2>&1)
  grep -q 'no PETSc found' <<<"$out" && grep -qF 'environment: []' <<<"$out" || { echo "$out"; return 1; }
}

# ---- PETScs that are given or found (U1, U11)

# FOLDER [SED]: stand-in for an installed PETSc: headers and variables of the one here, the variables changed
installed() {
  mkdir -p "$1/include" "$1/lib/petsc"
  ln -sf "$PETSC_DIR_HERE"/include/*.h "$1/include/"
  ln -sf "$PETSC_DIR_HERE/$PETSC_ARCH_HERE"/include/*.h "$1/include/"
  cp -rL "$PETSC_DIR_HERE/lib/petsc/conf" "$PETSC_DIR_HERE/$PETSC_ARCH_HERE/lib/petsc/conf" "$1/lib/petsc/"
  sed -i "${2:-}" "$1/lib/petsc/conf/petscvariables"
}
found() { # FROM COMMAND...: make info names where it found one
  local from=$1 out
  shift
  out=$("$@" timeout 60 $make -s info 2>&1) && grep -qx "PETSC_FROM=$from" <<<"$out" || { echo "$out"; return 1; }
}
refused() { # PATTERN COMMAND...: make ends with this message
  local pattern=$1 out
  shift
  out=$("$@" timeout 60 $make lib BUILD="$empty/build" 2>&1)
  [ $? != 0 ] && grep -q "$pattern" <<<"$out" || { echo "$out"; return 1; }
}
old() { # one that is too old
  installed "$empty/old" && rm "$empty/old/include/petscversion.h" &&
    sed 's/VERSION_MINOR .*/VERSION_MINOR 19/' "$PETSC_DIR_HERE/include/petscversion.h" \
      >"$empty/old/include/petscversion.h" &&
    refused "older than 3.20" env -u PETSC_ARCH PETSC_DIR="$empty/old"
}
conda() { installed "$empty/conda" && found CONDA_PREFIX $without CONDA_PREFIX="$empty/conda"; }
pkg_config() {
  installed "$empty/system" && mkdir -p "$empty/pc" &&
    printf 'prefix=%s\nName: PETSc\nDescription: x\nVersion: 1\n' "$empty/system" >"$empty/pc/PETSc.pc" &&
    found pkg-config-PETSc $without PKG_CONFIG_LIBDIR="$empty/pc"
}
quadruple_conda() { # one found that cannot be used is named, and the next is taken
  installed "$empty/quadruple" 's/^PETSC_PRECISION = .*/PETSC_PRECISION = __float128/' && local out &&
    out=$($without CONDA_PREFIX="$empty/quadruple" SPTRSV_CACHE="$empty/none" timeout 60 $make -s info 2>&1)
  [ $? != 0 ] && grep -q "passed over the PETSc in $empty/quadruple.*its scalars are __float128" <<<"$out"
}
kinds() { # each combination of scalars and indices has a folder of its own in the cache
  local out root="$empty/kinds/$ours-complex-single-int64-host" \
    find="$without PETSC_KIND=host SPTRSV_CACHE=$empty/kinds"
  out=$($find PETSC_SCALAR=quaternion conf/petsc.sh find 2>&1)
  [ $? = 1 ] && grep -q "PETSC_SCALAR=quaternion is neither real nor complex" <<<"$out" || { echo "$out"; return 1; }
  mkdir -p "$root" && touch "$root/complete" &&
    out=$($find PETSC_SCALAR=complex PETSC_PRECISION=single PETSC_INDICES=64 conf/petsc.sh find) &&
    grep -qx "PETSC_DIR=$root/src" <<<"$out" || { echo "$out"; return 1; }
  ! $find conf/petsc.sh find
}

preferred() { # make petsc names the PETSc that comes before the cache's
  local out
  mkdir -p "$empty/host/$ours-host" && touch "$empty/host/$ours-host/complete" &&
    out=$($without PETSC_KIND=host SPTRSV_CACHE="$empty/host" PETSC_DIR="$PETSC_DIR_HERE" \
      PETSC_ARCH="$PETSC_ARCH_HERE" timeout 60 $make petsc 2>&1) &&
    grep -q "make uses the PETSc in $PETSC_DIR_HERE, which it finds before" <<<"$out" || { echo "$out"; return 1; }
}

# ---- which GPUs (U3)

archs() { # LIST FLAGS: the compiler gets these
  local out
  out=$($given timeout 60 $make -n lib BUILD="$empty/archs" CUDA_ARCH="$1" 2>&1 | grep -m1 'nvcc.*-c ')
  [ "$(grep -oE 'code=[a-z]+_[0-9]+' <<<"$out" | sed 's/code=//' | paste -sd' ')" = "$2" ] || { echo "$out"; return 1; }
}
all_major() { # a PETSc for all GPUs, as conda has it: none of its architectures below 80 is ours
  installed "$empty/major" 's/-gencode arch=compute_[0-9]*,code=sm_[0-9]*/-arch=all-major/' && local out &&
    out=$(env -u PETSC_ARCH PETSC_DIR="$empty/major" timeout 60 $make -n lib BUILD="$empty/archs" CUDA_ARCH="80 90" \
      2>&1 | grep -m1 'nvcc.*-c ')
  [ "$(grep -oE 'code=[a-z]+_[0-9]+' <<<"$out" | paste -sd' ')" = "code=sm_80 code=sm_90" ] &&
    ! grep -q all-major <<<"$out" || { echo "$out"; return 1; }
}
gpu() { # CAPABILITY: PATH with a stand-in for nvidia-smi
  mkdir -p "$empty/gpu$1"
  printf '#!/bin/sh\necho %s\n' "$1" >"$empty/gpu$1/nvidia-smi"
  chmod +x "$empty/gpu$1/nvidia-smi"
  echo "PATH=$empty/gpu$1:$PATH"
}
cached_for() { # a PETSc in the cache that was built for another GPU is named
  local out
  mkdir -p "$empty/cache90/$ours-cuda-90" && touch "$empty/cache90/$ours-cuda-90/complete"
  out=$($without "$(gpu 8.0)" SPTRSV_CACHE="$empty/cache90" timeout 60 $make lib 2>&1)
  [ $? != 0 ] && grep -q "the PETSc in the cache is for compute capability 90; needed is one for 80" <<<"$out" ||
    { echo "$out"; return 1; }
}
other_archs() { # a build for other GPUs is made again, not kept
  local out
  mkdir -p "$empty/kept" && $given $make -s BUILD="$empty/kept" "$empty/kept/config" &&
    out=$(cat "$empty/kept/config") &&
    $given $make -s BUILD="$empty/kept" CUDA_ARCH="90 ptx90" "$empty/kept/config" &&
      [ "$out" != "$(cat "$empty/kept/config")" ]
}

# ---- builds, install, uninstall (U5, U7, U13)

all_cores() { $make -pn help 2>/dev/null | grep -qE "^MAKEFLAGS = .*-j$(nproc)( |\$)"; }
prefix=/opt/sp
into() { # FOLDER [NAME=VALUE...]: make install there
  local root=$1
  shift
  env "$@" $make -s install PREFIX=$prefix DESTDIR="$root"
}
removed() { # FOLDER: uninstall removes every file
  $make -s uninstall PREFIX=$prefix DESTDIR="$1" || return 1
  [ -z "$(find "$1" ! -type d)" ] || { find "$1" ! -type d; return 1; }
}
installs() { # library, pkg-config file, man pages, examples
  local root=$empty/root
  into "$root" || return 1
  [ "$(readelf -d "$root$prefix/lib/libsptrsvgpu.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')" = \
    "libsptrsvgpu.so.${VERSION%%.*}" ] || return 1
  [ "$(readlink "$root$prefix/lib/libsptrsvgpu.so")" = "libsptrsvgpu.so.$VERSION" ] || return 1
  [ "$(PKG_CONFIG_LIBDIR=$root$prefix/lib/pkgconfig pkg-config --modversion sptrsvgpu)" = "$VERSION" ] || return 1
  [ "$(find "$root$prefix/share/man/man3" -size +0 -name '*.3' | wc -l)" = \
    "$(cat src/*/*.c | grep -cE '^/\*(@C?|MC)$')" ] &&
    [ -s "$root$prefix/share/sptrsvgpu/examples/ex1.c" ] || return 1
  removed "$root"
}
manual_pages() { # are those of the comments; are replaced if doctext works, else kept
  local copy=$empty/manual/copy doctext=$empty/manual/doctext
  $make -s check-manpages || return 1
  [ "$(grep -l '^\.TH ' docs/man3/*.3 | wc -l)" = "$(cat src/*/*.c | grep -cE '^/\*(@C?|MC)$')" ] || return 1
  ! grep -A1 -h '^\.SH NAME' docs/man3/*.3 | grep Level: || return 1
  mkdir -p "$copy/docs" && cp -r makefile conf src include examples tests bench "$copy" &&
    cp -r docs/man3 "$copy/docs" && touch "$copy/docs/man3/old.3" || return 1
  ! $make -s -C "$copy" manpages DOCTEXT=false 2>/dev/null && [ -e "$copy/docs/man3/old.3" ] || return 1
  printf '%s\n' '#!/bin/sh' 'echo page >"$3/new.3"' >"$doctext" && chmod +x "$doctext" # after -man -mpath
  $make -s -C "$copy" manpages DOCTEXT="$doctext" && $make -s -C "$copy" check-manpages || return 1
  [ "$(ls "$copy/docs/man3"/*.3)" = "$copy/docs/man3/new.3" ] && echo >>"$copy/docs/man3/new.3" &&
    ! $make -s -C "$copy" check-manpages 2>/dev/null
}
installed_examples() { # are built by the makefile that is installed with them, and solve with the library that is
  local root=$empty/examples example
  into "$root" && cp -r "$root$prefix/share/sptrsvgpu/examples" "$empty/copy" &&
    $make -s -C "$empty/copy" prefix="$root$prefix" || return 1
  for example in "ex1 -n 8" "ex2 -f examples/data/poisson.mtx.xz" ex4; do
    "$empty/copy/"$example -dll_append "$root$prefix/lib/libsptrsvgpu.so" -pc_type sptrsvgpu -ksp_converged_reason \
      -use_gpu_aware_mpi 0 |
      grep 'Linear.* solve converged' || { echo "$example"; return 1; }
  done
}
install_as_root() { # with no environment and another home: of the PETSc and for the GPUs that make has built for
  local root=$empty/as_root
  into "$root" -u PETSC_DIR -u PETSC_ARCH -u CONDA_PREFIX PKG_CONFIG_LIBDIR="$empty" SPTRSV_CACHE="$empty/cache" \
    >"$empty/install.log" &&
    ! grep -E '^ *(CC|CUDAC|LINK) ' "$empty/install.log" && cmp "$LIB" "$root$prefix/lib/libsptrsvgpu.so" &&
    grep -qx "petsc_dir=$PETSC_DIR_HERE" "$root$prefix/lib/pkgconfig/sptrsvgpu.pc"
}
install_fat() { # what make fat builds, though this PETSc may be for one GPU
  local build=$empty/fat
  $given PETSC_ARCH="$PETSC_ARCH_HERE" $make -s BUILD="$build" CUDA_ARCH=fat "$build/config" &&
    fat_kept "$build" -u PETSC_DIR -u PETSC_ARCH && fat_kept "$build" -u PETSC_ARCH PETSC_DIR="$PETSC_DIR_HERE" &&
    fat_kept "$build" PETSC_DIR="$PETSC_DIR_HERE" PETSC_ARCH="$PETSC_ARCH_HERE" || return 1
  # another PETSc is taken, or refused
  ! fat_kept "$build" PETSC_DIR="$PETSC_DIR_HERE" PETSC_ARCH=none 2>"$empty/out" &&
    grep -q "PETSC_ARCH=none cannot be used" "$empty/out" &&
    installed "$empty/another" && env -u PETSC_ARCH PETSC_DIR="$empty/another" $make -n install BUILD="$build" |
    grep -qF "PETSC_DIR=$empty/another "
}
fat_kept() { # FOLDER ENV...: make install there compiles for the GPUs that make fat compiles for
  env "${@:2}" $make -n install BUILD="$1" | grep -m 1 'nvcc.*-c ' | grep 'code=sm_80 .*code=sm_90 '
}
install_fails() { # halfway, for a folder is where a file belongs: uninstall removes what there is
  local root=$empty/fails
  mkdir -p "$root$prefix/include/sptrsvgpu.h" && ! into "$root" || return 1
  [ -s "$root$prefix/lib/libsptrsvgpu.so" ] && rmdir "$root$prefix/include/sptrsvgpu.h" && removed "$root"
}
linked() { # a C program by pkg-config, with the header; it says the version and solves
  local root=$empty/linked
  $make -s install PREFIX="$root" >/dev/null || return 1
  cat >"$empty/use.c" <<'END'
#include <petscksp.h>
#include <sptrsvgpu.h>
int main(int argc, char **args)
{
  PC pc;
  PetscCall(PetscInitialize(&argc, &args, NULL, NULL));
  PetscCall(SpTRSVGPURegister());
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCSPTRSVGPU));
  PetscCall(PCDestroy(&pc));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", SPTRSVGPU_VERSION));
  PetscCall(PetscFinalize());
  return 0;
}
END
  local flags petsc
  flags=$(PKG_CONFIG_LIBDIR=$root/lib/pkgconfig pkg-config --cflags --libs sptrsvgpu) || return 1
  petsc=$PETSC_DIR_HERE/$PETSC_ARCH_HERE
  mpicc "$empty/use.c" -o "$empty/use" $flags -I"$PETSC_DIR_HERE/include" -I"$petsc/include" -L"$petsc/lib" \
    -Wl,-rpath,"$petsc/lib" -lpetsc -lm $([ "$CUDA" = 0 ] || echo -I/usr/local/cuda/include) || return 1
  [ "$("$empty/use")" = "$VERSION" ]
}
not_absolute() { ! $make -s install PREFIX=here 2>"$empty/out" >/dev/null &&
  grep -q "not an absolute path" "$empty/out"; }
changelog() { grep -q "^## $VERSION" CHANGELOG.md; }
checks() { timeout 120 $make -s check 2>&1 | tail -n 1 | grep -qE '^OK \((host|GPU sm_[0-9]+)\)$'; }
view_apart() { # the view comes after the times are taken
  local out
  out=$(timeout 300 $make run ARGS="-n 8" 2>&1) &&
    [ "$(grep -n '^time:' <<<"$out" | cut -d: -f1)" -lt "$(grep -n 'algorithm' <<<"$out" | head -n 1 | cut -d: -f1)" ]
}
up_to_date() { # a second make has nothing to do
  local out
  out=$(timeout 300 $make --no-print-directory lib examples 2>&1) && ! grep -qE '^ *(CC|CUDAC|LINK) ' <<<"$out"
}
run() { # OPTIONS EXPRESSION: make run prints what it should
  local out
  out=$(timeout 300 $make run ARGS="$1" 2>&1) && grep -q "$2" <<<"$out" &&
    grep -q '^iterations:.*CONVERGED' <<<"$out" && grep -q 'algorithm ' <<<"$out" &&
    grep -q 'PCApply .* ms' <<<"$out" && grep -q 'MatSolve .* ms' <<<"$out"
}
run_ranks() {
  timeout 300 $make run NP=2 ARGS="-n 8" 2>&1 | grep -q "block Jacobi: each of 2 ranks"
}
exported() { # nothing of the library is visible but its interface
  local LIB PETSC_DIR PETSC_ARCH CUDA
  eval "$($make -s info)"
  ! nm -D --defined-only "$LIB" | awk '$2 ~ /[TDBR]/ {print $3}' |
    grep -vE '^(PetscDLLibraryRegister_sptrsvgpu|SpTRSVGPU[A-Za-z]+|(Mat|PC)SpTRSVGPU[A-Za-z]+)$'
}

table() { # the generated parts of README and docs are what results/ and the sources give; their links lead somewhere
  local python=${PYTHON:-python3}
  "$python" bench/report.py --check && "$python" docs/tools/links.py && "$python" bench/fit.py --check
}
commands() { # those of README and docs do what they say
  local LIB PETSC_DIR PETSC_ARCH CUDA
  eval "$($make -s info)"
  "${PYTHON:-python3}" docs/tools/commands.py "$(realpath -m "$(dirname "$LIB")/../examples")" \
    "$LIB" README.md docs/use.md docs/ordering.md
}
# the program that measures times to solution on a GPU, and the script that makes tables of them, on the host
solutions() {
  local LIB PETSC_DIR PETSC_ARCH CUDA program
  eval "$($make -s info)"
  program=$(dirname "$LIB")/../bench/solutions
  $make -s "$(realpath -m "$program")" && "$program" -host -runs 1 -dll_append "$LIB" -f g2d5:20 -o \
    "$empty/solutions.jsonl" && "${PYTHON:-python3}" bench/solutions.py "$empty/solutions.jsonl" |
    grep -q "^| g2d5:20 | 400 | CG |"
}
krylov() { # times of the plugin's KSP types and of PETSc's
  local LIB PETSC_DIR PETSC_ARCH CUDA program file="$empty/krylov.jsonl"
  eval "$($make -s info)"
  program=$(dirname "$LIB")/../bench/krylov
  export RESULT_FIELDS='"gpu": "none"'
  $make -s "$(realpath -m "$program")" && "$program" -host -runs 1 -dll_append "$LIB" -f g2d5:20 -o "$file" &&
    "$program" -gamg -host -runs 1 -dll_append "$LIB" -f g2d5:60 -options_left 0 -o "$file" &&
    [ "$(grep -c '"petsc_reason": "CONVERGED_RTOL", .*"reason": "CONVERGED_RTOL", "gpu": "none"}$' "$file")" = 8 ] &&
    "${PYTHON:-python3}" bench/krylov.py "$file" | grep -q "^| cgdevice, natural, GAMG | 1 |"
}
setups() { # the same for set-ups and applies: every one of six ways gives what PETSc's own does
  local LIB PETSC_DIR PETSC_ARCH CUDA program
  eval "$($make -s info)"
  program=$(dirname "$LIB")/../bench/setup
  $make -s "$(realpath -m "$program")" && "$program" -host -dim 2 -n 20 -dll_append "$LIB" -o "$empty/setup.jsonl" &&
    [ "$(grep -c '"apply_ms": [0-9]' "$empty/setup.jsonl")" = 6 ] &&
    "${PYTHON:-python3}" bench/setups.py "$empty/setup.jsonl" | sed '1,/^One PCApply/d' | grep -q "^| 2D 20^2 | [0-9]"
}

check "make info can be evaluated" info
check "make info prints assignments only" info_only
check "make help names goals that are there" helps
check "where no PETSc is, parsing and dry runs do nothing" nothing_set_up
check "where no PETSc is, make says what to do" says_how
check "where no PETSc is, make run builds one" fresh
check "a PETSC_DIR without PETSC_ARCH" found PETSC_DIR env -u PETSC_ARCH PETSC_DIR="$PETSC_DIR_HERE"
check "a PETSC_DIR with PETSC_ARCH" found PETSC_DIR env PETSC_DIR="$PETSC_DIR_HERE" PETSC_ARCH="$PETSC_ARCH_HERE"
check "a PETSC_DIR that is none" refused "PETSC_ARCH=none cannot be used: it is not a built PETSc" env \
  PETSC_DIR="$empty" PETSC_ARCH=none
check "a PETSC_DIR with a space" refused "has a space in it" env PETSC_DIR="$empty/a b"
check "a PETSC_DIR that is not absolute" refused "not an absolute path" env PETSC_DIR=somewhere
check "a PETSc that is too old" old
check "a PETSc of conda" conda
check "a PETSc by pkg-config" pkg_config
check "a PETSc of conda with quadruple precision is passed over" quadruple_conda
check "scalars and indices of the PETSc in the cache" kinds
check "make petsc where a PETSc is" preferred
if [ "$CUDA" = 1 ]; then
  check "CUDA_ARCH as a list" archs "90 ptx90" "sm_90 compute_90"
  check "CUDA_ARCH by default, with no GPU" env PATH="$(gpu none | sed 's/^PATH=//')" bash -c \
    "$(declare -f archs); given='$given' make='$make' empty='$empty'; archs '' 'sm_90 compute_80'"
  check "CUDA_ARCH of PTX alone" archs ptx80 compute_80
  check "a PETSc for all GPUs" all_major
  check "CUDA_ARCH below 80" refused "needs compute capability 8.0" $given CUDA_ARCH=70
  check "CUDA_ARCH that is no number" refused "is not a compute capability" $given CUDA_ARCH=hopper
  check "a PETSc for another GPU" refused "does not run on compute capability 80" env \
    -u PETSC_ARCH PETSC_DIR="$PETSC_DIR_HERE" "$(gpu 8.0)"
  check "a PETSc in the cache for another GPU" cached_for
  check "a build for other GPUs is made again" other_archs
  check "make install after make fat" install_fat
else
  skip "which GPUs" "this PETSc has no CUDA" 10
fi
check "make builds on all cores" all_cores
check "make install and uninstall" installs
check "manual pages are those of the comments" manual_pages
check "the installed examples" installed_examples
check "make install as another user" install_as_root
check "make uninstall after an install that failed" install_fails
check "a program built with what make install installs" linked
check "make install with a PREFIX that is not absolute" not_absolute
check "CHANGELOG has this version" changelog
check "make check" checks
check "make run shows its view after the times" view_apart
check "make again has nothing to do" up_to_date
check "make run" run "-n 8" "^problem:"
check "make run with a file" run "-f examples/data/poisson.mtx.xz" "^file:"
check "make run on two ranks" run_ranks
check "the library exports its interface only" exported
check "generated parts of README and docs, and their links" table
check "commands of README and docs" commands
check "times to solution can be measured, and a table made of them" solutions
check "set-ups and applies can be measured, and a table made of them" setups
check "KSP types can be compared" krylov
summary
