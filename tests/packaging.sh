#!/usr/bin/env bash
# Checks packaging/ and CITATION.cff without a network: syntax, the version, the make targets and files that they name.
#
# usage: packaging.sh PYTHON [PETSC_DIR]
#
# PETSC_DIR with its sources adds two checks of packaging/petsc.
set -u
cd "$(dirname "$0")/.." || exit 1
python=${1:-python3} petsc=${2:-}
export PYTHONDONTWRITEBYTECODE=1
. tests/check.sh

# Syntax
for file in packaging/petsc/sptrsvgpu.py packaging/spack/package.py python/sptrsvgpu.py; do
  check "$file compiles" "$python" -c 'import sys; compile(open(sys.argv[1]).read(), sys.argv[1], "exec")' "$file"
done
for file in packaging/conda/recipe.yaml packaging/conda/variants.yaml CITATION.cff; do
  if "$python" -c 'import yaml' 2>/dev/null; then
    check "$file parses" "$python" -c 'import sys, yaml; assert type(yaml.safe_load(open(sys.argv[1]))) is dict' "$file"
  else
    skip "$file parses" "$python has no module yaml"
  fi
done

# Spack's recipe, with stand-ins for what it imports: the commands of its phases
spack() {
  "$python" - <<'END'
import sys, types
class Directive:
    def __call__(self, *args, **kwargs): return None
class Package: cuda_arch_values = ("70", "80", "90", "90a")
def module(name, **names): sys.modules[name] = types.ModuleType(name); sys.modules[name].__dict__.update(names)
for name in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"): module(name)
module("spack_repo.builtin.build_systems.cuda", CudaPackage=type("CudaPackage", (Package,), {}))
module("spack_repo.builtin.build_systems.makefile", MakefilePackage=type("MakefilePackage", (), {}))
seen = []
def directive(name): return lambda *args, **kwargs: seen.append((name, *args, *kwargs.items()))
module("spack.package", make=lambda *args: seen.append(args), join_path="/".join,
       **{name: directive(name) for name in ("conflicts", "depends_on", "license", "version")})
names = {}
exec(open("packaging/spack/package.py").read(), names)
class Prefix(str): pass
class Spec(dict):
    variants = {"cuda_arch": types.SimpleNamespace(value=("80", "90"))}
    def satisfies(self, what): return what == "+cuda"
package = names["Sptrsvgpu"]()
package.prefix, package.spec = "/prefix", Spec(petsc=types.SimpleNamespace(prefix="/petsc"))
build = ["PETSC_DIR=/petsc", "PETSC_ARCH=", "CUDA_ARCH=80 90"]
assert package.build_targets == build, package.build_targets
assert package.install_targets == build + ["PREFIX=/prefix", "install"], package.install_targets
package.check()
assert seen[-1] == (*build, "check"), seen[-1]
assert ("depends_on", "petsc+cuda cuda_arch=80", ("when", "+cuda cuda_arch=80")) in seen, seen
assert [x[1] for x in seen if x[0] == "conflicts"] == ["cuda_arch=none", "cuda_arch=70", "cuda_arch=90a"], seen
END
}
check "spack/package.py gives make what it should" spack

# One version
number() { sed -n "s/^#define SPTRSVGPU_VERSION_$1 *\([0-9]*\).*/\1/p" include/sptrsvgpu.h; }
version=$(number MAJOR).$(number MINOR).$(number SUBMINOR)
same_version() { # FILE, and what is left and right of the version there
  local found
  found=$(sed -nE "s/^$2([0-9.]+)${3:-\$}.*/\1/p" "$1")
  [ "$found" = "$version" ] || { echo "$1 has '$found', include/sptrsvgpu.h has '$version'"; return 1; }
}
check "version of petsc/sptrsvgpu.py" same_version packaging/petsc/sptrsvgpu.py " *self.version *= '" "'"
check "version of spack/package.py" same_version packaging/spack/package.py ' *version\("' '"'
check "version of conda/recipe.yaml" same_version packaging/conda/recipe.yaml '  version: "' '"'
check "version of the module file" same_version packaging/modulefile/sptrsvgpu 'set version '
check "version of CITATION.cff" same_version CITATION.cff 'version: '

# What the files name: make targets, and files of packaging/
targets() { # FILE: every `make ... TARGET' of its commands: RUN, list items, indented lines
  "$python" - "$1" <<'END'
import glob, re, shlex, sys
known, wanted = {"all"}, set()  # all is PETSc's
for makefile in ("makefile", *glob.glob("conf/*.mk"), *glob.glob("*/makefile")):
    for line in open(makefile):
        if match := re.match(r"([\w -]+):(?!=)", line):
            known.update(match[1].split())
for line in open(sys.argv[1]):
    if match := re.match(r"(?:RUN |    | *- )(?:nice )?make\b([^#&|]*)", line):
        words = re.sub(r"\$\{\{.*?\}\}", "", match[1])
        wanted.update(word for word in shlex.split(words) if re.fullmatch("[a-z][a-z-]*", word))
assert wanted, "no command found"
assert wanted <= known, "no such target: " + " ".join(wanted - known)
END
}
for file in packaging/README.md packaging/container/Containerfile packaging/conda/recipe.yaml; do
  check "make targets in $file" targets $file
done
files() {
  local file missing=
  for file in $(grep -ohE 'packaging/[A-Za-z0-9_./-]*[A-Za-z0-9]' packaging/README.md packaging/*/*); do
    [ -e "$file" ] || missing+=" $file"
  done
  [ -z "$missing" ] || { echo "no such file:$missing"; return 1; }
}
check "files that packaging/ names" files

# The module file is Tcl; the commands of a module system print their arguments
module_file() {
  local out
  out=$({ for word in conflict module-whatis setenv prepend-path append-path; do
    echo "proc $word args {puts \"$word \$args\"}"
  done; cat packaging/modulefile/sptrsvgpu; echo ModulesHelp; } | tclsh - 2>&1) || { echo "$out"; return 1; }
  grep -qx 'setenv SPTRSVGPU_LIB /usr/local/lib/libsptrsvgpu.so' <<<"$out" || { echo "$out"; return 1; }
  ! grep -i 'invalid command' <<<"$out"
}
if command -v tclsh >/dev/null; then
  check "the module file runs" module_file
else
  skip "the module file runs" "no tclsh"
fi

# PETSc's own sources
if [ -f "$petsc/src/sys/dll/reg.c" ] && command -v patch >/dev/null; then
  applies() { patch -p1 --dry-run -o /dev/null "$petsc/src/sys/dll/reg.c" packaging/petsc/autoload.patch; }
  check "petsc/autoload.patch applies to $petsc" applies
else
  skip "petsc/autoload.patch applies" "no patch, or no PETSC_DIR with sources"
fi
buildsystem=$petsc/config/BuildSystem/config
if grep -qs 'def addPost' "$buildsystem/package.py"; then
  methods() { # those that the package file calls
    local method missing=
    for method in $(grep -oE '(add|check|cuda)[A-Za-z]+\(' packaging/petsc/sptrsvgpu.py | tr -d '(' | sort -u); do
      grep -qs "def $method(" "$buildsystem"/{package,base,packages/CUDA}.py packaging/petsc/sptrsvgpu.py ||
        missing+=" $method"
    done
    [ -z "$missing" ] || { echo "PETSc's configure has no$missing"; return 1; }
  }
  check "petsc/sptrsvgpu.py calls what is in $petsc" methods
else
  skip "petsc/sptrsvgpu.py calls what PETSc has" "no PETSC_DIR with the sources of PETSc 3.24 or later"
fi

summary
