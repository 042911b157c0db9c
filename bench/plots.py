#!/usr/bin/env python3
"""Plots of results/solve.jsonl as PNG into docs/; needs matplotlib.

speedup.png   speedup over cuSPARSE against parallel granularity and against level sets: CapelliniSpTRSV, Figures 3 to 6
floor.png     time over the floor, against level sets
regret.png    time of what `auto` chose against the best that was measured
"""

from figures import PLAIN, draw_line_at_1, plt, save
from results import mean, name_of, read

# Okabe and Ito's colors, told apart by the color-blind; and a shape each, for print
STYLE = {
    "chunk": ("#0072B2", "o"),
    "thread": ("#E69F00", "^"),
    "warp": ("#009E73", "s"),
    "inverse": ("#CC79A7", "D"),
    "recompute": ("#000000", "*"),
    "recblock": ("#56B4E9", "v"),
    "ag": ("#D55E00", "P"),
}
OTHER = ("#666666", "X")


def points(axis, cases, algorithm, x, y, **more):
    color, marker = STYLE.get(algorithm, OTHER)
    for real in (True, False):
        some = [c for c in cases if c.real == real]
        axis.scatter(
            [x(c) for c in some],
            [y(c) for c in some],
            s=18 if real else 30,
            marker=marker,
            facecolors=color if real else "none",
            edgecolors=color,
            linewidths=0.9,
            alpha=0.75,
            label=name_of(algorithm) if real else None,
            **more,
        )


def algorithms(cases):
    found = {a for c in cases for a in c.first if a != "cusparse"}
    return [a for a in STYLE if a in found] + sorted(found - set(STYLE))


def speedup(cases):
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), sharey=True)
    for a in reversed(algorithms(cases)):
        some = [c for c in cases if a in c.first]
        points(left, some, a, lambda c: c.granularity, lambda c: c.cusparse_ms / c.first[a]["ms"])
        points(right, some, a, lambda c: c.levels, lambda c: c.cusparse_ms / c.first[a]["ms"])
    left.axvline(0.7, color="#444444", linewidth=0.9, linestyle=":")
    left.annotate(
        "0.7: thread-level above,\nwarp-level below (ICPP 2020)",
        (0.7, 1),
        xycoords=("data", "axes fraction"),
        xytext=(-4, -4),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize=8,
        color="#444444",
    )
    left.set_xlabel("parallel granularity of the triangle")
    left.set_ylabel("times as fast as cuSPARSE SpSV")
    right.set_xscale("log")
    right.set_xlabel("level sets of the triangle")
    for axis in (left, right):
        axis.set_yscale("log")
        axis.yaxis.set_major_formatter(PLAIN)
        draw_line_at_1(axis)
    handles, labels = right.get_legend_handles_labels()
    figure.legend(
        handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(0.9, 0.5), handletextpad=0.2, title="algorithm"
    )
    figure.suptitle(
        f"One triangular solve on one H200, double precision: {len(cases)} triangles (filled: real matrices, hollow:"
        " generated)",
        fontsize=10.5,
    )
    save(figure, "speedup.png")


def floor(cases):
    figure, axis = plt.subplots(figsize=(7.5, 4.2))
    for a in algorithms(cases):
        some = [c for c in cases if c.chosen["algorithm"] == a]
        if some:
            points(axis, some, a, lambda c: c.levels, lambda c: c.from_floor)
    axis.set(xscale="log", yscale="log", xlabel="level sets of the triangle", ylabel="time over the floor")
    axis.set_yticks([1, 2, 3, 5, 10, 20])
    axis.minorticks_off()
    axis.yaxis.set_major_formatter(PLAIN)
    draw_line_at_1(axis)
    axis.legend(loc="upper right", title="chosen by auto", handletextpad=0.2)
    axis.set_title(
        "Distance to the floor: the longest of a launch, bytes over bandwidth,\n"
        + "and 22 ns a level set; geometric mean over real matrices"
        f" {mean(c.from_floor for c in cases if c.counts):.2f}",
        fontsize=10.5,
    )
    save(figure, "floor.png")


def regret(cases):
    figure, axis = plt.subplots(figsize=(7.5, 3.8))
    ranked = sorted(cases, key=lambda c: c.regret)
    for a in algorithms(cases):
        some = [(i, c) for i, c in enumerate(ranked) if c.chosen["algorithm"] == a]
        if some:
            color, marker = STYLE.get(a, OTHER)
            axis.scatter(
                [i for i, _ in some],
                [c.regret for _, c in some],
                s=16,
                marker=marker,
                color=color,
                alpha=0.8,
                label=name_of(a),
            )
    named = set()
    for i, c in reversed(list(enumerate(ranked))):
        if c.regret > 1.02 and c.matrix not in named and len(named) < 3:
            named.add(c.matrix)
            same = c.best["algorithm"] == c.chosen["algorithm"]
            better = "other settings are" if same else f"{name_of(c.best['algorithm'])} is"
            text = f"{c.matrix} {c.triangle[0].upper()}: {better} better"
            axis.annotate(
                text,
                (i, c.regret),
                fontsize=7.5,
                xytext=(-6, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                color="#444444",
            )
    draw_line_at_1(axis)
    axis.set(xlabel="triangles, by regret", ylabel="time over the best measured")
    axis.legend(loc="upper left", title="chosen by auto", handletextpad=0.2)
    axis.set_title(
        f"Regret of the choice: {mean(c.regret for c in cases):.3f} (geometric mean), worst {ranked[-1].regret:.2f}",
        fontsize=10.5,
    )
    save(figure, "regret.png")


if __name__ == "__main__":
    triangles = read()[0]
    speedup(triangles)
    floor(triangles)
    regret(triangles)
