#!/usr/bin/env bash
# Packs what `make check-gpu` needs for a machine with a GPU, nvcc and gcc, but without PETSc, MPI and a network: the
# PETSc that conf/petsc.sh built, its MPI and BLAS, what is built of this clone, and the matrices, recompressed. About
# 55 MB in the folder bundle/.
#
#   tests/gpu/bundle.sh            here
#   bundle/run.sh [VARIABLES...]   there, in a copy of this clone with bundle/ in it, as a user who may write where the
#                                  PETSc stood
set -euo pipefail
cd "$(dirname "$0")/../.."
make -s lib examples petsc-programs "$PWD/build/bench/bench" "$PWD/build/bench/ag" "$PWD/build/bench/dense" \
  "$PWD/build/bench/setup" "$PWD/build/bench/solutions" "$PWD/build/bench/krylov" "$PWD/build/bench/repeats" \
  "$PWD/build/bench/memory" "$PWD/build/tests/matrices" \
  "$PWD"/build/bench/{waits,threads,dags,same,crowd,full,errors}
make -s ampere
eval "$(make -s info)"
matrices=${SPTRSV_MATRICES:-../shared/matrices}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p bundle/matrices
root=$(dirname "$PETSC_DIR")

# PETSc without its sources, stripped; the programs it is tried with
make=make
. tests/gpu/petsc_programs.sh
build_tutorials
mkdir -p "$tmp/libs"
ldd "$PETSC_DIR/$PETSC_ARCH/lib/libpetsc.so" "$(command -v mpiexec)" "$(command -v hydra_pmi_proxy)" |
  awk '$3 ~ "^/" { print $3 }' |
  grep -vE '/(libc|libm|libpthread|libdl|librt|libstdc[+][+]|libgcc_s|libcu[A-Za-z]*|libnv[A-Za-z]*)[.]so|/cuda' |
  sort -u | xargs -I{} cp -L {} "$tmp/libs/"
strip --strip-unneeded "$tmp"/libs/*.so* 2>/dev/null || true
for program in mpiexec hydra_pmi_proxy; do cp -L "$(command -v $program)" "$tmp/libs/"; done
mkdir -p "$tmp/$root/src/$PETSC_ARCH/lib"
(cd "$PETSC_DIR" && tar cf - --exclude='*.o' --exclude='lib/libpetsc*' gmakefile.test config include lib \
  "$PETSC_ARCH/include" "$PETSC_ARCH/lib/petsc" "${programs[@]/#/src/}") |
  tar xf - -C "$tmp/$root/src"
for lib in "$PETSC_DIR/$PETSC_ARCH/lib"/libpetsc.so*; do
  if [ -L "$lib" ]; then cp -P "$lib" "$tmp/$root/src/$PETSC_ARCH/lib/";
    else strip -o "$tmp/$root/src/$PETSC_ARCH/lib/$(basename "$lib")" "$lib"; fi
done
touch "$tmp/$root/complete"
# the headers that make's dependencies name
includes=$(mpicc -show | tr ' ' '\n' | sed -n 's/^-I//p' | grep -i mpi || true)
tar cJf bundle/headers.tar.xz -C / $(printf '%s\n' $includes | sed 's#^/##')
mpiexec=$PWD/bundle/libs/mpiexec
sed -i -e "s#^MPIEXEC = .*#MPIEXEC = $mpiexec#" -e "s#^PYTHON = .*#PYTHON = python3#" \
  "$tmp/$root/src/$PETSC_ARCH/lib/petsc/conf/petscvariables"
tar cJf bundle/petsc.tar.xz -C "$tmp$(dirname "$root")" "$(basename "$root")"
tar cJf bundle/libs.tar.xz -C "$tmp" libs
# objects, library, programs; -9, because the programs have the same kernels, and its window holds several of them
XZ_OPT=-9 tar cJf bundle/build.tar.xz --exclude='*.log' --exclude=build/tests-kernels --exclude=build/pretend \
  --exclude=build/corpus --exclude=build/mutants --exclude=build/ampere/obj build

for m in "$matrices"/*.mtx.*; do
  to=bundle/matrices/$(basename "${m%.[gx]z}").xz
  [ -f "$to" ] && continue
  case $m in
  *.gz) gzip -dc "$m" | xz -4 >"$to" ;;
  *) cp "$m" "$to" ;;
  esac
done
cp "$matrices/INDEX.tsv" bundle/matrices/ 2>/dev/null || true
if [ -d build/corpus ]; then rm -rf bundle/corpus && cp -r build/corpus bundle/; fi # bench/corpus/make.py made it

cat >bundle/run.sh <<RUN
#!/usr/bin/env bash
cd "\$(dirname "\$0")/.."
mkdir -p "$(dirname "$root")"
tar xf bundle/petsc.tar.xz -C "$(dirname "$root")"
tar xf bundle/libs.tar.xz -C bundle
tar xf bundle/headers.tar.xz -C / --skip-old-files
tar xf bundle/build.tar.xz
# nothing is to be built again because a copy made the sources look new
find . "$root" \( -path ./build -o -path ./.git -o -path ./bundle \) -prune -o -type f -exec touch -d 2000-01-01 {} +
export LD_LIBRARY_PATH="\$PWD/bundle/libs:\${LD_LIBRARY_PATH:-}" SPTRSV_MATRICES="\$PWD/bundle/matrices"
export CORPUS="\$PWD/bundle/corpus" PATH="\$PWD/bundle/libs:\$PATH"
exec make check-gpu CUDA_ARCH='$CUDA_ARCH' PETSC_DIR='$PETSC_DIR' PETSC_ARCH='$PETSC_ARCH' "\$@"
RUN
chmod +x bundle/run.sh
du -sh bundle
