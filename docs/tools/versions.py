#!/usr/bin/env python3
"""The table of docs/install.md of the PETScs that were tried, from results/versions.txt (make check-versions).

versions.py               prints it
versions.py --write FILE  puts it there
"""

import os
import re
import sys

from maker import ROOT, run

FILE = os.path.join(ROOT, "results", "versions.txt")
BEGIN = "<!-- made by docs/tools/versions.py from results/versions.txt -->\n"
ROW = re.compile(r"^PETSc ([0-9.]+)(\S*)\s+(\d+) passed,\s+(\d+) failed,\s+(\d+) skipped([^;]*); ([0-9-]*)", re.M)


def table():
    if not os.path.exists(FILE):
        return "No results of `make check-versions` are recorded yet.\n"
    with open(FILE, encoding="utf-8") as f:
        rows = ROW.findall(f.read())
    if not rows:
        sys.exit(
            "versions.py: results/versions.txt has no lines of the form `PETSc 3.26.1 N passed, N failed, N skipped;"
            " DATE'"
        )
    out = ["| PETSc | scalars | indices | passed | failed | skipped | date |", "|---|---|---|---|---|---|---|"]
    for version, kind, passed, failed, skipped, note, date in rows:
        scalars = ("complex" if "-complex" in kind else "real") + (" single" if "-single" in kind else " double")
        bits = 64 if "-int64" in kind else 32
        out.append(f"| {version}{note} | {scalars} | {bits} bits | {passed} | {failed} | {skipped} | {date} |")
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    run({BEGIN: table()})
