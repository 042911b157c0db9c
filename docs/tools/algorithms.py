#!/usr/bin/env python3
"""The table of docs/algorithms.md, from the rows of the table of algorithms in src/kernels.

algorithms.py               prints it
algorithms.py --write FILE  puts it there
"""

import glob
import os
import re
import sys

from maker import ROOT, run

BEGIN = "<!-- made by docs/tools/algorithms.py from src/kernels -->\n"
ROW = re.compile(r"^TRSV_ALGORITHM\((\w+)\)\s*=\s*\{(.*?)\n\};", re.S | re.M)


def table():
    rows = {}
    for path in glob.glob(os.path.join(ROOT, "src", "kernels", "**", "*.c*"), recursive=True):
        with open(path, encoding="utf-8") as f:
            for name, body in ROW.findall(f.read()):
                rows[name] = dict(re.findall(r'\.(\w+)\s*=\s*(?:"([^"]*)")?', body)), body
    with open(os.path.join(ROOT, "src", "kernels", "solve", "algorithms.c"), encoding="utf-8") as f:
        order = re.findall(r"\brow\((Trsv\w+)\)", f.read())
    if set(order) != set(rows):
        sys.exit(f"algorithms.py: algorithms.c and the rows in src/kernels differ: {sorted(set(order) ^ set(rows))}")
    out = ["| name | runs on | auto considers it | what it does | source |", "|---|---|---|---|---|"]
    for name in order:
        fields, body = rows[name]
        device = not re.search(r"\.memory\s*=\s*TRSV_HOST", body)
        where = "GPU" if device else "host"
        auto = "yes" if "predict" in fields else "no"
        out.append(f"| `{fields['name']}` | {where} | {auto} | {fields['summary']} | {fields['source']} |")
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    run({BEGIN: table()})
