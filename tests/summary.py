"""Prints which tests PETSc's harness ran, which it left out and why, and which failed.

usage: summary.py PETSC_DIR TESTDIR [--part NAMES] [--without FILE]

The harness returns 0 where tests fail, does not count those that ran out of time, drops those whose requirements are
not met, and runs nothing where a program does not compile; so its files in TESTDIR are compared with the TEST blocks
of the sources. --part: only these tests were asked for, patterns as of make. --without: FILE has lines of a test's
name and the reason why it was not asked for; it counts as skipped. Ends with `N passed, N failed, N skipped`; each
iteration of a loop in a TEST block counts as one test.
"""

import glob
import os
import pickle
import re
import sys

petsc, testdir = sys.argv[1:3]
top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
part = sys.argv[sys.argv.index("--part") + 1].split() if "--part" in sys.argv else []
without = {}
if "--without" in sys.argv:
    with open(sys.argv[sys.argv.index("--without") + 1]) as f:
        without = dict(line.rstrip("\n").split(" ", 1) for line in f)
for config in ("config", "share/petsc/examples/config"):
    sys.path.insert(0, os.path.join(petsc, config))
import testparse  # PETSc's

NOT_TESTS = testparse.buildkeys


def asked(label):
    """Was a test asked for?"""
    patterns = (".*".join(map(re.escape, p.split("%", 1))) for p in part or ["%"])
    return any(re.fullmatch(p, label) for p in patterns)


def results():
    """label -> ok, failed or a reason to skip, of each run; a run's comparison with its saved output counts with it"""
    found = {}
    for log in glob.glob(os.path.join(testdir, "test_*_tap.log")):
        for line in open(log, errors="replace"):
            match = re.match(r"(not )? *ok (\S+)(?: # (.*))?$", line)
            if not match:
                continue
            bad, label, comment = match.groups()
            comment = comment or ""
            if comment.startswith("SKIP Command failed"):
                continue
            label = label.removeprefix("diff-").removeprefix("cmd-")
            if bad:
                found[label] = ("failed", comment)
            elif comment.startswith("SKIP"):
                found.setdefault(label, ("skipped", comment[5:]))
            else:
                found.setdefault(label, ("ok", ""))
    return found


def main():
    with open(os.path.join(testdir, "datatest.pkl"), "rb") as f:
        kept = pickle.load(f)
    runs = results()
    passed = failed = skipped = 0
    for root in sorted(kept):
        directory = os.path.relpath(root, top)
        if directory.startswith("build" + os.sep):  # a copy of the tree, as of make mutants
            continue
        for source in sorted(kept[root]):
            if root not in kept or not source.endswith((".c", ".cu")):
                continue
            every = testparse.parseTestFile(os.path.join(root, source), 0).get(source, {})
            names = [t for t in every if t not in NOT_TESTS]
            counts = dict(ok=0, failed=0, skipped=0)
            notes = []
            for test in names:
                label = directory.replace("/", "_") + "-" + test.removeprefix("run")
                mine = {k: v for k, v in runs.items() if k == label or k.startswith(label + "+")}
                if test not in kept[root][source]:
                    if part:
                        continue
                    counts["skipped"] += 1
                    notes.append(f"  skipped {label}: requires {every[test].get('requires', '?')}")
                elif label in without and not mine:
                    if part:
                        continue
                    counts["skipped"] += 1
                    notes.append(f"  skipped {label}: {without[label]}")
                elif not mine and asked(label):
                    counts["failed"] += 1
                    notes.append(f"  FAILED  {label}: did not run")
                for k, (outcome, why) in sorted(mine.items()):
                    counts[outcome] += 1
                    if outcome != "ok":
                        word = "FAILED " if outcome == "failed" else "skipped"
                        notes.append(f"  {word} {k}: {why or 'the output differs'}")
            if names and (sum(counts.values()) or not part):
                print(f"{directory}/{source}: {counts['ok']} passed, {counts['failed']} failed,"
                      f" {counts['skipped']} skipped")
            print("\n".join(notes), end="\n" if notes else "")
            passed, failed, skipped = passed + counts["ok"], failed + counts["failed"], skipped + counts["skipped"]
    if failed:
        print(f"--- from {testdir}/harness.log:")
        lines = open(os.path.join(testdir, "harness.log"), errors="replace").read().splitlines()
        print("\n".join(line for line in lines if re.match(r"not ok|#|.*(error:|undefined reference)", line))[:20000])
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


sys.exit(main())
