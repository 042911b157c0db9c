#!/usr/bin/env bash
# The Python module: where it finds the library, what it adds to PETSC_OPTIONS, and solves with petsc4py on 1, 2 ranks.
#
# usage: python.sh PYTHON PYTHONPATH LIBRARY
#
# PYTHONPATH is where petsc4py and numpy are. Without them the solves are skipped.
set -u
python=$1 petsc4py=$2 library=$3
export PYTHONPATH=$petsc4py${petsc4py:+:}${PYTHONPATH:-} PYTHONDONTWRITEBYTECODE=1
unset SPTRSVGPU_LIB PETSC_OPTIONS
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/check.sh"
example=$top/examples/ex3.py
cd "$(dirname "$library")/.." || exit 1 # a folder that may be written to
options="-use_gpu_aware_mpi 0 ${TEST_OPTIONS:-}"

prints() { # PATTERN COMMAND...: matches what the command prints, all its lines joined by blanks
  local out
  out=$(timeout -k 5 120 "${@:2}" 2>&1)
  echo "$out"
  grep -qE -- "$1" <<<"$(tr '\n' ' ' <<<"$out" | sed 's/ *$//')"
}
module() { # [NAME=VALUE...] FOLDER: imports the module there, prints PETSC_OPTIONS
  env "${@:1:$#-1}" PYTHONPATH="${@: -1}" "$python" -c 'import os, sptrsvgpu; print(os.environ["PETSC_OPTIONS"])'
}
export -f module
export python

# Where it finds the library. A library of this name that is a text will do
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{clone/python,clone/build/lib,prefix/share/sptrsvgpu/python,prefix/lib/python3/site-packages} \
  "$tree"/{none,path,"a b"}
for folder in clone/build/lib prefix/lib path "a b"; do echo >"$tree/$folder/libsptrsvgpu.so"; done
for folder in clone/python prefix/share/sptrsvgpu/python prefix/lib/python3/site-packages none; do
  cp "$top/python/sptrsvgpu.py" "$tree/$folder"
done
finds() { # NAME FOLDER WHERE [NAME=VALUE...]
  check "$1" prints "^-dll_append $tree/$3/libsptrsvgpu.so$" bash -c 'module "$@"' - "${@:4}" "$tree/$2"
}
finds "in a clone" clone/python clone/build/lib
finds "in a prefix" prefix/share/sptrsvgpu/python prefix/lib
finds "in a prefix, site-packages" prefix/lib/python3/site-packages prefix/lib
finds "in LD_LIBRARY_PATH" none path LD_LIBRARY_PATH="$tree/none:$tree/path"
finds "by SPTRSVGPU_LIB" clone/python path SPTRSVGPU_LIB="$tree/path/libsptrsvgpu.so"
check "by a SPTRSVGPU_LIB that is no file" prints " ImportError: SPTRSVGPU_LIB names no file: $tree/x" \
  bash -c 'module "$@"' - SPTRSVGPU_LIB="$tree/x" "$tree/clone/python"
if [ ! -e /usr/local/lib/libsptrsvgpu.so ] && [ ! -e /usr/lib/libsptrsvgpu.so ]; then
  check "nowhere" prints " ImportError: .*not found; build it with .make" \
    bash -c 'module "$@"' - -u LD_LIBRARY_PATH "$tree/none"
fi

# What it adds to PETSC_OPTIONS
found=$tree/clone/build/lib/libsptrsvgpu.so
adds() { # NAME PETSC_OPTIONS RESULT
  check "$1" prints "^$3$" bash -c 'module "$@"' - PETSC_OPTIONS="$2" "$tree/clone/python"
}
adds "keeps other options" "-log_view" "-log_view -dll_append $found"
adds "keeps another library" "-dll_append /x/liba.so -n 3" "-dll_append /x/liba.so -n 3 -dll_append /x/liba.so,$found"
adds "keeps another library, with a blank" '-dll_append "/x y/liba.so"' \
  "-dll_append \"/x y/liba.so\" -dll_append \"/x y/liba.so,$found\""
check "quotes a path with a blank" prints "^-dll_append \"$tree/a b/libsptrsvgpu.so\"$" \
  bash -c 'module "$@"' - SPTRSVGPU_LIB="$tree/a b/libsptrsvgpu.so" "$tree/clone/python"
adds "keeps a libsptrsvgpu that is given" "-dll_append /x/libsptrsvgpu.so" "-dll_append /x/libsptrsvgpu.so"

# Solves
late="import runpy; from petsc4py import PETSc; runpy.run_path('$example', run_name='__main__')"
plain="
from petsc4py import PETSc
A = PETSc.Mat().create()
A.setSizes(100)
A.setFromOptions()
A.setUp()
for i in range(*A.getOwnershipRange()):
    A[i, i] = 3
    A[i, (i + 1) % 100] = -1
A.assemble()
x, b = A.createVecs()
b.set(2)
ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.getPC().setType('sptrsvgpu')
ksp.setFromOptions()
ksp.solve(b, x)
x.shift(-1)
PETSc.Sys.Print('sptrsvgpu:', ksp.getIterationNumber(), 'iterations, error %.1e' % x.norm())
"
solved='sptrsvgpu: [0-9]+ iterations, error [0-9.]+e-(0[5-9]|1[0-9])$'
export SPTRSVGPU_LIB=$library
if reason=$("$python" -c 'import petsc4py, numpy' 2>&1); then
  for ranks in 1 2; do
    run="mpiexec -n $ranks env"
    [ $ranks = 2 ] || run=env
    check "module before init, $ranks ranks" prints "algorithm .*$solved" \
      $run PETSC_OPTIONS="$options" "$python" "$example" -n 50
    check "module after init, $ranks ranks" prints "algorithm .*$solved" \
      $run PETSC_OPTIONS="$options -n 50" "$python" -c "$late"
    check "PETSC_OPTIONS, $ranks ranks" prints "$solved" \
      $run -u SPTRSVGPU_LIB PETSC_OPTIONS="-dll_append $library $options" "$python" -c "$plain"
  done
else
  skip "solves with petsc4py" "$(tail -n 1 <<<"$reason")" 6
fi
summary
