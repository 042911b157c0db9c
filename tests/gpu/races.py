#!/usr/bin/env python3
"""What compute-sanitizer's racecheck reports, without the exchanges that races.txt allows.

    races.py LOG PROGRAM    the exit status is 1 where a report is left, or nothing could be read

PROGRAM has line numbers (nvcc -lineinfo). A report names kernels and bytes; nvdisasm says which source lines a byte
comes from, through all inlined functions. A place is the function around the innermost line outside of
device/threads.cuh and sync.cuh, and the primitive that it calls there, as in chunk_import:trsv_shared_store<double>.
Each line of races.txt allows two places, with the reason.
"""
import collections
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PRIMITIVES = ("threads.cuh", "sync.cuh")
ACCESS = re.compile(r"(?:Write|Read|Atomic\w*) access at (.*?)\+(0x[0-9a-f]+)\b")
FRAME = re.compile(r'//## File "([^"]+)", line (\d+)')
CODE = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/")
ATTRIBUTES = re.compile(r"__launch_bounds__\s*\([^)]*\)|__attribute__\s*\(\(.*?\)\)|__align__\(\w+\)")
SECTION = re.compile(r"\s*\.section\s+\.text\.(\w+)|\.text\.(\w+):")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def read_frames(cubin):
    """The same of one file."""
    found, kernel, now, fresh = {}, None, [], True
    for line in run("nvdisasm", "-c", "-gi", cubin).splitlines():
        if m := SECTION.match(line):
            kernel, now = m.group(1) or m.group(2), []
        elif m := FRAME.search(line):
            now = ([] if fresh else now) + [(m.group(1), int(m.group(2)))]
            fresh = False
        elif m := CODE.match(line):
            found[kernel, int(m.group(1), 16)] = now
            fresh = True
    return found


def frames(program):
    """(mangled kernel, byte) -> [(file, line) ...], the innermost first."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["cuobjdump", "-xelf", "all", os.path.abspath(program)], cwd=folder, check=True,
                       capture_output=True)
        cubins = [os.path.join(folder, name) for name in os.listdir(folder)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for part in pool.map(read_frames, cubins):
                found.update(part)
    return found


def key(name):
    """A kernel's name and template arguments, however it is spelled: chunk_solve<double,2,8,0>."""
    name = re.sub(r"\s|\((?:int|bool|unsigned)\)", "", re.sub(r"^(?:static )?void ", "", name.strip()))
    name = name.replace("(anonymousnamespace)::", "").replace("<unnamed>::", "")
    return re.sub(r"\btrue\b", "1", re.sub(r"\bfalse\b", "0", re.sub(r"\(.*", "", name)))


def keys(names):
    """Mangled name -> key"""
    names = sorted(names)
    filt = shutil.which("c++filt") or shutil.which("cu++filt")
    text = subprocess.run([filt], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    return dict(zip(names, map(key, text.splitlines())))


def around(path, line, cache={}):
    """The function around a line: its name, with a template argument of a specialization."""
    if path not in cache:
        with open(path, encoding="utf-8") as f:
            cache[path] = f.read().splitlines()
    lines = cache[path]
    for i in range(min(line, len(lines)) - 1, -1, -1):
        text = lines[i]
        if not text or text[0].isspace() or text[0] in "}{#/*":
            continue
        whole = ATTRIBUTES.sub(" ", " ".join(lines[i:i + 4]))
        m = re.search(r"(\w+(?:<\w+>)?)\s*\((?!\()", whole)
        if m:
            return m.group(1)
    return os.path.basename(path)


def place(stack):
    if not stack:
        return "?"
    primitive = ""
    for path, line in stack:
        if os.path.basename(path) not in PRIMITIVES:
            return around(path, line) + (":" + primitive if primitive else "")
        primitive = re.sub("<(double|float)>", "<T>", around(path, line))
    return primitive


def allowed():
    """{frozenset of places: reason}"""
    out = {}
    with open(os.path.join(HERE, "races.txt"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                a, b, reason = line.split(None, 2)
                out[frozenset((a, b))] = reason.strip()
    return out


def reports(log):
    """Each report's accesses: [(kernel, byte), ...]"""
    report, out = [], []
    with open(log, encoding="utf-8", errors="replace") as f:
        for line in f:
            if "Race reported between" in line:
                report = []
                out.append(report)
            if m := ACCESS.search(line.rstrip()):
                report.append((key(m.group(1)), int(m.group(2), 16)))
    return out


def main(log, program):
    with open(log, encoding="utf-8", errors="replace") as f:
        summary = re.search(r"RACECHECK SUMMARY: (\d+) hazards? displayed", f.read())
    found = reports(log)
    if not summary or (int(summary.group(1)) and not found):
        print("no report could be read")
        return 1
    stacks = frames(program) if found else {}
    by_key = collections.defaultdict(list)
    for mangled, name in keys({k for k, _ in stacks}).items():
        by_key[name].append(mangled)
    allow, used, left = allowed(), collections.Counter(), collections.Counter()
    for accesses in found:
        first, *others = accesses
        for other in others:
            pair = []
            for kernel, byte in (first, other):
                known = [stacks[m, byte] for m in by_key[kernel] if (m, byte) in stacks]
                pair.append(place(known[0]) if known else "?" + kernel)
            (used if frozenset(pair) in allow else left)[tuple(sorted(pair))] += 1
    for (a, b), n in sorted(used.items()):
        print(f"allowed {n:4} reports: {a} {b}: {allow[frozenset((a, b))]}")
    for (a, b), n in sorted(left.items()):
        print(f"LEFT    {n:4} reports: {a} {b}")
    print(f"{sum(used.values())} reports allowed, {sum(left.values())} left")
    return 1 if left else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
