#!/usr/bin/env python3
"""The loss of -pc_sptrsvgpu_ordering auto against the better ordering: a table in docs/ordering.md.

  choices.py                prints the table
  choices.py --write FILE   writes it into FILE

results/corpus.jsonl and results/solutions.jsonl are written by PARTS=corpus and PARTS=solutions of tests/gpu/run.sh. The
two times of a ratio are of one process.
"""

import json
import os
import sys

from results import ROOT, mean, write_part

BEGIN = "<!-- made by bench/choices.py from results/corpus.jsonl and results/solutions.jsonl -->\n"
WAYS = {"natural": "natural", "bmc": "multicolor", "auto": "auto"}
TRUE = 1e-4  # more than this of b left is no solution
BOUND = 1.15


def read(name):
    """The ms of each way that solves a system, by system."""
    systems = {}
    with open(os.path.join(ROOT, "results", name), encoding="utf-8") as f:
        for line in map(json.loads, f):
            ms = systems.setdefault((line["matrix"], line["values"]), {})
            if line["converged"] and 0 <= line["residual"] <= TRUE:
                ms[line["way"]] = line["ms"]
    return {s: ms for s, ms in systems.items() if "natural" in ms or "bmc" in ms}


def read_uses():
    """The half of the corpus to which each family belongs: fit or report."""
    with open(os.path.join(ROOT, "results", "factors.jsonl"), encoding="utf-8") as f:
        return {line["matrix"].split("-")[0]: line["use"] for line in map(json.loads, f) if line["use"] != "real"}


def losses(systems, way):
    return {s: ms[way] / min(ms[w] for w in ("natural", "bmc") if w in ms) for s, ms in systems.items() if way in ms}


def rows(title, systems):
    for way, name in WAYS.items():
        loss = list(losses(systems, way).values())
        above = sum(x > BOUND for x in loss)
        yield f"| {title} | {name} | {mean(loss):.3f} | {max(loss):.2f} | {above} | {len(systems) - len(loss)} |"


def names(systems):
    loss = losses(systems, "auto")
    above = sorted((s for s in loss if loss[s] > BOUND), key=lambda s: -loss[s])
    return ", ".join(f"{m}{', Laplacian' if v == 'laplacian' else ''} ({loss[m, v]:.2f})" for m, v in above)


def table():
    use, corpus = read_uses(), read("corpus.jsonl")
    halves = {h: {s: ms for s, ms in corpus.items() if use[s[0].split("-")[0]] == h} for h in ("report", "fit")}
    groups = {
        f"{len(halves['report'])} generated systems, not for fitting": halves["report"],
        f"{len(halves['fit'])} generated systems, for fitting": halves["fit"],
    }
    real = read("solutions.jsonl")
    groups[f"{len(real)} real matrices, Laplacians of their patterns, and grids"] = real
    out = [
        "| systems | ordering | time over the better ordering: geometric mean | most | above 1.15 | not solved |",
        "|---|---|---|---|---|---|",
    ]
    for title, systems in groups.items():
        out += rows(title, systems)
    out.append("\nSystems where `auto` is above 1.15:\n")
    out += [f"- {title}: {names(systems)}." for title, systems in groups.items()]
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        sys.exit(write_part(sys.argv[2], BEGIN, table()))
    print(table(), end="")
