#!/usr/bin/env python3
"""The loss of -pc_sptrsvgpu_ordering auto against the better ordering: a table in docs/ordering.md.

  choices.py                prints the table
  choices.py --write FILE   writes it into FILE

Times of both orderings: results/corpus.jsonl and results/solutions.jsonl, of one process for each system. The choice of
auto is that of the sources (fit_order.py); its time is that of the chosen ordering and of a comparison. What is
measured of auto is of the sources that wrote the results.
"""

import sys

from fit_order import BOUND, Rule, systems
from results import mean, write_part

BEGIN = "<!-- made by bench/choices.py from results/corpus.jsonl and results/solutions.jsonl -->\n"
GROUPS = {
    "report": "generated systems, not for fitting",
    "fit": "generated systems, for fitting",
    "real": "real matrices, Laplacians of their patterns, and grids",
}


def table():
    rule = Rule()
    ways = {
        "natural": lambda s: s.time(0),
        "multicolor": lambda s: s.time(1),
        "auto": lambda s: s.loss(rule),
        "auto, measured": lambda s: s.time(2),
    }
    out = [
        "| systems | ordering | time over the better ordering: geometric mean | most | above 1.15 | not solved |",
        "|---|---|---|---|---|---|",
    ]
    above = []
    for use, title in GROUPS.items():
        group = systems(use)
        for name, loss in ways.items():
            some = [x for x in map(loss, group) if x]
            numbers = f"{mean(some):.3f} | {max(some):.2f} | {sum(x > BOUND for x in some)} | {len(group) - len(some)}"
            out.append(f"| {len(group)} {title} | {name} | {numbers} |")
        worst = sorted(((s.loss(rule) or 0, s) for s in group), key=lambda p: -p[0])
        names = (f"{s.name}{', Laplacian' if s.values == 'laplacian' else ''} ({x:.2f})" for x, s in worst if x > BOUND)
        above.append(f"- {len(group)} {title}: {', '.join(names)}.")
    return "\n".join([*out, "\nSystems where `auto` is above 1.15:\n", *above]) + "\n"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        sys.exit(write_part(sys.argv[2], BEGIN, table()))
    print(table(), end="")
