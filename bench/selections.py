#!/usr/bin/env python3
"""The loss of auto's choice of algorithm and settings on the corpus (bench/corpus): a table in docs/results.md.

  selections.py                prints it, then each triangle that is above WORST or slower than cuSPARSE
  selections.py --write FILE   puts the table there

results/corpus_solves.jsonl: PARTS=corpus_solves of tests/gpu/run.sh.
"""

import json
import os
import sys

from results import ROOT, mean, read, write_part

BEGIN = "<!-- made by bench/selections.py from results/corpus_solves.jsonl -->\n"
WORST = 1.2


def read_uses():
    """The half of the corpus to which each family belongs: fit or report."""
    with open(os.path.join(ROOT, "results", "factors.jsonl"), encoding="utf-8") as f:
        return {line["matrix"].split("-")[0]: line["use"] for line in map(json.loads, f) if line["use"] != "real"}


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
    for title, cases in found.items():
        print(f"\n{title}: {mean(c.regret for c in cases):.4f}")
        for c in sorted(cases, key=lambda c: -c.regret):
            if c.regret > WORST or c.speedup < 1:
                print(f"  {c.matrix} {c.triangle}: {c.regret:.2f}, {c.speedup:.2f} times as fast as cuSPARSE, "
                      f"{c.chosen['algorithm']} {c.chosen['setting']}; {c.best['algorithm']} {c.best['setting']}")


if __name__ == "__main__":
    halves = read_halves()
    if sys.argv[1:2] == ["--write"]:
        sys.exit(write_part(sys.argv[2], BEGIN, table(halves)))
    print(table(halves), end="")
    print_worst(halves)
