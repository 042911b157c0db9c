#!/usr/bin/env python3
"""The table of single triangular solves in docs/results.md, and a summary, from results/solve.jsonl.

table.py                  prints the table in Markdown
table.py --write FILE     writes it into the page
table.py --summary FILE   prints what a benchmark found, in plain text
"""

import sys

from results import LEAST_ROWS, mean, name_of, read, write_part

BEGIN = "<!-- made by bench/table.py from results/solve.jsonl -->\n"
LONG = 1.5  # analyses over cuSPARSE's above it are counted
SHOWN = {
    "g2d5:1000": "2D 5-point 1000^2",
    "g3d7:64": "3D 7-point 64^3",
    "g3d7:128": "3D 7-point 128^3",
    "g3d27:50": "3D 27-point 50^3",
    "g3d27:80": "3D 27-point 80^3",
    "rmat:20:16": "R-MAT 2^20",
    "band:100000:3": "band 100,000 x 3",
    "G3_circuit": 0,
    "wave": 0,
    "Dubcova1": 0,
    "web-NotreDame": 0,
    "boyd2_kkt": 0,
    "ct2010": 0,
    "slam_ais2klinik": 0,
}


def digits(v):
    """Three of them, without an exponent."""
    return f"{v:,.0f}" if v >= 100 else f"{v:.{2 if v >= 10 else 3 if v >= 0.1 else 4}f}"


def table(cases, pairs):
    counted = [c for c in cases if c.counts]
    deep = [c for c in counted if c.levels > 50]
    matrices = len({c.matrix for c in counted})
    out = []
    out.append(
        f"Both triangles of the {matrices} real matrices with at least {LEAST_ROWS:,} rows, algorithm chosen by `auto`,"
        " geometric means:\n"
    )
    out.append("| | geometric mean | worst |")
    out.append("|---|---|---|")
    out.append(
        f"| speedup over cuSPARSE SpSV | **{mean(c.speedup for c in counted):.2f}** |"
        f" {min(c.speedup for c in counted):.2f} |"
    )
    out.append(
        f"| speedup, more than 50 level sets | **{mean(c.speedup for c in deep):.2f}** |"
        f" {min(c.speedup for c in deep):.2f} |"
    )
    for name, of in (
        ("time / floor[^floor]", "from_floor"),
        ("time / time of the best algorithm and setting measured", "regret"),
        ("memory of the plan / memory of the factor in CSR", "memory"),
        ("analysis time / cuSPARSE's", "analysis"),
    ):
        values = [getattr(c, of) for c in counted]
        out.append(f"| {name} | {mean(values):.2f} | {max(values):.2f} |")
    both = [c.analysis for c in pairs if c.counts]
    out.append(f"| the same, L and U together, as in a set-up | {mean(both):.2f} | {max(both):.2f} |")
    longer = lambda some: sum(c.analysis > LONG for c in some)
    real = [c for c in cases if c.real]
    out.append(
        f"\nGeometric mean of analysis time over cuSPARSE's: {mean(c.analysis for c in counted):.3f} for these"
        f" {len(counted)} triangles, of which {longer(counted)} take more than {LONG} times as long;"
        f" {mean(c.analysis for c in real):.3f} for the {len(real)} triangles of all real matrices, of which"
        f" {longer(real)} do."
    )
    out.append("")
    out.append(
        "| lower triangle of | rows | level sets | algorithm | cuSPARSE, ms | sptrsvgpu, ms | speedup | time / floor |"
        " one CPU core, ms |"
    )
    out.append("|---|---|---|---|---|---|---|---|---|")
    by_name = {c.matrix: c for c in cases if c.triangle == "lower"}
    for matrix, title in SHOWN.items():
        c = by_name.get(matrix)
        if c:
            cpu = digits(c.cpu_ms) if c.cpu_ms >= c.chosen["ms"] else f"**{digits(c.cpu_ms)}**"
            out.append(
                f"| {title or matrix} | {c.rows:,} | {c.levels:,} | {name_of(c.chosen['algorithm'])} |"
                f" {digits(c.cusparse_ms)} | {digits(c.chosen['ms'])} | {c.speedup:.1f} | {c.from_floor:.1f} | {cpu} |"
            )
    out.append("")
    out.append(
        "[^floor]: The floor is the largest of three times: a kernel launch (3.9 us); the bytes of the matrix and the"
        " vectors at the bandwidth of a copy; 22 ns (one shuffle) for each level set."
    )
    return "\n".join(out) + "\n"


def summary(cases, pairs):
    for title, some in (("all", cases), (f"real, {LEAST_ROWS} rows or more", [c for c in cases if c.counts])):
        if not some:
            continue
        print(f"\n{title}: {len(some)} triangles; geometric mean, and the three worst")
        for name, of, worst_first in (
            ("times as fast as cuSPARSE", "speedup", False),
            ("time over the floor", "from_floor", True),
            ("regret of the choice", "regret", True),
            ("plan over CSR", "memory", True),
            ("analysis over cuSPARSE's", "analysis", True),
        ):
            ranked = sorted(some, key=lambda c: getattr(c, of), reverse=worst_first)
            print(
                f"  {name:26} {mean(getattr(c, of) for c in some):7.3f}   "
                + ", ".join(f"{getattr(c, of):.2f} {c.matrix} {c.triangle}" for c in ranked[:3])
            )
    if pairs:
        print(
            f"\nL and then U, {len(pairs)} pairs: {mean(c.speedup for c in pairs):.2f} times as fast as cuSPARSE;",
            end=" ",
        )
        tuned = [c for c in pairs if "tune" in c.first]
        some = [c.analysis for c in pairs if c.real]
        print(f"analysis of real ones over cuSPARSE's {mean(some):.3f}, {max(some):.2f} at most;", end=" ")
        print(f"model over tune {mean(c.first['model']['ms'] / c.first['tune']['ms'] for c in tuned):.3f}")
    for c in cases:
        missing = [l["algorithm"] for l in c.lines if not l["ok"]]
        if missing:
            print(f"WRONG: {c.matrix} {c.triangle}: {', '.join(missing)}")


def main(args):
    if args[:1] == ["--summary"]:
        summary(*read(*args[1:2]))
        return 0
    made = table(*read())
    if not args:
        print(made, end="")
        return 0
    return write_part(args[1], BEGIN, made)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
