#!/usr/bin/env bash
# Runs a program on every real or pattern matrix of a folder, one process each.
#
# usage: matrices.sh PROGRAM LIBRARY FOLDER SCRATCH
#
# Prints the program's line for each, and last `N passed, N failed, N skipped`.
set -u
program=$1 library=$2 folder=$3 scratch=$4/matrices.out
# on the host by plans: PETSc's own solves would be compared with themselves
export PETSC_OPTIONS="-dll_append $library -malloc_dump -use_gpu_aware_mpi 0"
PETSC_OPTIONS+=" ${TEST_OPTIONS:--mat_sptrsvgpu_algorithm serial} ${TEST_OPTIONS:+-options_left 0}"

one() { # FILE: its line, after ok, FAIL or skip
  local out status header
  case $1 in
  *.gz) header=$(gzip -dc "$1" 2>/dev/null | head -n 1) ;;
  *.xz) header=$(xz -dc "$1" 2>/dev/null | head -n 1) ;;
  *) header=$(head -n 1 "$1") ;;
  esac
  case ${header,,} in
  *complex* | *hermitian*) echo "skip $(basename "$1"): complex" && return ;;
  *array*) echo "skip $(basename "$1"): not sparse" && return ;;
  esac
  out=$(ulimit -S -t "${TEST_CPU:-600}" && timeout -k 5 "${TEST_WALL:-1800}" "$program" -f "$1" 2>&1 </dev/null)
  status=$?
  if [ $status = 124 ] || [ $status = 137 ] || [ $status = 152 ]; then out+=" ran out of time (TEST_CPU, TEST_WALL)"; fi
  if [ $status = 0 ] && [ "$(wc -l <<<"$out")" = 1 ]; then echo "ok   $out"; else echo "FAIL $(basename "$1"): $out"; fi
}
export -f one
export program

if [ ! -d "$folder" ]; then
  echo "skip: no folder $folder; SPTRSV_MATRICES names one with Matrix Market files"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
fi
# the largest first, so that the last ones are short
find -L "$folder" -maxdepth 1 \( -name '*.mtx' -o -name '*.mtx.gz' -o -name '*.mtx.xz' \) -printf '%s %p\n' |
  sort -rn | cut -d' ' -f2- |
  xargs -d '\n' -P "${TEST_JOBS:-2}" -I{} bash -c 'one "$1"' one {} | tee "$scratch"
count() { grep -c "^$1 " "$scratch"; }
failed=$(count FAIL)
echo "$(count 'ok  ') passed, $failed failed, $(count skip) skipped"
[ "$failed" = 0 ]
