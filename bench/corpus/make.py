#!/usr/bin/env python3
"""Makes a corpus of linear systems in their own values, to which nothing else in this project is fitted.

  make.py FOLDER            writes all as FOLDER/FAMILY-MEMBER.mtx.xz; those that are there stay
  make.py FOLDER NAME...    families of these names alone
  make.py --list            name, use; needs only Python

Needs numpy, scipy and scikit-fem; and for the tutorials of PETSc PETSC_DIR and PETSC_ARCH of one with sources.
Half of the families are for fitting, half for reporting. Values have seven digits.
"""

import io
import lzma
import os
import re
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
MODULES = ("elements", "graphs", "petsc", "volumes")
LIMIT = 1000000  # bytes of a file; what is larger is left out


def write(A, path):
    """As a Matrix Market file with seven digits, one triangle of symmetric ones; says what it is."""
    A = A.tocsr()
    A.sum_duplicates()
    A.data[abs(A.data) < 1e-14 * abs(A.data).max()] = 0
    A.eliminate_zeros()
    symmetric = abs(A - A.T).max() <= 1e-9 * abs(A).max()
    A = A.tocoo()
    keep = (A.row >= A.col) if symmetric else slice(None)
    text = io.StringIO()
    kind = "symmetric" if symmetric else "general"
    text.write(f"%%MatrixMarket matrix coordinate real {kind}\n{A.shape[0]} {A.shape[1]} {A.data[keep].size}\n")
    for i, j, v in zip((A.row[keep] + 1).tolist(), (A.col[keep] + 1).tolist(), A.data[keep].tolist()):
        text.write(f"{i} {j} {v:.7g}\n")
    with lzma.open(path + ".part", "wt", preset=4) as f:
        f.write(text.getvalue())
    if os.path.getsize(path + ".part") > LIMIT:
        os.remove(path + ".part")
        return f"{path}: left out, larger than {LIMIT} bytes"
    os.rename(path + ".part", path)
    return f"{path}: {A.shape[0]} rows, {A.nnz} entries{', symmetric' if symmetric else ''}"


def listed():
    """Name and use of each family, from the sources."""
    found = []
    for module in MODULES:
        with open(os.path.join(FOLDER, module + ".py"), encoding="utf-8") as f:
            text = f.read()
        found += re.findall(r"^@family\((FIT|REPORT)\)\ndef (\w+)", text, re.M)
        found += [(use, "petsc_" + program.replace("/", "_"))
                  for program, use in re.findall(r'^    "(\w+/\w+)": \((FIT|REPORT)', text, re.M)]
    return sorted((name, use.lower()) for use, name in found)


def families():
    """Name -> use and generator."""
    sys.path.insert(0, FOLDER)
    for module in MODULES:
        __import__(module)
    return __import__("families").TABLE


def main(args):
    if args[:1] == ["--list"]:
        for name, use in listed():
            print(name, use)
        return 0
    table = families()
    folder, names = args[0], args[1:] or sorted(table)
    os.makedirs(folder, exist_ok=True)
    for name in names:
        for member, A in table[name][1]():
            path = os.path.join(folder, f"{name}-{member}.mtx.xz")
            if not os.path.exists(path):
                print(write(A, path), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
