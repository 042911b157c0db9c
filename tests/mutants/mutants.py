#!/usr/bin/env python3
"""Mutants: do the tests see a planted error? Each is built in a copy of the tree, and the suites of its file run.

usage: mutants.py BUILD [list]     list: prints what would be tried, and builds nothing

  SHARD=I/N   the I-th part of N, from 1; parts can run side by side
  MUTANTS=n   how many to make in each room (default 7); SEED=n which ones (default 1)
  ONLY=text   those whose name has this in it

A mutant is made by rules, or is a patch tests/mutants/*.patch, whose lines before the first `---` say what it breaks
and, behind `Suites:`, what runs for it. Its name is the file and a hash of the line before and after, so that it stays
the same where lines move. What survives and changes nothing is listed with a proof in tests/mutants/equivalent.txt.

Writes results/mutants.txt, of a part BUILD/mutants/part-I-N.txt; the part that ends last joins them all.
"""
import collections
import filecmp
import glob
import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
HERE = os.path.join(ROOT, "tests", "mutants")
LIMIT = 150  # seconds of processor time for a suite: more is a wait that does not end
EVERY = "solve waits numbers schedules"  # suites that run every algorithm

# What runs for a file: suites of the kernels, with an algorithm first those of this alone; pc: programs of PETSc's
# harness, pretend: the same over the pretended device. The longest path that fits counts. What is quick comes first.
SUITES = {
    "src/kernels/base": ["executor analysis device memory"],
    "src/kernels/device": ["device pool pinned interleave analysis memory", "chunk: solve waits"],
    "src/kernels/analysis": ["analysis heights device select families ordering"],
    "src/kernels/ordering": ["ordering orders ilu"],
    "src/kernels/factor": ["factor ilu pairs orders"],
    "src/kernels/ilu": ["ilu orders pairs interleave memory"],
    "src/kernels/solve": ["select tune settings pairs memory"],
    "src/kernels/solve/model": ["select settings orders tune"],
    "src/kernels/solve/plan": ["select pairs numbers memory", f"thread: {EVERY}"],
    "src/kernels/solve/rows": ["thread sell numbers waits", f"thread: {EVERY}", f"sell: {EVERY}"],
    "src/kernels/solve/rows/sell": ["sell", f"sell: {EVERY}", "pairs"],
    "src/kernels/solve/rows/thread": ["thread", f"thread: {EVERY}", "pairs"],
    "src/kernels/solve/schedule": ["planes heights chunk inverse", f"chunk: {EVERY}"],
    "src/kernels/solve/chunk": ["chunk planes inverse", f"chunk: {EVERY}", "interleave pairs"],
    "src/kernels/papers": ["settings papers"],
    "src/kernels/papers/ag": ["ag", f"ag: {EVERY}"],
    "src/kernels/papers/capellini": ["papers waits numbers", EVERY],
    "src/kernels/papers/capellini/level": ["papers", f"level: {EVERY}"],
    "src/kernels/papers/capellini/csc": ["papers", f"csc: {EVERY}"],
    "src/kernels/papers/capellini/warp": ["papers", f"warp: {EVERY}"],
    "src/kernels/papers/capellini/fusion": ["papers", f"fusion: {EVERY}"],
    "src/kernels/papers/capellini/twophase": ["papers", f"twophase: {EVERY}"],
    "src/kernels/papers/dense": ["dense", f"dense: {EVERY}"],
    "src/kernels/papers/recblock": ["recblock", f"recblock: {EVERY}"],
    "src/kernels/krylov": ["krylov"],
    "src/ksp": ["pretend: ksp_device", "pc: pc_ksp"],
    "src/pc": ["pc: pc_pc pc_factor pc_host pc_refactor pc_recover pc_types pc_interface pc_ksp pc_bad pc_ordering "
               "pc_view", "pretend: pc_pc pc_factor pc_refactor pc_recover pc_interface pc_ordering"],
    "src/pc/ordering.c": ["pc: pc_ordering pc_bad"],
    "src/pc/view.c": ["pc: pc_view pc_pc"],
    "src/pc/options.c": ["pc: pc_interface pc_bad pc_pc"],
    "src/pc/version.c": ["pc: pc_version pc_plugin"],
    "src/pc/citations.c": ["pc: pc_citations"],
    "examples/mtx": ["pc: pc_reader"],
}
ON_A_GPU = re.compile(r"/(device|pinned|primitives|cusparse|factor_cusparse|recblock_cusparse)\.cu$|without_cuda\.c$")


def suites_of(path):
    return SUITES[max((p for p in SUITES if path.startswith(p)), key=len)]


def room_of(path):
    return "examples/mtx" if path.startswith("examples") else os.path.dirname(path)


Mutant = collections.namedtuple("Mutant", "name path number before after patch suites")

# ---- what a line may become

SWAPS = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ", " + ": " - ",
         " - ": " + ", " * ": " + ", " / ": " * ", " % ": " / ", " && ": " || ", " || ": " && ", "++": "--",
         " += ": " -= ", " -= ": " += ", " & ": " | ", " << ": " >> ", " >> ": " << "}
STATEMENT = re.compile(r"^\s+(?:\(void\))?[A-Za-z_][\w.\[\]]*(?:->[\w.\[\]]+)*\s*"
                       r"(?:=|\+=|-=|\|=|&=|\(|\+\+|--).*;\s*$")
KEPT = re.compile(r"^\s*(?:return|break|case|default|else|PetscFunction|PetscCheck|CheckLine|CheckFile|static|extern)")


def variants(line):
    for old, new in SWAPS.items():
        at = line.find(old)
        while at >= 0:
            yield line[:at] + new + line[at + len(old):]
            at = line.find(old, at + 1)
    for m in re.finditer(r"(?<![\w.\[])(\d+)(?![\w.\]])", line):
        yield line[:m.start()] + str(int(m.group(1)) + 1) + line[m.end():]
    for m in re.finditer(r"\bif \((?=[^()]*(?:\([^()]*\)[^()]*)*\) )([^()]*(?:\([^()]*\)[^()]*)*)\)", line):
        yield line[:m.start()] + f"if (!({m.group(1)}))" + line[m.end():]
    for m in re.finditer(r"\b(\w+)\((\w+), (\w+)\)", line):
        if m.group(2) != m.group(3):
            yield line[:m.start()] + f"{m.group(1)}({m.group(3)}, {m.group(2)})" + line[m.end():]
    if STATEMENT.match(line) and not KEPT.match(line):
        yield re.match(r"\s*", line).group(0) + ";"


def code_lines(path):
    """(number, line) inside of functions, without comments; a line with a string is left alone."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        text = f.read()
    bare = re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.S)
    for number, (line, kept) in enumerate(zip(text.splitlines(), bare.splitlines())):
        plain = kept.rstrip()
        if re.match(r"\s+\S", plain) and '"' not in plain and not re.match(r"\s*(#|template|static_assert)", plain):
            if line.startswith(plain):
                yield number, plain


def name_of(path, before, after, number_of_same):
    return f"{path}:{hashlib.sha1(f'{before.strip()}|{after.strip()}|{number_of_same}'.encode()).hexdigest()[:8]}"


def by_rules(each, seed):
    files = [p for e in ("c", "cu", "cuh") for p in glob.glob(f"src/kernels/**/*.{e}", root_dir=ROOT, recursive=True)]
    for pattern in ("src/pc/*.c", "src/ksp/*.c", "examples/mtx*.[ch]"):
        files += glob.glob(pattern, root_dir=ROOT)
    rooms = collections.defaultdict(list)
    for path in sorted(files):
        same = collections.Counter()
        for number, line in [] if ON_A_GPU.search("/" + path) else code_lines(path):
            for after in variants(line):
                name = name_of(path, line, after, same[line, after])
                same[line, after] += 1
                rooms[room_of(path)].append(Mutant(name, path, number, line, after, None, suites_of(path)))
    out = []
    for room in sorted(rooms):
        out += random.Random(f"{seed} {room}").sample(rooms[room], min(each, len(rooms[room])))
    return out


def by_hand():
    for patch in sorted(glob.glob(os.path.join(HERE, "*.patch"))):
        with open(patch, encoding="utf-8") as f:
            text = f.read()
        head = text.split("\n---")[0]
        path = re.search(r"^\+\+\+ b/(\S+)", text, re.M).group(1)
        named = re.search(r"^Suites: (.*)", head, re.M)
        what = head.strip().splitlines()[0]
        yield Mutant(os.path.basename(patch), path, 0, "", what, patch, [named.group(1)] if named else suites_of(path))


# ---- building and running

class Tree:
    """A copy of the checkout with what is built there."""

    def __init__(self, build, folder):
        self.folder, self.sound = folder, set()
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                                stdout=subprocess.PIPE, check=True, text=True).stdout
        for name in listed.split("\0")[:-1]:
            here, to = os.path.join(ROOT, name), os.path.join(folder, name)
            os.makedirs(os.path.dirname(to), exist_ok=True)
            if not os.path.exists(to):
                shutil.copy2(here, to)  # as old as it is, so that what is built stays
            elif not filecmp.cmp(here, to, shallow=False):
                shutil.copyfile(here, to)
        for part in ("tests-kernels/fast", "obj", "config"):  # not programs: they look for libraries in their own tree
            if not os.path.exists(os.path.join(folder, "build", part)) and os.path.exists(os.path.join(build, part)):
                os.makedirs(os.path.dirname(os.path.join(folder, "build", part)), exist_ok=True)
                subprocess.run(["cp", "-a", os.path.join(build, part), os.path.join(folder, "build", part)], check=True)

    def run(self, command, limit=LIMIT, **environment):
        """Status and output; the limit is of processor time."""
        out = subprocess.run(["bash", "-c", f"ulimit -S -t {limit}; {command}"], cwd=self.folder, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             errors="replace", env=dict(os.environ, MAKEFLAGS="", MAKELEVEL="0", **environment))
        return out.returncode, out.stdout

    def apply(self, mutant, back=False):
        path = os.path.join(self.folder, mutant.path)
        if back:
            shutil.copyfile(os.path.join(ROOT, mutant.path), path)  # newer than what was built from the mutant
        elif mutant.patch:
            subprocess.run(["patch", "-s", "-p1", "-i", mutant.patch], cwd=self.folder, check=True)
        else:
            with open(path, encoding="utf-8") as f:
                lines = f.read().split("\n")
            assert lines[mutant.number].startswith(mutant.before)
            lines[mutant.number] = mutant.after
            with open(path, "w", encoding="utf-8") as f:
                f.write("\n".join(lines))

    def kernels(self, named):
        """What the suites see; None where they see nothing."""
        program = "build/tests-kernels/fast/kernels"
        status, out = self.run(f"make -s -j2 -f tests/kernels/makefile BUILD=build {program}", 600)
        if status:
            return "not built: " + next((x for x in out.splitlines() if "error" in x), out[-100:])
        algorithm, _, suites = named.rpartition(": ")
        chosen = {"TRSV_TEST_ALGORITHM": algorithm} if algorithm else {}
        for reduced in ({"TRSV_TEST_REDUCED": "1"}, {}):
            for suite in suites.split():
                status, out = self.run(f"{program} {suite}", **chosen, **reduced)
                if status:
                    lines = [x for x in out.splitlines() if x.startswith("not ok")]
                    return f"{suite}: " + (lines[0][7:120] if lines else f"status {status}")
        return None

    def petsc(self, kind, groups):
        # the harness does not know what reader.c includes
        status, out = self.run("rm -f build/tests/tests/pc/reader*; make -s lib", 600)
        if status:
            return "not built: " + next((x for x in out.splitlines() if "error" in x), out[-100:])
        target = "check-petsc" if kind == "pc" else "pretend-harness"
        for group in groups.split():
            only = f"tests_{group.replace('_', '-', 1)}%"
            status, out = self.run(f"make -s {target} only='{only}'", TEST_CPU="60", TEST_WALL="600")
            if status:
                lines = [x for x in out.splitlines() if "FAILED" in x]
                return f"{target}: {lines[0].strip() if lines else out[-100:]}"
        return None

    def tested(self, named):
        kind, _, groups = named.partition(": ")
        return self.petsc(kind, groups) if kind in ("pc", "pretend") else self.kernels(named)

    def judge(self, mutant):
        """What sees the mutant, or None. What runs for it has to pass without it."""
        for named in set(mutant.suites) - self.sound:
            seen = self.tested(named)
            if seen:
                sys.exit(f"mutants.py: without a mutant, {seen}")
            self.sound.add(named)
        self.apply(mutant)
        try:
            for named in mutant.suites:
                seen = self.tested(named)
                if seen:
                    return seen
            return None
        finally:
            self.apply(mutant, back=True)


def equivalents():
    """Name -> proof, of tests/mutants/equivalent.txt: a name in a line, its proof in the indented lines below."""
    proofs, name = {}, None
    with open(os.path.join(HERE, "equivalent.txt"), encoding="utf-8") as f:
        for line in f:
            if line.startswith("#") or not line.strip():
                continue
            if line[0].isspace():
                proofs[name] = (proofs.get(name, "") + " " + line.strip()).strip()
            else:
                name = line.strip()
    return proofs


def describe(mutant):
    if mutant.patch:
        return mutant.after
    return f"`{mutant.before.strip()}` becomes `{mutant.after.strip()}`"


def main():
    build = os.path.abspath(sys.argv[1])
    shard, shards = map(int, os.environ.get("SHARD", "1/1").split("/"))
    mutants = [m for m in by_rules(int(os.environ.get("MUTANTS", 7)), os.environ.get("SEED", "1")) + list(by_hand())
               if os.environ.get("ONLY", "") in m.name][shard - 1::shards]
    if "list" in sys.argv:
        for m in mutants:
            print(f"{m.name}: {describe(m)}; {', '.join(m.suites)}")
        return 0
    proofs = equivalents()
    parts = os.path.join(build, "mutants")
    part = os.path.join(parts, f"part-{shard}-{shards}.txt")
    tree = Tree(build, os.path.join(parts, f"tree-{shard}"))
    with open(part, "w", encoding="utf-8") as out:
        for m in mutants:
            start = time.time()
            seen = tree.judge(m)
            if seen is None:
                verdict, why = ("equivalent", proofs[m.name]) if m.name in proofs else ("SURVIVED", "")
            else:
                verdict, why = ("not built", "") if seen.startswith("not built") else ("killed", seen)
            line = f"{verdict:10} {m.name}: {describe(m)}{'; ' if why else ''}{why}"
            print(f"{line} ({time.time() - start:.0f} s)", flush=True)
            out.write(line + "\n")
            out.flush()
    names = [os.path.join(parts, f"part-{k}-{shards}.txt") for k in range(1, shards + 1)]
    lines = sorted(x for name in names if os.path.exists(name) for x in open(name, encoding="utf-8"))
    count = {v: sum(x.startswith(v) for x in lines) for v in ("killed", "SURVIVED", "equivalent", "not built")}
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, text=True, stdout=subprocess.PIPE)
    with open(os.path.join(ROOT, "results/mutants.txt"), "w", encoding="utf-8") as f:
        f.write(f"commit {commit.stdout}{', '.join(f'{n} {verdict.lower()}' for verdict, n in count.items())}\n\n")
        f.writelines(lines)
    print(f"{count['killed'] + count['equivalent']} passed, {count['SURVIVED']} failed, {count['not built']} skipped")
    return count["SURVIVED"] > 0


sys.exit(main())
