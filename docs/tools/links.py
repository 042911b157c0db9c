#!/usr/bin/env python3
"""Checks README.md, CHANGELOG.md, packaging/README.md and docs/.

Reports links to files or headings that are not there, and names in backticks of source files and functions of this
project that are not there. In docs/developing.md reports functions of a diagram that the file beside them does not
define, and names of a table row that the files of the row do not have. The exit status is 1 where there are any.
"""

import glob
import os
import re
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
LINK = re.compile(r"\]\(([^)\s]+)\)")
FILE = re.compile(r"(?<!Write )`([\w/]+\.(?:c|cu|cuh|h|sh|py))`")  # "Write `file`" is an instruction
FUNCTION = re.compile(r"`((?:Trsv|\w*SpTRSVGPU)\w*)\(\)`")


def anchors(path):
    """The anchors of a page's headings, as GitHub and GitLab make them."""
    text = re.sub(r"^```.*?^```", "", open(path, encoding="utf-8").read(), flags=re.S | re.M)
    found = re.findall(r"^#+ (.*)$", text, flags=re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower().replace("`", "")).replace(" ", "-") for h in found}


def sources():
    """Paths of the project's sources, and their text in one."""
    paths = [
        p
        for folder in ("src", "include", "tests", "bench", "conf", "docs", "examples", "python")
        for p in glob.glob(os.path.join(ROOT, folder, "**", "*.*"), recursive=True)
    ]
    paths = [p for p in paths if re.search(r"\.(c|cu|cuh|h|cc|sh|py)$", p)]
    return paths, "\n".join(open(p, encoding="utf-8").read() for p in paths)


def misplaced(words):
    """What the files beside it do not have: functions of diagrams, "file  Function(): ...", and names in table rows."""
    found = []
    for row in re.findall(r"^\|.*\]\(\.\./src/.*$", words, flags=re.M):
        files = [os.path.join(ROOT, f) for f in re.findall(r"\]\(\.\./(src/[^)]+)\)", row)]
        text = "\n".join(open(f, encoding="utf-8").read() for f in files if os.path.exists(f))
        names = re.findall(r"`(\w+_\w+|Trsv\w+(?=\(\)))", row)
        found += [f"{n} is not in the files of its row" for n in names if not re.search(rf"\b{n}\b", text)]
    for diagram in re.findall(r"^```\n(.*?)^```", words, flags=re.S | re.M):
        for row in diagram.splitlines():
            beside = re.search(r"([\w/]+\.(?:c|cu)) +(?=\w+[.()])", row)
            if not beside:
                continue
            file = beside[1] if beside[1].startswith("src/") else "src/kernels/" + beside[1]
            path = os.path.join(ROOT, file)
            text = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
            for name, more in re.findall(r"(\w+)(\.\.\.)?\(\)", row[beside.end() :]):
                name += r"\w*" if more else ""
                if not re.search(rf"^\w[^\n;]*\b{name}\([^;{{}}]*\)\s*\{{", text, flags=re.M):
                    found.append(f"{name}() is not in {file}")
    return found


def main():
    broken = 0
    paths, text = sources()
    pages = [os.path.join(ROOT, p) for p in ("README.md", "CHANGELOG.md", "packaging/README.md")]
    for page in pages + sorted(glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True)):
        words = open(page, encoding="utf-8").read()
        missing = [f for f in FILE.findall(words) if not any(p.endswith("/" + f) for p in paths)]
        missing += [f for f in FUNCTION.findall(words) if not re.search(rf"\b{f}\b", text)]
        for name in [] if "packaging" in page else missing:  # that page names files of PETSc
            print(f"{os.path.relpath(page, ROOT)}: {name} is not in the sources")
            broken = 1
        for name in misplaced(words) if page.endswith("developing.md") else []:
            print(f"{os.path.relpath(page, ROOT)}: {name}")
            broken = 1
        for link in LINK.findall(words):
            if re.match(r"[a-z]+:", link):
                continue
            file, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(page), file)) if file else page
            if not os.path.exists(target) or (anchor and target.endswith(".md") and anchor not in anchors(target)):
                print(f"{os.path.relpath(page, ROOT)}: no {link}")
                broken = 1
    return broken


if __name__ == "__main__":
    sys.exit(main())
