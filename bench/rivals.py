#!/usr/bin/env python3
"""sptrsvgpu and other preconditioners and triangular solves: tables in docs/results.md, from results/rivals.jsonl and
results/rivals_generated.jsonl.

rivals.py               prints them
rivals.py --write FILE  writes them into the page
"""

import collections
import json
import os
import sys

from results import ROOT, mean, write_part
from solutions import TRUE, number

FILES = {
    "rivals": "open matrices, Laplacians of their patterns, and grids",
    "rivals_generated": "generated systems that no constant was fitted to",
}
BEGIN = "<!-- made by bench/rivals.py from results/{rivals,rivals_generated}.jsonl -->\n"
OURS, NATURAL = "multicolor", "natural"
WAYS = {"jacobi": "Jacobi", "gamg": "GAMG", "ilu": "PETSc's ILU", "sliced_ell": "SpSV, sliced ELL",
        "sweeps_2": "2 sweeps", "sweeps_5": "5 sweeps", "hypre_ilu": "hypre's ILU",
        "hypre_ilu_multicolor": "hypre's ILU, multicolor", "hypre_sweeps": "hypre's ILU, 5 iterations",
        "ginkgo_ilu": "Ginkgo's ILU", "ginkgo_ilu_multicolor": "Ginkgo's ILU, multicolor", "cpu": "CPU",
        NATURAL: "natural", OURS: "multicolor", "auto": "auto"}
# their set-up factors on the host, or does not include the ordering
SOLVE_ONLY = ("sliced_ell", "sweeps_2", "sweeps_5", "hypre_ilu_multicolor", "ginkgo_ilu_multicolor")
TEXT = (
    "b = ones, rtol 1e-8 of the preconditioned residual, CG for symmetric matrices, else GMRES(60); a solve may take "
    "1 s. An apply is a PCApply: with ILU, both triangular solves. Natural, multicolor and auto are sptrsvgpu. Sliced "
    "ELL (as in NVIDIA's HPCG) and sweeps work on the matrix in the multicolor order, and their factors come from the "
    "host, so only their KSPSolve and their applies are compared; the table of all systems has their set-ups, too. "
    "hypre's ILU(0) (3.1.0) factors and solves by cuSPARSE, or solves by 5 Jacobi iterations from 0, which are 4 "
    "sweeps. hypre applies no factor alone: each of its applies has a product with A, too. Ginkgo's ILU(0) (1.11.0) "
    "factors and solves by kernels of its own (syncfree). The set-ups of the multicolor ways of hypre and Ginkgo do "
    "not count. The CPU has bjacobi or GAMG, whichever is quicker, on up to 16 cores."
)
ENDED = {}  # way -> systems that it has a line of, solved or not
# ways whose total time is compared
REASONED = ("jacobi", "gamg", "ilu", "hypre_ilu", "hypre_sweeps", "ginkgo_ilu", "cpu")


def read(name):
    """(system, rows) -> way -> its line, if it solves the system; of the CPU the fastest."""
    systems = collections.defaultdict(dict)
    with open(os.path.join(ROOT, "results", name + ".jsonl"), encoding="utf-8") as f:
        for line in map(json.loads, f):
            name = line["matrix"] + (", Laplacian" if line["values"] == "laplacian" else "")
            some, way = systems[name, line["rows"]], "cpu" if line["where"] == "host" else line["way"]
            ENDED.setdefault(way, set()).add(name)
            if line["converged"] and 0 <= line["residual"] <= TRUE and (
                    way not in some or line["ms"] < some[way]["ms"]):
                some[way] = line
    return systems


def cores(line):
    return f"{line['ranks']} core{'s' * (line['ranks'] > 1)}"


def cell(line):
    if not line:
        return "-"
    on = f", {line['way']}, {cores(line)}" if line["where"] == "host" else ""
    return " / ".join([f"{line['iterations']:,}", *(number(line[k]) for k in ("ms", "solve_ms", "apply_ms"))]) + on


def better_of_ours(s):
    return min((s[w] for w in (NATURAL, OURS) if w in s), key=lambda l: l["ms"], default=None)


def iteration(line):
    """ms: KSPSolve over its iterations"""
    return line["solve_ms"] / max(line["iterations"], 1)


def summary(title, systems):
    solved = sum(bool(s) for s in systems.values())
    out = [f"**{len(systems)} {title}, {solved} of which some way solves**", "",
           "| way | solved | time to solution / that of multicolor: geometric mean | least | most "
           "| KSPSolve: geometric mean | least | most | an apply: geometric mean | least | most "
           "| quicker than natural and multicolor |", "|---" * 12 + "|"]
    for way, title_of in WAYS.items():
        both = [s for s in systems.values() if way in s and OURS in s]
        if not both or way == OURS:
            continue
        cells = []
        for key in ("ms", "solve_ms", "apply_ms"):
            hidden = (key == "ms" and way in SOLVE_ONLY) or (key == "apply_ms" and way == "cpu")
            ratios = [s[way][key] / s[OURS][key] for s in both]
            cells += ["", "", ""] if hidden else [f"{f(ratios):.2f}" for f in (mean, min, max)]
        ours = [(s[way], better_of_ours(s)) for s in systems.values() if way in s and better_of_ours(s)]
        quicker = sum(theirs["ms"] < better["ms"] for theirs, better in ours)
        shown = "" if way in SOLVE_ONLY or way in (NATURAL, "auto") else str(quicker)
        out.append(f"| {title_of} | {sum(way in s for s in systems.values())} | " + " | ".join(cells) + f" | {shown} |")
    return out + [""]


def iterations(line):
    return f"{line['iterations']:,} of {number(1e3 * iteration(line))} us"


def reason(theirs, ours):
    """Why their line takes less time than ours: the number and the length of iterations, and the set-up."""
    fewer, shorter = theirs["iterations"] < ours["iterations"], iteration(theirs) < iteration(ours)
    saved = {part: ours[part] - theirs[part] for part in ("solve_ms", "setup_ms")}
    what = "fewer and shorter" if fewer and shorter else "fewer" if fewer else "shorter"
    how = {
        "solve_ms": (f"{what} iterations" if saved["solve_ms"] > 0 else "a longer solve")
        + f" ({iterations(theirs)} instead of {iterations(ours)})",
        "setup_ms": ("less" if saved["setup_ms"] > 0 else "more")
        + f" set-up ({number(theirs['setup_ms'])} ms instead of {number(ours['setup_ms'])})",
    }
    first, second = sorted(saved, key=saved.get, reverse=True)
    text = how[first] + (" and " if saved[second] > 0 else ", in spite of ") + how[second] + "."
    if theirs["way"] == "jacobi" and theirs["iterations"] == 1:
        text += " One is enough because D^-1 b is an eigenvector of D^-1 A."
    return text


def quicker_ones(systems):
    """For each rival, the systems that it solves in less time than sptrsvgpu in either ordering, and why."""
    out = []
    for way in REASONED:
        found = [(key, s[way], better_of_ours(s)) for key, s in systems.items() if way in s and better_of_ours(s)]
        for (name, rows), theirs, ours in sorted(found, key=lambda f: f[1]["ms"] / f[2]["ms"]):
            if theirs["ms"] < ours["ms"]:
                on = f" ({theirs['way']}, {cores(theirs)})" if way == "cpu" else ""
                out.append(f"- {name}, {rows:,} rows: {WAYS[way]}{on}, {theirs['ms'] / ours['ms']:.2f} of the time of "
                           f"{WAYS[ours['way']]}: {reason(theirs, ours)}")
    return out


def table():
    parts = {title: read(name) for name, title in FILES.items()}
    systems = {key: s for part in parts.values() for key, s in part.items()}
    ways = {w: title for w, title in WAYS.items() if any(w in s for s in systems.values())}
    lost = sorted(name for name, _ in systems if name not in ENDED["gamg"])
    ends = f" GAMG did not end, or failed, with {'; '.join(lost)}." if lost else ""
    out = [TEXT + ends, ""]
    for title, part in parts.items():
        out += summary(title, part)
    systems = {key: s for key, s in systems.items() if s}
    out += ["Systems that another way solves in less time than sptrsvgpu in the better of its two orderings, and why. "
            "The time of an iteration is KSPSolve over the number of them, so it has a part of KSPSolve's fixed costs:",
            "", *quicker_ones(systems), "",
            "<details><summary>All systems: iterations / time to solution / KSPSolve / an apply, ms</summary>", "",
            "| system | rows | " + " | ".join(ways.values()) + " |", "|---" * (2 + len(ways)) + "|"]
    for (name, rows), s in sorted(systems.items(), key=lambda x: (-x[0][1], x[0][0])):
        out.append(f"| {name} | {rows:,} | " + " | ".join(cell(s.get(w)) for w in ways) + " |")
    return "\n".join([*out, "", "</details>", ""])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        sys.exit(write_part(sys.argv[2], BEGIN, table()))
    print(table(), end="")
