#!/usr/bin/env python3
"""The table of orderings on a GPU in docs/results.md, from results/orders.jsonl (PARTS=orders of tests/gpu/run.sh).

  orders.py [FILE]        prints the table
  orders.py --write FILE  puts it there; without results nothing is changed

The results were recorded when the ordering multicolor was called bmc.
"""
import json
import os
import sys

from results import ROOT, put

FILE = os.path.join(ROOT, "results", "orders.jsonl")
BEGIN = "<!-- made by tests/bench/orders.py from results/orders.jsonl -->\n"


def name_of(order):
    return "multicolor" if order == "bmc" else order


def digits(v):
    """Three of them, without an exponent."""
    return "" if v is None else f"{v:,.0f}" if v >= 100 else f"{v:.1f}" if v >= 10 else f"{v:.2f}" if v >= 1 else f"{v:.3g}"


def change(lines, key, scale=1.0):
    values = [lines.get(o, {}).get(key) for o in ("natural", "multicolor")]
    if key in ("iterations", "levels"):
        return " -> ".join("?" if v is None else f"{v:,}" for v in values)
    return " -> ".join("?" if v is None else digits(scale * v) for v in values)


def table(path):
    problems, orderings = {}, []
    with open(path) as f:
        for text in f:
            line = json.loads(text)
            if "problem" in line:
                problems.setdefault(line["problem"], {})[name_of(line["order"])] = line
            elif line["what"].startswith("ordering"):
                orderings.append(line)
    out = ["| natural -> multicolor | iterations | level sets | PCSetUp, ms | PCApply, ms | KSPSolve, ms | KSPSolve by auto, ms | auto takes | its algorithms |", "|---|---|---|---|---|---|---|---|---|"]
    for name, lines in problems.items():
        auto = lines.get("auto", {})
        takes = "multicolor" if auto.get("view", "").startswith("multicol") else "natural"
        ours = auto.get("algorithms", "").split()
        out.append(f"| {name} | {change(lines, 'iterations')} | {change(lines, 'levels')} | {change(lines, 'setup_s', 1e3)} | {change(lines, 'apply_ms')} | {change(lines, 'kspsolve_s', 1e3)} | {digits(1e3 * auto['kspsolve_s']) if auto.get('kspsolve_s') else '?'} | {takes} | {', '.join(dict.fromkeys(ours))} |")
    several = [name for name, lines in problems.items() if lines.get("multicolor", {}).get("runs", 1) > 1]
    runs = f"Medians of {problems[several[0]]['multicolor']['runs']} runs for {' and '.join(several)}; one run for each of the others." if several else "One run each."
    out.append(f"\nKSPSolve does not include PCSetUp. PCSetUp and PCApply are from runs with `-log_view_gpu_time`. {runs}")
    if orderings:
        out += ["\nTime of the ordering alone on the GPU, medians:\n", "| matrix | ms |", "|---|---|"]
        out += [f"| {l['matrix']} | {digits(l['ms'])} |" for l in orderings]
    return "\n".join(out) + "\n"


def main(args):
    if args[:1] != ["--write"]:
        print(table(args[0] if args else FILE), end="")
        return 0
    if not os.path.exists(FILE):
        print(f"orders.py: there is no results/orders.jsonl; {args[1]} is left as it is")
        return 0
    return put(args[1], BEGIN, table(FILE))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
