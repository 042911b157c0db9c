#!/usr/bin/env python3
"""The tables of docs/options.md, from the calls in src/*/options.c that -help prints.

options.py               prints them
options.py --write FILE  puts them there
"""

import glob
import os
import re
import sys

from maker import ROOT, run

BEGIN = "<!-- made by docs/tools/options.py from src: {} -->\n"
OPTION = re.compile(r'"(-(pc|mat)_sptrsvgpu_\w+)",\s*"([^"]*)"([^;{]*)')
ENUM = re.compile(r"(?:const char \*const|static const char \*const) (\w+)\[\]\s*=\s*\{([^}]*)\}")


def read(pattern):
    return {
        path: open(path, encoding="utf-8").read()
        for path in sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True))
    }


def words(text):
    """The values of an enumeration: PETSc adds its type and its prefix after them."""
    found = re.findall(r'"([^"]*)"', text)
    return [w for w in found if not w.startswith("SpTRSVGPU") and not w.startswith("SPTRSVGPU_")]


def values(call, rest, enums):
    """What an option takes; the first value of an enumeration is the default."""
    for name, some in enums.items():
        if re.search(rf"\b{name}\b", rest):
            return ", ".join(f"`{v}`" for v in some)
    if "PetscOptionsReal" in call:
        return "a number"
    if "PetscOptionsName" in call:
        return "nothing, or a viewer"
    return "`auto`, or an [algorithm](algorithms.md)"


def options(kind):
    enums, rows = {}, []
    sources = read("src/*/options.c")
    for text in sources.values():
        enums.update((name, words(body)) for name, body in ENUM.findall(text) if words(body))
    for text in sources.values():
        for match in OPTION.finditer(text):
            option, of, what, rest = match.groups()
            if of != kind:
                continue
            function = re.search(r'"((?:Mat|PC)\w+)"', rest)
            call = text[max(0, match.start() - 24) : match.start()]
            function = (
                "MatSpTRSVGPUSetAlgorithm" if "TRUE" in rest and not function else function.group(1) if function else ""
            )
            rows.append(f"| `{option}` | {values(call, rest, enums)} | {what} | `{function}()` |")
    if not rows:
        sys.exit(f"options.py: src has no options of {kind}")
    return "\n".join(["| option | values | meaning | function |", "|---|---|---|---|", *rows]) + "\n"


if __name__ == "__main__":
    made = {"pc": options("pc"), "mat": options("mat")}
    run({BEGIN.format(name): text for name, text in made.items()})
