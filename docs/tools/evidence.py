#!/usr/bin/env python3
"""The table of docs/reliability.md of the latest figures, from files of results/.

evidence.py               prints it
evidence.py --write FILE  puts it there

A kind of run without a file of results has no row.
"""

import json
import os
import re
import subprocess
import sys

from maker import ROOT, run

sys.path.append(os.path.join(ROOT, "tests", "mutants"))
import mutants  # noqa: E402

BEGIN = "<!-- made by docs/tools/evidence.py from results -->\n"


def text(name):
    path = os.path.join(ROOT, "results", name)
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as f:
        return f.read()


def lines(name):
    return [json.loads(line) for line in text(name).splitlines()]


def where(line):
    return "" if "gpu" not in line else f"{line['gpu'].split(',')[0].removeprefix('NVIDIA ')}, {line['date']}"


def total(found, key):
    return f"{sum(line[key] for line in found):,}"


def random_triangles():
    for d in lines("dags.jsonl"):
        yield (f"random triangles against `serial`, {d['precisions']}",
               f"{d['launches']:,} launches of {d['plans']:,} plans, {d['wrong']} wrong", where(d), "dags.jsonl")


def same_plan():
    found = lines("same.jsonl")
    if found:
        yield (f"solves by one plan: {', '.join(d['way'] for d in found)}",
               f"{total(found, 'solves')} solves, {total(found, 'wrong')} with other bits", where(found[0]),
               "same.jsonl")


def same_bits():
    found = [d for d in lines("repeats.jsonl") if not d["refused"]]
    if found:
        fixed = [d["same_bits"] for d in found if not d["may_vary"]]
        yield (f"repetitions of orderings, factorizations and solves, up to {max(d['times'] for d in found):,} each",
               f"the same bits in {sum(fixed):,} of {len(fixed):,} cases", where(found[0]), "repeats.jsonl")


def shared_gpu():
    """What the part `shared` reported."""
    page = text("gpu_long.txt")
    part = re.search(r"^== several processes on one GPU.*?^\(shared", page, re.M | re.S)
    for what, found in re.findall(r"^ok +(.*?): (?:\w+: )?(.*)$", part.group() if part else "", re.M):
        found = found.replace(" ways ", " algorithms and settings ")  # of earlier runs
        yield (f"a shared GPU: {what}", found if "wrong" in found else found + ": 0 wrong",
               re.search(r"H\d00", page).group() + ", " + re.search(r"\d{4}-\d\d-\d\d", page).group(),
               "gpu_long.txt")


def threads():
    name = "gpu_threads.txt"
    pattern = r"^ok +threads: (\d+) objects in (\d+) threads: (\d+) wrong"
    for objects, count, wrong in re.findall(pattern, text(name), re.M):
        yield (f"objects that {count} threads create, use and destroy", f"{objects} objects, {wrong} with other bits",
               re.search(r"H\d00", text(name)).group() + ", " + re.search(r"\d{4}-\d\d-\d\d", text(name)).group(), name)


def backward_errors():
    found = lines("errors.jsonl")
    worst = [max(e for d in found for field in (p, "own_" + p) for e in d[field] if e is not None)
             for p in (("double", "float") if found else ())]
    if found:
        yield (f"backward errors, {len({d['matrix'] for d in found})} real matrices",
               f"at most {worst[0]:.1e} in double, {worst[1]:.1e} in float", where(found[0]), "errors.jsonl")


def counted(name, what, last):
    """The last match of a pattern in a file, with the GPU that the file names, if any."""
    found = re.findall(last, text(name), re.M)
    if found:
        gpu, date = (re.findall(pattern, text(name)) for pattern in (r"NVIDIA (H\d00)", r"\d{4}-\d\d-\d\d"))
        yield what, found[-1], ", ".join(gpu[:1] + date[:1]), name


def other_types():
    """The first run of each type of values and indices, and what failed there and ran again."""
    for part in re.split(r"^=== ", text("gpu_types.txt"), flags=re.M)[1:]:
        found = re.findall(r"^(\d+ passed, \d+ failed), \d+ skipped$", part, re.M)
        yield (f"PETSc's harness on a GPU, {part.splitlines()[0]}", "; again, after a change: ".join(found),
               re.search(r"H\d00", part).group() + ", " + re.search(r"\d{4}-\d\d-\d\d", part).group(),
               "gpu_types.txt")


def long_parts():
    """Parts of make test-long that have no file of their own."""
    for part, what in (("pretend-ranks", "every failure of a call on one of two ranks, over a pretended device"),
                       ("schedules-long", "every algorithm under many schedules of the executor")):
        found = re.search(rf"^{part} +(\d+) passed, (\d+) failed, .*; (\d{{4}}-\d\d-\d\d), ", text("long.txt"), re.M)
        if found:
            yield what, f"{int(found[1]):,} tests passed, {found[2]} failed", found[3], "long.txt"


def planted():
    """The errors of planted.txt. Those without a result, or with one that says nothing, are not tried yet."""
    found = mutants.read_results(os.path.join(ROOT, "results", "mutants.txt"))
    if found:
        names = [mutants.name_of(m) for m in mutants.read_table()]
        seen, survived, equivalent = (sum(found.get(name, "").startswith(verdict) for name in names)
                                      for verdict in ("killed", "survived", "equivalent"))
        yield (f"{len(names)} planted errors",
               f"{seen} seen by a test, {survived} by none, {equivalent} that change nothing,"
               f" {len(names) - seen - survived - equivalent} not tried yet", text("mutants.txt")[:10], "mutants.txt")


def on_hosts():
    for names, what in ((r"\S+(?<!-cuda)", "on the host"), (r"\S+-cuda", "with a pretended device")):
        found = re.findall(rf"^PETSc {names} +(\d+) passed, +(\d+) failed.*?; ([\d-]+),", text("versions.txt"), re.M)
        if found:
            passed, failed = (sum(map(int, column)) for column in list(zip(*found))[:2])
            dates = sorted({date for _, _, date in found})
            yield (f"the tests with {len(found)} builds of PETSc, {what}", f"{passed:,} passed, {failed} failed",
                   "no GPU, " + " to ".join(dates[:1] + dates[1:][-1:]), "versions.txt")


def covered():
    """The lines that tests run, and of which sources; these are in long.txt if an earlier coverage.txt lacks them."""
    page, name = text("coverage.txt"), "coverage.txt"
    found = re.search(r"^([\d.]+ % of \d+ lines) run; .*; (\d{4}-\d\d-\d\d)(?:, sources (\w+))?$", page, re.M)
    if not found:
        return
    share, date, sources = found.groups()
    if sources:
        now = subprocess.run(["tests/sources.sh", "src", "tests", "examples"], cwd=ROOT, stdout=subprocess.PIPE,
                             text=True, check=True).stdout.strip()
        listed = re.findall(r"^((?:src|examples)/\S+) +\d+ +\d+ ", page, re.M)
        gone = [path for path in listed if not os.path.exists(os.path.join(ROOT, path))]
        if sources == now and gone:
            sys.exit(f"results/{name} is of these sources, but they lack {', '.join(gone)}")
    else:
        sources = "".join(re.findall(rf"^coverage .*; {date}, sources (\w+)$", text("long.txt"), re.M))
    yield "lines of src that tests without a GPU run", share, f"{date}, sources {sources or 'unknown'}", name


def exchanges():
    """Words written by halves; the reports of racecheck, and those of a build with a planted race."""
    name = "gpu_waits.txt"
    found, _, planted_race = text(name).partition("== racecheck finds a planted race")
    if not found:
        return
    dates = re.findall(r"\d{4}-\d\d-\d\d", found)  # of the first part, and of racecheck if it is another one
    place, races = (re.search(r"H\d00", found).group() + ", " + date for date in (dates[0], dates[-1]))
    words = re.findall(r"^halves, .*: (\d+) words, .* (\d+) torn$", found, re.M)
    known = re.findall(r"^  (\d+) reports: ", found, re.M)
    unknown, seen = (sum(map(int, re.findall(r"^  UNEXPLAINED, (\d+) reports", part, re.M)))
                     for part in (found, planted_race))
    yield ("words written by 8 or 16 bytes and probed by 4, in shared memory",
           f"{sum(int(n) for n, _ in words):,} words, {sum(int(n) for _, n in words)} torn", place, name)
    yield ("racecheck over `chunk` and its set-ups",
           f"{sum(map(int, known)):,} reports between places that exchange words, {unknown} others", races, name)
    yield ("the same without one barrier", f"{seen} other reports: the race is found", races, name)


def rows():
    yield from random_triangles()
    yield from same_plan()
    yield from same_bits()
    yield from shared_gpu()
    yield from threads()
    yield from exchanges()
    yield from backward_errors()
    yield from counted("gpu_petsc_3.26.txt", "PETSc's harness on a GPU", r"^(\d+ passed, \d+ failed), \d+ skipped$")
    yield from other_types()
    yield from on_hosts()
    for fuzzer in ("reader", "trsv", "options"):
        name = "trsv.h" if fuzzer == "trsv" else fuzzer
        yield from counted("fuzz.txt", f"fuzzing: {name}", rf"^\w+ +{fuzzer}: (.*)$")
    yield from long_parts()
    yield from planted()
    yield from covered()


def table():
    out = ["| what ran | result | where, when | file |", "|---|---|---|---|"]
    out += [f"| {what} | {result} | {place} | [{name}](../results/{name}) |" for what, result, place, name in rows()]
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    run({BEGIN: table()})
