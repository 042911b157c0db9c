#!/usr/bin/env python3
"""Compares two builds by what PARTS=compare of tests/gpu/run.sh measures: hashes of solutions, and new times over old.

  compare.py FILE.jsonl

A time is the median of the lines with the same key. The exit status is 1 if a hash differs.
"""

import json
import statistics
import sys

from results import mean

KEYS = {  # a line of set-ups has a preconditioner, one of solves has a triangle
    "preconditioner": ("matrix", "preconditioner"),
    "triangle": ("matrix", "triangle", "precision", "values", "algorithm", "rank"),
}
TIMES = ("ms", "analysis_ms", "first_ms", "same_pattern_ms", "apply_ms")
TITLES = {
    "ms": "solves",
    "analysis_ms": "analysis",
    "first_ms": "first set-ups",
    "same_pattern_ms": "set-ups with new values",
    "apply_ms": "PCApply",
}


def read(path):
    """build -> key -> the lines that have it"""
    found = {"old": {}, "new": {}}
    with open(path, encoding="utf-8") as f:
        for line in map(json.loads, f):
            names = next(names for field, names in KEYS.items() if field in line)
            found[line["build"]].setdefault(tuple(line[n] for n in names), []).append(line)
    return found["old"], found["new"]


def is_ours(key):
    return "cusparse" not in key and (len(key) > 2 or key[1].startswith("sptrsvgpu"))


def time_of(lines, name):
    times = [line[name] for line in lines if (line.get(name) or 0) > 0]
    return statistics.median(times) if times else None


def compare_hashes(old, new):
    pairs = [
        (key, {line["hash"] for line in old[key] + new[key]})
        for key in old
        if key in new and is_ours(key) and "hash" in old[key][0] and "hash" in new[key][0]
    ]
    different = [" ".join(map(str, key)) for key, hashes in pairs if len(hashes) > 1]
    if pairs:
        print(f"solutions: {len(pairs) - len(different)} of {len(pairs)} have the same bits")
    for name in different:
        print(f"  DIFFER {name}")
    return bool(different)


def compare_times(old, new, name):
    ratios = {}
    for key in old:
        a, b = time_of(old[key], name), time_of(new.get(key, []), name)
        if a and b and is_ours(key):
            ratios[key] = b / a
    if not ratios:
        return
    worst = sorted(ratios, key=ratios.get)[: -4 : -1]
    print(
        f"{TITLES[name]}: new / old {mean(ratios.values()):.3f} in the geometric mean of {len(ratios)}; at most "
        + ", ".join(f"{ratios[k]:.2f} ({' '.join(map(str, k))})" for k in worst)
    )


def main(paths):
    if len(paths) != 1:
        sys.exit(__doc__)
    old, new = read(paths[0])
    for name in TIMES:
        compare_times(old, new, name)
    return compare_hashes(old, new)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
