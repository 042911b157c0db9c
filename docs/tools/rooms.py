#!/usr/bin/env python3
"""The map of src in docs/developing.md, from tests/rooms.py --map.

rooms.py               prints it
rooms.py --write FILE  puts it there
"""

import glob
import os
import subprocess
import sys

from maker import ROOT, run

BEGIN = "<!-- made by docs/tools/rooms.py from src -->\n"
PURPOSE = {
    "base": "types, error codes and messages",
    "device": "memory, launches, scans and sorts; `sync.cuh` passes values between threads",
    "analysis": "triangles, level sets, statistics",
    "ordering": "the ordering multicolor, on the host and the GPU",
    "krylov": "CG and BiCGStab between the products; `krylov.h`, what `src/ksp` calls",
    "factor": "ILU(0) and IC(0) on the GPU",
    "ilu": "the object: pattern, order, plans, values, solves; `trsv.h`, what rooms beside `kernels` call",
    "solve": "the table of algorithms, the choice, pairs of plans, tuning",
    "solve/model": "predicted times: all constants in one table, and the formulas",
    "solve/plan": "what a plan is: analyze, set values, solve",
    "solve/rows": "`thread`, `sell`: a thread or a lane for each row",
    "solve/schedule": "the schedule of `chunk`: heights, splits, steps, settings",
    "solve/chunk": "`chunk`: the plan and its kernels",
    "papers": "cuSPARSE, for comparison; settings of published algorithms; graphs of launches",
    "papers/ag": "AG-SpTRSV",
    "papers/capellini": "CapelliniSpTRSV, SyncFree, level sets",
    "papers/dense": "dense triangles and dense parts",
    "papers/recblock": "recursive blocks",
    "stubs": "functions of builds without CUDA, which report that there is no GPU",
    "src/petsc": "what the other rooms that call PETSc share: error codes, indices, PETSc's stream, older PETScs",
    "src/mat": "the MatSolverType: a factor Mat, its phases, solves, options, view, citations, log events",
    "src/ksp": "the KSP types `cgdevice` and `bcgsdevice`, whose scalars stay on the GPU",
    "src/pc": "the PC types: set-up, options, view",
    "src/plugin": "how PETSc loads the library: registration, versions, messages about files",
}


def hundreds(lines):
    """Rounded, so that not every change of a file changes the page."""
    return f"{max(100, round(lines, -2)):,}"


def table():
    made = subprocess.run(
        [sys.executable, os.path.join(ROOT, "tests", "rooms.py"), "--map"], capture_output=True, text=True, check=True
    ).stdout
    out = ["| room | what is there | files | lines | uses |", "|---|---|---|---|---|"]
    total = papers = outside = 0
    for line in made.splitlines()[2:]:
        room, files, lines, uses = (cell.strip() for cell in line.strip("|").split("|"))
        lines = int(lines.replace(",", ""))
        total += 0 if room.startswith("src/") else lines
        outside += lines if room.startswith("src/") else 0
        papers += lines if room.startswith("papers") else 0
        out.append(f"| `{room}` | {PURPOSE[room]} | {files} | {hundreds(lines)} | {uses} |")
    for path in glob.glob(os.path.join(ROOT, "include", "*.h")):
        outside += sum(1 for _ in open(path, encoding="utf-8"))
    for folders, lines in (("`src/kernels`", total), ("`src` and `include`", total + outside)):
        out.append(f"| {folders} | without `papers`: {hundreds(lines - papers)} lines | | {hundreds(lines)} | |")
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    run({BEGIN: table()})
