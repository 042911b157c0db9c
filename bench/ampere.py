#!/usr/bin/env python3
"""What a benchmark without clusters and with less shared memory found (results/ampere.jsonl), in plain text.

ampere.py FILE    for each size of shared memory: times as fast as cuSPARSE, and the regret of the choice
"""

import json
import sys

from results import LEAST_ROWS, Case, mean

NAMES = {163 * 1024: "163 KB, as an A100", 99 * 1024: "99 KB, as an L40S or an RTX"}


def read(path):
    """(bytes of shared memory, code) -> cases; wrong lines"""
    groups, wrong = {}, []
    with open(path) as f:
        for line in map(json.loads, f):
            device = line["shared_bytes"], line["code"]
            if not line["ok"]:
                wrong.append(line)
            if line["values"] == "seeded" and line["ms"] > 0:
                groups.setdefault(device, {}).setdefault((line["matrix"], line["triangle"]), []).append(line)
    return {d: [c for c in map(Case, g.values()) if c.chosen] for d, g in groups.items()}, wrong


def tell(title, cases):
    if not cases:
        return
    ranked = sorted(cases, key=lambda c: c.speedup)
    chosen = {}
    for c in cases:
        chosen[c.chosen["algorithm"]] = chosen.get(c.chosen["algorithm"], 0) + 1
    worst = ", ".join(f"{c.speedup:.2f} {c.matrix} {c.triangle}" for c in ranked[:3])
    took = ", ".join(f"{n} {a}" for a, n in sorted(chosen.items()))
    print(f"  {title}: {mean(c.speedup for c in cases):.2f} times as fast as cuSPARSE (worst: {worst}); "
          f"regret {mean(c.regret for c in cases):.3f} (worst {max(c.regret for c in cases):.2f}); took {took}")


def main(args):
    found, wrong = read(args[0])
    for (shared, code), cases in sorted(found.items(), reverse=True):
        real = [c for c in cases if c.real]
        print(f"{NAMES.get(shared, f'{shared} bytes')}, code for {code / 10}, {len(cases)} triangles")
        tell(f"real, {LEAST_ROWS} rows or more", [c for c in real if c.counts])
        tell("real, all", real)
    for line in wrong:
        print(f"WRONG: {line['matrix']} {line['triangle']}, {line['algorithm']}, {line['shared_bytes']} bytes: "
              f"{line['failure'] or line['error']}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
