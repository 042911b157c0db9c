#!/usr/bin/env python3
"""Time to solution, set-up included, from results/solutions.jsonl: tables in Markdown, and docs/solutions.png.

  solutions.py [FILE]           prints the table of all systems
  solutions.py --write FILE     writes it into the page; without results of a GPU nothing is changed
  solutions.py --six FILE       puts the table of six systems there, README.md say
  solutions.py --plot           draws the plot; needs matplotlib
"""

import json
import os
import sys

from results import ROOT, mean, write_part

FILE = os.path.join(ROOT, "results", "solutions.jsonl")
BEGIN = "<!-- made by bench/solutions.py from results/solutions.jsonl -->\n"
SIX_BEGIN = "<!-- made by bench/solutions.py --six from results/solutions.jsonl -->\n"
WAYS = {"jacobi": "Jacobi", "ilu": "PETSc's ILU", "natural": "natural", "multicolor": "multicolor"}
SIX = {  # (matrix, values): what it is
    ("g3d7:128", "own"): "3D Poisson, 7 points, 128^3",
    ("g2d5:1000", "own"): "2D Poisson, 5 points, 1000^2",
    ("G3_circuit", "own"): "G3_circuit, circuit",
    ("Dubcova1", "own"): "Dubcova1, finite elements",
    ("BentPipe2D100", "own"): "BentPipe2D100, convection",
    ("finance256", "laplacian"): "finance256, Laplacian of the pattern",
}
TRUE = 1e-4  # the preconditioned residual says little of a bad preconditioner: more than this of b left is no solution


class System:
    def __init__(self, lines):
        first = lines[0]
        self.name, self.rows, self.ksp = first["matrix"], first["rows"], first["ksp"]
        self.laplacian = first["values"] == "laplacian"
        self.where = first["where"]
        self.ways = {l["way"]: l for l in lines if l["way"] in WAYS}
        self.ms = {w: l["ms"] for w, l in self.ways.items() if l["converged"] and 0 <= l["residual"] <= TRUE}

    title = property(lambda self: self.name + (", Laplacian" if self.laplacian else ""))
    quickest = property(lambda self: min(self.ms, key=self.ms.get))


def read(path):
    groups = {}
    with open(path) as f:
        for text in f:
            line = json.loads(text)
            groups.setdefault((line["matrix"], line["values"]), []).append(line)
    return [s for s in map(System, groups.values()) if s.ms]


def number(v):
    """Three digits, without an exponent."""
    return f"{v:,.0f}" if v >= 100 else f"{v:.1f}" if v >= 10 else f"{v:.2f}" if v >= 1 else f"{v:.3f}"


def cell(s, way):
    line = s.ways.get(way)
    if not line:
        return "not run"
    if way not in s.ms:
        return (
            "stopped"
            if line["stopped"]
            else "error" if line["failure"] and line["reason"] == "CONVERGED_ITERATING" else "-"
        )
    text = f"{line['iterations']:,} / {number(line['ms'])}"
    return f"**{text}**" if way == s.quickest else text


def names(systems, value):
    return "; ".join(f"{s.title} ({value(s)})" for s in systems) or "none"


def table(systems):
    if not systems:
        return "No system is solved by any way.\n"
    real = [s for s in systems if ":" not in s.name]
    own = [s for s in real if not s.laplacian]
    out = []
    if systems[0].where != "GPU":
        out.append("**Times of a host.**\n")
    out.append(
        f"{len(systems)} systems that at least one way solves: {len(own)} real matrices with their own values,"
        f" {len(real) - len(own)} Laplacians of symmetric patterns, {len(systems) - len(real)} grids."
    )
    out.append(
        "b = ones. The tolerance is 1e-8 of the preconditioned residual. The solver is CG for symmetric matrices whose"
        " diagonal has one sign, else GMRES(60)."
    )
    out.append("A time is that of a first PCSetUp and a KSPSolve: the median of several, with the GPU's code loaded.")
    out.append(
        f"A system counts as solved if |b - A x| <= {TRUE:g} |b|. Natural and multicolor are sptrsvgpu with that"
        " `-pc_sptrsvgpu_ordering`.\n"
    )
    out.append(
        "| way | systems that it and multicolor solve | time / time of multicolor: geometric mean | least | most |"
        " solved by it, not by multicolor | solved by multicolor, not by it |"
    )
    out.append("|---|---|---|---|---|---|---|")
    for way, title in WAYS.items():
        if way == "multicolor":
            continue
        ratios = [s.ms[way] / s.ms["multicolor"] for s in systems if way in s.ms and "multicolor" in s.ms]
        pairs = (way, "multicolor"), ("multicolor", way)
        it, we = (sum(a in s.ms and b not in s.ms for s in systems) for a, b in pairs)
        if ratios:
            out.append(
                f"| {title} | {len(ratios)} | {mean(ratios):.2f} | {min(ratios):.2f} | {max(ratios):.2f} | {it} |"
                f" {we} |"
            )
    jacobi = [s for s in systems if s.quickest == "jacobi"]
    ilu = [s for s in systems if s.quickest == "ilu"]
    out.append("")
    for way, some in ((w, s) for w, s in (("jacobi", jacobi), ("ilu", ilu)) if s):
        out.append(
            f"{WAYS[way]} is the fastest way on {len(some)} of {len(systems)} systems: "
            + names(
                some,
                lambda s: f"{number(s.ms[way])} ms"
                + (f", multicolor {number(s.ms['multicolor'])}" if "multicolor" in s.ms else ""),
            )
            + ".\n"
        )
    out.append(
        "<details><summary>All systems: iterations / ms; - where a way does not solve the system; stopped: it took too"
        " long</summary>\n"
    )
    out.append("| system | rows | solver | " + " | ".join(WAYS.values()) + " |")
    out.append("|---" * (3 + len(WAYS)) + "|")
    for s in sorted(systems, key=lambda s: (":" not in s.name, s.laplacian, -s.rows)):
        out.append(
            f"| {s.title} | {s.rows:,} | {'CG' if s.ksp == 'cg' else 'GMRES'} | "
            + " | ".join(cell(s, w) for w in WAYS)
            + " |"
        )
    out.append("\n</details>")
    return "\n".join(out) + "\n"


def short_table(systems):
    """A few of them, for README."""
    ways = list(WAYS)
    titles = [
        WAYS[w] + " (cuSPARSE)" if w == "ilu" else WAYS[w] if w == "jacobi" else "sptrsvgpu, " + WAYS[w] for w in ways
    ]
    out = ["| system | rows | " + " | ".join(titles) + " |", "|---" * (2 + len(ways)) + "|"]
    found = {(s.name, "laplacian" if s.laplacian else "own"): s for s in systems}
    for key, title in SIX.items():
        s = found[key]
        fastest = min((w for w in ways if w in s.ms), key=s.ms.get)
        cells = [f"**{cell(s, w)}**" if w == fastest and w != s.quickest else cell(s, w) for w in ways]
        out.append(f"| {title} | {s.rows:,} | " + " | ".join(cells) + " |")
    return "\n".join(out) + "\n"


def plot(systems):
    from figures import PLAIN, draw_line_at_1, plt, save

    style = {"jacobi": ("#E69F00", "^"), "ilu": ("#009E73", "s"), "natural": ("#0072B2", "o")}
    some = [s for s in systems if "multicolor" in s.ms]
    some.sort(key=lambda s: s.ms.get("jacobi", float("inf")) / s.ms["multicolor"])
    figure, axis = plt.subplots(figsize=(9.5, 4.4))
    for way, (color, marker) in style.items():
        at = [(i, s.ms[way] / s.ms["multicolor"]) for i, s in enumerate(some) if way in s.ms]
        axis.scatter(
            [i for i, _ in at],
            [y for _, y in at],
            s=20,
            marker=marker,
            color=color,
            alpha=0.8,
            label=WAYS[way] if way in ("jacobi", "ilu") else "sptrsvgpu, " + WAYS[way],
        )
    draw_line_at_1(axis)
    axis.set(
        yscale="log",
        xlabel="systems, by Jacobi's time (no triangle: Jacobi does not solve it)",
        ylabel="time over that of multicolor",
    )
    axis.yaxis.set_major_formatter(PLAIN)
    axis.legend(loc="upper left", handletextpad=0.2)
    faster = sum(s.ms.get("jacobi", float("inf")) < s.ms["multicolor"] for s in some)
    axis.set_title(
        f"Time to solution, set-up included, of {len(some)} systems on one"
        f" {'H200' if some[0].where == 'GPU' else 'HOST'}: Jacobi is quicker than multicolor on {faster}",
        fontsize=10.5,
    )
    save(figure, "solutions.png")


def main(args):
    if args == ["--plot"]:
        plot(read(FILE))
        return 0
    if args[:1] == ["--six"]:
        return write_part(args[1], SIX_BEGIN, short_table(read(FILE)))
    if args[:1] != ["--write"]:
        print(table(read(args[0] if args else FILE)), end="")
        return 0
    systems = read(FILE) if os.path.exists(FILE) else []
    if not systems or any(s.where != "GPU" for s in systems):
        print(f"solutions.py: no times of a GPU in results/solutions.jsonl; {args[1]} is left as it is")
        return 0
    return write_part(args[1], BEGIN, table(systems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
