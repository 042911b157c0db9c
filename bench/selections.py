#!/usr/bin/env python3
"""The loss of auto's choice of algorithm and settings on the corpus (bench/corpus): a table in docs/results.md.

  selections.py                prints it, then each triangle that is above WORST or slower than cuSPARSE, by what auto
                               chose in the run, and by what the formulas of these sources choose
  selections.py --write FILE   puts the table there

results/corpus_solves.jsonl: with CORPUS the folder that bench/corpus/make.py filled,
  ls CORPUS/*.xz | xargs -n 10 bench -a chunk,thread,sell -r 4 -m 5 -o FILE; the same with multicolor: before each path.
results/statistics.jsonl: bench/statistics.c. results/products.jsonl: bench/products.c, schedules with inverted blocks.
The choice by the formulas of these sources is among the first setting of each formula, as these were when it ran; it
needs no GPU. Where products.jsonl has no schedule with inverted blocks, the statistics predict their time.
"""

import ctypes
import json
import math
import os
import sys

from fit import Statistics, kind, library, settings
from results import ROOT, mean, read, write_part

BEGIN = "<!-- made by bench/selections.py from results/corpus_solves.jsonl -->\n"
WORST = 1.2
DOUBLE = 1  # TrsvPrecision


def read_uses():
    """The half of the corpus to which each family belongs: fit or report."""
    with open(os.path.join(ROOT, "results", "factors.jsonl"), encoding="utf-8") as f:
        return {line["matrix"].split("-")[0]: line["use"] for line in map(json.loads, f) if line["use"] != "real"}


def statistics():
    with open(os.path.join(ROOT, "results", "statistics.jsonl"), encoding="utf-8") as f:
        lines = list(map(json.loads, f))
    return {(d["matrix"], d["triangle"]): Statistics(*(d[n] for n, _ in Statistics._fields_)) for d in lines}


def products(lib):
    """(matrix, triangle) -> seconds with inverted blocks, by the steps of their schedule"""
    with open(os.path.join(ROOT, "results", "products.jsonl"), encoding="utf-8") as f:
        lines = list(map(json.loads, f))
    seconds = lambda d: lib.TrsvInverseSeconds(ctypes.byref(settings(d["setting"])), d["steps"])
    return {(d["matrix"], d["triangle"]): seconds(d) for d in lines}


def choose_line(case, s, lib, inverted):
    """The line that these sources choose; inverted: seconds with inverted blocks by their schedule, or None."""
    first = {}
    for line in case.lines:
        k = kind(line)
        if line["ok"] and k and (k not in first or line["rank"] < first[k]["rank"]):
            first[k] = line
    predicted = {
        "thread": lib.TrsvModelThread(s, DOUBLE),
        "recompute": lib.TrsvModelRecompute(s, DOUBLE),
        "sell": lib.TrsvModelSell(s, DOUBLE, 6, 32),
        "chunk": lib.TrsvModelChunk(s, DOUBLE),
        "inverse": lib.TrsvModelInverse(s, DOUBLE),
    }
    if predicted["recompute"] < math.inf:
        del first["thread"]
    best = min((k for k in first if predicted[k] < math.inf), key=predicted.get)
    if best == "inverse" and inverted and inverted >= predicted["chunk"]:
        best = "chunk"
    return first[best]


def read_halves():
    """title -> cases"""
    use, found = read_uses(), {}
    for c in read(os.path.join(ROOT, "results", "corpus_solves.jsonl"))[0]:
        base = c.matrix.removeprefix("multicolor:")
        half = "not for fitting" if use[base.split("-")[0]] == "report" else "for fitting"
        found.setdefault(f"{half}, {'natural' if base == c.matrix else 'multicolor'} order", []).append(c)
    return dict(sorted(found.items(), key=lambda item: (item[0].startswith("for"), "multi" in item[0])))


def name_worst(cases):
    worst = {}
    for c in cases:
        if c.regret > WORST:
            name = c.matrix.removeprefix("multicolor:")
            worst[name] = max(worst.get(name, 0), c.regret)
    return ", ".join(f"{m} ({worst[m]:.2f})" for m in sorted(worst, key=lambda m: -worst[m])) or "none"


def table(found):
    out = [
        "| triangles | slower than cuSPARSE | time over the best algorithm and setting: geometric mean | most | "
        f"above {WORST:.2f} |",
        "|---|---|---|---|---|",
    ]
    for title, cases in found.items():
        loss = [c.regret for c in cases]
        slower = sum(c.speedup < 1 for c in cases)
        out.append(f"| {len(cases)} {title} | {slower} | {mean(loss):.3f} | {max(loss):.2f} | "
                   f"{sum(x > WORST for x in loss)} |")
    out.append(f"\nAbove {WORST:.2f}:\n")
    out += [f"- {title}: {name_worst(cases)}." for title, cases in found.items()]
    return "\n".join(out) + "\n"


def print_worst(found):
    known, lib = statistics(), library()[0]
    inverted = products(lib)
    for title, cases in found.items():
        rows = []
        for c in cases:
            key = c.matrix, c.triangle
            now = choose_line(c, ctypes.byref(known[key]), lib, inverted.get(key))["ms"] / c.best["ms"]
            rows.append((c, c.regret, now))
        print(f"\n{title}: {mean(row[1] for row in rows):.4f}, {mean(row[2] for row in rows):.4f}")
        for c, loss, now in sorted(rows, key=lambda row: -row[2]):
            if loss > WORST or now > WORST or c.speedup < 1:
                print(f"  {c.matrix} {c.triangle}: {loss:.2f}, {now:.2f}, {c.speedup:.2f} times as fast as cuSPARSE, "
                      f"{c.chosen['algorithm']} {c.chosen['setting']}; {c.best['algorithm']} {c.best['setting']}")


if __name__ == "__main__":
    halves = read_halves()
    if sys.argv[1:2] == ["--write"]:
        sys.exit(write_part(sys.argv[2], BEGIN, table(halves)))
    print(table(halves), end="")
    print_worst(halves)
