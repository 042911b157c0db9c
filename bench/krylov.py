#!/usr/bin/env python3
"""The table of KSP types in docs/krylov.md, from results/krylov.jsonl (PARTS=krylov of tests/gpu/run.sh).

krylov.py                 prints it
krylov.py FILE.jsonl      prints it of other results
krylov.py --write FILE    writes it into the page
krylov.py --natural FILE  writes what the natural norm saves into README
"""

import json
import math
import os
import re
import sys

from results import ROOT, write_part

BEGIN = "<!-- made by bench/krylov.py from results/krylov.jsonl -->\n"
RESULTS = os.path.join(ROOT, "results", "krylov.jsonl")
NAMES = {"cg": "cgdevice", "bcgs": "bcgsdevice"}


def read(path):
    with open(path) as f:
        return [json.loads(line) for line in f]


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def is_comparable(line):
    """Both solved, with residuals of the same size."""
    both = line["petsc_reason"].startswith("CONVERGED") and line["reason"].startswith("CONVERGED")
    return both and line["residual"] <= 2 * line["petsc_residual"] + 1e-12


def is_gamg(line):
    return line["preconditioner"] == "gamg"


def gain(line):
    return line["petsc_ms"] / line["ms"]


def saved_by_natural(lines):
    """By how many percent an iteration of PETSc's CG is shorter with the natural norm: least and most.
    "" if no solve converged with both norms."""
    time = {
        (x["matrix"], x["preconditioner"], x["norm"]): x["petsc_ms"] / x["petsc_iterations"]
        for x in lines
        if x["method"] == "cg" and x["petsc_reason"].startswith("CONVERGED") and not is_gamg(x)
    }
    other = {(m, p): t for (m, p, norm), t in time.items() if norm == "PRECONDITIONED"}
    saved = [100 * (1 - t / other[m, p]) for (m, p, norm), t in time.items() if norm == "NATURAL" and (m, p) in other]
    return f"{min(saved):.0f} to {max(saved):.0f}%" if saved else ""


def write_saved(path):
    """Returns whether that failed: the page has no such words, or there is nothing to write."""
    saved = saved_by_natural(read(RESULTS))
    if not saved:
        return True
    with open(path) as f:
        text = f.read()
    text, count = re.subn(r"-?\d+ to -?\d+%(?= less time)", saved, text)
    with open(path, "w") as f:
        f.write(text)
    return count != 1


def system_table(lines):
    out = [
        "| system | rows | method, preconditioner | iterations | PETSc's type, ms | on the GPU, ms | gain | "
        "with the natural norm: iterations | PETSc's type, ms | on the GPU, ms | gain |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    natural = {(n["matrix"], n["method"], n["preconditioner"]): n for n in lines if n["norm"] == "NATURAL"}
    last = None
    for line in lines:
        if line["norm"] != "PRECONDITIONED":
            continue
        name = "" if line["matrix"] == last else f"{line['matrix']} | {line['rows']:,}"
        last = line["matrix"]
        other = natural.get((line["matrix"], line["method"], line["preconditioner"]))
        cells = [name or " | ", f"{NAMES[line['method']]}, {line['preconditioner']}"]
        for one in (line, other):
            if not one:
                cells += ["", "", "", ""]
            elif not is_comparable(one):
                cells += [one["reason"] if not one["reason"].startswith("CONV") else one["petsc_reason"], "", "", ""]
            else:
                same = one["iterations"] == one["petsc_iterations"]
                its = f"{one['iterations']:,}" + ("" if same else f" ({one['petsc_iterations']:,})")
                cells += [its, f"{one['petsc_ms']:.3g}", f"{one['ms']:.3g}", f"{gain(one):.2f}"]
        out.append("| " + " | ".join(cells) + " |")
    return out


def summary(lines):
    out = ["| method, norm | systems | rows | gain: geometric mean | least | most |", "|---|---|---|---|---|---|"]
    for method, norm, gamg in (
        ("cg", "PRECONDITIONED", ""),
        ("cg", "NATURAL", ""),
        ("bcgs", "PRECONDITIONED", ""),
        ("cg", "PRECONDITIONED", ", GAMG"),
        ("cg", "NATURAL", ", GAMG"),
    ):
        for low, high, title in (
            (0, 10000, "below 10,000"),
            (10000, 100000, "10,000 to 100,000"),
            (100000, 1e9, "more"),
        ):
            same = [x for x in lines if x["method"] == method and x["norm"] == norm and is_gamg(x) == bool(gamg)]
            some = [x for x in same if is_comparable(x) and low <= x["rows"] < high]
            if some:
                gains = [gain(x) for x in some]
                out.append(
                    f"| {NAMES[method]}, {norm.lower()}{gamg} | {len({x['matrix'] for x in some})} | {title} | "
                    f"{mean(gains):.2f} | {min(gains):.2f} | {max(gains):.2f} |"
                )
    return out


def table(path):
    lines = read(path)
    about = [
        "",
        "GAMG: PETSc's multigrid; its smoothers are Chebyshev's method with sptrsvgpu in the multicolor order.",
    ]
    saved = saved_by_natural(lines)
    natural = ["", f"`-ksp_norm_type natural`, which tests another norm, makes an iteration of cg {saved} shorter."]
    out = summary(lines) + (about if any(map(is_gamg, lines)) else []) + (natural if saved else [])
    out += ["", "<details><summary>Each system</summary>", "", *system_table(lines), "", "</details>"]
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    if len(sys.argv) == 3:
        write = {"--write": lambda page: write_part(page, BEGIN, table(RESULTS)), "--natural": write_saved}
        sys.exit(write[sys.argv[1]](sys.argv[2]))
    print(table(sys.argv[1] if len(sys.argv) > 1 else RESULTS), end="")
