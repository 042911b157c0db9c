#!/usr/bin/env bash
# What check-pretend runs beside PETSc's harness: the failure of each call in set-ups and solves, on one rank and on
# two, and a test of the harness with a smaller matrix.
#
# usage: tests/pretend/run.sh BUILD MPIEXEC [all | sanitized | ranks] [K/N]
#
# BUILD has the programs. sanitized: a part of it; ranks: every call on one of two ranks, and nothing else (a process
# for each: 30 minutes). K/N: the K-th of N shares, for as many processes
set -u
# shellcheck source=tests/check.sh
. "$(dirname "$0")/../check.sh"
build=$1 mpiexec=$2 only=${3-} share=${4-1/1}
part= turn=0
[ "$only" != all ] || only=
[ "$only" != sanitized ] || part='sanitized, '
export PETSC_OPTIONS="-mat_type aijcusparse -vec_type cuda -default_device_type host -options_left 0"
export ASAN_OPTIONS=detect_leaks=0

shared() { # NAME COMMAND...: a check, if it is of this share
  [ $((turn++ % ${share#*/})) != $((${share%/*} - 1)) ] || check "$@"
}

fails() { # KIND STEP OPTIONS...: the k-th call, for every k, or for each STEP-th
  local kind=$1 step=$2 out
  shift 2
  out=$(timeout 300 "$build/failures" -kind "$kind" -every "$step" "$@" 2>&1 </dev/null) &&
    [[ $out == *", 0 wrong" ]] && return
  echo "$out" | tail -n 30
  return 1
}

# on two ranks, a call of the last one: an error ends the program, and the other rank with it
fails_alone() { # KIND K STEP OPTIONS...
  local kind=$1 k=$2 by=$3 out status
  shift 3
  for (( ; ; k += by)); do
    out=$(timeout 60 $mpiexec -n 2 "$build/failures" -alone -kind "$kind" -k "$k" "$@" 2>&1 </dev/null)
    status=$?
    [ $status != 124 ] || { echo "call $k of $kind: a rank waits for ever"; return 1; }
    case $out in
    *"wrong answer"*) echo "call $k of $kind: $out"; return 1 ;;
    *"no failure"*) return ;; # there is no such call
    *"no error"*) ;;
    *) [ $status != 0 ] || { echo "call $k of $kind: neither an error nor an end: $out"; return 1; } ;;
    esac
  done
}

silent() { # COMMAND...: the harness' tests print what is wrong
  local out
  out=$(timeout 300 "$@" 2>&1 </dev/null) && [ -z "$out" ] && return
  echo "$out" | tail -n 30
  return 1
}

i=0
while read -r name options; do
  for kind in device device_on malloc petsc_own petsc; do
    [ "$only" != ranks ] || continue
    step=1
    case $part$kind in sanitized*malloc | sanitized*own) step=3 ;; sanitized*) step=29 ;; esac
    # shellcheck disable=SC2086
    shared "${part}failures, $kind, one of $step, $name" fails $kind $step $options
  done
  for kind in device malloc petsc; do
    [ "$only" != sanitized ] || continue
    step=7 first=$((i++ % 7 + 1))
    [ "$only" != ranks ] || step=1 first=1
    # shellcheck disable=SC2086
    shared "failures on one of two ranks, $kind, one of $step, $name" fails_alone $kind $first $step -n 20 $options
  done
done <<'END'
auto
ILU-on-the-device -mat_sptrsvgpu_factorization device
ICC -pc_sptrsvgpu_factor icc
ICC-on-the-device -pc_sptrsvgpu_factor icc -mat_sptrsvgpu_factorization device
a-matrix-of-the-host -mat_type aij
serial -mat_type aij -mat_sptrsvgpu_algorithm serial
END
# with thread auto takes the multicolor order here, and looks at new values
multicolor=(-n 6400 -mat_sptrsvgpu_algorithm thread)
step=47
[ -z "$part" ] || step=151
[ "$only" = ranks ] || shared "${part}failures, device, one of $step, the multicolor order" \
  fails device $step "${multicolor[@]}" -mat_sptrsvgpu_factorization device
if [ -z "$only" ]; then
  for kind in ilu icc; do
    shared "ordering, 6,400 rows, $kind" \
      silent "$build/../tests/tests/pc/ordering" "${multicolor[@]}" -few 20 -pc_sptrsvgpu_factor $kind
    shared "ordering, 13,000 rows on two ranks, $kind" silent $mpiexec -n 2 "$build/../tests/tests/pc/ordering" \
      "${multicolor[@]}" -n 12996 -few 20 -pc_sptrsvgpu_factor $kind
  done
fi
summary
