#!/usr/bin/env python3
"""Compares the constants of the predicted times (src/kernels/solve/model/constants.h) with the committed results.

fit.py            for each formula: the rms error of the logarithm of the time with the constants as they are, with
                  constants fitted again, and of each family of matrices with constants fitted to the others; then both
                  values of each constant
fit.py FORMULA    the same for one formula, as thread; fit.py --list prints their names
fit.py --check             the exit status is 1 if constants of a choice lose more than those that fit best:
                           fit_order.py, fit_settings.py
fit.py --matrices FOLDER   the matrices of these results, as arguments of bench/statistics.c; files are in FOLDER

The fit minimizes the squares of log(predicted / measured) over single solves in
results/{solve,families,multicolor,sell,large,scalars}.jsonl, by Levenberg and Marquardt over the logarithm of each
constant that is marked fit or choice. Statistics of the triangles are in results/statistics.jsonl, which
bench/statistics.c makes without a GPU. The formulas are those of the library: the script compiles model.c and
chunk_settings.c into a shared library whose constants can be changed. It never changes the source: constants marked
choice are not the best fit on purpose. It needs gcc, and no packages of Python.
"""

import ctypes
import json
import math
import os
import re
import subprocess
import sys
import tempfile

from results import form_of

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
KERNELS = os.path.join(ROOT, "src", "kernels")
RESULTS = ("solve", "families", "multicolor", "sell", "large", "scalars")
PRECISIONS = ("float", "double", "complex-float", "complex")  # TrsvPrecision
TYPES = {"int": ctypes.c_int, "long": ctypes.c_long, "double": ctypes.c_double}
LEAST = 30  # lines for a fit


def source(path):
    with open(os.path.join(KERNELS, path), encoding="utf-8") as f:
        return f.read()


def structure(path, name):
    """A C struct of plain numbers."""
    text = re.sub(r"/\*.*?\*/", "", source(path), flags=re.S)
    body = re.search(r"typedef struct \{([^{}]*)\} " + name + ";", text).group(1)
    fields = []
    for kind, names in re.findall(r"\b(int|long|double)\s+([\w\s,]+);", body):
        fields += [(n.strip(), TYPES[kind]) for n in names.split(",")]
    return type(name, (ctypes.Structure,), {"_fields_": fields})


Statistics = structure("base/types.h", "TrsvStatistics")
Settings = structure("solve/schedule/schedule.h", "TrsvChunkSettings")
CONSTANTS = re.findall(r'^  C\((\w+),\s*([-\d.e]+),\s*"([^"]*)",\s*(\w+)\)', source("solve/model/constants.h"), re.M)


def library():
    """The formulas, and their constants as an array."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.so")
        files = [os.path.join(KERNELS, "solve", f) for f in ("model/model.c", "schedule/chunk_settings.c")]
        command = ["gcc", "-std=gnu11", "-O2", "-shared", "-fPIC", "-DTRSV_MODEL_QUALIFIER=", "-I" + KERNELS]
        subprocess.run([*command, *files, "-o", path, "-lm"], check=True)
        lib = ctypes.CDLL(path)
    for name in ("Thread", "Recompute", "Sell", "Chunk", "Inverse"):
        getattr(lib, "TrsvModel" + name).restype = ctypes.c_double
    lib.TrsvChunkSettingsSeconds.restype = ctypes.c_double
    table = (ctypes.c_double * len(CONSTANTS)).in_dll(lib, "TrsvModel")
    assert all(table[i] == float(c[1]) for i, c in enumerate(CONSTANTS)), "constants.h was read wrongly"
    return lib, table


def settings(text):
    """The settings of a schedule: 'chunks=48 record=2 ...', in some results 'P48 K2 W32 N16 R2048 S8 L-1 C8 D4'."""
    old = dict(re.findall(r"\b([PKWNL])(-?\d+)", text))
    new = dict(re.findall(r"\b(\w+)=(-?\d+)", text))
    find = lambda letter, word, default=0: int(old.get(letter) or new.get(word) or default)
    s = Settings()
    values = {
        "chunks": find("P", "chunks"),
        "length": find("K", "record"),
        "width": find("W", "width") or 32,
        "cluster": find("N", "cluster"),
        "ring": 2048,
        "stages": 8,
        "import_lifetime": find("L", "import_lifetime", -1),
        "steps_l2": 8,
        "steps_cluster": 4,
    }
    for field, value in values.items():
        if field in dict(Settings._fields_):
            setattr(s, field, value)
    return s


def kind(line):
    """By which formula a line's solve is predicted; None where by none."""
    name = form_of(line)
    if name == "inverse":
        blocks = re.match(r"blocks(?: of |=)(\d+)", line["setting"])
        return name if blocks and blocks.group(1) != "1" else None
    return name if name in ("thread", "recompute", "sell", "chunk") else None


def family(matrix):
    """Matrices that are alike: of one generator, or of names that differ in numbers."""
    name = matrix.removeprefix("multicolor:").removeprefix("family:")
    return re.match(r"[A-Za-z]*", name).group(0) if ":" not in name else name.split(":")[0]


def read_statistics():
    """(matrix, triangle) -> statistics"""
    with open(os.path.join(ROOT, "results", "statistics.jsonl"), encoding="utf-8") as f:
        lines = list(map(json.loads, f))
    return {(d["matrix"], d["triangle"]): Statistics(*(d[n] for n, _ in Statistics._fields_)) for d in lines}


def measured():
    """formula -> (matrix, statistics, precision, ms, settings)"""
    known, found = read_statistics(), {}
    for name in RESULTS:
        ranks = {}  # of the settings that each formula prefers for a triangle
        with open(os.path.join(ROOT, "results", name + ".jsonl"), encoding="utf-8") as f:
            for line in map(json.loads, f):
                s = known.get((line["matrix"], line["triangle"]))
                if not s or not line["ms"] > 0 or not line["ok"] or line["values"] != "seeded":
                    continue
                k = kind(line)
                row = line["matrix"], s, PRECISIONS.index(line["precision"]), line["ms"], line["setting"]
                if k == "chunk":
                    found.setdefault("settings", []).append(row)
                key = *(line[w] for w in ("matrix", "triangle", "precision")), k
                if k and ranks.setdefault(key, line["rank"]) == line["rank"]:
                    found.setdefault(k, []).append(row)
    return found


def matrices(folder):
    """Of at most 24 million entries, the small ones first."""
    files = {name.split(".mtx")[0]: os.path.join(folder, name) for name in os.listdir(folder) if ".mtx" in name}
    found = {}
    for name in RESULTS:
        with open(os.path.join(ROOT, "results", name + ".jsonl"), encoding="utf-8") as f:
            for line in map(json.loads, f):
                base = line["matrix"].removeprefix("multicolor:")
                if line["nnz"] <= 24e6 and (base in files or ":" in base):
                    found[line["matrix"].removesuffix(base) + files.get(base, base)] = line["nnz"]
    return sorted(found, key=found.get)


class Formula:
    def __init__(self, name, lib, table, rows):
        self.name, self.table = name, table
        used = lambda s, p: math.isfinite(lib.TrsvModelRecompute(s, p))  # instead of the other form of thread
        call = {
            "thread": lambda s, p, t: math.inf if used(s, p) else lib.TrsvModelThread(s, p),
            "recompute": lambda s, p, t: lib.TrsvModelRecompute(s, p),
            "sell": lambda s, p, t: lib.TrsvModelSell(s, p),
            "chunk": lambda s, p, t: lib.TrsvModelChunk(s, p),
            "inverse": lambda s, p, t: lib.TrsvModelInverse(s, p),
            "settings": lambda s, p, t: lib.TrsvChunkSettingsSeconds(s, t),
        }[name]
        self.call = call
        given = lambda text: ctypes.byref(settings(text)) if name == "settings" else None
        self.rows = [(m, ctypes.byref(s), p, math.log(1e-3 * ms), given(t)) for m, s, p, ms, t in rows]
        self.rows = [r for r in self.rows if math.isfinite(call(r[1], r[2], r[4]))]
        self.stock = [float(c[1]) for c in CONSTANTS]
        prefix = ("inverse_", "chunk_") if name == "inverse" else (name + "_",)
        unused = "inverse_estimate"
        fitted = lambda c: c[0].startswith(prefix) and c[3] != "hand" and c[0] != unused
        self.free = [i for i, c in enumerate(CONSTANTS) if fitted(c) and self.matters(i)]

    def matters(self, i):
        before = self.errors(self.rows)
        self.table[i] = 1.3 * self.stock[i]
        after = self.errors(self.rows)
        self.table[i] = self.stock[i]
        return before != after

    def errors(self, rows):
        return [math.log(self.call(s, p, t)) - ms for _, s, p, ms, t in rows]

    def set_constants(self, values):
        for i, v in zip(self.free, values):
            self.table[i] = self.stock[i] * math.exp(v)

    def fit(self, rows, rounds=25):
        """Logarithms of the factors to the constants: Levenberg and Marquardt, with a slight pull to where they are."""
        n, x, damping = len(self.free), [0.0] * len(self.free), 1e-2
        pull = 1e-3 * len(rows)
        cost = lambda e, x: sum(v * v for v in e) + pull * sum(v * v for v in x)
        self.set_constants(x)
        e = self.errors(rows)
        for _ in range(rounds):
            columns = []
            for j in range(n):
                self.set_constants([v + 1e-4 * (k == j) for k, v in enumerate(x)])
                columns.append([(a - b) / 1e-4 for a, b in zip(self.errors(rows), e)])
            dot = lambda u, v: sum(a * b for a, b in zip(u, v))
            A = [[dot(columns[i], columns[j]) + pull * (i == j) for j in range(n)] for i in range(n)]
            b = [-sum(a * v for a, v in zip(columns[i], e)) - pull * x[i] for i in range(n)]
            better = False
            while damping < 1e6 and not better:
                step = solve([[A[i][j] * (1 + damping * (i == j)) for j in range(n)] for i in range(n)], b)
                new = [max(-2.5, min(2.5, v + d)) for v, d in zip(x, step)]
                self.set_constants(new)
                trial = self.errors(rows)
                better = cost(trial, new) < cost(e, x) * (1 - 1e-6)
                damping *= 0.3 if better else 5
            if not better:
                break
            x, e = new, trial
        self.set_constants([0.0] * n)
        return x

    def rms(self, rows, x):
        self.set_constants(x)
        e = self.errors(rows)
        self.set_constants([0.0] * len(self.free))
        return math.sqrt(sum(v * v for v in e) / len(e))


def solve(A, b):
    """A x = b, by elimination with pivots."""
    n = len(b)
    M = [row[:] + [v] for row, v in zip(A, b)]
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(M[r][i]))
        M[i], M[p] = M[p], M[i]
        for r in range(n):
            if r != i and M[i][i]:
                f = M[r][i] / M[i][i]
                M[r] = [u - f * v for u, v in zip(M[r], M[i])]
    return [M[i][n] / M[i][i] if M[i][i] else 0.0 for i in range(n)]


def report(f):
    none = [0.0] * len(f.free)
    print(f"\n{f.name}: {len(f.rows)} solves of {len({r[0] for r in f.rows})} matrices")
    if len(f.rows) < LEAST:
        print("  too few for a fit")
        return
    x = f.fit(f.rows)
    families = {}
    for r in f.rows:
        families.setdefault(family(r[0]), []).append(r)
    left, worst = 0, []
    for name, rows in families.items():
        others = [r for r in f.rows if family(r[0]) != name]
        error = f.rms(rows, f.fit(others, rounds=6))
        left += error * error * len(rows)
        worst.append((error, name, len(rows), f.rms(rows, none)))
    error = math.sqrt(left / len(f.rows))
    print(f"  rms error: {f.rms(f.rows, none):.3f} as they are, {f.rms(f.rows, x):.3f} fitted again, "
          f"{error:.3f} for each of {len(families)} families with constants fitted to the others")
    print("  worst families left out: " + ", ".join(f"{name} {error:.2f} ({before:.2f} as they are)"
                                                    for error, name, _, before in sorted(worst, reverse=True)[:5]))
    for i, v in zip(f.free, x):
        name, value, unit, how = CONSTANTS[i]
        print(f"  {name:26s} {float(value):10.4g}  fitted {float(value) * math.exp(v):10.4g}  {how:6s} {unit}")


def main(args):
    names = ["thread", "recompute", "sell", "chunk", "inverse", "settings"]
    if args[:1] == ["--matrices"]:
        print(*matrices(args[1]))
        return 0
    if args == ["--check"]:
        scripts = [os.path.join(ROOT, "bench", name) for name in ("fit_order.py", "fit_settings.py")]
        return max(subprocess.run([sys.executable, s, "--check"], check=False).returncode for s in scripts)
    if args == ["--list"]:
        print(*names)
        return 0
    lib, table = library()
    rows = measured()
    for name in args or names:
        report(Formula(name, lib, table, rows.get(name, [])))
    fixed = [c[0] for c in CONSTANTS if c[3] == "hand"]
    print(f"\n{len(CONSTANTS)} constants, of which {len(fixed)} are set by hand: {', '.join(fixed)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
