#!/usr/bin/env python3
"""The tables of docs/performance.md, from results/solve.jsonl and the constants of the predictions in src/kernels.

performance.py            prints them
performance.py --write F  puts them into the file
"""

import os
import re
import sys

from fit import settings
from results import LEAST_ROWS, ROOT, mean, name_of, read, write_part
from table import SHOWN, digits

BEGIN = "<!-- made by bench/performance.py -->\n"
MEMORY = "<!-- made by bench/performance.py: memory -->\n"
COPIED_BYTE = 0.2577e-12  # s: of a large copy on an H200
LIMITS = (1.5, 2, 2.5, 4, 8, float("inf"))  # of a plan's memory, over the factor's CSR


def constants():
    """ns of a launch; ns of a step, by the dependencies of a record; seconds of a byte."""
    with open(os.path.join(ROOT, "src", "kernels", "solve", "model", "constants.h"), encoding="utf-8") as f:
        values = {name: float(value) for name, value in re.findall(r"C\((\w+),\s*([0-9.e-]+),", f.read())}
    step = {int(name.rsplit("_", 1)[1]): int(ns) for name, ns in values.items() if name.startswith("settings_step_")}
    return values["settings_start"], step, COPIED_BYTE


def table(cases):
    start, step, byte = constants()
    out = [
        (
            "| lower triangle of | level sets | K | ns per step | launch + one step per level set, ms | steps if all"
            " were full | bytes of the plan / copy bandwidth, ms | measured, ms |"
        ),
        "|---|---|---|---|---|---|---|---|",
    ]
    for c in cases:
        if c.triangle != "lower" or c.matrix not in SHOWN or c.chosen["algorithm"] != "chunk":
            continue
        s = settings(c.chosen["setting"])
        chunks, k = s.chunks, s.length
        dependencies = c.nnz / c.rows - 1
        records = c.rows * (1 if dependencies <= k else 1 + (dependencies - 2) / (k - 1))
        chain = 1e-6 * (start + c.levels * step[k])
        out.append(
            f"| {SHOWN[c.matrix] or c.matrix} | {c.levels:,} | {k} | {step[k]} | {digits(chain)} |"
            f" {records / (32 * chunks):,.0f} | {digits(1e3 * byte * c.chosen['plan_bytes'])} |"
            f" {digits(c.chosen['ms'])} |"
        )
    return "\n".join(out) + "\n"


def memory(cases):
    """The fastest plan within each limit of memory."""
    counted = [c for c in cases if c.counts]
    out = [
        f"{len(counted)} triangles of {len({c.matrix for c in counted})} real matrices with at least {LEAST_ROWS:,}"
        " rows. For each limit of plan memory: the fastest algorithm and setting measured, geometric means.\n"
    ]
    out.append(
        "| plan memory / factor in CSR, at most | speedup over cuSPARSE SpSV | time / time without a limit | triangles"
        " whose fastest plan is within the limit | triangles whose plan by `auto` is |"
    )
    out.append("|---|---|---|---|---|")
    over = lambda c, l: l["plan_bytes"] / c.csr_bytes
    for limit in LIMITS:
        fast = [
            (
                c,
                min(
                    (l for l in c.lines if l["ok"] and l["algorithm"] != "cusparse" and over(c, l) <= limit),
                    key=lambda l: l["ms"],
                    default=None,
                ),
            )
            for c in counted
        ]
        some = [(c, l) for c, l in fast if l]
        none = f" ({len(counted) - len(some)} triangles have no such plan)" if len(some) < len(counted) else ""
        out.append(
            f"| {'no limit' if limit == float('inf') else f'{limit:g}'}{none} |"
            f" {mean(c.cusparse_ms / l['ms'] for c, l in some):.2f} |"
            f" {mean(l['ms'] / c.best['ms'] for c, l in some):.2f} | {sum(over(c, c.best) <= limit for c in counted)} |"
            f" {sum(c.memory <= limit for c in counted)} |"
        )
    large = [c for c in cases if c.csr_bytes >= 3.99e7]
    exceeds = sorted((c for c in counted if c.memory > 4), key=lambda c: -c.memory)
    by = {}
    for c in exceeds:
        by.setdefault(c.chosen["algorithm"], []).append(c)
    out.append(
        f"\nOf the {len(large)} triangles whose CSR takes at least 40 MB, generated ones included, `auto` takes plans"
        f" of {min(c.memory for c in large):.1f} to {max(c.memory for c in large):.1f} times the CSR."
    )
    out.append(
        f"Of the {len(counted)} real triangles {len(exceeds)} have plans of more than 4 times the CSR. These are small:"
        f" the largest CSR is {max(c.csr_bytes for c in exceeds) / 1e6:.0f} MB, the largest plan"
        f" {max(c.chosen['plan_bytes'] for c in exceeds) / 1e6:.0f} MB."
    )
    out.append(
        "By algorithm: "
        + "; ".join(
            f"{len(cs)} of {name_of(a, '`')}, with {mean(c.rows / c.levels for c in cs):.0f} rows per level set"
            " (geometric mean)"
            for a, cs in by.items()
        )
        + "."
    )
    return "\n".join(out) + "\n"


def main(args):
    cases = read()[0]
    if not args:
        print(table(cases) + "\n" + memory(cases), end="")
        return 0
    return write_part(args[1], BEGIN, table(cases)) or write_part(args[1], MEMORY, memory(cases))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
