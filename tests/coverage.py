#!/usr/bin/env python3
"""Which lines of src and of the examples' reader do the tests run?

usage: coverage.py REASONS FOLDER...    folders with what gcc --coverage has built and run

Prints a table of the files and, of each line that did not run, its number, its text, and the reason in REASONS; the
last lines sum up, with the date and a hash of the sources (tests/sources.sh src tests examples). A line of REASONS is
`file pattern | text pattern | reason`, patterns as of a shell. Exit status 1 where fewer than 95 % of the lines run, or
one that does not has no reason.
"""

import collections
import concurrent.futures
import datetime
import fnmatch
import gzip
import json
import os
import subprocess
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
TARGET = 95  # percent


def notes(folder):
    return [os.path.join(path, name) for path, _, names in os.walk(folder) for name in names if name.endswith(".gcno")]


def counts(note):
    """(file, line) -> how often it ran, of one object; no line of a function that is instantiated nowhere."""
    out = subprocess.run(["gcov", "--json-format", "--stdout", note], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         cwd=ROOT).stdout
    found = {}
    for file in json.loads(gzip.decompress(out) if out[:2] == b"\x1f\x8b" else out or b'{"files": []}')["files"]:
        path = os.path.relpath(os.path.realpath(os.path.join(ROOT, file["file"])), ROOT)
        if path.startswith(("src/", "examples/mtx")) and os.path.exists(os.path.join(ROOT, path)):
            for line in file["lines"]:
                key = path, line["line_number"]
                found[key] = found.get(key, 0) + line["count"]
    return found


def reasons(path):
    with open(path, encoding="utf-8") as f:
        return [
            [part.strip() for part in line.split("|", 2)] for line in f if line.strip() and not line.startswith("#")
        ]


def main():
    known = reasons(sys.argv[1])
    total = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(counts, [note for folder in sys.argv[2:] for note in notes(folder)]):
            total.update(found)
            for key in found:
                total.setdefault(key, 0)
    files = collections.defaultdict(dict)
    for (path, line), n in total.items():
        files[path][line] = n
    ran = sum(n > 0 for n in total.values())
    print(f"{'file':50} {'lines':>6} {'run':>6} {'%':>6}")
    for path in sorted(files):
        hit = sum(n > 0 for n in files[path].values())
        print(f"{path:50} {len(files[path]):6} {hit:6} {100 * hit / len(files[path]):6.1f}")
    print(f"{'all':50} {len(total):6} {ran:6} {100 * ran / max(len(total), 1):6.1f}\n")
    without = 0
    for path in sorted(files):
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            text = f.read().splitlines()
        for line in sorted(line for line, n in files[path].items() if not n):
            what = text[line - 1].strip() if line <= len(text) else ""
            why = [r for p, t, r in known if fnmatch.fnmatch(path, p) and fnmatch.fnmatch(what, t)]
            without += not why
            print(f"{path}:{line}: {what}  -- {why[0] if why else 'NO REASON'}")
    share = 100 * ran / max(len(total), 1)
    sources = subprocess.run(["tests/sources.sh", "src", "tests", "examples"], cwd=ROOT, stdout=subprocess.PIPE,
                             text=True, check=True).stdout.strip()
    print(f"\n{share:.1f} % of {len(total)} lines run; of {len(total) - ran} others {without} have no reason;"
          f" {datetime.date.today()}, sources {sources}")
    failed = (share < TARGET) + (without > 0)
    print(f"{2 - failed} passed, {failed} failed, 0 skipped")
    return failed > 0


sys.exit(main())
