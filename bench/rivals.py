#!/usr/bin/env python3
"""sptrsvgpu and other preconditioners and triangular solves: tables in docs/results.md, from results/rivals.jsonl,
results/rivals_corpus.jsonl and, if it is there, results/rivals_corpus_host.jsonl; applies from results/applies.jsonl.

rivals.py               prints them
rivals.py --write FILE  writes them into the page
rivals.py --small FILE  writes into a page on how many small systems the CPU is quicker
"""

import collections
import json
import os
import sys

from results import ROOT, mean, write_part
from solutions import TRUE, number

FILES = [os.path.join(ROOT, "results", f"rivals{part}.jsonl") for part in ("", "_corpus", "_corpus_host")]
APPLIES = os.path.join(ROOT, "results", "applies.jsonl")
BEGIN = "<!-- made by bench/rivals.py from results/rivals*.jsonl and results/applies.jsonl -->\n"
SMALL = "<!-- made by bench/rivals.py: small -->"
SMALL_ROWS = 10000  # fewer rows are a small system
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
FAILED = collections.defaultdict(dict)  # system -> its lines of ways that do not solve it
EARLIER = set()  # systems of which GAMG has a line of an earlier run: lines with the field "run"
BASES = {NATURAL: "natural (the default)", "auto": "auto", "both": "the better of natural and multicolor"}
# ways whose total time is compared
REASONED = ("jacobi", "gamg", "ilu", "hypre_ilu", "hypre_sweeps", "ginkgo_ilu", "cpu")


def system_of(line):
    return line["matrix"] + (", Laplacian" if line["values"] == "laplacian" else ""), line["rows"]


def read():
    """(system, rows) -> way -> its line, if it solves the system; of the CPU the fastest."""
    systems, compared = collections.defaultdict(dict), set()
    for file in filter(os.path.exists, FILES):
        with open(file, encoding="utf-8") as f:
            for line in map(json.loads, f):
                if file != FILES[-1]:
                    compared.add(system_of(line))
                elif system_of(line) not in compared:  # tried on the CPU alone
                    continue
                some, way = systems[system_of(line)], "cpu" if line["where"] == "host" else line["way"]
                ENDED.setdefault(way, set()).add(system_of(line)[0])
                if way == "cpu":
                    HOST.setdefault((line["way"], line["ranks"]), set()).add(system_of(line)[0])
                if "run" in line:
                    EARLIER.add(system_of(line)[0])
                if line["converged"] and 0 <= line["residual"] <= TRUE:
                    if way not in some or line["ms"] < some[way]["ms"]:
                        some[way] = line
                else:
                    FAILED[system_of(line)][way] = line
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


def better_of_ours(s, key="ms"):
    return min((s[w] for w in (NATURAL, OURS) if w in s), key=lambda l: l[key], default=None)


def quicker(theirs, s, base):
    """In less time than natural or auto, or than the better of both orderings? None: they do not both solve it."""
    ours = better_of_ours(s) if base == "both" else s.get(base)
    return theirs["ms"] < ours["ms"] if theirs and ours else None


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
           "| quicker than natural | than auto | than natural and multicolor |", "|---" * 14 + "|"]
    for way, title_of in WAYS.items():
        if way == OURS or not any(way in s for s in systems.values()):
            continue
        cells = []
        for key in ("ms", "solve_ms", "apply"):
            ratios = [] if key == "ms" and way in SOLVE_ONLY else ratios_of(way, systems, applies, key)
            cells += [f"{f(ratios):.2f}" for f in (mean, min, max)] if ratios else ["", "", ""]
        for base in BASES:
            shown = way in REASONED and base != way
            cells.append(str(sum(bool(quicker(s.get(way), s, base)) for s in systems.values())) if shown else "")
        out.append(f"| {title_of} | {sum(way in s for s in systems.values())} | " + " | ".join(cells) + " |")
    counts = []
    for base, title_of in BASES.items():
        some = [[quicker(s.get(way), s, base) for way in REASONED] for s in systems.values()]
        some = [found for found in some if set(found) != {None}]
        counts.append(f"{title_of} on {sum(True in found for found in some)} of {len(some)}")
    return out + ["", f"Another way is quicker than {', than '.join(counts)} systems that both solve."]


def reason(theirs, ours):
    """Why their line takes less time than ours: what saves time, the larger part first."""
    fewer, shorter = theirs["iterations"] < ours["iterations"], iteration(theirs) < iteration(ours)
    what = "fewer and shorter" if fewer and shorter else "fewer" if fewer else "shorter"
    saved = {f"{what} iterations": ours["solve_ms"] - theirs["solve_ms"],
             "less set-up": ours["setup_ms"] - theirs["setup_ms"]}
    text = ", ".join(part for part in sorted(saved, key=saved.get, reverse=True) if saved[part] > 0)
    if theirs["way"] == "jacobi" and theirs["iterations"] == 1:
        text += "; D^-1 b is an eigenvector of D^-1 A"
    return text


def row(name, theirs, ours, key):
    """Of a table of systems that they solve in less time: theirs / ours."""
    pair = lambda of: f"{of(theirs)} / {of(ours)}"
    way = "cpu" if theirs["where"] == "host" else theirs["way"]
    on = f", {theirs['way']}, {cores(theirs)}" if way == "cpu" else ""
    cells = [f"{name[0]}, {name[1]:,} rows", WAYS[way] + on, WAYS[ours["way"]], f"{theirs[key] / ours[key]:.2f}",
             pair(lambda l: f"{l['iterations']:,}"), pair(lambda l: number(1e3 * iteration(l))),
             pair(lambda l: number(l["solve_ms"])), pair(lambda l: number(l["setup_ms"]))]
    return cells + [reason(theirs, ours)] * (key == "ms")


def rows(found, key):
    head = ["system", "way", "ours", "time / ours" if key == "ms" else "KSPSolve / ours", "iterations",
            "one iteration, us", "KSPSolve, ms", "set-up, ms"] + ["why"] * (key == "ms")
    found = sorted(found, key=lambda f: (list(WAYS).index(f[0]), f[2][key] / f[3][key]))
    lines = [f"| {' | '.join(cells)} |" for cells in [head, *(row(*f[1:], key) for f in found)]]
    return [lines[0], "|---" * len(head) + "|", *lines[1:]]


def only_theirs(systems):
    out = []
    for name, s in systems.items():
        if not {NATURAL, OURS} & set(s) and {NATURAL, OURS} & set(FAILED[name]):
            theirs = [f"{WAYS[w]} in {number(l['ms'])} ms, {l['iterations']:,} iterations" for w, l in s.items()]
            failed = [f"{WAYS[w]}: {l['reason']} after {l['iterations']:,} iterations"
                      for w, l in FAILED[name].items() if w in (NATURAL, OURS)]
            out.append(f"- {name[0]}: {'; '.join(theirs)} ({', '.join(failed)}).")
    return out or ["- none."]


def short_applies(applies):
    for (name, _), a in applies.items():
        ours = min((a[w] for w in (NATURAL, OURS) if w in a), default=0)
        for way, ms in a.items():
            if way in WAYS and way not in (NATURAL, OURS, "auto", "jacobi", "gamg") and ms < ours:
                yield f"{WAYS[way]} on {name} ({ms / ours:.2f})"


def quicker_ones(systems, applies):
    """Where others take less time: in all, or in KSPSolve or an apply alone; and what they alone solve."""
    ours = {key: {name: better_of_ours(s, key) for name, s in systems.items() if better_of_ours(s)}
            for key in ("ms", "solve_ms")}
    faster = {key: [(way, name, systems[name][way], ours[key][name]) for name in ours[key] for way in ways
                    if way in systems[name] and systems[name][way][key] < ours[key][name][key]]
              for key, ways in (("ms", REASONED), ("solve_ms", [w for w in WAYS if w not in (NATURAL, OURS, "auto")]))}
    in_all = {f[:2] for f in faster["ms"]}
    solves = [f for f in faster["solve_ms"] if f[:2] not in in_all]
    out = ["Systems that another way solves in less time than sptrsvgpu in the better of its two orderings, theirs / "
           "ours. The time of an iteration is KSPSolve over the number of them, so it has a part of KSPSolve's fixed "
           "costs:", "", *rows(faster["ms"], "ms"), ""]
    out += ["Systems that another way solves, and sptrsvgpu in neither ordering:", "", *only_theirs(systems), ""]
    out += ["KSPSolve alone takes less time; the time to solution is longer, or the set-up is not counted. Theirs / "
            "ours, geometric means:", ""]
    for way in WAYS:
        some = [f for f in solves if f[0] == way]
        if some:
            ratio = lambda of: f"{mean(of(theirs) / max(of(mine), 1e-9) for _, _, theirs, mine in some):.2f}"
            out.append(f"- {WAYS[way]}, {len(some)} system{'s' * (len(some) > 1)}: "
                       f"iterations {ratio(lambda l: l['iterations'])}, KSPSolve {ratio(lambda l: l['solve_ms'])}, "
                       f"set-up {ratio(lambda l: l['setup_ms'])}.")
    out += ["", "<details><summary>These systems, theirs / ours</summary>", "", *rows(solves, "solve_ms"), "",
            "</details>", ""]
    short = "; ".join(short_applies(applies)) or "none"
    return out + [f"Applies that take less time than those of natural and multicolor: {short}.", ""]


def table():
    systems, applies = read(), read_applies()
    ways = {w: title for w, title in WAYS.items() if any(w in s for s in systems.values())}
    lost = sorted(ENDED[NATURAL] - ENDED["gamg"])
    ends = "- **GAMG**: a process has 15 s, in which its set-ups do not always end."
    if lost:
        ends += f" Without a result: {'; '.join(lost)}."
    for (way, ranks), tried in sorted(HOST.items()):
        missing = len(ENDED["cpu"] - tried)
        if missing:
            on = f"{way} on {ranks} core{'s' if ranks > 1 else ''}"
            ends += f" CPU, {on}: {missing} of {len(ENDED['cpu'])} systems were not tried, or have no result."
    if EARLIER:
        names = "; ".join(sorted(EARLIER))
        ends += f" From an earlier run, on another H200: {names}."
    out = [*TEXT, ends, ""]
    for title, some in halves(systems).items():
        if some:
            out += summary(title, some, applies) + [""]
    systems = {key: s for key, s in systems.items() if s}
    out += [*quicker_ones(systems, applies),
            "<details><summary>All systems: iterations / time to solution / KSPSolve, ms</summary>", "",
            "| system | rows | " + " | ".join(ways.values()) + " |", "|---" * (2 + len(ways)) + "|"]
    for (name, rows), s in sorted(systems.items(), key=lambda x: (-x[0][1], x[0][0])):
        out.append(f"| {name} | {rows:,} | " + " | ".join(cell(s.get(w)) for w in ways) + " |")
    return "\n".join([*out, "", "</details>", ""])


def small():
    pairs = [(s["cpu"]["ms"], better_of_ours(s)["ms"]) for (_, rows), s in read().items()
             if rows < SMALL_ROWS and "cpu" in s and better_of_ours(s)]
    return f"{sum(cpu < ours for cpu, ours in pairs)} of {len(pairs)} systems."


if __name__ == "__main__":
    if sys.argv[1:2] == ["--small"]:
        sys.exit(write_part(sys.argv[2], SMALL, small()))
    if sys.argv[1:2] == ["--write"]:
        sys.exit(write_part(sys.argv[2], BEGIN, table()))
    print(table(), end="")
