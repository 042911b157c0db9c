#!/usr/bin/env python3
"""Mutants: do the tests see each of the errors that planted.txt plants?

usage: mutants.py [--check] [--kernels] [--only TEXT] [--rest] [--jobs N] [--work FOLDER] [--results FILE]

  --check    whether the table fits the sources; builds nothing
  --kernels  those that the tests of src/kernels alone must see: needs neither PETSc nor a GPU
  --only     those with TEXT in the file or the description; --rest: those that no earlier run has killed
  --jobs     copies of the tree that build and run side by side (default: processors)
  --work     where these are (default build/mutants)
  --results  the file whose lines are replaced by new ones (default results/mutants.txt)

A mutant is applied in a copy of the tree. What it needs is built there, and the tests run that must see it: suites with
few schedules first, which pass without it, then as in make test. What no test can see is in equivalent.txt, with a
proof. Each result has the first characters of a hash of the sources and tests that it was found with. The last line
counts; exit status 1 where a mutant survived.
"""
import argparse
import collections
import concurrent.futures
import datetime
import glob
import hashlib
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
HERE = os.path.join(ROOT, "tests", "mutants")
COPIED = ["makefile", "src", "include", "tests", "bench", "examples", "conf"]
LIMIT = 1200  # seconds of processor time of a suite, as in tests/kernels/run: a longer one gives no result
RANKS_LIMIT = 200  # the same of ranks that may wait for each other for ever: a longer run is an error that is seen
STOPPED = (-signal.SIGXCPU, 124, 137)  # status of a command that a limit ended
PRETEND = "-mat_type aijcusparse -vec_type cuda -default_device_type host -options_left 0"
PROGRAM, CHECKED = "build/tests-kernels/fast/kernels", "build/tests-kernels/checked/kernels"
PETSC = ("petsc", "pretend", "failures", "orders")  # kinds of tests that need it
VERDICTS = ("killed", "survived", "equivalent", "no result")

# changes: [(old, new)]; seen_by: [(kind or algorithm, [suite or test])]
Mutant = collections.namedtuple("Mutant", "path what changes seen_by")


class NoResult(Exception):
    """A build fails, a suite does not end, or there is no test of a name."""


def name_of(mutant):
    return f"{mutant.path}: {mutant.what}"


def needs_petsc(mutant):
    return any(kind in PETSC for kind, _ in mutant.seen_by)


# ---- the tables

def read_table():
    mutants, path, what, changes = [], None, None, []
    with open(os.path.join(HERE, "planted.txt"), encoding="utf-8") as f:
        for line in f.read().splitlines():
            if line.startswith("["):
                path = line.strip("[]")
            elif line.startswith("- "):
                changes.append([line[2:], ""])
            elif line.startswith("+"):
                changes[-1][1] = line[2:]
            elif line.startswith("="):
                groups = [group.rpartition(":") for group in line[1:].split(";")]
                mutants.append(Mutant(path, what, changes, [(g[0].strip(), g[2].split()) for g in groups]))
                changes = []
            elif line and not line.startswith("#"):
                what = line
    return mutants


def equivalents():
    """Name -> proof: a name in a line, its proof in the indented lines below."""
    proofs, name = {}, None
    with open(os.path.join(HERE, "equivalent.txt"), encoding="utf-8") as f:
        for line in f:
            if line[0].isspace() and line.strip():
                proofs[name] = (proofs.get(name, "") + " " + line.strip()).strip()
            elif line.strip() and not line.startswith("#"):
                name = line.strip()
    return proofs


def wrong(mutants):
    """Sentences: errors in the tables."""
    out = [f"{name}: there are two" for name, n in collections.Counter(map(name_of, mutants)).items() if n > 1]
    for m in mutants:
        with open(os.path.join(ROOT, m.path), encoding="utf-8") as f:
            text = f.read()
        out += [f"{name_of(m)}: `{old}` occurs {text.count(old)} times" for old, _ in m.changes if text.count(old) != 1]
    programs = glob.glob(os.path.join(ROOT, "tests", "*", "*.c"))
    programs = tuple("-".join(path[:-2].split(os.sep)[-2:]) for path in programs)
    out += [f"{name_of(m)}: there is no test {test}" for m in mutants for kind, tests in m.seen_by
            if kind in ("petsc", "pretend") for test in tests if not test.startswith(programs)]
    out += [f"equivalent.txt: there is no {name}" for name in set(equivalents()) - set(map(name_of, mutants))]
    return out


def source_hash():
    digest = hashlib.sha1()
    for folder in ("src", "include", "examples", "tests"):
        for path, folders, files in sorted(os.walk(os.path.join(ROOT, folder))):
            folders.sort()
            for name in sorted(files):
                if name.endswith((".c", ".cu", ".cc", ".h", ".cuh")):
                    with open(os.path.join(path, name), "rb") as f:
                        digest.update(f.read())
    return digest.hexdigest()[:8]


# ---- building and running

class Tree:
    """A copy of the sources, in which mutants are built one after the other."""

    def __init__(self, folder, sound=None):
        self.folder, self.sound = folder, sound  # sound: the tree that no mutant is applied to

    def copy(self):
        """Copies the checkout, or the unchanged tree with its build."""
        if self.sound:
            shutil.rmtree(self.folder, ignore_errors=True)
            subprocess.run(["cp", "-a", self.sound.folder, self.folder], check=True)
            return self
        os.makedirs(self.folder, exist_ok=True)
        for part in COPIED:  # what is built stays, and is made again where a file is newer
            subprocess.run(["rm", "-rf", os.path.join(self.folder, part)], check=True)
            subprocess.run(["cp", "-a", os.path.join(ROOT, part), self.folder], check=True)
        return self

    def run(self, command, limit=LIMIT, **environment):
        """Status and output; the limit is of processor time, and three times as long of wall time."""
        command = f"ulimit -S -t {limit}; exec timeout -k 5 {3 * limit} {command}"
        out = subprocess.run(["bash", "-c", command], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, errors="replace",
                             env=dict(os.environ, MAKEFLAGS="", MAKELEVEL="0", **environment))
        return out.returncode, out.stdout

    def apply(self, mutant):
        path = os.path.join(self.folder, mutant.path)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for old, new in mutant.changes:
            text = text.replace(old, new)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    def restore(self, mutant, since):
        """Replaces files that were made since then by those of the unchanged tree."""
        shutil.copy2(os.path.join(self.sound.folder, mutant.path), os.path.join(self.folder, mutant.path))
        for path, _, files in os.walk(os.path.join(self.folder, "build")):
            for name in files:
                made = os.path.join(path, name)
                kept = os.path.join(self.sound.folder, os.path.relpath(made, self.folder))
                if os.lstat(made).st_mtime >= since:
                    os.remove(made)
                    if os.path.lexists(kept):
                        shutil.copy2(kept, made, follow_symlinks=False)

    def make(self, target, jobs=1):
        """Builds; returns why that failed, or None."""
        status, out = self.run(f"make -s -j{jobs} {target}", 3000)
        return next((x for x in out.splitlines() if "rror" in x), out[-200:] or "?") if status else None

    def need(self, target):
        why = self.make(target)
        if why:
            raise NoResult(why[-150:])

    def build_kernels(self, jobs=1):
        return self.make(f"-f tests/kernels/makefile BUILD=build {PROGRAM}", jobs)

    def suites(self, algorithm, suites, both=True):
        """The failures of the suites; None if there are none."""
        program, chosen = PROGRAM, {"TRSV_TEST_ALGORITHM": algorithm} if algorithm else {}
        if algorithm == "checked":  # the build with sanitizers, with few schedules
            program, chosen, both = CHECKED, {"ASAN_OPTIONS": "allocator_may_return_null=1"}, False
            self.need(f"-f tests/kernels/makefile BUILD=build {program}")
        for reduced in ({"TRSV_TEST_REDUCED": "1"}, {})[:1 + both]:
            for suite in suites:
                status, out = self.run(f"{program} {suite}", **chosen, **reduced)
                if status in STOPPED:
                    raise NoResult(f"{suite} did not end in {LIMIT} s")
                if status:
                    line = next((x for x in out.splitlines() if x.startswith("not ok")), f"not ok status {status}")
                    return f"{suite}: {line[7:150]}"
        return None

    def harness(self, kind, tests):
        target = "check-petsc" if kind == "petsc" else "pretend-harness"
        # the harness does not know what reader.c includes
        reader = "rm -f build/{,pretend/}tests/tests/examples/reader*;" if "examples-reader" in tests else ""
        for test in tests:
            only = f"tests_{test}%"
            status, out = self.run(f"bash -c '{reader} make -s {target} only=\"{only}\"'", 1000, TEST_CPU="60",
                                   TEST_WALL="200")
            counts = re.findall(r"^(\d+) passed, (\d+) failed, ", out, re.M)
            if not counts or counts[-1] == ("0", "0"):
                raise NoResult(f"{target} {test}: {' '.join(out.split())[-120:]}")
            if status:
                failed = [x.strip()[:120] for x in out.splitlines() if "FAIL" in x or "not ok" in x] or ["?"]
                line = next((x for x in failed if "Exceeded timeout limit" not in x), None)
                if not line:
                    raise NoResult(f"{target} {test}: {failed[0]}")
                return f"{target} {test}: {line}"
        return None

    def failures(self, kinds):
        """The failures of failures.c for these kinds of calls, every third k."""
        self.need("$PWD/build/pretend/fast/failures")
        for kind in kinds:
            status, out = self.run(f"build/pretend/fast/failures -kind {kind} -every 3", PETSC_OPTIONS=PRETEND)
            if status or not out.rstrip().endswith(", 0 wrong"):
                return f"failures {kind}: {out.strip().splitlines()[0][:120] if out.strip() else status}"
        return None

    def orders(self, kinds):
        """What tests/pc/ordering prints over the pretended device, as in tests/pretend/run.sh; -ranks: on two."""
        self.need("pretend-ordering")
        for kind in kinds:
            factor, _, ranks = kind.partition("-")
            start, rows = (f"{os.environ.get('MPIEXEC', 'mpiexec')} -n 2 ", 12996) if ranks else ("", 6400)
            status, out = self.run(f"{start}build/pretend/tests/tests/pc/ordering -n {rows} -few 20 "
                                   f"-mat_sptrsvgpu_algorithm thread -pc_sptrsvgpu_factor {factor}", RANKS_LIMIT,
                                   PETSC_OPTIONS=PRETEND)
            if status in STOPPED:
                return f"orders {kind}: it did not end in {RANKS_LIMIT} s of processor time, or 3 times as long in all"
            if status or out.strip():
                ended = re.search(r"EXIT STRING: (.*)", out)  # of MPICH, behind a frame
                line = ended.group(1) if ended else (out.strip().splitlines() or [status])[0]
                return f"orders {kind}: {str(line)[:120]}"
        return None

    def programs(self, names):
        """What programs beside the suites report."""
        for name in names:
            self.need(f"-f tests/kernels/makefile BUILD=build build/tests-kernels/{name}")
            status, out = self.run(f"build/tests-kernels/{name}")
            if status:
                line = next((x for x in out.splitlines() if re.search("SUMMARY|FAILED", x)), f"status {status}")
                return f"{name}: {line[:120]}"
        return None

    def tested(self, group, both=True):
        kind, names = group
        if kind == "program":
            return self.programs(names)
        if kind == "orders":
            return self.orders(names)
        if kind == "failures":
            return self.failures(names)
        return self.harness(kind, names) if kind in PETSC else self.suites(kind, names, both)

    def judge(self, mutant, proofs):
        """Verdict and reason."""
        since = time.time() - 0.01
        self.apply(mutant)
        try:
            why = None if needs_petsc(mutant) else self.build_kernels()
            if why:
                return "no result", why[-150:]
            for group in mutant.seen_by:
                try:
                    seen = self.tested(group)
                except NoResult as e:
                    return "no result", str(e)
                if seen:
                    return "killed", seen
            proof = proofs.get(name_of(mutant))
            return ("equivalent", proof) if proof else ("survived", "")
        finally:
            self.restore(mutant, since)


def compiled_with(mutant):
    """How many files are compiled again, about: those that take longest begin first."""
    if mutant.path.endswith(("sync.cuh", "threads.cuh")):
        return 100
    return 10 if mutant.path.endswith((".h", ".cuh")) else 1


# ---- results

def read_results(path):
    """Name -> line."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as f:
        found = (re.match(r"(?:killed|survived|equivalent|no result) +\w{8}  ([^;]*)", line) for line in f)
        return {m.group(1).strip(): m.string.rstrip("\n") for m in found if m}


def write_results(path, lines, mutants):
    """Lines of mutants that are still in the table; returns how many there are of each verdict."""
    kept = [lines[name] for name in map(name_of, mutants) if name in lines]
    count = {v: sum(line.startswith(v) for line in kept) for v in VERDICTS}
    hashes = collections.Counter(re.match(r"\D+? +(\w{8})  ", line).group(1) for line in kept)
    with open(f"{path}.new", "w", encoding="utf-8") as f:  # a run that is killed leaves a whole file
        f.write(f"{datetime.date.today()}, sources {', '.join(f'{h} ({n} mutants)' for h, n in hashes.items())}\n\n")
        f.writelines(line + "\n" for line in kept)
        f.write("\n" + ", ".join(f"{n} {verdict}" for verdict, n in count.items()) + f", {len(mutants)} in all\n")
    os.replace(f"{path}.new", path)
    return count


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--rest", action="store_true")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--work", default=os.path.join(ROOT, "build", "mutants"))
    parser.add_argument("--results", default=os.path.join(ROOT, "results", "mutants.txt"))
    given = parser.parse_args()
    mutants = read_table()
    faults = wrong(mutants)
    for fault in faults:
        print(f"not ok planted.txt: {fault}")
    if given.check or faults:
        print(f"{len(mutants) - len(faults)} passed, {len(faults)} failed, 0 skipped")
        return bool(faults)
    work, proofs, lines, digest = os.path.abspath(given.work), equivalents(), read_results(given.results), source_hash()
    chosen = [m for m in mutants if given.only in name_of(m) and not (given.kernels and needs_petsc(m))
              and not (given.rest and lines.get(name_of(m), "").startswith("killed"))]
    chosen.sort(key=compiled_with, reverse=True)
    lock, start = threading.Lock(), time.time()

    sound = Tree(os.path.join(work, "sound")).copy()
    if any(map(needs_petsc, chosen)):  # what nvcc makes is copied
        os.makedirs(os.path.join(sound.folder, "build"), exist_ok=True)
        for folder in ("config", "obj", "lib"):
            made = os.path.join(ROOT, "build", folder)
            subprocess.run(["cp", "-a", "-u", made, os.path.join(sound.folder, "build/")], check=True)
    why = sound.build_kernels(given.jobs)
    if not why and any(map(needs_petsc, chosen)):
        why = sound.make("lib", given.jobs) or sound.make("$PWD/build/pretend/fast/libsptrsvgpu.so", given.jobs)
    if why:
        sys.exit(f"mutants.py: not built: {why}")
    print(f"built in {time.time() - start:.0f} s", flush=True)
    trees = queue.Queue()
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for tree in pool.map(lambda k: Tree(os.path.join(work, f"tree-{k}"), sound).copy(), range(given.jobs)):
            trees.put(tree)

        def with_tree(action):
            tree = trees.get()
            try:
                return action(tree)
            finally:
                trees.put(tree)

        def judge(mutant):
            begin = time.time()
            verdict, why = with_tree(lambda tree: tree.judge(mutant, proofs))
            with lock:
                lines[name_of(mutant)] = f"{verdict:10} {digest}  {name_of(mutant)}{'; ' if why else ''}{why}"
                print(f"{lines[name_of(mutant)]} ({time.time() - begin:.0f} s)", flush=True)
                count = write_results(given.results, lines, mutants)
            return verdict, count

        def fails(tree, group):
            try:
                return tree.tested(group, False)
            except NoResult as e:
                return str(e)

        groups = {(kind, name) for m in chosen for kind, names in m.seen_by for name in names}
        judged = [pool.submit(judge, m) for m in chosen]
        passing = [pool.submit(with_tree, lambda tree, g=group: fails(tree, (g[0], [g[1]]))) for group in groups]
        unsound = [f"without a mutant, {seen.result()}" for seen in passing if seen.result()]
        verdicts = collections.Counter(one.result()[0] for one in judged)
    for sentence in unsound:
        print(f"not ok {sentence}")
    print(f"{time.time() - start:.0f} s")
    print(f"{verdicts['killed'] + verdicts['equivalent']} passed, "
          f"{verdicts['survived'] + verdicts['no result'] + len(unsound)} failed, 0 skipped")
    return verdicts["survived"] + verdicts["no result"] + len(unsound) > 0


if __name__ == "__main__":
    sys.exit(main())
