#!/usr/bin/env python3
"""Makes a corpus of linear systems in their own values, to which nothing else in this project is fitted.

  make.py FOLDER            writes all as FOLDER/FAMILY-MEMBER.mtx.xz; those that are there stay
  make.py FOLDER NAME...    families of these names alone
  make.py --list            name, use

Needs numpy, scipy and scikit-fem; and for the tutorials of PETSc PETSC_DIR and PETSC_ARCH of one with sources.
Half of the families are for fitting, half for reporting. Values have seven digits.
"""

import io
import lzma
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import elements
import graphs
import petsc
import volumes
from families import TABLE

LIMIT = 1000000  # bytes of a file; what is larger is left out


def write(A, path):
    """As a Matrix Market file with seven digits, one triangle of symmetric ones; says what it is."""
    A = A.tocsr()
    A.sum_duplicates()
    A.data[np.abs(A.data) < 1e-14 * np.abs(A.data).max()] = 0
    A.eliminate_zeros()
    symmetric = abs(A - A.T).max() <= 1e-9 * abs(A).max()
    A = A.tocoo()
    keep = (A.row >= A.col) if symmetric else np.full(A.nnz, True)
    text = io.StringIO()
    kind = "symmetric" if symmetric else "general"
    text.write(f"%%MatrixMarket matrix coordinate real {kind}\n{A.shape[0]} {A.shape[1]} {keep.sum()}\n")
    for i, j, v in zip((A.row[keep] + 1).tolist(), (A.col[keep] + 1).tolist(), A.data[keep].tolist()):
        text.write(f"{i} {j} {v:.7g}\n")
    with lzma.open(path + ".part", "wt", preset=4) as f:
        f.write(text.getvalue())
    if os.path.getsize(path + ".part") > LIMIT:
        os.remove(path + ".part")
        return f"{path}: left out, larger than {LIMIT} bytes"
    os.rename(path + ".part", path)
    return f"{path}: {A.shape[0]} rows, {A.nnz} entries{', symmetric' if symmetric else ''}"


def main(args):
    if args[:1] == ["--list"]:
        for name, (use, _) in sorted(TABLE.items()):
            print(name, use)
        return 0
    folder, names = args[0], args[1:] or sorted(TABLE)
    os.makedirs(folder, exist_ok=True)
    for name in names:
        for member, A in TABLE[name][1]():
            path = os.path.join(folder, f"{name}-{member}.mtx.xz")
            if not os.path.exists(path):
                print(write(A, path), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
