#!/usr/bin/env python3
"""Makes a corpus of linear systems in their own values, to which nothing else in this project is fitted.

  make.py FOLDER            writes all as FOLDER/FAMILY-MEMBER.mtx.xz; those that are there stay; then checks them
  make.py FOLDER NAME...    families of these names alone
  make.py --check FOLDER    checks the files that are there; needs only Python
  make.py --write-patterns FOLDER   writes patterns.tsv from the files that are there; needs only Python
  make.py --list            name, use; needs only Python

Needs numpy, scipy and scikit-fem. `pip install -r bench/corpus/requirements.txt` installs the versions with which
patterns.tsv was made; others may give other patterns. For the tutorials of PETSc it needs PETSC_DIR and PETSC_ARCH of
one with sources.
About half of the families are for fitting; the others, with those that came after the last fit, for reporting. Values
have seven digits.

The CPU changes the last bits of values: BLAS and the functions exp, sin and pow differ by instruction set. The CPU also
changes the order of equal keys in an unstable sort. The pattern of a system does not depend on these:
- The size of an entry is its value, divided by the geometric mean of the largest ones of its row and of its column.
- An entry whose size is below ZERO is not written. The largest rounding error has the size 8e-15. The smallest entry
  that is written has the size 1.6e-13.
- A system with an entry near ZERO is refused.
- plate and pipe_elastic drop their larger rounding errors themselves.
- petsc_snes_ex48 solves its linear systems exactly, but for rounding.
- The order of Cuthill and McKee takes rows of equal length by their number.
- patterns.tsv has the rows, the entries and a checksum of the pattern of each system. A file that differs from it is
  an error.
The last of the seven digits of a value may differ. In petsc_ts_ex7-64 it does, because PETSc computes the Jacobian by
differences.
"""

import io
import lzma
import os
import re
import sys
import zlib

FOLDER = os.path.dirname(os.path.abspath(__file__))
MODULES = ("elements", "graphs", "petsc", "solids", "volumes")
LIMIT = 1000000  # bytes of a file; what is larger is left out
LIMITS = {"solids": 2000000}  # of modules that have another one
ZERO = 4e-14
PATTERNS = os.path.join(FOLDER, "patterns.tsv")


def write(A, path, limit):
    """As a Matrix Market file with seven digits, one triangle of symmetric ones; says what it is."""
    A = A.tocsr()
    A.sum_duplicates()
    row, column = (abs(A).max(axis=axis).toarray().ravel() for axis in (1, 0))
    at = A.tocoo()
    size = abs(A.data) / (row[at.row] * column[at.col]) ** 0.5
    if ((size > ZERO / 2) & (size < ZERO * 2)).any():
        sys.exit(f"{path}: some entries are as small as rounding errors")
    A.data[size < ZERO] = 0
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
    if os.path.getsize(path + ".part") > limit:
        os.remove(path + ".part")
        return f"{path}: left out, larger than {limit} bytes"
    os.rename(path + ".part", path)
    return f"{path}: {A.shape[0]} rows, {A.nnz} entries{', symmetric' if symmetric else ''}"


def pattern(path):
    """Of a file: name, rows, entries, and a checksum of the format and of the places of the entries."""
    with lzma.open(path, "rt", encoding="ascii") as f:
        banner, sizes, *entries = f.read().splitlines()
    places = [line.rpartition(" ")[0] for line in entries]
    count = sum(len(set(p.split())) for p in places) if "symmetric" in banner else len(places)
    checksum = zlib.crc32("\n".join([banner, sizes, *places]).encode())
    return [os.path.basename(path)[: -len(".mtx.xz")], sizes.split()[0], str(count), f"{checksum:08x}"]


def check(folder, of=lambda name: True, there=False):
    """Names the files of these families that differ from patterns.tsv; there: also those that are missing.

    The exit status: 1 if there are some."""
    with open(PATTERNS, encoding="utf-8") as f:
        table = {line.split()[0]: line.split() for line in f if not line.startswith("#")}
    files = {f[: -len(".mtx.xz")] for f in os.listdir(folder) if f.endswith(".mtx.xz")}
    bad = 0
    for name in sorted(n for n in files | (set(table) if there else set()) if of(n.split("-")[0])):
        found = pattern(os.path.join(folder, name + ".mtx.xz")) if name in files else None
        if found != table.get(name):
            bad = 1
            for where, row in ((folder, found), ("patterns.tsv", table.get(name))):
                text = "{1} rows, {2} entries, checksum {3}".format(*row) if row else "none"
                print(f"{name} in {where}: {text}", file=sys.stderr)
    return bad


def write_patterns(folder):
    with open(PATTERNS, "w", encoding="utf-8") as f:
        f.write("# name, rows, entries, checksum; bench/corpus/make.py --write-patterns made it\n")
        for name in sorted(os.listdir(folder)):
            if name.endswith(".mtx.xz"):
                f.write("\t".join(pattern(os.path.join(folder, name))) + "\n")
    return 0


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
    if args[:1] == ["--check"]:
        return check(args[1])
    if args[:1] == ["--write-patterns"]:
        return write_patterns(args[1])
    table = families()
    folder, names = args[0], args[1:] or sorted(table)
    os.makedirs(folder, exist_ok=True)
    for name in names:
        for member, A in table[name][1]():
            path = os.path.join(folder, f"{name}-{member}.mtx.xz")
            if not os.path.exists(path):
                limit = LIMITS.get(table[name][1].__module__, LIMIT)
                print(write(A, path, limit), flush=True)
    return check(folder, names.__contains__, True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
