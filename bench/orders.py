#!/usr/bin/env python3
"""The table of orderings on a GPU in docs/results.md, from results/orders.jsonl (PARTS=orders of tests/gpu/run.sh).

  orders.py [FILE]             prints the table
  orders.py --write FILE       writes it into the page; without results nothing is changed
  orders.py --iterations FILE  puts the iterations of results/solutions.jsonl there
"""

import json
import os
import sys

import solutions
from results import ROOT, mean, write_part

FILE = os.path.join(ROOT, "results", "orders.jsonl")
BEGIN = "<!-- made by bench/orders.py from results/orders.jsonl -->\n"


ITERATIONS = "<!-- made by bench/orders.py --iterations from results/solutions.jsonl -->\n"
SHOWN = [
    ("g2d5:1000", "own"),
    ("g3d7:128", "own"),
    ("Dubcova1", "own"),
    ("rail_5177_A", "own"),
    ("bcsstk16", "laplacian"),
    ("slam_city10000", "own"),
    ("slam_ais2klinik", "own"),
    ("G3_circuit", "own"),
    ("ani4", "own"),
    ("wave", "laplacian"),
    ("delaunay_n15", "laplacian"),
    ("nasa4704", "laplacian"),
    ("BentPipe2D100", "own"),
    ("olm1000", "own"),
    ("cavity10", "own"),
]


def digits(v):
    """Three of them, without an exponent."""
    return (
        ""
        if v is None
        else f"{v:,.0f}" if v >= 100 else f"{v:.1f}" if v >= 10 else f"{v:.2f}" if v >= 1 else f"{v:.3g}"
    )


def change(lines, key, scale=1.0):
    values = [lines.get(o, {}).get(key) for o in ("natural", "multicolor")]
    if key in ("iterations", "levels"):
        return " -> ".join("?" if v is None else f"{v:,}" for v in values)
    return " -> ".join("?" if v is None else digits(scale * v) for v in values)


def table(path):
    problems, orderings = {}, []
    with open(path) as f:
        for text in f:
            line = json.loads(text)
            if "problem" in line:
                problems.setdefault(line["problem"], {})[line["order"]] = line
            elif line["what"].startswith("ordering"):
                orderings.append(line)
    out = [
        (
            "| natural -> multicolor | iterations | level sets | PCSetUp, ms | PCApply, ms | KSPSolve, ms | KSPSolve by"
            " auto, ms | auto takes | its algorithms |"
        ),
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, lines in problems.items():
        auto = lines.get("auto", {})
        takes = "multicolor" if auto.get("view", "").startswith("multicol") else "natural"
        ours = auto.get("algorithms", "").split()
        out.append(
            f"| {name} | {change(lines, 'iterations')} | {change(lines, 'levels')} | {change(lines, 'setup_s', 1e3)} |"
            f" {change(lines, 'apply_ms')} | {change(lines, 'kspsolve_s', 1e3)} |"
            f" {digits(1e3 * auto['kspsolve_s']) if auto.get('kspsolve_s') else '?'} | {takes} |"
            f" {', '.join(dict.fromkeys(ours))} |"
        )
    several = [name for name, lines in problems.items() if lines.get("multicolor", {}).get("runs", 1) > 1]
    runs = (
        f"Medians of {problems[several[0]]['multicolor']['runs']} runs for {' and '.join(several)}; one run for each of"
        " the others."
        if several
        else "One run each."
    )
    out.append(
        f"\nKSPSolve does not include PCSetUp. PCSetUp and PCApply are from runs with `-log_view_gpu_time`. {runs}"
    )
    if orderings:
        out += ["\nTime of the ordering alone on the GPU, medians:\n", "| matrix | ms |", "|---|---|"]
        out += [f"| {l['matrix']} | {digits(l['ms'])} |" for l in orderings]
    return "\n".join(out) + "\n"


def iterations():
    """Level sets and iterations of sptrsvgpu in either ordering, of the runs of solutions.py."""
    systems = [s for s in solutions.read(solutions.FILE) if "natural" in s.ms]
    found = {(s.name, "laplacian" if s.laplacian else "own"): s for s in systems}
    fails = lambda line: "set-up fails" if line["reason"] == "DIVERGED_PC_FAILED" else "does not converge"
    count = lambda s, way: f"{s.ways[way]['iterations']:,}" if way in s.ms else fails(s.ways[way])
    out = [
        "| matrix | solver | level sets, natural -> multicolor | iterations, natural -> multicolor |",
        "|---|---|---|---|",
    ]
    for s in filter(None, map(found.get, SHOWN)):
        n, m = (f"{s.ways[way]['levels']:,}" if s.ways[way]["levels"] else "?" for way in ("natural", "multicolor"))
        out.append(f"| {s.title} | {s.ksp.upper()} | {n} -> {m} | {count(s, 'natural')} -> {count(s, 'multicolor')} |")
    out.append("")
    for title, laplacian, ksp in (
        ("symmetric matrices with their own values (CG)", False, "cg"),
        ("Laplacians of symmetric patterns (CG)", True, "cg"),
        ("unsymmetric matrices (GMRES)", False, "gmres"),
    ):
        some = [s for s in systems if s.laplacian == laplacian and s.ksp == ksp]
        both = [
            s.ways["multicolor"]["iterations"] / s.ways["natural"]["iterations"]
            for s in some
            if "multicolor" in s.ms and s.ways["natural"]["iterations"]
        ]
        out.append(
            f"- {len(some)} {title} converge in the natural ordering, "
            f"{sum('multicolor' in s.ms for s in some)} of them in"
            f" multicolor too. Iterations in multicolor / natural: {mean(both):.2f} in the geometric mean, at most"
            f" {max(both):.2f}."
        )
    return "\n".join(out) + "\n"


def main(args):
    if args[:1] == ["--iterations"]:
        return write_part(args[1], ITERATIONS, iterations())
    if args[:1] != ["--write"]:
        print(table(args[0] if args else FILE), end="")
        return 0
    if not os.path.exists(FILE):
        print(f"orders.py: there is no results/orders.jsonl; {args[1]} is left as it is")
        return 0
    return write_part(args[1], BEGIN, table(FILE))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
