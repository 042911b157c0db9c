"""Makes -pc_type sptrsvgpu known to petsc4py.

    import sptrsvgpu
    from petsc4py import PETSc
    ...
    ksp.getPC().setType("sptrsvgpu")

The import finds libsptrsvgpu.so; `sptrsvgpu.library` is its path. Before petsc4py.init() the import adds -dll_append to
PETSC_OPTIONS in the environment. After it, the import loads the library and registers its types. Import it after
petsc4py.init() where the arguments of init have a -dll_append of their own: PETSc reads the last one only.

The library is looked for in this order:

    the file that the environment variable SPTRSVGPU_LIB names; where it is set, no other place
    lib/ and build/lib/ in each folder above this file, for an installed tree and for a clone
    lib/ in the prefix of Python, for an environment of conda
    the folders in LD_LIBRARY_PATH, /usr/local/lib and /usr/lib
"""

import ctypes
import os
import re
import sys
from pathlib import Path


def _find():
    named = os.environ.get("SPTRSVGPU_LIB")
    folders = [parent / lib for parent in Path(__file__).resolve().parents for lib in ("lib", "build/lib")]
    folders += [Path(sys.prefix, "lib"), *filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":"))]
    folders += ["/usr/local/lib", "/usr/lib"]
    for file in [named] if named else [Path(folder, "libsptrsvgpu.so") for folder in folders]:
        if os.path.isfile(file):
            return os.path.abspath(file)
    if named:
        raise ImportError(f"SPTRSVGPU_LIB names no file: {named}")
    raise ImportError("libsptrsvgpu.so was not found; build it with `make', or set SPTRSVGPU_LIB to its path")


def _add_to_options():
    """PETSc reads the last -dll_append only; a comma separates its libraries, double quotes enclose blanks."""
    options = os.environ.get("PETSC_OPTIONS", "")
    given = [names.strip('"') for names in re.findall(r'-dll_append\s+("[^"]*"|\S+)', options)[-1:]]
    if "libsptrsvgpu" not in "".join(given):
        names = ",".join([*given, library])
        quote = '"' if re.search(r"\s", names) else ""
        os.environ["PETSC_OPTIONS"] = f"{options} -dll_append {quote}{names}{quote}".lstrip()


library = _find()
if "petsc4py.PETSc" not in sys.modules:
    _add_to_options()
elif error := ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL).SpTRSVGPURegister():
    raise sys.modules["petsc4py.PETSc"].Error(error)
