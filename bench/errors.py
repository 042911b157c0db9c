#!/usr/bin/env python3
"""The table of backward errors in docs/results.md, from results/errors.jsonl.

errors.py                prints the table in Markdown
errors.py --write FILE   writes it into the page
"""
import json
import os
import statistics
import sys

from results import ROOT, write_part

ERRORS = os.path.join(ROOT, "results", "errors.jsonl")
BEGIN = "<!-- made by bench/errors.py from results/errors.jsonl -->\n"
KINDS = ("L", "U", "L^T", "U^T")
BOUNDS = {"double": 1e-12, "float": 1e-5}


def read(path=ERRORS):
    if not os.path.exists(path):
        return []
    with open(path) as f:
        return [json.loads(line) for line in f]


def errors(lines, precision):
    """(error, matrix, which triangle) of all triangles that have one."""
    return [
        (e, l["matrix"], kind + (" of its own values" if field.startswith("own") else ""))
        for l in lines
        for field in (precision, "own_" + precision)
        for kind, e in zip(KINDS, l[field])
        if e is not None
    ]


def row(lines, precision):
    found = errors(lines, precision)
    if not found:
        return ["", "", "", ""]
    worst, matrix, kind = max(found)
    return [f"{len(found):,}", f"{worst:.1e}", f"{statistics.median(e for e, _, _ in found):.1e}", f"{matrix}, {kind}"]


def table(lines):
    if not lines:
        return "Not measured yet: `make check-gpu PARTS=errors`.\n"
    matrices = {l["matrix"] for l in lines}
    out = [
        (
            f"The largest |b - T x|_i / (|T| |x| + |b|)_i over the rows of L, U, L^T and U^T of {len(matrices)} real"
            " matrices, with seeded values and, where the diagonal is complete, with their own; at most 1e-12 in"
            " double and 1e-5 in float. Triangles whose solution by `serial` overflows are left out.\n"
        ),
        "| algorithm | triangles | worst, double | median | matrix | triangles | worst, float | median | matrix |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(l["algorithm"] for l in lines):
        mine = [l for l in lines if l["algorithm"] == name]
        out.append("| " + " | ".join([f"{name}"] + row(mine, "double") + row(mine, "float")) + " |")
    over = [
        f"{l['algorithm']} on {matrix}, {kind}, {precision}: {e:.1e}"
        for l in lines
        for precision, bound in BOUNDS.items()
        for e, matrix, kind in errors([l], precision)
        if e > bound
    ]
    out.append(f"\nOver the bound: {len(over) or 'none'}{': ' + '; '.join(over[:20]) if over else ''}.")
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--write":
        sys.exit(write_part(sys.argv[2], BEGIN, table(read())))
    print(table(read()), end="")
