#!/usr/bin/env python3
"""A table of solves with values of other types in docs/performance.md, from results/scalars.jsonl (bench -p TYPE).

scalars.py               prints it
scalars.py --write FILE  puts it there
"""

import json
import os
import sys

from results import ROOT, mean, put

BEGIN = "<!-- made by bench/scalars.py from results/scalars.jsonl -->\n"
TYPES = ("float", "double", "complex-float", "complex")


def read():
    """By type and triangle: the lines of the algorithms, with the settings that they chose."""
    groups = {}
    with open(os.path.join(ROOT, "results", "scalars.jsonl"), encoding="utf-8") as f:
        for line in map(json.loads, f):
            if line["rank"] == 0 and line["ok"]:
                of = groups.setdefault(line["precision"], {}).setdefault((line["matrix"], line["triangle"]), {})
                of[line["algorithm"]] = line
    return groups


def chosen(lines):
    return next(x for x in lines.values() if x["selected"])


def table():
    groups = read()
    double = groups["double"]
    out = [
        (
            "| values | triangles | `auto` takes | time / time with double | cuSPARSE's time / `auto`'s | `thread` /"
            " `thread` with double | `sell` / `sell` with double |"
        ),
        "|---|---|---|---|---|---|---|",
    ]
    for name in TYPES:
        group = groups.get(name) or groups[name.replace("-", "_")]
        taken = sorted({chosen(a)["algorithm"] for a in group.values()})
        ratio = mean(chosen(a)["ms"] / chosen(double[k])["ms"] for k, a in group.items())
        gain = mean(a["cusparse"]["ms"] / chosen(a)["ms"] for a in group.values())
        same = [
            mean(a[x]["ms"] / double[k][x]["ms"] for k, a in group.items() if x in a and x in double[k])
            for x in ("thread", "sell")
        ]
        out.append(
            f"| {name} | {len(group)} | {', '.join(taken)} | {ratio:.2f} | {gain:.2f} | {same[0]:.2f} | {same[1]:.2f} |"
        )
    names = sorted({m for m, _ in double})
    out.append(f"\nTriangles of {', '.join(names)}; geometric means; H200.")
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        sys.exit(put(sys.argv[2], BEGIN, table()))
    print(table(), end="")
