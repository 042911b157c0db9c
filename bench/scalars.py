#!/usr/bin/env python3
"""A table of solves with values of other types in docs/performance.md, from results/scalars.jsonl (bench -p TYPE).

scalars.py               prints it
scalars.py --write FILE  writes it into the page
"""

import json
import os
import sys

from results import ROOT, mean, write_part

BEGIN = "<!-- made by bench/scalars.py from results/scalars.jsonl -->\n"
TYPES = ("float", "double", "complex-float", "complex")
SLOW = 2.2  # complex solves that take more times as long as real ones are named


def regrets(path):
    """By type: the time of auto over that of the best algorithm and setting measured, over the real matrices."""
    times = {}
    with open(os.path.join(ROOT, "results", path), encoding="utf-8") as f:
        for line in map(json.loads, f):
            if line["algorithm"] != "cusparse" and line["ok"] and ":" not in line["matrix"]:
                of = times.setdefault(line["precision"], {}).setdefault((line["matrix"], line["triangle"]), [])
                of.append((line["ms"], line["selected"]))
    auto = {p: [next(t for t, s in of if s) / min(of)[0] for of in group.values()] for p, group in times.items()}
    return ", ".join(f"{mean(r):.3f} (at most {max(r):.2f}) with {p}" for p, r in auto.items())


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
    real = [k for k in double if ":" not in k[0]]  # the others are generated
    out = [
        (
            "| values | time over that with double | at most | cuSPARSE's time over `auto`'s | at least | `auto`'s over"
            " the best algorithm's |"
        ),
        "|---|---|---|---|---|---|",
    ]
    for name in TYPES:
        group = {k: groups[name][k] for k in real}
        ratios = [chosen(a)["ms"] / chosen(double[k])["ms"] for k, a in group.items()]
        gains = [a["cusparse"]["ms"] / chosen(a)["ms"] for a in group.values()]
        ours = [[x["ms"] for x in a.values() if x["algorithm"] != "cusparse"] for a in group.values()]
        regret = mean(chosen(a)["ms"] / min(times) for a, times in zip(group.values(), ours))
        out.append(
            f"| {name} | {mean(ratios):.2f} | {max(ratios):.2f} | {mean(gains):.2f} | {min(gains):.2f} | {regret:.3f} |"
        )
    out.append(
        f"\nGeometric means over {len(real)} triangles of {len({m for m, _ in real})} real matrices; H200. No answer"
        " was wrong."
    )
    times = {k: chosen(groups["complex"][k])["ms"] / chosen(double[k])["ms"] for k in real}
    slow = [f"{m} {triangle} ({times[m, triangle]:.2f})" for m, triangle in real if times[m, triangle] > SLOW]
    out.append(f"\nComplex takes more than {SLOW} times the time of double for:\n" + ",\n".join(slow) + ".")
    out.append(
        f"\nOn an H100, without another fit, `auto`'s time over that of the best algorithm and setting measured is\n"
        f"{regrets('scalars_h100.jsonl')}."
    )
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        sys.exit(write_part(sys.argv[2], BEGIN, table()))
    print(table(), end="")
