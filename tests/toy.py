#!/usr/bin/env python3
"""Does what docs/developing.md says under "Adding an algorithm" in a copy of src, and runs the tests of src/kernels.

    tests/toy.py OUT

OUT has the objects of the tests (build/tests-kernels); they are copied, not changed. Prints a line for each test.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PAGE = "docs/developing.md"
SUITES = ["solve", "schedules", "pairs", "numbers", "memory"]


def steps():
    """The file to write, its text, the table, the list in it, and the row to add."""
    with open(os.path.join(ROOT, PAGE), encoding="utf-8") as f:
        text = re.search(r"^## Adding an algorithm\n(.*?)^## ", f.read(), re.S | re.M).group(1)
    path = re.search(r"^1\. Write `([^`]+)`", text, re.M).group(1)
    table, group = re.search(r"^2\. Add the row to the table in `([^`]+)`, to those `(\w+)`", text, re.M).groups()
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.S | re.M)
    if [kind for kind, _ in blocks] != ["cuda", "c"]:
        sys.exit(f"{PAGE}: one block of cuda and one of c are expected")
    return path, blocks[0][1], table, group, blocks[1][1]


def run(folder, *command, **environment):
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout


def main(out):
    failed = 0

    def tell(ok, what, why=""):
        nonlocal failed
        failed += not ok
        print(f"ok {what}" if ok else f"not ok {what}: {' '.join(why.split())[-600:]}", flush=True)

    path, code, table, group, row = steps()
    with tempfile.TemporaryDirectory() as copy:
        for name in ("src", "tests", "bench", "docs", "include", "python"):
            shutil.copytree(os.path.join(ROOT, name), os.path.join(copy, name), symlinks=True)  # with times, for make
        shutil.copytree(os.path.join(out, "fast"), os.path.join(copy, "build/tests-kernels/fast"))
        if os.path.exists(os.path.join(copy, path)):
            sys.exit(f"{PAGE}: {path} is there already")
        with open(os.path.join(copy, path), "w", encoding="utf-8") as f:
            f.write(code)
        with open(os.path.join(copy, table), encoding="utf-8") as f:
            text = f.read()
        at = re.search(rf"#define {group}\(row\) \\\n", text)
        if not at:
            sys.exit(f"{PAGE}: {table} has no {group}")
        with open(os.path.join(copy, table), "w", encoding="utf-8") as f:
            f.write(text[: at.end()] + row + text[at.end() :])
        program = "build/tests-kernels/fast/kernels"
        status, said = run(copy, "make", "-s", "-f", "tests/kernels/makefile", "BUILD=build", program, MAKEFLAGS="")
        tell(status == 0 and "warning" not in said, "toy: the code of the page compiles", said)
        if status == 0:
            for suite in SUITES:
                status, said = run(copy, program, suite, TRSV_TEST_ALGORITHM="toy", TRSV_TEST_REDUCED="1")
                lines = [line for line in said.splitlines() if re.search(r"\btoy\b", line)]
                wrong = [line for line in said.splitlines() if line.startswith("not ok")]
                tell(
                    status == 0 and lines and not wrong,
                    f"toy: {suite}, {len(lines)} tests",
                    "; ".join(wrong) or said or "no test names it",
                )
        status, said = run(copy, sys.executable, "tests/rooms.py")
        tell(status == 0, "toy: tests/rooms.py passes with it", said)
        status, said = run(copy, sys.executable, "docs/tools/algorithms.py")
        tell(status == 0 and "| `toy` | GPU | no |" in said, "toy: docs/algorithms.md has its row", said)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
