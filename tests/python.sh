#!/usr/bin/env bash
# Runs the petsc4py example, on one rank and on two, loading the plugin in both of the ways that it names.
#
# usage: python.sh PYTHON PYTHONPATH LIBRARY
set -u
python=$1 library=$3
export PYTHONPATH=$2${2:+:}${PYTHONPATH:-} PYTHONDONTWRITEBYTECODE=1
example=$(cd "$(dirname "$0")/../examples" && pwd)/ex3.py
cd "$(dirname "$library")/.." || exit 1 # a folder that may be written to
options="-use_gpu_aware_mpi 0 ${TEST_OPTIONS:-}"
passed=0 failed=0

if ! "$python" -c 'import petsc4py' 2>/dev/null; then
  echo "skip: no petsc4py for $python"
  echo "0 passed, 0 failed, 2 skipped"
  exit 0
fi
try() { # NAME COMMAND...
  local name=$1
  shift
  if out=$(timeout -k 5 120 "$@" 2>&1 </dev/null) && grep -q '^sptrsvgpu: [0-9]* iterations' <<<"$out" && grep -q '^algorithm' <<<"$out"; then
    echo "ok   $name: $(tail -n 1 <<<"$out")"
    passed=$((passed + 1))
  else
    echo "FAIL $name: $out"
    failed=$((failed + 1))
  fi
}
try "argument of init" env LIB="$library" PETSC_OPTIONS="$options" "$python" "$example" -n 50
try "PETSC_OPTIONS, 2 ranks" env PETSC_OPTIONS="-dll_append $library $options" mpiexec -n 2 "$python" "$example" -n 50
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
