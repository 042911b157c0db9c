#!/usr/bin/env python3
"""Sorts the hazards that racecheck reports in kernels that exchange words of shared memory without a barrier.

races.py LOG    LOG: of compute-sanitizer --tool racecheck, over a program built with -lineinfo

Prints how many places each exchange below explains, and each pair of places that none explains. Exit status 1 if there
is such a pair, or if the log has no summary.
"""

import collections
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PLACE = re.compile(r"(Read|Write) access at .* in \S*?(src/kernels/\S+?):(\d+)")

# Functions of chunk_place.cuh and chunk_place.cu. The fetching warps write a batch and release its counter; the placing
# warp acquires the counter before it reads the batch, and arrives at a barrier before the batch is written again.
FETCHED = {"place_fetch"}
PLACED = {"place_all", "place_round", "place_keys", "place_key", "fill", "place_fetch", "chunk_place"}


def line_of(path, number):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read().split("\n")[number - 1]


def function_of(path, number):
    """The name of the function of the device whose body has the line."""
    name = ""
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        for line in f.read().split("\n")[:number]:
            if re.search("__(device|global)__", line):
                found = re.search(r"(\w+)\(", re.sub(r"__launch_bounds__\(.*?\) (?=\w)", "", line))
                name = found[1] if found else name
    return name


def is_exchange(path, number):
    """An access that is volatile, or releases or acquires: a word that is its own flag, or a counter."""
    return path.startswith("src/kernels/device/") and re.search(
        r"\.(volatile|release\.cta|acquire\.cta)\.shared|atom", line_of(path, number)
    )


def explain(places):
    functions = {function_of(path, number) for path, number in places}
    if all(is_exchange(*place) for place in places):
        return "words that are their own flags, and counters"
    if functions <= PLACED and functions & FETCHED:
        return "batches of chunk_place, handed over by a counter"
    if functions == {"place_take_step"}:
        return "steps of place_take_step, read by all lanes of the warp before they vote"
    return ""


def main(log):
    explained, unknown, pair, done = collections.Counter(), collections.Counter(), [], False
    with open(log, encoding="utf-8", errors="replace") as f:
        for line in f:
            done = done or "RACECHECK SUMMARY" in line
            if "Race reported between" in line:
                pair = []
            found = PLACE.search(line)
            if found:
                pair.append((found[2], int(found[3])))
                if len(pair) > 1:
                    places = tuple(sorted({pair[0], pair[-1]}))
                    reason = explain(places)
                    (explained if reason else unknown)[reason or places] += 1
            elif "Race reported between" in line or (" access at " in line and "Current Value" not in line):
                unknown[line.strip()[:160]] += 1
    for reason, count in sorted(explained.items()):
        print(f"  {count} reports: {reason}")
    for places, count in unknown.most_common(20):
        print(f"  UNEXPLAINED, {count} reports: {places}")
    if not done:
        print("  the log has no summary")
    return 1 if unknown or not done else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
