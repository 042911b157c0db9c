#!/usr/bin/env python3
"""The table of docs/install.md of what was tried: PETSc, scalars, indices, CUDA and GPU, from files of results/.

versions.py               prints it
versions.py --write FILE  puts it there

results/gpu_petsc_*.txt, gpu_types.txt: PETSc's harness on a GPU (PARTS=harness of tests/gpu/run.sh); gpu_complex.txt:
examples; versions.txt: make check-versions; headers.txt: make check-headers.
"""

import glob
import os
import re

from maker import ROOT, run

BEGIN = "<!-- made by docs/tools/versions.py from results -->\n"
COUNTS = r"^(\d+ passed, \d+ failed, \d+ skipped)"
DATE = r"\d{4}-\d\d-\d\d"


def text(name):
    with open(os.path.join(ROOT, "results", name), encoding="utf-8") as f:
        return f.read()


def link(name):
    return f"[{name}](../results/{name})"


def kind(name):
    """Scalars and indices of a name as `-complex-single-int64'."""
    scalars = ("complex" if "complex" in name else "real") + (" single" if "single" in name else " double")
    return scalars, "64 bits" if "int64" in name else "32 bits"


def field(part, name):
    return re.search(rf"^{name} +(.*)$", part, re.M).group(1)


def gpu_of(part):
    return re.search(r"H\d00", field(part, "gpu")).group()


def on_gpus():
    for path in sorted(glob.glob(os.path.join(ROOT, "results", "gpu_petsc_*.txt"))) + ["gpu_types.txt"]:
        name = os.path.basename(path)
        for part in re.split(r"^=== ", text(name), flags=re.M):
            counts = "; again, after a change: ".join(re.findall(COUNTS + "$", part, re.M))
            if counts:
                version, _, values = field(part, "petsc").partition(",")
                scalars = re.search("(?:real|complex) (?:double|single)", values)
                yield (version, scalars.group() if scalars else "real double", "64 bits" if "64" in values else
                       "32 bits", field(part, "cuda"), gpu_of(part),
                       f"tests on a GPU: {counts}", re.search(DATE, part).group(), name)
    part = text("gpu_complex.txt")
    solves = re.findall(r"^== (.*), GPU: -pc_type sptrsvgpu.*\n.*, (\w+)$", part, re.M)
    converged = sum(reason.startswith("CONVERGED") for _, reason in solves)
    yield (re.search(r"PETSc (\d[\d.]*\d)", part).group(1), "complex double", "64 bits", field(part, "cuda"),
           gpu_of(part), f"examples on a GPU: {len(solves)} solves with {len({m for m, _ in solves})} matrices,"
           f" {converged} converge", field(part, "date"), "gpu_complex.txt")


def on_hosts():
    for version, of, counts, date in re.findall(rf"^PETSc ([\d.]+)(\S*) +{COUNTS[1:]}; ({DATE})", text("versions.txt"),
                                                re.M):
        cuda = of.endswith("-cuda")
        yield (version, *kind(of), "headers" if cuda else "none", "none",
               f"tests on {'a pretended device' if cuda else 'the host'}: {counts}", date, "versions.txt")


def compiled(tried):
    """With CUDA, where no row of these says more."""
    part = text("headers.txt")
    for version, of in re.findall(r"^PETSc ([\d.]+), cuda(\S*): ok$", part, re.M):
        if (version, *kind(of)) not in tried:
            yield version, *kind(of), field(part, "cuda"), "none", "compiled only", field(part, "date"), "headers.txt"


def table():
    rows, versions = list(on_gpus()), {}
    rows += [*on_hosts(), *compiled({row[:3] for row in rows})]
    for version, *row in rows:
        versions.setdefault(tuple(row), []).append(version)
    out = ["| PETSc | scalars | indices | CUDA | GPU | how it was tried | date | results |", "|---" * 8 + "|"]
    out += [f"| {', '.join(v)} | " + " | ".join(row[:-1]) + f" | {link(row[-1])} |" for row, v in versions.items()]
    return "\n".join(out) + "\n| all others | | | | | not at all | | |\n"


if __name__ == "__main__":
    run({BEGIN: table()})
