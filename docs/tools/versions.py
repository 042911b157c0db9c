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
ROW = re.compile(r"^PETSc (\S+)\s+(\d+) passed,\s+(\d+) failed,\s+(\d+) skipped[, ]*(.*)$", re.M)


def table():
    if not os.path.exists(FILE):
        return "No results of `make check-versions` are recorded yet.\n"
    with open(FILE, encoding="utf-8") as f:
        text = f.read()
    date = re.search(r"^date\s+(\S+)", text, re.M)
    out = ["| PETSc | how tried | passed | failed | skipped |", "|---|---|---|---|---|"]
    for version, passed, failed, skipped, note in ROW.findall(text):
        out.append(f"| {version} | host{', ' + note if note else ''} | {passed} | {failed} | {skipped} |")
    if len(out) == 2:
        sys.exit(
            "versions.py: results/versions.txt has no lines of the form `PETSc 3.26.1 N passed, N failed, N skipped'"
        )
    return "\n".join(out) + f"\n\n{date.group(1) if date else ''}: `make check` and `make check-petsc` on the host.\n"


if __name__ == "__main__":
    run({BEGIN: table()})
