#!/usr/bin/env python3
"""sptrsvgpu and other preconditioners and triangular solves: tables in docs/results.md, from results/rivals.jsonl and
results/rivals_corpus.jsonl, and for single applies from results/applies.jsonl.

rivals.py               prints them
rivals.py --write FILE  writes them into the page
"""

import collections
import json
import os
import sys

from results import ROOT, mean, write_part
from solutions import TRUE, number

FILES = [os.path.join(ROOT, "results", name + ".jsonl") for name in ("rivals", "rivals_corpus")]
APPLIES = os.path.join(ROOT, "results", "applies.jsonl")
BEGIN = "<!-- made by bench/rivals.py from results/{rivals,rivals_corpus,applies}.jsonl -->\n"
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
    "1 s. An apply is a PCApply, both triangular solves or the sweeps instead of them, timed in a run of its own; its "
    "ratios are over all systems, solved or not.",
    "",
    "- **Natural, multicolor, auto**: sptrsvgpu with that `-pc_sptrsvgpu_ordering`.",
    "- **Sliced ELL** (as in NVIDIA's HPCG) and **sweeps** work on the matrix in the multicolor order. Their factors "
    "come from the host, so only their KSPSolve and applies are compared. The table of all systems has their set-ups.",
    "- **hypre's ILU(0)** (3.1.0) factors and solves by cuSPARSE, or solves by 5 Jacobi iterations from 0, which are "
    "4 sweeps. Each of its applies has a product with A: hypre applies no factor alone. With the multicolor "
    "ordering its set-up is not counted.",
    "- **Ginkgo's ILU(0)** (1.11.0) factors and solves by kernels of its own (syncfree). With the multicolor "
    "ordering its set-up is not counted.",
    "- **CPU**: bjacobi or GAMG, whichever is quicker, on up to 16 cores.",
)
ENDED = {}  # way -> systems that it has a line of, solved or not
HOST = {}  # (way, cores) of the CPU -> systems that it has a line of
EARLIER = set()  # systems of which GAMG has a line of an earlier run: lines with the field "run"
# ways whose total time is compared
REASONED = ("jacobi", "gamg", "ilu", "hypre_ilu", "hypre_sweeps", "ginkgo_ilu", "cpu")


def system_of(line):
    return line["matrix"] + (", Laplacian" if line["values"] == "laplacian" else ""), line["rows"]


def read():
    """(system, rows) -> way -> its line, if it solves the system; of the CPU the fastest."""
    systems = collections.defaultdict(dict)
    for file in FILES:
        with open(file, encoding="utf-8") as f:
            for line in map(json.loads, f):
                some, way = systems[system_of(line)], "cpu" if line["where"] == "host" else line["way"]
                ENDED.setdefault(way, set()).add(system_of(line)[0])
                if way == "cpu":
                    HOST.setdefault((line["way"], line["ranks"]), set()).add(system_of(line)[0])
                if "run" in line:
                    EARLIER.add(system_of(line)[0])
                if line["converged"] and 0 <= line["residual"] <= TRUE:
                    if way not in some or line["ms"] < some[way]["ms"]:
                        some[way] = line
    return systems


def read_applies():
    """(system, rows) -> way -> ms of an apply"""
    systems = collections.defaultdict(dict)
    with open(APPLIES, encoding="utf-8") as f:
        for line in map(json.loads, f):
            if line["apply_ms"] > 0 and not line["failure"] and line["reason"] != "DIVERGED_NANORINF":
                systems[system_of(line)][line["way"]] = line["apply_ms"]
    return systems


def cores(line):
    return f"{line['ranks']} core{'s' * (line['ranks'] > 1)}"


def cell(line):
    if not line:
        return "-"
    on = f", {line['way']}, {cores(line)}" if line["where"] == "host" else ""
    return f"{line['iterations']:,} / {number(line['ms'])} / {number(line['solve_ms'])}{on}"


def halves(systems):
    """Title -> systems: the open matrices and grids, the generated ones."""
    with open(os.path.join(ROOT, "results", "factors.jsonl"), encoding="utf-8") as f:
        generated = {line["matrix"] for line in map(json.loads, f) if line["use"] == "report"}
    open_, made = {}, {}
    for key, s in systems.items():
        (made if key[0] in generated else open_)[key] = s
    return {"open matrices, Laplacians of their patterns, and grids": open_,
            "generated systems that no constant was fitted to": made}


def better_of_ours(s):
    return min((s[w] for w in (NATURAL, OURS) if w in s), key=lambda l: l["ms"], default=None)


def iteration(line):
    """ms: KSPSolve over its iterations"""
    return line["solve_ms"] / max(line["iterations"], 1)


def ratios_of(way, systems, applies, key):
    """Their times over those of ours in multicolor, of the systems that have both."""
    if key == "apply":
        some = [applies[name] for name in systems if {way, OURS} <= set(applies[name])]
        return [a[way] / a[OURS] for a in some]
    return [s[way][key] / s[OURS][key] for s in systems.values() if {way, OURS} <= set(s)]


def summary(title, systems, applies):
    solved = sum(bool(s) for s in systems.values())
    out = [f"**{len(systems)} {title}, {solved} of which some way solves**", "",
           "| way | solved | time to solution / that of multicolor: geometric mean | least | most "
           "| KSPSolve: geometric mean | least | most | an apply: geometric mean | least | most "
           "| quicker than natural and multicolor |", "|---" * 12 + "|"]
    for way, title_of in WAYS.items():
        if way == OURS or not any(way in s for s in systems.values()):
            continue
        cells = []
        for key in ("ms", "solve_ms", "apply"):
            ratios = [] if key == "ms" and way in SOLVE_ONLY else ratios_of(way, systems, applies, key)
            cells += [f"{f(ratios):.2f}" for f in (mean, min, max)] if ratios else ["", "", ""]
        both = [(s[way]["ms"], better_of_ours(s)["ms"]) for s in systems.values() if way in s and better_of_ours(s)]
        quicker = sum(theirs < ours for theirs, ours in both)
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
    systems, applies = read(), read_applies()
    ways = {w: title for w, title in WAYS.items() if any(w in s for s in systems.values())}
    lost = sorted(name for name, _ in systems if name not in ENDED["gamg"])
    ends = "- **GAMG**: a process has 15 s, in which its set-ups do not always end."
    if lost:
        ends += f" Without a result: {'; '.join(lost)}."
    for (way, ranks), tried in sorted(HOST.items()):
        if way == "bjacobi" and tried - HOST.get(("gamg", ranks), set()):
            few = len(tried - HOST.get(("gamg", ranks), set()))
            ends += (f" GAMG on {ranks} core{'s' if ranks > 1 else ''} of the CPU: {few} of {len(tried)} systems"
                     f" {'have' if few > 1 else 'has'} no result.")
    if EARLIER:
        names = "; ".join(sorted(EARLIER))
        ends += f" From an earlier run, on another H200: {names}."
    out = [*TEXT, ends, ""]
    for title, some in halves(systems).items():
        if some:
            out += summary(title, some, applies)
    systems = {key: s for key, s in systems.items() if s}
    out += ["Systems that another way solves in less time than sptrsvgpu in the better of its two orderings, and why. "
            "The time of an iteration is KSPSolve over the number of them, so it has a part of KSPSolve's fixed costs:",
            "", *quicker_ones(systems), "",
            "<details><summary>All systems: iterations / time to solution / KSPSolve, ms</summary>", "",
            "| system | rows | " + " | ".join(ways.values()) + " |", "|---" * (2 + len(ways)) + "|"]
    for (name, rows), s in sorted(systems.items(), key=lambda x: (-x[0][1], x[0][0])):
        out.append(f"| {name} | {rows:,} | " + " | ".join(cell(s.get(w)) for w in ways) + " |")
    return "\n".join([*out, "", "</details>", ""])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        sys.exit(write_part(sys.argv[2], BEGIN, table()))
    print(table(), end="")
