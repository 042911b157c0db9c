#!/usr/bin/env python3
"""The loss of -pc_sptrsvgpu_ordering auto on the corpus, from results/corpus.jsonl (PARTS=corpus of tests/gpu/run.sh).

  report.py [FILE]    prints, for the families for fitting and for reporting, time over that of the better order
"""

import json
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
WAYS = {"natural": "natural", "bmc": "multicolor", "auto": "auto"}
TRUE = 1e-4  # more than this of b left is no solution
BOUND = 1.15


def main(args):
    path = args[0] if args else os.path.join(HERE, "..", "..", "results", "corpus.jsonl")
    listed = subprocess.run([sys.executable, os.path.join(HERE, "make.py"), "--list"], capture_output=True, text=True)
    use = dict(line.split() for line in listed.stdout.splitlines())
    systems = {}
    with open(path, encoding="utf-8") as f:
        for line in map(json.loads, f):
            solved = line["converged"] and 0 <= line["residual"] <= TRUE
            systems.setdefault(line["matrix"], {})[line["way"]] = line["ms"] if solved else None
    for half in ("fit", "report"):
        some = {m: t for m, t in systems.items() if use.get(m.split("-")[0]) == half and (t["natural"] or t["bmc"])}
        print(f"{half}: {len(some)} systems that an order solves")
        for way, title in WAYS.items():
            loss = {m: t[way] / min(t[w] for w in ("natural", "bmc") if t[w]) for m, t in some.items() if t[way]}
            mean = math.exp(sum(map(math.log, loss.values())) / len(loss))
            above = sorted((m for m in loss if loss[m] > BOUND), key=lambda m: -loss[m])
            worst = max(loss.values())
            print(f"  {title}: {mean:.3f} times the better order, at worst {worst:.2f}; {len(above)} above {BOUND}")
            if way == "auto":
                print("    " + ", ".join(f"{m} {loss[m]:.2f}" for m in above))
                print("    not solved: " + (", ".join(m for m, t in some.items() if not t[way]) or "none"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
