#!/usr/bin/env python3
"""sptrsvgpu and other preconditioners and triangular solves: tables in docs/results.md, from results/rivals.jsonl.

rivals.py FILE.jsonl    prints them
rivals.py --write FILE  writes it into the page; without results nothing is changed
"""

import collections
import json
import os
import sys

from results import ROOT, mean, write_part
from solutions import TRUE, number

FILE = os.path.join(ROOT, "results", "rivals.jsonl")
BEGIN = "<!-- made by bench/rivals.py from results/rivals.jsonl -->\n"
HEADING, BEFORE = "## Other preconditioners and solves\n\n", "## Orderings\n"
OURS = "bmc"
WAYS = {"jacobi": "Jacobi", "gamg": "GAMG", "ilu": "PETSc's ILU", "sliced_ell": "SpSV, sliced ELL",
        "sweeps_2": "2 sweeps", "sweeps_5": "5 sweeps", "cpu": "CPU", "natural": "natural", OURS: "multicolor",
        "auto": "auto"}
SOLVE_ONLY = ("sliced_ell", "sweeps_2", "sweeps_5")  # their set-up factors on the host


def read(path):
    """(system, rows) -> way -> its line; of the CPU the fastest that solves."""
    systems = collections.defaultdict(dict)
    with open(path) as f:
        for line in map(json.loads, f):
            if line["converged"] and 0 <= line["residual"] <= TRUE:
                name = line["matrix"] + (", Laplacian" if line["values"] == "laplacian" else "")
                way = "cpu" if line["where"] == "host" else line["way"]
                other = systems[name, line["rows"]].get(way)
                if not other or line["ms"] < other["ms"]:
                    systems[name, line["rows"]][way] = line
    return systems


def cell(line):
    if not line:
        return "-"
    on = f", {line['way']}, {line['ranks']} cores" if line["where"] == "host" else ""
    return f"{line['iterations']:,} / {number(line['ms'])} / {number(line['solve_ms'])}{on}"


def table(systems):
    out = ["b = ones, rtol 1e-8 of the preconditioned residual, CG for symmetric matrices, else GMRES(60). Each way",
           "has a process of its own. The last three ways are sptrsvgpu.", "",
           "| way | systems | time to solution / that of multicolor: geometric mean | least | most "
           "| KSPSolve / that of multicolor: geometric mean | least | most |", "|---|---|---|---|---|---|---|---|"]
    for way, title in WAYS.items():
        both = [s for s in systems.values() if way in s and OURS in s]
        if not both or way == OURS:
            continue
        cells = []
        for key in ("ms", "solve_ms"):
            ratios = [s[way][key] / s[OURS][key] for s in both]
            hidden = key == "ms" and way in SOLVE_ONLY
            cells += ["", "", ""] if hidden else [f"{f(ratios):.2f}" for f in (mean, min, max)]
        out.append(f"| {title} | {len(both)} | " + " | ".join(cells) + " |")
    out += ["", "<details><summary>All systems: iterations / time to solution / KSPSolve, ms</summary>", "",
            "| system | rows | " + " | ".join(WAYS.values()) + " |", "|---" * (2 + len(WAYS)) + "|"]
    for (name, rows), s in sorted(systems.items(), key=lambda x: -x[0][1]):
        out.append(f"| {name} | {rows:,} | " + " | ".join(cell(s.get(w)) for w in WAYS) + " |")
    return "\n".join([*out, "", "</details>", ""])


def main(args):
    if args[:1] != ["--write"]:
        print(table(read(args[0])), end="")
        return 0
    systems = read(FILE) if os.path.exists(FILE) else {}
    return write_part(args[1], BEGIN, table(systems), BEFORE, HEADING) if systems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
