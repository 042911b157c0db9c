#!/usr/bin/env python3
"""The measurements in docs/papers.md: its tables, between markers, and its plots, from results of the benchmark.

  papers.py --write docs/papers.md   writes the tables into it
  papers.py --plot                   draws the plots (papers_plots.py); needs matplotlib

A table stands between a line <!-- papers.py NAME --> and a line <!-- end -->.
"""
import json
import os
import re
import sys

import papers_ag
import papers_dense
from results import LEAST_ROWS, ROOT, SOLVES, form_of, mean, name_of, write_part

PAPER = ["level", "csc", "warp", "twophase", "thread", "fusion"]  # of papers 000 and 001, in the order of the table
OURS = ["chunk", "inverse", "recompute"]
BINS = [-9, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 9]
DUELS = [("thread", "warp"), ("fusion", "csc"), ("twophase", "csc")]  # at thread level, at warp level


class Case:
    """A triangle: ms by algorithm or the reason of a failure, and its statistics."""

    def __init__(self, line):
        self.matrix, self.rows, self.levels, self.nnz, self.granularity = (
            line[k] for k in ("matrix", "rows", "levels", "nnz", "granularity")
        )
        self.triangle, self.real, self.ms, self.failure, self.chosen = (
            line["triangle"],
            line.get("real", ":" not in line["matrix"]),
            {},
            {},
            None,
        )
        self.dense = False  # is any part solved as a dense triangle by `dense`? Where not, it is what `auto` would take

    def add(self, line):
        a = form_of(line)
        if a in self.ms or a in self.failure:
            return  # of other settings than those that it prefers
        if line["ms"] > 0 and line["ok"]:
            self.ms[a] = line["ms"]
        elif line.get("failure"):
            self.failure[a] = line["failure"]
        if line["selected"]:
            self.chosen = a
        if a == "dense":
            self.dense = " dense in " in line["setting"]

    def speedup(self, a):
        return self.ms["cusparse"] / self.ms[a]

    counts = property(lambda self: self.real and self.rows >= LEAST_ROWS)
    gflops = staticmethod(lambda c, a: 2e-6 * c.nnz / c.ms[a])


def read(path):
    cases = {}
    with open(path) as f:
        for text in f:
            line = json.loads(text)
            if line["values"] == "seeded" and line["precision"] == "double" and line["triangle"] != "pair":
                cases.setdefault((line["matrix"], line["triangle"]), Case(line)).add(line)
    return [c for c in cases.values() if "cusparse" in c.ms]


def known(cases):
    found = {a for c in cases for a in [*c.ms, *c.failure]} - {"cusparse"}
    return [a for a in PAPER + OURS if a in found] + sorted(found - set(PAPER + OURS))


def number(v):
    return f"{v:.0f}" if v >= 99.5 else f"{v:.1f}" if v >= 9.95 else f"{v:.2f}" if v >= 0.0995 else f"{v:.3f}"


def algorithms(cases):
    """Speed-ups over cuSPARSE, by side of the paper's threshold, and GFLOPS/s."""
    some = [c for c in cases if c.counts]
    sides = [
        ("all", some),
        ("granularity <= 0.7", [c for c in some if c.granularity <= 0.7]),
        ("> 0.7", [c for c in some if c.granularity > 0.7]),
    ]
    out = [
        (
            f"Speedup over cuSPARSE SpSV: geometric means over both triangles of the {len({c.matrix for c in some})}"
            f" real matrices with at least {LEAST_ROWS:,} rows, double precision."
        ),
        (
            "*Fastest of the paper's*: the share of triangles in which an algorithm is the fastest of the paper's"
            " algorithms and cuSPARSE.\n"
        ),
        "| algorithm | "
        + " | ".join(f"{name} ({len(list(s))})" for name, s in sides)
        + " | least | most | fastest of the paper's | GFLOPS/s, > 0.7 |",
        "|---" * (len(sides) + 5) + "|",
    ]
    for a in known(cases) + ["cusparse"]:
        have = [c for c in some if a in c.ms]
        rivals = [c for c in some if a == min((b for b in PAPER + ["cusparse"] if b in c.ms), key=c.ms.get)]
        high = [c.gflops(c, a) for c in sides[2][1] if a in c.ms]
        if have:
            some_of = f" ({len(have)} triangles)" if len(have) < len(some) else ""
            means = " | ".join(number(mean(c.speedup(a) for c in s if a in c.ms)) for _, s in sides)
            out.append(
                f"| {name_of(a, '`')}{some_of} | {means} | {number(min(c.speedup(a) for c in have))} |"
                f" {number(max(c.speedup(a) for c in have))} |"
                f" {f'{100 * len(rivals) / len(some):.0f}%' if a in PAPER + ['cusparse'] else ''} |"
                f" {number(sum(high) / len(high)) if high else ''} |"
            )
    chosen = [c for c in some if c.chosen in c.ms]
    if chosen:
        out.append(f"\nWhat `auto` chose: speedup {number(mean(c.speedup(c.chosen) for c in chosen))} over cuSPARSE.")
    parts = sum(c.dense for c in some)
    out.append(
        f"\n`dense` finds dense parts in {parts} of these {len(some)} triangles. In the others it is what `auto` would"
        " take."
    )
    for a in known(cases):
        missing = [c for c in cases if a not in c.ms and a in c.failure]
        for reason in sorted({c.failure[a] for c in missing}):
            out.append(
                f"\nNo {name_of(a, '`')} for "
                + ", ".join(f"{c.matrix} ({c.triangle})" for c in missing if c.failure[a] == reason)
                + f": {reason}."
            )
    return "\n".join(out) + "\n"


def claims(cases):
    """The paper's ratios above its threshold."""
    some = [c for c in cases if c.counts and c.granularity > 0.7]
    out = [
        f"Above 0.7, {len(some)} triangles; the paper does not say which mean it takes.\n",
        "| speedup | here | geometric mean | arithmetic mean | most | paper: mean | most |",
        "|---" * 7 + "|",
    ]
    for name, of, to, paper, most in (
        ("thread level over cuSPARSE", "fusion", "cusparse", "4.74", "107"),
        ("thread level over SyncFree", "fusion", "csc", "4.97", "46.8"),
        ("writing-first over two-phase", "fusion", "twophase", "28.9", ""),
    ):
        for a in (of, "thread"):
            ratios = [c.ms[to] / c.ms[a] for c in some if a in c.ms and to in c.ms]
            out.append(
                f"| {name} | `{a}` over `{to}` | {number(mean(ratios))} | {number(sum(ratios) / len(ratios))} |"
                f" {number(max(ratios))} | "
                + (f"{paper} | {most} |" if a == of else "| |")
            )
    return "\n".join(out) + "\n"


def regret(duel, cases, threshold):
    high, low = duel
    return mean(c.ms[high if c.granularity > threshold else low] / min(c.ms[high], c.ms[low]) for c in cases)


def granularity(cases):
    """Thread level against warp level by Equation 1."""
    some = [c for c in cases if c.counts]
    duels = [d for d in DUELS if any(all(a in c.ms for a in d) for c in some)]
    out = [
        (
            "Speedup of the thread-level solve over the warp-level solve (geometric mean), and the number of triangles"
            " in which it is faster:\n"
        ),
        "| parallel granularity | triangles | " + " | ".join(f"`{h}` over `{l}` | faster" for h, l in duels) + " |",
        "|---" * (2 + 2 * len(duels)) + "|",
    ]
    for low, high in zip(BINS, BINS[1:]):
        inside = [c for c in some if low < c.granularity <= high]
        name = f"up to {high}" if low == BINS[0] else f"over {low}" if high == BINS[-1] else f"{low} to {high}"
        cells = []
        for h, l in duels:
            both = [c.ms[l] / c.ms[h] for c in inside if h in c.ms and l in c.ms]
            cells.append(f"{number(mean(both))} | {sum(r > 1 for r in both)}" if both else " | ")
        if inside:
            out.append(f"| {name} | {len(inside)} | " + " | ".join(cells) + " |")
    out.append(
        "\nWhat a threshold costs against choosing the faster of the two every time (geometric mean of the time over"
        " the better one's):\n"
    )
    out.append("| choice | at 0.7 | best threshold | at that | always thread level | always warp level |")
    out.append("|---|---|---|---|---|---|")
    for duel in duels:
        both = [c for c in some if all(a in c.ms for a in duel)]
        steps = [t / 100 for t in range(-60, 151)]
        best = min(steps, key=lambda t: (regret(duel, both, t), abs(t - 0.7)))
        at = (
            f"none: `{duel[0]}` always"
            if best < min(c.granularity for c in both)
            else f"none: `{duel[1]}` always" if best >= max(c.granularity for c in both) else f"{best:.2f}"
        )
        out.append(
            f"| `{duel[0]}` or `{duel[1]}` | {regret(duel, both, 0.7):.2f} | {at} | {regret(duel, both, best):.2f} |"
            f" {regret(duel, both, -9):.2f} | {regret(duel, both, 9):.2f} |"
        )
    return "\n".join(out) + "\n"


def counters(cases):
    """Nsight Compute's counters (profile.py): Figures 7 and 8."""
    granular = {c.matrix for c in cases if c.real and c.granularity > 0.7}
    lines = {}
    with open(os.path.join(ROOT, "results", "profile.jsonl")) as f:
        for line in map(json.loads, f):
            if line["matrix"] in granular:
                lines.setdefault(line["matrix"], {})[line["algorithm"]] = line
    lines = {m: a for m, a in lines.items() if {"csc", "cusparse"} <= a.keys()}
    speed = lambda l: l["bytes"] / l["ns"]
    out = [
        (
            f"Geometric means over {len(lines)} real matrices with granularity above 0.7 ({', '.join(sorted(lines))}),"
            " both triangles together:\n"
        ),
        (
            "| algorithm | GB/s | over `csc` | over `cusparse` | bytes over `cusparse` | warp instructions over `csc` |"
            " over `cusparse` | issue slots used |"
        ),
        "|---" * 8 + "|",
    ]
    for a in sorted({a for m in lines.values() for a in m}, key=lambda a: (a == "cusparse", a)):
        have = [m for m in lines.values() if a in m]
        ratio = lambda of, to: number(mean(of(m[a]) / of(m[to]) for m in have))
        out.append(
            f"| `{a}` | {number(mean(speed(m[a]) for m in have))} | {ratio(speed, 'csc')} | {ratio(speed, 'cusparse')}"
            f" | {ratio(lambda l: l['bytes'], 'cusparse')} | {ratio(lambda l: l['instructions'], 'csc')} |"
            f" {ratio(lambda l: l['instructions'], 'cusparse')} |"
            f" {sum(m[a]['issued'] for m in have) / len(have):.0f}% |"
        )
    return "\n".join(out) + "\n"


def recblocks():
    """results/recblock.jsonl: by matrix and triangle, ms by setting, without words that all settings share."""
    groups = {}
    with open(os.path.join(ROOT, "results", "recblock.jsonl")) as f:
        for line in map(json.loads, f):
            if line["values"] != "seeded" or not line["ok"] or line["ms"] <= 0:
                continue
            g = groups.setdefault((line["matrix"], line["triangle"]), {"line": line, "recblock": {}, "auto": None})
            if line["algorithm"] == "recblock":
                g["recblock"].setdefault(line["setting"], line)
            if line["selected"]:
                g["auto"] = line
    return groups


def chosen(cases, groups):
    """The choices of `auto`, by triangle: algorithm, ms, and whether it ran in the same run as recblock. If not, its
    time is that of the cases."""
    at = {(c.matrix, c.triangle): c for c in cases}
    out = {}
    for k, g in groups.items():
        if g["auto"]:
            out[k] = (g["auto"]["algorithm"], g["auto"]["ms"], True)
        elif k in at and at[k].chosen in at[k].ms:
            out[k] = (at[k].chosen, at[k].ms[at[k].chosen], False)
    return out


def recblock_settings(cases):
    """Each setting over all real matrices."""
    groups = {k: g for k, g in recblocks().items() if g["line"]["real"]}
    autos = chosen(cases, groups)
    settings = list(dict.fromkeys(s for g in groups.values() for s in g["recblock"]))
    groups = {k: g for k, g in groups.items() if all(s in g["recblock"] for s in settings)}
    deep = {k: g["line"]["levels"] > 50 for k, g in groups.items()}
    times = lambda s, which: [
        g["line"]["cusparse_ms"] / g["recblock"][s]["ms"] for k, g in groups.items() if which in (None, deep[k])
    ]
    out = [
        (
            f"Speedup over cuSPARSE SpSV: geometric means over {len(groups)} triangles of {len({m for m, _ in groups})}"
            " real matrices, double precision. *over `auto`*: speedup over what `auto` chose, measured in the same run"
            f" for {sum(same for _, _, same in autos.values())} of them. *analysis*: over cuSPARSE's. *memory*: of the"
            " plan over the factor's CSR.\n"
        ),
        (
            f"| type | depth | thresholds | all ({len(groups)}) | up to 50 level sets"
            f" ({list(deep.values()).count(False)}) | more ({list(deep.values()).count(True)}) | least | most | over"
            " `auto` | analysis | memory |"
        ),
        "|---" * 11 + "|",
    ]
    for s in sorted(settings, key=lambda s: (s.split()[0] != "type=recursive", s.split()[2] != "thresholds=paper", s)):
        have = [g["recblock"][s] for g in groups.values()]
        auto = [autos[k][1] / g["recblock"][s]["ms"] for k, g in groups.items() if k in autos]
        out.append(
            f"| {' | '.join(w.split('=')[1] for w in s.split())} |"
            f" {' | '.join(number(mean(times(s, w))) for w in (None, False, True))} | {number(min(times(s, None)))} |"
            f" {number(max(times(s, None)))} | {number(mean(auto))} |"
            f" {number(mean(l['analysis_ms'] / l['cusparse_analysis_ms'] for l in have))} |"
            f" {number(mean(l['plan_bytes'] / l['csr_bytes'] for l in have))} |"
        )
    words = "type=recursive depth={} thresholds=fitted".format

    def against(name, lines):
        over = [autos[k][1] / l["ms"] for k, l in lines.items() if k in autos]
        return (
            f"{name}: speedup {number(mean(l['cusparse_ms'] / l['ms'] for l in lines.values()))} over cuSPARSE,"
            f" {number(mean(over))} over `auto`. `auto` is faster in {sum(r < 1 for r in over)} of {len(over)},"
            f" {number(1 / max(over))} to {number(1 / min(over))} times."
        )

    out.append(
        "\n"
        + against(
            "The default depth of `thresholds=fitted` (1 above 200 level sets, else 0)",
            {k: g["recblock"][words(int(g["line"]["levels"] > 200))] for k, g in groups.items()},
        )
    )
    out.append(
        "\n"
        + against(
            "The fastest of these settings for each triangle",
            {k: min(g["recblock"].values(), key=lambda l: l["ms"]) for k, g in groups.items()},
        )
    )
    free = [c.ms["csc"] / c.ms["recblock"] for c in cases if c.counts and {"csc", "recblock"} <= c.ms.keys()]
    out.append(
        f"\nSpeedup over SyncFree (`csc`; results/solve.jsonl, {len(free)} triangles) with its defaults: geometric mean"
        f" {number(mean(free))}, arithmetic mean {number(sum(free) / len(free))}, most {number(max(free))}. The paper:"
        " 9.95 and 61.1."
    )
    cuts = {
        k: g["recblock"][words(0)]["ms"] / g["recblock"][words(1)]["ms"]
        for k, g in groups.items()
        if g["line"]["levels"] > 200
    }
    out.append(
        f"\nSpeedup of one cut over none, fitted thresholds, {len(cuts)} triangles of more than 200 level sets:"
        f" geometric mean {number(mean(cuts.values()))}, faster in {sum(r > 1 for r in cuts.values())}; at most"
        f" {number(max(cuts.values()))} ({' '.join(max(cuts, key=cuts.get))}), at least {number(min(cuts.values()))}"
        f" ({' '.join(min(cuts, key=cuts.get))})."
    )
    return "\n".join(out) + "\n"


TABLES = {
    "recblock settings": recblock_settings,
    "capellini algorithms": algorithms,
    "capellini claims": claims,
    "capellini granularity": granularity,
    "capellini counters": counters,
}
TABLES.update(papers_ag.TABLES)
TABLES.update(papers_dense.TABLES)


def plot(cases):
    import papers_plots

    papers_plots.capellini(cases, DUELS)
    groups = {k: g for k, g in recblocks().items() if g["line"]["real"]}
    papers_plots.recblock(groups, chosen(cases, groups))
    papers_plots.ag(papers_ag.Data(cases))
    papers_dense.plot()


def main(args):
    cases = read(SOLVES)
    if args == ["--plot"]:
        plot(cases)
        return 0
    if len(args) != 2 or args[0] != "--write":
        print(__doc__)
        return 2
    with open(args[1]) as f:
        text = f.read()
    names = re.findall(r"<!-- papers\.py (.*?) -->", text)
    for name in names:
        if name not in TABLES:
            print(f"{args[1]}: there is no table '{name}'", file=sys.stderr)
            return 1
    for name in names:
        if write_part(args[1], f"<!-- papers.py {name} -->\n", TABLES[name](cases)):
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
