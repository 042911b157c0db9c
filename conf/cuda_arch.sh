# Which GPUs code is built for; read by conf/petsc.sh.
#
#   CUDA_ARCH  unset    the GPUs of this machine; where there is none, 90 and ptx80
#              native   the GPUs of this machine
#              fat      80 86 89 90 100 120, as the toolkit has them, and PTX of the last
#              a list   compute capabilities, such as "80 90 ptx90": machine code of each, PTX where it says so

cuda_gpus() { # compute capabilities of this machine's GPUs, 80 or later; empty where there is none
  local found
  found=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ' | sort -un |
    paste -sd' ') || true
  case $found in *[!0-9\ ]*) found= ;; esac
  for gpu in $found; do
    if [ "$gpu" -ge 80 ]; then echo "$gpu"
    else say "a GPU of compute capability ${gpu%?}.${gpu#"${gpu%?}"} is here; sptrsvgpu needs 8.0 or later"; fi
  done
}

cuda_fat() {
  local known a last=
  known=" $("${NVCC:-nvcc}" --list-gpu-arch | sed 's/compute_//' | paste -sd' ') "
  for a in 80 86 89 90 100 120; do
    case $known in *" $a "*) echo "$a"; last=$a ;; esac
  done
  echo "ptx$last"
}

cuda_archs() { # what CUDA_ARCH asks for, one a line
  local list=${CUDA_ARCH:-} a
  list=${list//,/ }
  case ${list:-default} in
  default) list=$gpus; [ -n "$list" ] || list="90 ptx80" ;;
  native) list=$gpus; [ -n "$list" ] ||
    die "CUDA_ARCH=native, but nvidia-smi finds no GPU of compute capability 8.0 or later" ;;
  fat) list=$(cuda_fat) ;;
  esac
  for a in $list; do
    case ${a#ptx} in
    "" | *[!0-9]*) die "CUDA_ARCH=$CUDA_ARCH: '$a' is not a compute capability; examples: 80, 90, ptx80, native, fat" ;;
    esac
    [ "${a#ptx}" -ge 80 ] || die "CUDA_ARCH=$CUDA_ARCH: sptrsvgpu needs compute capability 8.0 (80) or later"
    echo "$a"
  done
}

cuda_petsc() { # what a PETSc of our own is configured for: no list of packages, machine code alone
  if [ "${CUDA_ARCH:-}" = fat ]; then CUDA_ARCH=$gpus; fi
  local list
  list=$(cuda_archs | sed '/ptx/d' | sort -un | paste -sd,)
  echo "${list:-90}"
}

# FLAGS: why a PETSc whose nvcc has these flags is not for the GPUs that are asked for; nothing where it is
cuda_refusal() {
  local flags=" $1 " wanted a code
  case $flags in *sm_* | *compute_* | *-arch=*) ;; *) return ;; esac # nvcc's own choice
  case $flags in *-arch=all* | *-arch=native* | *--gpu-architecture=all*) return ;; esac
  case ${CUDA_ARCH:-} in "" | native | fat) wanted=$gpus ;; *) wanted=$(cuda_archs | sed '/ptx/d') ;; esac
  for a in $wanted; do
    for code in $(grep -oE '(sm|compute)_[0-9]+' <<<"${flags//arch=compute_/}"); do
      case $code in
      sm_*) [ $((${code#sm_} / 10)) != $((a / 10)) ] || [ "${code#sm_}" -gt "$a" ] || continue 2 ;;
      compute_*) [ "${code#compute_}" -gt "$a" ] || continue 2 ;;
      esac
    done
    echo "its GPU code is for $(grep -oE '(sm|compute)_[0-9]+' <<<"${flags//arch=compute_/}" | sort -u |
      paste -sd' '), and does not run on compute capability $a"
    return
  done
}
