"""Lines of results/*.jsonl, grouped by triangle, and means; generated parts of pages."""

import json
import math
import os
import textwrap

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
SOLVES = os.path.join(ROOT, "results", "solve.jsonl")
END = "<!-- end -->\n"  # of a generated part of a page
LEAST_ROWS = 5000  # of the real matrices over which means are taken


FORMS = {"inverse": ("chunk", "inverted"), "recompute": ("thread", "recomputing")}


def form_of(line):
    """The algorithm of a line, or its second form: inverse, recompute. Older lines name these as algorithms."""
    name, setting = line["algorithm"], line["setting"]
    if name == "chunk" and setting.startswith("blocks"):
        return "inverse"
    return "recompute" if name == "thread" and "recompute" in setting else name


def name_of(form, mark=""):
    """For pages and plots: `chunk, inverted`. The mark is put around the algorithm."""
    algorithm, *how = FORMS.get(form, (form,))
    return ", ".join([mark + algorithm + mark, *how])


def gpu_of(line):
    """The GPU that gave a line: `H100`. Lines without the field are of an H200."""
    return line.get("gpu", "NVIDIA H200").split()[1].rstrip(",")


class Case:
    """One triangle of one matrix, or the pair of both: the results of every algorithm, and setting, that has a time."""

    def __init__(self, lines):
        first = lines[0]
        self.matrix, self.triangle, self.rows, self.levels, self.nnz = (
            first[k] for k in ("matrix", "triangle", "rows", "levels", "nnz")
        )
        self.granularity, self.floor_ms, self.cpu_ms, self.cusparse_ms = (
            first[k] for k in ("granularity", "floor_ms", "cpu_ms", "cusparse_ms")
        )
        self.real = first.get("real", ":" not in self.matrix)
        self.csr_bytes = first.get(
            "csr_bytes", 4 * (self.rows + 1) + self.nnz * (12 if first["precision"] == "double" else 8)
        )
        self.lines = lines
        self.chosen = next((l for l in lines if l["selected"]), None)
        ours = [l for l in lines if l["algorithm"] != "cusparse" and l["ok"]]
        self.best = min(ours, key=lambda l: l["ms"]) if ours else None
        # by algorithm or form, with the settings that it prefers
        self.first = {l["algorithm"]: l for l in sorted(lines, key=lambda l: -l.get("rank", 0))}

    counts = property(lambda self: self.real and self.rows >= LEAST_ROWS)
    speedup = property(lambda self: self.cusparse_ms / self.chosen["ms"])
    from_floor = property(lambda self: self.chosen["ms"] / self.floor_ms)
    regret = property(lambda self: self.chosen["ms"] / min(self.best["ms"], self.chosen["ms"]))
    memory = property(lambda self: self.chosen["plan_bytes"] / self.csr_bytes)
    analysis = property(lambda self: self.chosen["analysis_ms"] / self.chosen["cusparse_analysis_ms"])


def read(path=SOLVES, precision="double"):
    """The cases of a file, triangles and pairs apart, in the order in which they were measured. Each form of an
    algorithm counts as one."""
    groups = {}
    with open(path) as f:
        for text in f:
            line = json.loads(text)
            line["algorithm"] = form_of(line)
            if line["values"] == "seeded" and line["precision"] == precision and line["ms"] > 0:
                groups.setdefault((line["matrix"], line["triangle"]), []).append(line)
    cases = [c for c in map(Case, groups.values()) if c.chosen]
    return [c for c in cases if c.triangle != "pair"], [c for c in cases if c.triangle == "pair"]


def mean(values):
    """The geometric mean."""
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def find_part(text, begin):
    """Returns the text before the line `begin`, between it and END, and after; None if the lines are not there."""
    head, line, rest = text.partition(begin)
    inside, end, tail = rest.partition(END)
    return (head + line, inside, end + tail) if end else None


def wrap(text):
    """Wraps paragraphs and items of flat lists at 120 columns, joined from their lines; leaves tables and HTML. There
    must be no headings, code or nested lists."""
    at = {"break_long_words": False, "break_on_hyphens": False}
    blocks = []  # [first line, lines that continue it]
    for line in text.split("\n"):
        plain = line and line[0] not in "|<"
        if plain and blocks and blocks[-1][0] and not line.startswith(("- ", "[^")) and blocks[-1][0][0] not in "|<":
            blocks[-1].append(line.strip())
        else:
            blocks.append([line])
    return "\n".join(
        textwrap.fill(" ".join(b), 120, subsequent_indent="  " * b[0].startswith("- "), **at)
        if b[0] and b[0][0] not in "|<"
        else b[0]
        for b in blocks
    )


def write_part(path, begin, made):
    """Writes generated text, wrapped, into a file, between the lines `begin` and END. Returns the exit status."""
    with open(path) as f:
        text = f.read()
    parts = find_part(text, begin)
    if not parts:
        print(f"{path} has no place for the table: no line {begin.strip()} ... {END.strip()}")
        return 1
    with open(path, "w") as f:
        f.write(parts[0] + wrap(made) + parts[2])
    return 0
