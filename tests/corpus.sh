#!/usr/bin/env bash
# bench/corpus: its table of patterns; systems with other instruction sets have these patterns.
#
# usage: corpus.sh PYTHON
#
# Without numpy, scipy and scikit-fem no system is made; bench/corpus/requirements.txt has the versions of the table.
set -u
cd "$(dirname "$0")/.." || exit 1
python=${1:-python3} make=bench/corpus/make.py
export PYTHONDONTWRITEBYTECODE=1
. tests/check.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

table_fits() { # the families of the table are there
  local names
  names=$("$python" $make --list | cut -d' ' -f1)
  ! sed '/^#/d; s/-.*//' bench/corpus/patterns.tsv | sort -u | grep -vxF -- "$names"
}
makes() { # FOLDER NAME=VALUE...: families whose patterns would depend on the CPU
  env "${@:2}" "$python" -W ignore $make "$1" plate geometric && ls "$1"/geometric-rcm.mtx.xz
}
names_other() { # FILE: --check names it, whose last entry is elsewhere
  local out
  mkdir "$folder/other"
  xz -dc "$1" | sed '$s/^[0-9]* [0-9]*/1 1/' | xz >"$folder/other/$(basename "$1")"
  out=$("$python" $make --check "$folder/other" 2>&1) && return 1
  grep -q "^$(basename "$1" .mtx.xz) in patterns.tsv" <<<"$out" || { echo "$out"; return 1; }
}

check "corpus: the table of patterns" table_fits
if reason=$("$python" -c 'import numpy, scipy, skfem' 2>&1); then
  check "corpus: patterns" makes "$folder/plain"
  check "corpus: patterns, AVX2" makes "$folder/avx2" NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512F AVX512_SKX" \
    OPENBLAS_CORETYPE=Haswell
  check "corpus: patterns, SSE" makes "$folder/sse" OPENBLAS_CORETYPE=Prescott \
    NPY_DISABLE_CPU_FEATURES="X86_V3 X86_V4 AVX2 FMA3 AVX512F AVX512_SKX"
  check "corpus: another pattern is seen" names_other "$folder/plain/plate-25.mtx.xz"
else
  skip "corpus: patterns" "$(tail -n 1 <<<"$reason")" 4
fi
summary
