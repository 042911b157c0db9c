"""Makes man pages from the comments /*@ ... @*/ and /*MC ... M*/ of C sources, in the form of PETSc's manual pages.

usage: manpages.py VERSION PREFIX SOURCE...

Writes PREFIX/share/man/man3/NAME.3 for each. Prints each path, relative to PREFIX, before it writes the file.
"""

import os
import re
import sys

ENTRY = re.compile(r"/\*(@C?|MC)\n(.*?)\n\s*(?:@|M)\*/\n(.*?)[{;]", re.S)
FOLDER = "share/man/man3"
HEADING = re.compile(r"^   (\w[\w .]*?)s?:\s*$")


def text(line):
    """A line of prose for roff."""
    line = line.replace("\\", "\\e").replace("-", "\\-")
    line = re.sub(r"`([^`]*)`", r"\\fB\1\\fR", line)
    return "\\&" + line if line.startswith((".", "'")) else line


def page(kind, comment, declaration, version):
    """Name and roff of one comment."""
    lines = comment.split("\n")
    title = re.match(r"\s*(\w+)\s*(?:=[^-]*)?\s*-\s*(.*)", lines[0])
    name, purpose = title.groups()
    out = [f'.TH {name} 3 "" "sptrsvgpu {version}" "PETSc plugin"', ".SH NAME", f"{name} \\- {text(purpose)}"]
    rest = lines[1:]
    while rest and rest[0].strip() and not HEADING.match(rest[0]):
        out.append(text(rest.pop(0).strip()))  # a purpose of several lines
    if kind != "MC":
        out += [".SH SYNOPSIS", ".nf", "#include <sptrsvgpu.h>", text(" ".join(declaration.split())) + ";", ".fi"]
    for line in rest:
        heading = HEADING.match(line)
        listed = re.match(r"^[+.\-]  (\S.*?)\s+- (.*)", line)
        if heading:
            out.append(f".SH {heading.group(1).upper()}")
        elif line.startswith("   Level:"):
            out += [".SH LEVEL", line.split(":", 1)[1].strip()]
        elif line.startswith(".seealso:"):
            out += [".SH SEE ALSO", text(line.split(":", 1)[1].strip())]
        elif listed:
            out += [".TP", f"\\fB{text(listed.group(1))}\\fR", text(listed.group(2))]
        elif not line.strip():
            out.append(".PP")
        else:
            out.append(text(line.strip()))
    return name, "\n".join(out) + "\n"


def main():
    version, prefix = sys.argv[1:3]
    os.makedirs(os.path.join(prefix, FOLDER), exist_ok=True)
    for source in sys.argv[3:]:
        with open(source, encoding="utf-8") as file:
            for kind, comment, declaration in ENTRY.findall(file.read()):
                name, roff = page(kind, comment, declaration, version)
                path = f"{FOLDER}/{name}.3"
                print(path, flush=True)
                with open(os.path.join(prefix, path), "w", encoding="utf-8") as out:
                    out.write(roff)


main()
