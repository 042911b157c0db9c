#!/usr/bin/env python3
"""The rooms of src: what may use what; and how large files of src, include, tests and bench may be.

    tests/rooms.py          checks; the last line sums up, and the exit status says whether anything failed
    tests/rooms.py --known  counts of what breaks a rule
    tests/rooms.py --map    lines, files and arrows of each room, as a table

A room is a folder below src/kernels, or one beside it, which calls PETSc. MAY has the rooms that each may use; it has
no circles. The script reads includes, and names of functions and tables that other rooms define. No file outside an
algorithm's room names the algorithm, except the table: not as a string, not its row, not in a comment. In the rooms
that call PETSc, no calls between files form a circle.

KNOWN has what breaks a rule today, and how often. More is a failure. Less is a failure, too, until the number here has
been lowered (except for wide lines and names). --known prints the list as it would have to be.
"""
import collections
import os
import re
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
SRC = os.path.join(ROOT, "src", "kernels")
PETSC = ["src/petsc", "src/mat", "src/ksp", "src/pc", "src/plugin"]  # the rooms that call PETSc
MOST_FILES, MOST_LINES, MOST_COLUMNS = 15, 400, 120

LOW = ["base", "device", "analysis"]
MAY = {
    "base": [],
    "device": ["base"],
    "analysis": ["base", "device"],
    "ordering": LOW,
    "krylov": ["base", "device"],
    "solve/model": LOW,
    "solve/plan": LOW + ["solve/model"],
    "factor": LOW + ["solve/model", "solve/plan"],  # pivots are found by a plan
    "solve/rows": LOW + ["solve/model", "solve/plan"],
    "solve/schedule": LOW + ["solve/model"],
    "solve/chunk": LOW + ["solve/model", "solve/plan", "solve/schedule"],
    "papers": LOW + ["solve/model", "solve/plan"],
    "papers/ag": LOW + ["solve/model", "solve/plan", "papers"],
    "papers/capellini": LOW + ["solve/model", "solve/plan", "solve/rows", "papers"],
    "papers/dense": LOW + ["solve/model", "solve/plan", "solve", "papers"],  # the rest is solved by what auto takes
    "papers/recblock": LOW + ["solve/model", "solve/plan", "papers"],
    "solve": LOW + ["solve/model", "solve/plan", "solve/rows", "solve/schedule", "solve/chunk"],
    "ilu": LOW + ["ordering", "factor", "solve/model", "solve/plan", "solve"],
    "stubs": LOW + ["ordering", "factor", "solve/model", "solve/plan", "solve", "ilu"],
    "src/petsc": ["ilu"],
    "src/mat": ["ilu", "src/petsc"],
    "src/ksp": ["krylov", "src/petsc"],
    "src/pc": ["src/petsc", "src/mat"],
    "src/plugin": ["ilu", "src/mat", "src/ksp", "src/pc"],
}
# what ilu offers to the rooms that call PETSc, with the headers that it includes
INTERFACE, MOST_INTERFACE_LINES, MOST_INTERFACE_FUNCTIONS = "trsv.h", 220, 25
STUBS = "without_cuda.c"  # what a build without CUDA has instead of the device
TABLE = "solve/algorithms.c"  # alone may name rows of the table in any room
HELPS = {"solve/schedule": "chunk"}  # a room that serves one algorithm of another room
# words that are the name of an algorithm, too
OTHER = {
    ("src/mat/matsolver.c", "cusparse"): "in the names of matrix types",
    ("papers/recblock/recblock_tree.c", "level"): "a kernel of its blocks",
    ("papers/recblock/recblock_tree.c", "cusparse"): "a kernel of its blocks",
}
ENGLISH = {"serial", "thread", "recompute", "warp", "sell", "chunk", "level", "fusion", "dense", "cusparse"}

# (rule, where) -> how often
KNOWN = {
}


def load():
    """Path below src/kernels, or below the repository -> text."""
    files = {}
    for folder, _, names in os.walk(os.path.join(ROOT, "src")):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as f:
                files[os.path.relpath(path, SRC if folder.startswith(SRC) else ROOT)] = f.read()
    return files


def load_public():
    """Path below the repository -> text, of what users include or import."""
    files = {}
    for folder in ("include", "python"):
        for name in sorted(os.listdir(os.path.join(ROOT, folder))):
            path = os.path.join(folder, name)
            if os.path.isfile(os.path.join(ROOT, path)):
                with open(os.path.join(ROOT, path), encoding="utf-8") as f:
                    files[path] = f.read()
    return files


def code(text):
    """Without comments and strings; lines stay lines."""
    keep = lambda m: "\n" * m.group(0).count("\n")
    text = re.sub(r"/\*.*?\*/", keep, text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def room(path):
    return "ilu" if path == INTERFACE else os.path.dirname(path) or "stubs"


FUNCTION = re.compile(r'^(?!static|typedef|#|\s)[^\n;={}()]*?\b((?:Trsv|Chunk|Factor|Ag)\w*)\s*\([^;{}]*\)\s*\{', re.M)
PETSC_FUNCTION = re.compile(r"^(?:PETSC_EXTERN )?(?:PetscErrorCode|void) (\w+)\([^;{}]*\)\s*\{", re.M)
PETSC_DATA = re.compile(r"^(?:const char \*const|PetscLogEvent) ([^;={}]+)(?:\[\] *=|;)", re.M)
ROW = re.compile(r'^(?:TRSV_ALGORITHM\(|(?:extern "C" )?const \w+ )(Trsv\w+)\)?\s*=', re.M)


def definitions(files):
    """Name of a function or a table with external linkage -> the file that defines it; stubs do not count."""
    where = {}
    for path, text in files.items():
        if path.endswith((".c", ".cu")) and path != STUBS:
            for pattern in (PETSC_FUNCTION, PETSC_DATA) if room(path) in PETSC else (FUNCTION, ROW):
                for m in pattern.finditer(code(text)):
                    for name in re.findall(r"\w+", m.group(1)):
                        where.setdefault(name, path)
    return where


def uses(files):
    """(user, used) -> names or headers: between files of different rooms."""
    where, interface = definitions(files), interface_functions(files)
    found = collections.defaultdict(set)
    for path, text in files.items():
        for header in re.findall(r'^\s*#\s*include ["<]([^">]+)[">]', text, re.M):
            beside = os.path.normpath(os.path.join(os.path.dirname(path), header))
            header = beside if beside in files else header
            if header in files and room(header) != room(path):
                found[path, header].add(header)
        if path.endswith((".h", ".cuh")) or path == STUBS:
            continue  # declarations; what is inline is covered by the includes
        for name in set(re.findall(r"\b[A-Z]\w+\b", code(text))):
            used = INTERFACE if room(path) in PETSC and name in interface else where.get(name)
            if used and room(used) != room(path):
                found[path, used].add(name)
    return found


def arrows(files):
    """Sentences: who uses what it may not."""
    out = []
    rows = {m.group(1) for text in files.values() for m in ROW.finditer(code(text))}
    for (user, used), names in sorted(uses(files).items()):
        if room(used) in MAY.get(room(user), []):
            continue
        for name in sorted(names):
            if not (user == TABLE and name in rows):
                out.append((f"{room(user)} -> {room(used)}", f"{user}: {name}"))
    return out


PROGRAMS = (".c", ".h", ".cu", ".cuh", ".cc", ".pml", ".py", ".sh")


def load_tests():
    """Path below the repository -> text, of the sources, scripts and makefiles of tests and bench."""
    files = {}
    for top in ("tests", "bench"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as f:
                    data = f.read()
                if name.endswith(PROGRAMS) or name == "makefile" or data.startswith(b"#!"):
                    files[os.path.relpath(path, ROOT)] = data.decode("utf-8")
    return files


def file_circles(files):
    """Sentences: files that call PETSc whose calls lead back to themselves, with the names on the shortest way."""
    bare = {path: code(text) for path, text in files.items() if room(path) in PETSC and path.endswith(".c")}
    where = {name: path for path, text in bare.items() for name in PETSC_FUNCTION.findall(text)}
    if len(where) < 40:
        sys.exit("rooms.py: the functions of the rooms that call PETSc are not found any more")
    calls = collections.defaultdict(dict)
    for path, text in bare.items():
        for name in re.findall(r"\b\w+\b", text):
            if where.get(name, path) != path:
                calls[path][where[name]] = name
    out = []
    for start in sorted(bare):
        ways, seen = [[(start, "")]], set()
        while ways:
            way = ways.pop(0)
            for used, name in calls[way[-1][0]].items():
                if used == start:
                    sentence = " -> ".join([*(p + (f" ({n})" if n else "") for p, n in way), f"{start} ({name})"])
                    out.append(sentence)
                    ways = []
                    break
                if used not in seen:
                    seen.add(used)
                    ways.append([*way, (used, name)])
    return out


PAGE_HEADINGS = {"Input Parameter", "Output Parameter", "Options Database Key", "Note", "Reference"}


def page_headings(files):
    """Sentences: lines of manual pages that PETSc's doctext takes for headings, because they end with a colon."""
    out = []
    for path, text in files.items():
        for page in re.findall(r"/\*(?:@C?|MC)\n(.*?)\n(?:@|M)\*/", text, re.S):
            for line in page.splitlines():
                if line.startswith("   ") and line.endswith(":") and line.strip(" :").rstrip("s") not in PAGE_HEADINGS:
                    out.append(f"{path}: {line.strip()}")
    return out


def strip(text):
    """Without comments; strings stay."""
    return re.sub(r'("(?:\\.|[^"\\\n])*")|/\*.*?\*/|//[^\n]*', lambda m: m.group(1) or " ", text, flags=re.S)


def namers(files):
    """(file, sentence): who names an algorithm outside of its room."""
    out = []
    rows = {}
    for path, text in files.items():
        for row, name in re.findall(r'^TRSV_ALGORITHM\((\w+)\) = \{\s*\.name\s*= "(\w+)"', text, re.M):
            rows[name] = row, room(path)
    if len(rows) < 10:
        sys.exit("rooms.py: the rows of the table are not found any more")
    for path, text in sorted({**files, **load_public()}.items()):
        bare = strip(text)
        for name, (row, home) in sorted(rows.items()):
            if room(path) == home or HELPS.get(room(path)) == name:
                continue
            found = text.count(f"`{name}`")
            if (path, name) not in OTHER:
                found += bare.count(f'"{name}"')
            if path != TABLE:
                found += len(re.findall(rf"\b{row}\b", bare))
            if path.startswith(("src/", "include/", "python/")) and name not in ENGLISH:
                found += len(re.findall(rf"(?<![\w`\"-]){name}(?![\w`\"(])", text))
            out += [(path, f"{path}: {name}")] * found
    return out


def circles():
    """Rooms from which MAY leads back to themselves."""
    def reach(start):
        seen, todo = set(), list(MAY[start])
        while todo:
            r = todo.pop()
            if r not in seen:
                seen.add(r)
                todo += MAY[r]
        return seen
    return [r for r in MAY if r in reach(r)]


def broken(files):
    """(rule, where) -> sentences."""
    found = collections.defaultdict(list)
    for arrow, sentence in arrows(files):
        found["arrow", arrow].append(sentence)
    for path, sentence in namers(files):
        found["name", path].append(sentence)
    for r, n in collections.Counter(room(p) for p in files).items():
        if r not in MAY:
            found["room", r].append(f"{r} is not in the plan of tests/rooms.py")
        if n > MOST_FILES:
            found["files", r] += [f"{r} has {n} files"] * (n - MOST_FILES)
    for sentence in file_circles(files):
        found["circle", "src"].append(sentence)
    for sentence in page_headings(files):
        found["page", "src"].append(sentence)
    others = {**load_public(), **load_tests()}
    for path, text in sorted({**files, **others}.items()):
        lines = text.splitlines()
        if len(lines) > MOST_LINES:
            found["lines", path].append(f"{path} has {len(lines)} lines")
        wide = [i + 1 for i, line in enumerate(lines) if len(line) > MOST_COLUMNS]
        if wide:
            where = path if path in others else room(path)
            found["columns", where] += [f"{path}:{i} has more than {MOST_COLUMNS} columns" for i in wide]
    return found


def interface_functions(files):
    """Functions that are declared in the interface and in the headers of ours that it includes."""
    todo, seen, names = [INTERFACE], set(), set()
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        todo += [h for h in re.findall(r'^\s*#\s*include "([^"]+)"', files[path], re.M) if h in files]
        declared = r"^(?!typedef|#|\s)[^\n;={}()]*?\b(Trsv\w+)\s*\([^;{}]*\)\s*[;{]"
        names |= set(re.findall(declared, code(files[path]), re.M))
    return names


def table(files):
    out = ["| room | files | lines | uses |", "|---|---|---|---|"]
    used = collections.defaultdict(set)
    for (user, target), _ in uses(files).items():
        used[room(user)].add(room(target))
    for r in MAY:
        mine = [p for p in files if room(p) == r]
        lines = sum(len(files[p].splitlines()) for p in mine)
        out.append(f"| {r} | {len(mine)} | {lines:,} | {', '.join(x for x in MAY if x in used[r])} |")
    return "\n".join(out)


def main():
    files = load()
    if "--map" in sys.argv:
        print(table(files))
        return 0
    if "--known" in sys.argv:
        for key, sentences in sorted(broken(files).items()):
            print(f'    ("{key[0]}", "{key[1]}"): {len(sentences)},')
        return 0
    passed = failed = 0

    def tell(ok, sentence):
        nonlocal passed, failed
        print(("ok " if ok else "not ok ") + sentence)
        passed += ok
        failed += not ok

    around = circles()
    tell(not around, "rooms: the plan has no circles" + (f": {around}" if around else ""))
    functions, lines = interface_functions(files), len(files[INTERFACE].splitlines())
    tell(len(functions) <= MOST_INTERFACE_FUNCTIONS and lines <= MOST_INTERFACE_LINES,
         f"rooms: the interface has {len(functions)} functions and {lines} lines, at most {MOST_INTERFACE_FUNCTIONS} "
         f"and {MOST_INTERFACE_LINES}")
    found = broken(files)
    rules = {
        "arrow": "includes and calls go down",
        "name": "an algorithm is named in its room and in the table alone",
        "room": "every folder is a room of the plan",
        "files": f"at most {MOST_FILES} files in a room",
        "circle": "calls between files that call PETSc form no circle",
        "page": "manual pages have the usual headings",
        "lines": f"at most {MOST_LINES} lines in a file",
        "columns": f"at most {MOST_COLUMNS} columns in a line",
    }
    for rule, sentence in rules.items():
        keys = {k for k in list(found) + list(KNOWN) if k[0] == rule}
        more = [k for k in keys if len(found[k]) > KNOWN.get(k, 0)]
        less = [k for k in keys if len(found[k]) < KNOWN.get(k, 0)]
        for k in sorted(more):
            print(f"#   {k[1]}: {len(found[k])}, known are {KNOWN.get(k, 0)}: " + "; ".join(found[k][:20]))
        if rule in ("columns", "name"):  # a wrapped line is no reason to fail
            more_or_less = more
        else:
            more_or_less = more + less
        for k in sorted(less):
            print(f"#   {k[1]}: {len(found[k])}, known are {KNOWN[k]}: lower the number in tests/rooms.py")
        known = sum(KNOWN.get(k, 0) for k in keys)
        tell(not more_or_less, f"rooms: {sentence}" + (f", but for {known} known exceptions" if known else ""))
        for k in sorted(keys):
            if KNOWN.get(k) and rule not in ("columns", "name"):
                print(f"#   known: {k[1]}: " + "; ".join(found[k]))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
