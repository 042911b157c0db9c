"""papers.py's tables and plot of dense triangles (the course report behind `dense`): from results/dense.jsonl the lines
of bench/dense.cu, which have a form; from there and from results/solve.jsonl those of bench.cu, of sparse triangles
with dense parts."""

import json
import os

from results import ROOT, SOLVES, form_of, name_of

FORMS = ["blocks", "doubling", "pairs", "simple"]
RIVALS = ["thread", "chunk", "inverse", "cusparse"]


def lines():
    every = []
    for path in (os.path.join(ROOT, "results", "dense.jsonl"), SOLVES):
        if os.path.exists(path):
            with open(path) as f:
                every += [json.loads(text) for text in f]
    return [l for l in every if "form" in l and l["precision"] == "double"], [
        l
        for l in every
        if "algorithm" in l and l["values"] == "seeded" and l["triangle"] != "pair" and l["precision"] == "double"
    ]


def sizes():
    """By size: a look-up of the first line of a form, in launches or not."""
    rows = {}
    for l in lines()[0]:
        rows.setdefault(l["rows"], {}).setdefault((l["form"], l["launches"]), l)
    return sorted(rows.items())


def number(v):
    return f"{v:.0f}" if v >= 99.5 else f"{v:.3g}"


def triangles(_):
    out = [
        "A solve, ms (bold: the fastest); ours is the first form, in blocks of 512:\n",
        (
            "| rows | one CPU core | cuBLAS `trsv` | ours | cuBLAS over ours | `doubling` | `pairs` | `simple` | values"
            " for ours, ms | solves after which the preparation is paid back |"
        ),
        "|---" * 10 + "|",
    ]
    for n, r in sizes():
        ms = {
            "cpu": r["cublas", False]["cpu_ms"],
            "cublas": r["cublas", False]["ms"],
            **{f: r[f, False]["ms"] for f in FORMS},
        }
        best = min(ms.values())
        cell = lambda k: f"**{number(ms[k])}**" if ms[k] == best else number(ms[k])
        values = r["blocks", False]["values_ms"]
        out.append(
            f"| {n:,} | {cell('cpu')} | {cell('cublas')} | {cell('blocks')} | {ms['cublas'] / ms['blocks']:.1f} |"
            f" {cell('doubling')} | {cell('pairs')} | {cell('simple')} | {number(values)} |"
            f" {values / (ms['cublas'] - ms['blocks']):.0f} |"
        )
    worst = max((l for _, r in sizes() for l in r.values()), key=lambda l: l["error"])
    out.append(
        f"\nThe largest componentwise backward error is {worst['error']:.1e} (`{worst['form']}`, {worst['rows']:,}"
        " rows)."
    )
    return "\n".join(out) + "\n"


def published(_):
    out = [
        (
            "One launch for each step, ms; in brackets with the multiplication of the matrix, which the paper repeats"
            " in every solve (bold: the fastest of those and the CPU):\n"
        ),
        "| rows | one CPU core | GPU Simple | GPU Complex 1 | GPU Complex 2 |",
        "|---" * 5 + "|",
    ]
    for n, r in sizes():
        whole = {
            f: r[f, True]["ms"] + (r[f, True]["values_ms"] if f != "simple" else 0)
            for f in ("simple", "pairs", "doubling")
        }
        whole["cpu"] = r["cublas", False]["cpu_ms"]
        best = min(whole.values())
        mark = lambda k: f"**{number(whole[k])}**" if whole[k] == best else number(whole[k])
        out.append(
            f"| {n:,} | {mark('cpu')} | {mark('simple')} | {number(r['pairs', True]['ms'])} ({mark('pairs')}) |"
            f" {number(r['doubling', True]['ms'])} ({mark('doubling')}) |"
        )
    return "\n".join(out) + "\n"


def sparse(_):
    cases = {}
    for l in lines()[1]:
        cases.setdefault((l["matrix"], l["triangle"]), {}).setdefault(form_of(l), l)
    out = [
        "| matrix | triangle | rows | dense rows, blocks | `dense`, ms | "
        + " | ".join(name_of(a, "`") for a in RIVALS)
        + " | fastest |",
        "|---" * (6 + len(RIVALS)) + "|",
    ]
    for (matrix, triangle), by in sorted(cases.items(), key=lambda c: (":" not in c[0][0], c[0])):
        if "dense" not in by or "dense in" not in by["dense"]["setting"]:
            continue
        parts = by["dense"]["setting"].split()
        ms = {a: by[a]["ms"] for a in ["dense"] + RIVALS if a in by and by[a]["ms"] > 0 and by[a]["ok"]}
        best = min(ms, key=ms.get)
        out.append(
            f"| {matrix} | {triangle} | {by['dense']['rows']:,} | {int(parts[0]):,} in {parts[4].strip(',')} | "
            + " | ".join(number(ms[a]) if a in ms else "-" for a in ["dense"] + RIVALS)
            + f" | {name_of(best, '`')} |"
        )
    return "\n".join(out) + "\n" if len(out) > 2 else "Not measured in these results.\n"


TABLES = {"dense triangles": triangles, "dense published": published, "dense sparse": sparse}


def plot():
    from figures import PLAIN, plt, save

    every = sizes()
    if not every:
        return
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), sharex=True)
    rows = [n for n, _ in every]
    for label, form, launches, color, marker in (
        ("one CPU core", "cpu", False, "#666666", "X"),
        ("cuBLAS", "cublas", False, "#000000", "s"),
        ("simple", "simple", False, "#E69F00", "^"),
        ("pairs", "pairs", False, "#CC79A7", "v"),
        ("doubling", "doubling", False, "#0072B2", "D"),
        ("blocks (ours)", "blocks", False, "#009E73", "o"),
    ):
        left.plot(
            rows,
            [r["cublas", False]["cpu_ms"] if form == "cpu" else r[form, launches]["ms"] for _, r in every],
            color=color,
            marker=marker,
            markersize=4,
            linewidth=1.2,
            label=label,
        )
    for label, form, color, marker in (
        ("one CPU core", "cpu", "#666666", "X"),
        ("GPU Simple", "simple", "#E69F00", "^"),
        ("GPU Complex 1", "pairs", "#CC79A7", "v"),
        ("GPU Complex 2", "doubling", "#0072B2", "D"),
    ):
        right.plot(
            rows,
            [
                (
                    r["cublas", False]["cpu_ms"]
                    if form == "cpu"
                    else r[form, True]["ms"] + (r[form, True]["values_ms"] if form != "simple" else 0)
                )
                for _, r in every
            ],
            color=color,
            marker=marker,
            markersize=4,
            linewidth=1.2,
            label=label,
        )
    left.set_title("a solve; one launch, components are their own flags", fontsize=10)
    right.set_title("a step a launch, the matrix multiplied in every solve", fontsize=10)
    for axis in (left, right):
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        axis.xaxis.set_major_formatter(PLAIN)
        axis.yaxis.set_major_formatter(PLAIN)
        axis.set_xlabel("rows")
        axis.set_ylabel("ms")
        axis.legend(fontsize=8)
    figure.suptitle("Dense triangles on one H200, double precision", fontsize=10.5)
    figure.tight_layout()
    save(figure, "dense.png")
