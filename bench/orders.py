#!/usr/bin/env python3
"""The table of orderings on a GPU in docs/results.md, from results/orders.jsonl (PARTS=orders of tests/gpu/run.sh).

  orders.py [FILE]             prints the table
  orders.py --write FILE       writes it into the page; without results nothing is changed
  orders.py --iterations FILE  puts the iterations of results/orderings.jsonl (make orderings) there

In older results the ordering multicolor is called bmc.
"""

import json
import os
import sys

from results import ROOT, mean, write_part

FILE = os.path.join(ROOT, "results", "orders.jsonl")
BEGIN = "<!-- made by bench/orders.py from results/orders.jsonl -->\n"


ITERATIONS = "<!-- made by bench/orders.py --iterations from results/orderings.jsonl -->\n"
SHOWN = [
    ("g2d5:300", "own"),
    ("g3d7:48", "own"),
    ("Dubcova1", "own"),
    ("rail_5177_A", "own"),
    ("bcsstk16", "own"),
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


def name_of(order):
    return "multicolor" if order == "bmc" else order


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
                problems.setdefault(line["problem"], {})[name_of(line["order"])] = line
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
    """Level sets and iterations of PETSc's ILU(0) on the host in either ordering."""
    groups = {}
    with open(os.path.join(ROOT, "results", "orderings.jsonl")) as f:
        for text in f:
            line = json.loads(text)
            if line["pc"] == "ilu" and name_of(line["ordering"]) in ("natural", "multicolor"):
                groups.setdefault((line["matrix"].split(".mtx")[0], line["values"]), {})[
                    name_of(line["ordering"])
                ] = line
    out = [
        "| matrix | solver | level sets, natural -> multicolor | iterations, natural -> multicolor |",
        "|---|---|---|---|",
    ]
    count = lambda line: f"{line['iterations']:,}" if line["converged"] else "does not converge"
    for key in SHOWN:
        if key in groups:
            n, m = (groups[key][o] for o in ("natural", "multicolor"))
            out.append(
                f"| {key[0]}{', Laplacian' if key[1] == 'laplacian' else ''} | {n['ksp'].upper()} | {n['levels']:,} ->"
                f" {m['levels']:,} | {count(n)} -> {count(m)} |"
            )
    out.append("")
    for title, values, ksp in (
        ("symmetric matrices with their own values (CG)", "own", "cg"),
        ("Laplacians of symmetric patterns (CG)", "laplacian", "cg"),
        ("unsymmetric matrices (GMRES)", "own", "gmres"),
    ):
        some = [
            g
            for (_, v), g in groups.items()
            if v == values and g["natural"]["ksp"] == ksp and g["natural"]["converged"]
        ]
        both = [
            g["multicolor"]["iterations"] / g["natural"]["iterations"]
            for g in some
            if g["multicolor"]["converged"] and g["natural"]["iterations"]
        ]
        out.append(
            f"- {len(some)} {title} converge in the natural ordering, {sum(g['multicolor']['converged'] for g in some)}"
            f" of them in multicolor too. Iterations in multicolor / natural: {mean(both):.2f} in the geometric mean,"
            f" at most {max(both):.2f}."
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
