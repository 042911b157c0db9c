#!/usr/bin/env python3
"""sptrsvgpu beside other preconditioners and triangular solves: tables in docs/results.md, from results/rivals.jsonl.

rivals.py               prints the tables
rivals.py FILE.jsonl    prints them of other results
rivals.py --write FILE  puts them there; without results nothing is changed
"""

import collections
import json
import os
import sys

from results import ROOT, mean, put

FILE = os.path.join(ROOT, "results", "rivals.jsonl")
BEGIN = "<!-- made by bench/rivals.py from results/rivals.jsonl -->\n"
HEADING = "## Other preconditioners and solves\n\n"
BEFORE = "## Orderings\n"
SHELLS = ("csr", "sliced_ell", "sweeps_2", "sweeps_5")  # solve with a factor whose set-up is not timed
RIVALS = {
    "jacobi": "Jacobi",
    "gamg": "GAMG",
    "ilu": "PETSc's ILU",
    "csr": "SpSV, CSR",
    "sliced_ell": "SpSV, sliced ELL",
    "sweeps_2": "2 sweeps",
    "sweeps_5": "5 sweeps",
    "cpu": "CPU",
}
OURS = {"natural": "natural", "multicolor": "multicolor", "auto": "auto", "cgdevice": "multicolor, cgdevice"}
TRUE = 1e-4  # as in solutions.py
WHY = {  # (system, rival that is faster than auto): why
}


class System:
    def __init__(self, lines):
        self.name, self.rows, self.ksp = (lines[0][k] for k in ("matrix", "rows", "ksp"))
        self.ways = {x["way"]: x for x in lines if x["where"] != "CPU"}
        cpu = [x for x in lines if x["where"] == "CPU"]
        if cpu:
            solved = [x for x in cpu if good(x)]
            self.ways["cpu"] = min(solved, key=total) if solved else cpu[0]
        self.ms = {w: total(x) for w, x in self.ways.items() if good(x)}
        self.solve = {w: x["solve_ms"] for w, x in self.ways.items() if good(x)}
        self.apply = {w: x["apply_ms"] for w, x in self.ways.items() if not x["failure"] and x["apply_ms"] > 0}


def good(line):
    return line["reason"].startswith("CONVERGED") and not line["failure"] and 0 <= line["residual"] <= TRUE


def total(line):
    """Time to solution, ms; with a factor that is given: the analysis and the solve."""
    return (line["analysis_ms"] if line["way"] in SHELLS else line["setup_ms"]) + line["solve_ms"]


def read(path):
    groups = collections.defaultdict(list)
    with open(path) as f:
        for text in f:
            line = json.loads(text)
            groups[line["matrix"]].append(line)
    return sorted(map(System, groups.values()), key=lambda s: -s.rows)


def number(v):
    """Three digits, without an exponent."""
    return f"{v:,.0f}" if v >= 100 else f"{v:.1f}" if v >= 10 else f"{v:.2f}" if v >= 1 else f"{v:.4f}"


def cell(s, way):
    line = s.ways.get(way)
    if not line:
        return ""
    if way not in s.ms:
        return "stopped" if line["stopped"] else "-"
    text = f"{line['iterations']:,} / {number(s.ms[way])}"
    if way == "cpu":
        name = "GAMG" if line["way"] == "cpu_gamg" else "ILU(0)"
        text += f", {name}, {line['ranks']} core" + "s" * (line["ranks"] > 1)
    fastest = min((w for w in s.ms if w not in SHELLS), key=s.ms.get)
    return f"**{text}**" if way == fastest else text


def ratios(systems, way, ours, of):
    return [getattr(s, of)[way] / getattr(s, of)[ours] for s in systems if {way, ours} <= getattr(s, of).keys()]


def spread(values):
    return f"{mean(values):.2f} | {min(values):.2f} | {max(values):.2f}" if values else " |  | "


def summary(systems):
    out = [
        "| way | systems that it and auto solve | time to solution / that of auto: geometric mean | least | most | "
        "KSPSolve / that of multicolor | least | most | apply / that of multicolor | least | most |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for way, title in {**RIVALS, **OURS}.items():
        times = ratios(systems, way, "auto", "ms")
        if way == "auto" or not times:
            continue
        star = "\\*" if way in SHELLS else ""
        solves, applies = (ratios(systems, way, "multicolor", of) for of in ("solve", "apply"))
        if way == "cpu":
            applies = []
        out.append(f"| {title}{star} | {len(times)} | {spread(times)} | {spread(solves)} | {spread(applies)} |")
    return out


def detail(systems):
    columns = {**RIVALS, **OURS}
    head = [t + ("\\*" if w in SHELLS else "") for w, t in columns.items()]
    out = [
        "<details><summary>Time to solution: iterations / ms</summary>",
        "",
        "| system | rows | solver | " + " | ".join(head) + " |",
        "|---" * (3 + len(columns)) + "|",
    ]
    for s in systems:
        solver = "CG" if s.ksp == "cg" else "GMRES"
        out.append(f"| {s.name} | {s.rows:,} | {solver} | " + " | ".join(cell(s, w) for w in columns) + " |")
    return [*out, "", "</details>"]


def applies(systems):
    columns = [w for w in (*RIVALS, *OURS) if w not in ("cpu", "auto", "cgdevice")]
    titles = {**RIVALS, **OURS}
    out = [
        "<details><summary>Single applies, ms</summary>",
        "",
        "| system | " + " | ".join(titles[w] for w in columns) + " | SpSV, CSR: analysis, new values | "
        "SpSV, sliced ELL: analysis, new values |",
        "|---" * (3 + len(columns)) + "|",
    ]
    for s in systems:
        cells = [number(s.apply[w]) if w in s.apply else "-" for w in columns]
        for w in ("csr", "sliced_ell"):
            line = s.ways.get(w)
            update = number(line["update_ms"]) if line and line["update_ms"] else "-"
            cells.append(f"{number(line['analysis_ms'])}, {update}" if line and w in s.apply else "-")
        out.append(f"| {s.name} | " + " | ".join(cells) + " |")
    return [*out, "", "</details>"]


def quicker(systems):
    """For each system the rivals that are faster than auto, with their reasons."""
    out = []
    for s in systems:
        if "auto" not in s.ways:
            continue
        ours = s.ms.get("auto")
        faster = [w for w in RIVALS if w in s.ms and (ours is None or s.ms[w] < ours)]
        if not faster:
            continue
        times = ", ".join(f"{RIVALS[w]} {number(s.ms[w])} ms" for w in faster)
        mine = f"{number(ours)} ms" if ours else "no solution"
        why = " ".join(WHY[s.name, w] for w in faster if (s.name, w) in WHY)
        out.append(f"- {s.name}: {times}; auto {mine}." + (" " + why if why else ""))
    if out:
        return ["Systems where another way is faster than auto:", "", *out]
    return ["No other way is faster than auto on any of these systems."]


def table(systems):
    solved = [s for s in systems if s.ms]
    none = [s.name for s in systems if not s.ms]
    unsolved = f" No way solves {', '.join(none)}." if none else ""
    out = [
        f"{len(solved)} systems, b = ones, rtol 1e-8 of the preconditioned residual, CG for symmetric matrices, else",
        "GMRES(60). Time to solution is KSPSetUp and KSPSolve of a new KSP, medians. Ways of the GPU but GAMG are in",
        f"one process, in turn. A system counts as solved if |b - A x| <= {TRUE:g} |b|.{unsolved}",
        "Ways with a factor have ILU(0). The last four ways are sptrsvgpu, one with `-ksp_type cgdevice`.",
        "",
        "\\* The factor in the multicolor ordering of sptrsvgpu is given, and the matrix is permuted before. The time",
        "is that of KSPSolve and of the analysis by cuSPARSE. The ordering and the factorization come on top. Sweeps",
        "replace each triangular solve by x = D^-1 (b - N x), so often, from x = D^-1 b. CPU: the fastest of block",
        "Jacobi with ILU(0) and GAMG, on all cores of the machine, on half of them and, without the grids, on one. The",
        "ILU of hypre and of Ginkgo is not compared: it needs a PETSc that is built with hypre, and a build of Ginkgo.",
        "",
        *summary(solved),
        "",
        *quicker(solved),
        "",
        *detail(solved),
        "",
        *applies(solved),
    ]
    return "\n".join(out) + "\n"


def main(args):
    if args[:1] != ["--write"]:
        print(table(read(args[0] if args else FILE)), end="")
        return 0
    systems = read(FILE) if os.path.exists(FILE) else []
    if not any(x["where"] == "GPU" for s in systems for x in s.ways.values()):
        return 0
    return put(args[1], BEGIN, table(systems), BEFORE, HEADING)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
