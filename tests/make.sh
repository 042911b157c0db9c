#!/usr/bin/env bash
# What the makefile and the set-up promise: make info for scripts, make run, and clear answers where PETSc is not there.
set -u
cd "$(dirname "$0")/.." || exit 1
make=${MAKE:-make}
unset MAKEFLAGS MAKELEVEL MFLAGS TEST_OPTIONS
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
passed=0 failed=0

check() { # NAME COMMAND...: passes if the command does
  local name=$1 out
  shift
  if out=$("$@" 2>&1 </dev/null); then
    echo "ok   $name"
    passed=$((passed + 1))
  else
    echo "FAIL $name: $out"
    failed=$((failed + 1))
  fi
}

info() { # what it prints can be evaluated, and is true
  local LIB PETSC_DIR PETSC_ARCH CUDA
  eval "$(timeout 60 $make -s info)" || return 1
  [ -f "$LIB" ] && [ -f "$PETSC_DIR/$PETSC_ARCH/lib/petsc/conf/petscvariables" ] && [ "$CUDA" = 0 -o "$CUDA" = 1 ]
}
info_only() { # nothing but assignments
  [ "$($make -s info 2>/dev/null | grep -vcE '^(LIB|PETSC_DIR|PETSC_ARCH|CUDA)=')" = 0 ]
}
nothing_set_up() { # exit status 1, nothing printed on standard output, nothing built
  local out
  out=$(env -u PETSC_DIR -u PETSC_ARCH SPTRSV_CACHE="$empty/cache" timeout 60 $make -s info 2>/dev/null)
  [ $? != 0 ] && [ -z "$out" ] && [ ! -e "$empty/cache" ]
}
wrong_petsc() { # a PETSC_DIR that is none is named, and nothing is built instead
  local out
  out=$(PETSC_DIR=$empty PETSC_ARCH=none timeout 60 $make lib 2>&1)
  [ $? != 0 ] && grep -q "PETSC_DIR=$empty PETSC_ARCH=none is not a built PETSc" <<<"$out"
}
old_petsc() { # one of too old a version is told
  local LIB PETSC_DIR PETSC_ARCH CUDA out
  eval "$($make -s info)"
  mkdir -p "$empty/old/include" && ln -s "$PETSC_DIR/$PETSC_ARCH" "$PETSC_DIR/lib" "$empty/old/" && touch "$empty/old/include/petsc.h" && sed 's/VERSION_MINOR .*/VERSION_MINOR 25/' "$PETSC_DIR/include/petscversion.h" >"$empty/old/include/petscversion.h" || return 1
  out=$(PETSC_DIR=$empty/old PETSC_ARCH=$PETSC_ARCH timeout 60 $make -n lib 2>&1)
  [ $? != 0 ] && grep -q "needs PETSc 3.26 or later" <<<"$out" || { echo "$out"; return 1; }
}
fresh() { # the makefile's own call of the set-up configures the PETSc that it unpacked, not one that the environment names; a stand-in for configure tells
  local kind src out
  for kind in cuda host; do
    src=$empty/fresh/petsc-$(sed -n 's/^version=//p' conf/petsc.sh)-$kind/src
    mkdir -p "$src" && touch "$src/../unpacked"
    printf 'import os\nraise SystemExit("environment: " + str([x for x in ("PETSC_DIR", "PETSC_ARCH") if x in os.environ]))\n' >"$src/configure"
  done
  mkdir "$empty/bin" # a test installs nothing
  printf '#!/bin/sh\nexit 1\n' | tee "$empty/bin/apt-get" >"$empty/bin/sudo"
  chmod +x "$empty/bin"/*
  out=$(env -u PETSC_DIR -u PETSC_ARCH PATH="$empty/bin:$PATH" SPTRSV_CACHE="$empty/fresh" timeout 60 $make lib 2>&1)
  grep -qF 'environment: []' <<<"$out" || { echo "$out"; return 1; }
}
given_petsc() { # one that is given is taken
  local LIB PETSC_DIR PETSC_ARCH CUDA
  eval "$($make -s info)"
  [ "$(PETSC_DIR=$PETSC_DIR PETSC_ARCH=$PETSC_ARCH timeout 60 $make -s info)" = "$($make -s info)" ]
}
up_to_date() { # a second make has nothing to do
  local out
  out=$(timeout 300 $make --no-print-directory lib examples 2>&1) && ! grep -q mpicc <<<"$out"
}
run() { # OPTIONS EXPRESSION: make run prints what it should
  local out
  out=$(timeout 300 $make run ARGS="$1" 2>&1) && grep -q "$2" <<<"$out" && grep -q '^iterations:.*CONVERGED' <<<"$out" && grep -q 'algorithm ' <<<"$out" && grep -q 'PCApply .* ms' <<<"$out" && grep -q 'MatSolve .* ms' <<<"$out"
}
run_ranks() {
  timeout 300 $make run NP=2 ARGS="-n 8" 2>&1 | grep -q "block Jacobi: each of 2 ranks"
}
exported() { # nothing of the library is visible but its interface
  local LIB PETSC_DIR PETSC_ARCH CUDA
  eval "$($make -s info)"
  ! nm -D --defined-only "$LIB" | awk '$2 ~ /[TDBR]/ {print $3}' | grep -vE '^(PetscDLLibraryRegister_sptrsvgpu|SpTRSVGPU[A-Za-z]+|(Mat|PC)SpTRSVGPU[A-Za-z]+)$'
}

table() { # those of README and docs are what the results give
  local tmp status=0 script
  tmp=$(mktemp -d)
  cp README.md docs/performance.md "$tmp"
  for script in table setups orders; do "${PYTHON:-python3}" tests/bench/$script.py --write "$tmp/README.md" >/dev/null || status=1; done
  "${PYTHON:-python3}" tests/bench/performance.py --write "$tmp/performance.md" >/dev/null || status=1
  cmp -s "$tmp/README.md" README.md || status=1
  cmp -s "$tmp/performance.md" docs/performance.md || status=1
  "${PYTHON:-python3}" tests/bench/papers.py --check docs/papers.md || status=1
  rm -rf "$tmp"
  [ $status = 0 ] || echo "a table is not what results/ gives: run make plots"
  return $status
}
solutions() { # the program that measures times to solution on a GPU, and what makes tables of them, with a matrix on the host
  local LIB PETSC_DIR PETSC_ARCH CUDA program
  eval "$($make -s info)"
  program=$(dirname "$LIB")/../bench/solutions
  $make -s "$(realpath -m "$program")" && "$program" -host -runs 1 -dll_append "$LIB" -f g2d5:20 -o "$empty/solutions.jsonl" && "${PYTHON:-python3}" tests/bench/solutions.py "$empty/solutions.jsonl" | grep -q "^| g2d5:20 | 400 | CG |"
}
setups() { # the same for set-ups and applies: every one of six ways gives what PETSc's own does
  local LIB PETSC_DIR PETSC_ARCH CUDA program
  eval "$($make -s info)"
  program=$(dirname "$LIB")/../bench/setup
  $make -s "$(realpath -m "$program")" && "$program" -host -dim 2 -n 20 -dll_append "$LIB" -o "$empty/setup.jsonl" && [ "$(grep -c '"apply_ms": [0-9]' "$empty/setup.jsonl")" = 6 ] && "${PYTHON:-python3}" tests/bench/setups.py "$empty/setup.jsonl" | sed '1,/^PCApply/d' | grep -q "^| 2D 20^2 | [0-9]"
}

check "make info can be evaluated" info
check "make info prints assignments only" info_only
check "make info where nothing is set up" nothing_set_up
check "make with a wrong PETSC_DIR" wrong_petsc
check "make with a PETSc that is too old" old_petsc
check "make where nothing is set up" fresh
check "make with a PETSC_DIR that is given" given_petsc
check "make again has nothing to do" up_to_date
check "make run" run "-n 8" "^problem:"
check "make run with a file" run "-f examples/data/poisson.mtx.xz" "^file:"
check "make run on two ranks" run_ranks
check "the library exports its interface only" exported
check "tables are made from results/" table
check "times to solution can be measured, and told" solutions
check "set-ups and applies can be measured, and told" setups
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
