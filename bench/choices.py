#!/usr/bin/env python3
"""The loss of -pc_sptrsvgpu_ordering auto against the better ordering: a table in docs/ordering.md.

  choices.py                prints the table
  choices.py --write FILE   writes it into FILE

Times: results/corpus.jsonl and results/solutions.jsonl, of one process for each system.
"""

import statistics
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


def looks(group):
    """In words: what looks at the other ordering take, of the time that multicolor saves."""
    taken, shares, gains = 0, [], 0
    seen = [s for s in group if s.ways[2]["order"] and "too little" not in s.ways[2]["order"] and all(s.solved)]
    for s in seen:
        look = s.ways[2]["setup_ms"] - s.ways[s.chosen]["setup_ms"]
        gain = s.ways[0]["ms"] - s.ways[1]["ms"]
        taken += look
        if gain > 0:
            gains += gain
            shares.append(look / gain)
    words = f"`auto` looks at the other ordering in {len(seen)} systems."
    words += f" Multicolor saves time in {len(shares) or 'none'}"
    if shares:
        words += (
            f" of them; there a look takes a median of {statistics.median(shares):.1%} of the time saved. All looks"
            f" together take {taken / gains:.1%} of all time saved"
        )
    return words


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
    out.append(
        "\nThe time of a look at the other ordering is the set-up of `auto` minus that of the ordering it takes:\n"
    )
    out += [f"- {title}: {looks(systems(use))}." for use, title in GROUPS.items()]
    return "\n".join([*out, f"\nSystems where `auto` is above {BOUND}:\n", *above]) + "\n"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        sys.exit(write_part(sys.argv[2], BEGIN, table()))
    print(table(), end="")
