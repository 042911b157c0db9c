#!/usr/bin/env python3
"""The table of docs/install.md of the PETScs that were tried, from results/versions.txt (make check-versions).

  versions.py               prints it
  versions.py --write FILE  puts it there

A line of results/versions.txt that starts with a version of PETSc is a row; two blanks or a tab separate its columns.
"""
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "bench"))
from results import put  # noqa: E402

FILE = os.path.join(ROOT, "results", "versions.txt")
BEGIN = "<!-- made by docs/tools/versions.py from results/versions.txt -->\n"


def table():
    rows = []
    if os.path.exists(FILE):
        with open(FILE, encoding="utf-8") as f:
            rows = [re.split(r"\s{2,}|\t", line.strip(), maxsplit=2) for line in f if re.match(r"(PETSc )?(\d+\.\d+|main)", line)]
    if not rows:
        return "No results of `make check-versions` are recorded yet.\n"
    out = ["| PETSc | how tried | outcome |", "|---|---|---|"]
    return "\n".join(out + ["| " + " | ".join((row + ["", ""])[:3]) + " |" for row in rows]) + "\n"


def main(args):
    if not args:
        print(table(), end="")
        return 0
    return put(args[1], BEGIN, table())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
