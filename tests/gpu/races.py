#!/usr/bin/env python3
"""Sorts the hazards that racecheck reports in kernels that exchange words of shared memory without a barrier.

races.py LOG    LOG: of compute-sanitizer --tool racecheck --racecheck-report analysis --print-limit 0, over a program
                built with -lineinfo

Prints how many reports each exchange of the table explains, and each pair of places that none explains. Exit status 1
if there is such a pair, or if the log has no summary.
"""

import collections
import re
import sys

ACCESS = re.compile(r"(Read|Write) access at (?:void |T1 )?(.*?)\+0x\w+ in (\S+?):(\d+)")

# An exchange: why it is none, functions that write, functions that read, as the tool names them without arguments. A
# pair of writes is explained if both functions write. The functions of one macro stand in one line, and the tool may
# name the one before: trsv_store_if stores to global memory, so that a read in its line is trsv_shared_load's.
EXCHANGES = (
    (
        "words that are their own flags, and counters: volatile, release and acquire accesses of one word (sync.cuh)",
        r"trsv_(shared_(store|release)|push_if|canonical<.*>)",
        r"trsv_shared_(load<(unsigned int|float|double|TrsvComplex<.*>)>|acquire)|chunk_compute<.*"
        r"|unsigned int dataflow_find<.*|trsv_store_if",
    ),
    (
        "records and right-hand sides of a stage: copied or stored before an arrival at its barrier, read after a wait"
        " for it, and replaced after the barrier that says that they were read (chunk.cu)",
        r"trsv_(bulk_copy|shared_store|canonical<.*>)",
        r"trsv_shared_load<(TrsvQuad|unsigned int)>",
    ),
    (
        "batches of chunk_place: written before the release of the slot's counter, read after its acquisition, and"
        " replaced, by another warp too, after a wait for the slot's barrier (chunk_place.cu)",
        r"place_fetch|PlaceWarp::(sort|rank)<.*",
        r".* in chunk_place\.cuh?:\d+",
    ),
    (
        "steps of PlaceWarp::take_step: all lanes of the warp have read their word before they vote, and one writes it"
        " after the vote (chunk_place.cuh)",
        r"PlaceWarp::take_step",
        r"PlaceWarp::take_step",
    ),
)


def explain(pair):
    for reason, writes, reads in EXCHANGES:
        patterns = {"Write": writes, "Read": reads}
        if all(re.match(f"(?:{patterns[access]})", f"{name} in {at}") for access, name, at in pair):
            return reason
    return ""


def main(log):
    explained, unknown, first, done = collections.Counter(), collections.Counter(), None, False
    with open(log, encoding="utf-8", errors="replace") as f:
        for line in f:
            done = done or "RACECHECK SUMMARY" in line
            if " access at " not in line:
                continue
            found = ACCESS.search(line)
            place = found and (found[1], re.sub(r"\(.*", "", found[2]).strip(), f"{found[3]}:{found[4]}")
            if "reported between" in line:
                first = place
            elif first and place:
                reason = explain((first, place))
                (explained if reason else unknown)[reason or (first, place)] += 1
            else:
                unknown[line.strip()] += 1
    for reason, count in sorted(explained.items()):
        print(f"  {count} reports: {reason}")
    for places, count in unknown.most_common(20):
        print(f"  UNEXPLAINED, {count} reports: {places}")
    if not done:
        print("  the log has no summary")
    return 1 if unknown or not done else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
