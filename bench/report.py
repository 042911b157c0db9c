#!/usr/bin/env python3
"""Makes every generated part of README and docs from results/ and the sources. Needs no GPU.

    report.py           writes the tables; then the plots, which need matplotlib
    report.py --check   names the pages that have a stale part; the exit status says whether there are any
"""
import filecmp
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
# page, the script that makes a part of it, and how it is called
TABLES = [
    ("docs/results.md", "bench/table.py", "--write"),
    ("docs/results.md", "bench/errors.py", "--write"),
    ("docs/results.md", "bench/setups.py", "--write"),
    ("docs/results.md", "bench/solutions.py", "--write"),
    ("docs/results.md", "bench/rivals.py", "--write"),
    ("docs/results.md", "bench/orders.py", "--write"),
    ("docs/ordering.md", "bench/orders.py", "--iterations"),
    ("docs/ordering.md", "bench/choices.py", "--write"),
    ("README.md", "bench/solutions.py", "--six"),
    ("README.md", "bench/setups.py", "--memory"),
    ("README.md", "bench/rivals.py", "--small"),
    ("docs/known-issues.md", "bench/setups.py", "--memory"),
    ("docs/performance.md", "bench/performance.py", "--write"),
    ("docs/performance.md", "bench/scalars.py", "--write"),
    ("docs/results.md", "bench/selections.py", "--write"),
    ("docs/krylov.md", "bench/krylov.py", "--write"),
    ("README.md", "bench/krylov.py", "--natural"),
    ("docs/papers.md", "bench/papers.py", "--write"),
    ("docs/options.md", "docs/tools/options.py", "--write"),
    ("docs/install.md", "docs/tools/versions.py", "--write"),
    ("docs/developing.md", "docs/tools/rooms.py", "--write"),
    ("docs/reliability.md", "docs/tools/evidence.py", "--write"),
    ("docs/algorithms.md", "docs/tools/algorithms.py", "--write"),
    ("docs/algorithms.md", "bench/ampere.py", "--write"),
]
PLOTS = [
    ("bench/plots.py",),
    ("bench/papers.py", "--plot"),
    ("bench/solutions.py", "--plot"),
]


def run(*command):
    return subprocess.run([sys.executable, *command], cwd=ROOT, stdout=subprocess.DEVNULL).returncode


def write(folder):
    """Writes all generated parts of the pages in a folder. Returns the number of scripts that failed."""
    return sum(run(script, how, os.path.join(folder, page)) != 0 for page, script, how in TABLES)


def check():
    pages = sorted({page for page, _, _ in TABLES})
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "docs"))
        for page in pages:
            shutil.copy(os.path.join(ROOT, page), os.path.join(folder, page))
        failed = write(folder)
        stale = [p for p in pages if not filecmp.cmp(os.path.join(ROOT, p), os.path.join(folder, p), shallow=False)]
    for page in stale:
        print(f"{page} has a stale part: run make plots")
    return failed + len(stale) > 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(check())
    if sys.argv[1:]:
        sys.exit(__doc__)
    sys.exit(write(ROOT) + sum(run(*plot) != 0 for plot in PLOTS) > 0)
