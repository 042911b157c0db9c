#!/usr/bin/env python3
"""A table of solves with values of other types in docs/performance.md, from results/scalars.jsonl (H200) and
results/scalars_h100.jsonl, of PARTS=scalars (tests/gpu/run.sh).

scalars.py               prints it
scalars.py --write FILE  writes it into the page
"""

import json
import os
import sys

from results import ROOT, gpu_of, mean, write_part

BEGIN = "<!-- made by bench/scalars.py from results/scalars{,_h100}.jsonl -->\n"
FILES = ("scalars.jsonl", "scalars_h100.jsonl")
TYPES = ("float", "double", "complex-float", "complex")
SLOW = {"complex": 2.2, "float": 1.1}  # solves that take more times as long as those with double are named


def read(path):
    """By type and triangle: the lines of the algorithms, with the settings that they chose; the same of the shortest
    time of all settings measured; the GPU."""
    groups, best = {}, {}
    with open(os.path.join(ROOT, "results", path), encoding="utf-8") as f:
        for line in map(json.loads, f):
            if not line["ok"] or line["ms"] <= 0:
                continue
            key = line["matrix"], line["triangle"]
            if line["rank"] == 0:
                groups.setdefault(line["precision"], {}).setdefault(key, {})[line["algorithm"]] = line
            if line["algorithm"] != "cusparse":
                of = best.setdefault(line["precision"], {})
                of[key] = min(line["ms"], of.get(key, line["ms"]))
    return groups, best, gpu_of(line)


def chosen(lines):
    return next(x for x in lines.values() if x["selected"])


def rows(path):
    """The rows of the table, and what they count: one GPU."""
    groups, best, gpu = read(path)
    double = groups["double"]
    real = [k for k in double if ":" not in k[0]]  # the others are generated
    out = []
    for name in TYPES:
        group = {k: groups[name][k] for k in real}
        ratios = [chosen(a)["ms"] / chosen(double[k])["ms"] for k, a in group.items()]
        gains = [a["cusparse"]["ms"] / chosen(a)["ms"] for a in group.values()]
        regrets = [chosen(a)["ms"] / best[name][k] for k, a in group.items()]
        out.append(
            f"| {gpu} | {name} | {mean(ratios):.2f} | {max(ratios):.2f} | {mean(gains):.2f} | {min(gains):.2f} "
            f"| {mean(regrets):.3f} | {max(regrets):.2f} |"
        )
    slow = []
    for name, limit in SLOW.items():
        times = {k: chosen(groups[name][k])["ms"] / chosen(double[k])["ms"] for k in real}
        named = ", ".join(f"{m} {triangle} ({times[m, triangle]:.2f})" for m, triangle in real
                          if times[m, triangle] > limit)
        slow.append(f"{name}: {named or 'none'}")
    return out, f"{gpu}, " + "; ".join(slow), f"{len(real)} triangles of {len({m for m, _ in real})} real matrices"


def table():
    parts = [rows(path) for path in FILES]
    return "\n".join(
        [
            "| GPU | values | time over that with double | at most | cuSPARSE's time over `auto`'s | at least "
            "| `auto`'s over the best measured | at most |",
            "|---|---|---|---|---|---|---|---|",
            *(row for out, _, _ in parts for row in out),
            "",
            f"Geometric means over {parts[0][2]}. No answer was wrong. The best measured is the",
            "best algorithm; on the H100, with double and complex, also the best of three settings. Complex takes more",
            f"than {SLOW['complex']} times the time of double, float more than {SLOW['float']} times, for these "
            "triangles.\n",
            *(f"- {line}." for _, line, _ in parts),
        ]
    ) + "\n"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        sys.exit(write_part(sys.argv[2], BEGIN, table()))
    print(table(), end="")
