#!/usr/bin/env python3
"""The tables of PETSc's programs and of set-ups in docs/results.md, from results/petsc.jsonl and results/setup.jsonl
(PARTS="petsc setup" of tests/gpu/run.sh).

  setups.py               prints them
  setups.py FILE.jsonl    prints those of set-ups, of other results
  setups.py --write FILE  writes it into the page
  setups.py --memory FILE writes the range of the peaks of memory of first set-ups into a page
"""

import json
import os
import sys

from results import ROOT, write_part

PROGRAMS = "<!-- made by bench/setups.py from results/petsc.jsonl -->\n"
RESULTS = os.path.join(ROOT, "results", "setup.jsonl")
SETUPS = "<!-- made by bench/setups.py from results/setup.jsonl -->\n"
MEMORY = "<!-- made by bench/setups.py: memory -->"
OURS = "sptrsvgpu, by device"
APPLIES = {
    "jacobi": "Jacobi",
    "ilu, host": "PETSc's ILU, host",
    "ilu, cuSPARSE": "PETSc's ILU, cuSPARSE",
    OURS: "sptrsvgpu, natural",
    "sptrsvgpu, multicolor": "sptrsvgpu, multicolor",
}
WAYS = {"ilu, cuSPARSE": "PETSc's ILU, cuSPARSE", "ilu, host": "PETSc's ILU, host", OURS: "sptrsvgpu"}


def read(path, key, way="preconditioner"):
    """Groups by `key`, in each the lines by `way`. Lines of PETSc's programs with a KSP type have the field method."""
    groups = {}
    with open(path) as f:
        for text in f:
            line = json.loads(text)
            if ("method" in line) == (way == "method"):
                groups.setdefault(line[key], {})[line[way]] = line
    return groups


def seconds(v):
    return "?" if v is None else "0" if v < 1e-4 else f"{v:.3g} s"


def types(path):
    """Nothing where KSP types were not compared."""
    groups = read(path, "problem", "method")
    if not groups:
        return ""
    runs = max(line.get("runs", 1) for lines in groups.values() for line in lines.values())
    out = [
        "\nWith [cgdevice](krylov.md) instead of cg, and sptrsvgpu in the multicolor order. Iterations and times are"
        f" sums\nover all linear solves of the program{f'; times: medians of {runs} runs' if runs > 1 else ''}.\n"
    ]
    out.append("| program | linear solves | iterations, cg | cgdevice | KSPSolve, cg | cgdevice | gain |")
    out.append("|---" * 7 + "|")
    for problem, lines in groups.items():
        pair = [lines.get(t, {}) for t in ("cg", "cgdevice")]
        times = [line.get("kspsolve_s") for line in pair]
        cells = [", ".join(problem.rsplit(" ", 1)), f"{pair[0].get('solves', '?')}"]
        cells += [f"{line.get('iterations') or '?'}" for line in pair] + [seconds(t) for t in times]
        out.append("| " + " | ".join([*cells, f"{times[0] / times[1]:.2f}" if all(times) else "?"]) + " |")
    return "\n".join(out) + "\n"


def programs(path=os.path.join(ROOT, "results", "petsc.jsonl")):
    out = ["| program | preconditioner | iterations | PCSetUp | PCApply | KSPSolve |", "|---|---|---|---|---|---|"]
    for problem, lines in read(path, "problem").items():
        title = ", ".join(problem.rsplit(" ", 1))
        for pc in ("sptrsvgpu", "capellini", "ilu", "jacobi"):
            line = lines.get(pc)
            if not line:
                continue
            b = "**" if pc == "sptrsvgpu" else ""
            apply = "?" if line["apply_ms"] is None else f"{line['apply_ms']:.3g} ms"
            name = pc + (" (cuSPARSE)" if pc == "ilu" else "")
            out.append(
                f"| {title} | {b}{name}{b} | {line['iterations']} | {b}{seconds(line['setup_s'])}{b} | {b}{apply}{b} |"
                f" {b}{seconds(line['kspsolve_s'])}{b} |"
            )
            title = ""
    return "\n".join(out) + "\n" + types(path)


def applies(groups):
    """Nothing where it was not measured."""
    if not any("apply_ms" in l for lines in groups.values() for l in lines.values()):
        return ""
    out = [
        "\nOne PCApply, ms: the mean of many in the stream with one wait at the end, as in a Krylov method. The PCApply"
        " of the table of\nprograms above includes the waits of `-log_view_gpu_time`.\n"
    ]
    out += ["| matrix | " + " | ".join(APPLIES.values()) + " |", "|---" * (1 + len(APPLIES)) + "|"]
    for matrix, lines in groups.items():
        times = {way: lines.get(way, {}).get("apply_ms") for way in APPLIES}
        cells = ["?" if v is None else f"**{v:.3g}**" if way == OURS else f"{v:.3g}" for way, v in times.items()]
        out.append(f"| {matrix.split('.mtx')[0]} | " + " | ".join(cells) + " |")
    return "\n".join(out) + "\n"


def memory():
    peaks = [lines[OURS]["peak_over_matrix"] for lines in read(RESULTS, "matrix").values() if OURS in lines]
    return f"{min(peaks):.2g} to {max(peaks):.2g} times the memory of the matrix."


def setups(path=RESULTS):
    groups = read(path, "matrix")
    peak = any("peak_over_matrix" in l for lines in groups.values() for l in lines.values())
    out = [
        "| matrix | "
        + " | ".join(f"{title}: first | new values" for title in WAYS.values())
        + " | break-even: first | new values |"
        + (" peak memory / matrix |" if peak else "")
    ]
    out.append("|---" * (3 + 2 * len(WAYS) + peak) + "|")
    for matrix, lines in groups.items():
        cells = []
        for way in WAYS:
            for key in ("first_ms", "same_pattern_ms"):
                best = min(lines[w][key] for w in WAYS if w in lines)
                text = f"{lines[way][key]:.3g}" if way in lines else "?"
                cells.append(f"**{text}**" if way == OURS and way in lines and lines[way][key] == best else text)
        ours = lines.get(OURS, {})
        even = [ours.get(k) for k in ("break_even_first", "break_even_same")]
        converge = all(l["reason"].startswith("CONVERGED") for l in (ours, lines.get("jacobi", {})) if l)
        cells += ["-" if v is None or not converge else f"{v:.0f}" for v in even]
        if peak:
            cells.append(f"{ours['peak_over_matrix']:.2g}" if "peak_over_matrix" in ours else "?")
        out.append(f"| {matrix.split('.mtx')[0]} | " + " | ".join(cells) + " |")
    return "\n".join(out) + "\n" + applies(groups)


def main(args):
    if args[:1] == ["--write"]:
        return write_part(args[1], PROGRAMS, programs()) or write_part(args[1], SETUPS, setups())
    if args[:1] == ["--memory"]:
        return write_part(args[1], MEMORY, memory())
    print(setups(args[0]) if args else programs() + "\n" + setups(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
