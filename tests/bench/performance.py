#!/usr/bin/env python3
"""The table of docs/performance.md, from results/solve.jsonl and the constants of the predictions in src/kernels.

  performance.py            prints it
  performance.py --write F  puts it into the file
"""
import os
import re
import sys

from results import ROOT, read
from table import END, SHOWN, digits

BEGIN = "<!-- made by tests/bench/performance.py -->\n"


def source(name):
    with open(os.path.join(ROOT, "src", "kernels", name)) as f:
        return f.read()


def constants():
    """ns of a launch, without and with clusters; ns of a step, by the dependencies of a record; seconds of a byte."""
    settings = source("chunk_settings.cu")
    start = [int(re.search(rf"\b{name}\s*= (\d+)", settings).group(1)) for name in ("START", "START_CLUSTER")]
    step = {int(k): int(ns) for k, ns in re.findall(r"\{(\d+), (\d+)\}", re.search(r"records\[\] = \{(.*?)\};", settings).group(1))}
    return start, step, float(re.search(r"\.byte = ([0-9.e-]+)", source("costs.c")).group(1))


def table(cases):
    start, step, byte = constants()
    out = ["| lower triangle of | level sets | K | ns a step | launch and a step for each level set, ms | steps that full warps would take | the plan's bytes at the bandwidth of a copy, ms | measured, ms |", "|---|---|---|---|---|---|---|---|"]
    for c in cases:
        if c.triangle != "lower" or c.matrix not in SHOWN or c.chosen["algorithm"] != "chunk":
            continue
        chunks, k, clusters = (int(re.search(rf"\b{word}(\d+)", c.chosen["setting"]).group(1)) for word in "PKN")
        dependencies = c.nnz / c.rows - 1
        records = c.rows * (1 if dependencies <= k else 1 + (dependencies - 2) / (k - 1))
        chain = 1e-6 * (start[clusters > 1] + c.levels * step[k])
        out.append(f"| {SHOWN[c.matrix] or c.matrix} | {c.levels:,} | {k} | {step[k]} | {digits(chain)} | {records / (32 * chunks):,.0f} | {digits(1e3 * byte * c.chosen['plan_bytes'])} | {digits(c.chosen['ms'])} |")
    return "\n".join(out) + "\n"


def main(args):
    made = table(read()[0])
    if not args:
        print(made, end="")
        return 0
    with open(args[1]) as f:
        head, _, rest = f.read().partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not end:
        print(f"{args[1]} has no place for the table: no line {BEGIN.strip()} ... {END.strip()}")
        return 1
    with open(args[1], "w") as f:
        f.write(head + BEGIN + made + END + tail)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
