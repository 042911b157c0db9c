#!/usr/bin/env python3
"""Solves without clusters and with less shared memory, from results/ampere.jsonl: a table in docs/algorithms.md.

ampere.py FILE.jsonl     prints it, and what is wrong; the exit status says whether anything is
ampere.py --write PAGE   writes it into the page
"""

import collections
import json
import os
import sys

from results import LEAST_ROWS, ROOT, Case, gpu_of, mean, write_part

FILE = os.path.join(ROOT, "results", "ampere.jsonl")
BEGIN = "<!-- made by bench/ampere.py from results/ampere.jsonl -->\n"
DEVICES = {163 * 1024: "163 KB: A100", 99 * 1024: "99 KB: A10, L40S, RTX 30, RTX 40"}


def read(path):
    """Bytes of shared memory -> cases; wrong lines"""
    groups, wrong = {}, []
    with open(path) as f:
        for line in map(json.loads, f):
            if not line["ok"]:
                wrong.append(line)
            if line["values"] == "seeded" and line["ms"] > 0 and line["real"]:
                group = groups.setdefault(line["shared_bytes"], {})
                group.setdefault((line["matrix"], line["triangle"]), []).append(line)
    return {d: [c for c in map(Case, g.values()) if c.chosen and c.counts] for d, g in groups.items()}, wrong


def table(groups):
    out = [
        "| shared memory of a block | triangles | cuSPARSE's time / `auto`'s | at least "
        "| `auto`'s time / that of the best measured | at most | `auto` takes |",
        "|---|---|---|---|---|---|---|",
    ]
    for shared, cases in sorted(groups.items(), reverse=True):
        taken = collections.Counter(c.chosen["algorithm"] for c in cases)
        speedups, regrets = [c.speedup for c in cases], [c.regret for c in cases]
        out.append(
            f"| {DEVICES.get(shared, f'{shared} bytes')} | {len(cases)} | {mean(speedups):.2f} | {min(speedups):.2f} "
            f"| {mean(regrets):.3f} | {max(regrets):.2f} | {', '.join(f'`{a}` {n}' for a, n in taken.most_common())} |"
        )
    gpu = next(gpu_of(c.chosen) for cases in groups.values() for c in cases)
    note = f"Real matrices with at least {LEAST_ROWS:,} rows; double precision; geometric means; {gpu}."
    return "\n".join([*out, "", note]) + "\n"


def main(args):
    if args[:1] == ["--write"]:
        return write_part(args[1], BEGIN, table(read(FILE)[0]))
    groups, wrong = read(args[0])
    print(table(groups), end="")
    for line in wrong:
        print(f"WRONG: {line['matrix']} {line['triangle']}, {line['algorithm']}, {line['shared_bytes']} bytes: "
              f"{line['failure'] or line['error']}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
