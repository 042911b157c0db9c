#!/usr/bin/env python3
"""The loss of -pc_sptrsvgpu_ordering auto against the better ordering: a table in docs/ordering.md.

  choices.py                prints the table
  choices.py --write FILE   writes it into FILE

Times: results/corpus.jsonl and results/solutions.jsonl, of one process for each system.
"""

import sys

from fit_order import BOUND, systems
from results import mean, write_part

BEGIN = "<!-- made by bench/choices.py from results/corpus.jsonl and results/solutions.jsonl -->\n"
GROUPS = {
    "report": "generated systems, not for fitting",
    "fit": "generated systems, for fitting",
    "real": "real matrices, Laplacians of their patterns, and grids",
}
WAYS = ("natural", "multicolor", "auto")


def table():
    out = [
        f"| systems | ordering | time over the better ordering: geometric mean | most | above {BOUND} | not solved |",
        "|---|---|---|---|---|---|",
    ]
    above = []
    for use, title in GROUPS.items():
        group = systems(use)
        for way, name in enumerate(WAYS):
            some = [x for x in (s.time(way) for s in group) if x]
            numbers = f"{mean(some):.3f} | {max(some):.2f} | {sum(x > BOUND for x in some)} | {len(group) - len(some)}"
            out.append(f"| {len(group)} {title} | {name} | {numbers} |")
        worst = sorted(((s.time(2) or 0, s) for s in group), key=lambda p: -p[0])
        names = (f"{s.name}{', Laplacian' if s.values == 'laplacian' else ''} ({x:.2f})" for x, s in worst if x > BOUND)
        above.append(f"- {len(group)} {title}: {', '.join(names)}.")
    return "\n".join([*out, f"\nSystems where `auto` is above {BOUND}:\n", *above]) + "\n"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        sys.exit(write_part(sys.argv[2], BEGIN, table()))
    print(table(), end="")
