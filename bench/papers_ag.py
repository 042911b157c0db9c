"""The tables of AG-SpTRSV (paper 003) for papers.py, from results/ag.jsonl (every scheme of the reduced space),
results/ag_model.json (what the learned model chooses; ag_train.py), and the rivals' times among the cases."""
import json
import os
import re

from results import LEAST_ROWS, ROOT, mean

RIVALS = [
    ("csc", "Sync-free", 3.81),
    ("cusparse", "cuSPARSE", 3.99),
    ("fusion", "YYSpTRSV", 2.14),
    ("recblock", "REC (its Table 6)", 0.72),
    ("thread", "`thread`", None),
    ("warp", "`warp`", None),
]


def lines(name):
    path = os.path.join(ROOT, "results", name)
    if not os.path.exists(path):
        return []
    with open(path) as f:
        return [json.loads(text) for text in f]


def schemes():
    """The reduced space as src/kernels/papers/ag/ag_scheme.c has it, in words."""
    with open(os.path.join(ROOT, "src", "kernels", "papers", "ag", "ag_scheme.c")) as f:
        rows = re.findall(
            r"^  \{(\d+), +(\d+), +(\w+), +(\d), AG_(\w+), +(\d+), +(\d), AG_(\w+), +(\w+) *\}", f.read(), re.M
        )
    out = []
    for nw, ng, sw, reorder, merge, size, balance, ws, alpha in rows:
        out.append(
            {
                "nw": int(nw),
                "ng": int(ng),
                "sw_rnnz": sw.lower(),
                "reorder": reorder == "1",
                "merge": "merge_" + merge.lower(),
                "size": int(size),
                "rg": "balance" if balance == "1" else "sequential",
                "ws": ws.lower(),
                "alpha": alpha.lower(),
            }
        )
    return out


def words(s):
    order = "reorder" if s["reorder"] else "natural"
    return (
        f"nw:{s['nw']},ng:{s['ng']},sw_rnnz:{s['sw_rnnz']},{order},{s['merge']}:{s['size']},rg_{s['rg']},ws_{s['ws']},"
        f"alpha:{s['alpha']}"
    )


class Data:
    def __init__(self, cases):
        self.lines, self.schemes = lines("ag.jsonl"), schemes()
        with open(os.path.join(ROOT, "results", "ag_model.json")) as f:
            self.model = json.load(f)
        self.cases = {(c.matrix, c.triangle): c for c in cases}
        for line in self.lines:
            line["ms"] = [m if m > 0 else float("inf") for m in line["ms"]]
            line["best"] = min(line["ms"])
            line["case"] = self.cases.get((line["matrix"], line["triangle"]))
            line["order"] = self.model["order"][f"{line['matrix']} {line['triangle']}"]
            line["learned"] = line["ms"][line["order"][0]]
        self.some = [line for line in self.lines if line["case"] and line["case"].counts]

    def spaces(self):
        """The paper's Figure 9: a space, how many schemes of it there are here, the best of them over YYSpTRSV, and the
        paper's."""
        inside = lambda i: [
            not self.schemes[i]["reorder"]
            and self.schemes[i]["ws"] == "hardware"
            and self.schemes[i]["merge"] == "merge_fixed",
            not self.schemes[i]["reorder"] and self.schemes[i]["ws"] == "hardware",
            not self.schemes[i]["reorder"],
            True,
        ]
        both = [x for x in self.some if "fusion" in x["case"].ms]
        for k, (name, paper) in enumerate((("MF", 1.66), ("NM", 2.02), ("MHS", 2.08), ("RL", 2.38))):
            of = [i for i in range(len(self.schemes)) if inside(i)[k]]
            yield name, len(of), mean(x["case"].ms["fusion"] / min(x["ms"][i] for i in of) for x in both), paper


def rivals(cases):
    d = Data(cases)
    out = [
        (
            f"Speedup over a rival: geometric means over both triangles of the {len({x['matrix'] for x in d.some})}"
            f" real matrices with at least {LEAST_ROWS:,} rows. *best scheme*: the best of {len(d.schemes)}, measured"
            " in another run. *`ag`*: the learned model's scheme, in the run of the rivals. *paper*: 2,219 matrices,"
            " A100, best of 1,600.\n"
        ),
        "| rival | here | best scheme | faster in | `ag` | faster in | paper |",
        "|---|---|---|---|---|---|---|",
    ]

    def row(name, here, paper, both):
        return (
            f"| {name} | {here} | {mean(ms / x['best'] for x, ms in both):.2f} |"
            f" {sum(ms > x['best'] for x, ms in both)} of {len(both)} |"
            f" {mean(ms / x['case'].ms['ag'] for x, ms in both):.2f} | {sum(ms > x['case'].ms['ag'] for x, ms in both)}"
            f" of {len(both)} | {paper} |"
        )

    for a, name, paper in RIVALS:
        both = [(x, x["case"].ms[a]) for x in d.some if a in x["case"].ms]
        if both:
            out.append(row(name, f"`{a}`", paper or "", both))
    both = [(x, x["case"].ms[x["case"].chosen]) for x in d.some if x["case"].chosen in x["case"].ms]
    if both:
        out.append(row("what `auto` takes", "", "", both))
    same = [x["case"].ms["ag"] / x["learned"] for x in d.some if "ag" in x["case"].ms]
    out.append(
        f"\nTime of the same scheme in the rivals' run / in the schemes' run: {mean(same):.2f}, at most"
        f" {max(same):.2f}."
    )
    return "\n".join(out) + "\n"


def spaces(cases):
    """Figure 9's spaces, and what each scheme is worth."""
    d = Data(cases)
    out = [
        "Speedup of the best scheme of each space of the paper's Figure 9 over YYSpTRSV (`fusion`):\n",
        "| space | schemes here | speedup | paper, A100 |",
        "|---|---|---|---|",
    ]
    out += [f"| {name} | {schemes} | {times:.2f} | {paper} |" for name, schemes, times, paper in d.spaces()]
    ranking = sorted(range(len(d.schemes)), key=lambda i: mean(x["ms"][i] / x["best"] for x in d.lines))
    out += [
        (
            f"\nTime of a scheme / time of the best scheme of the triangle (geometric mean over {len(d.lines)}"
            " triangles), and how often it is the best; the first eight and the last five:\n"
        ),
        "| scheme | time / best | best in |",
        "|---|---|---|",
    ]
    for i in ranking[:8] + ranking[-5:]:
        out.append(
            f"| {words(d.schemes[i])} | {mean(x['ms'][i] / x['best'] for x in d.lines):.2f} |"
            f" {sum(x['ms'][i] == x['best'] for x in d.lines)} |"
        )
    return "\n".join(out) + "\n"


def learned(cases):
    d = Data(cases)
    m, training = d.model, set(d.model["training"])
    out = [
        f"Trained on {len(training)} of {m['matrices']} matrices, both triangles of each; tested on the others:\n",
        "| | within 85% of the best | mean absolute percentage error | time / time of the best scheme |",
        "|---|---|---|---|",
    ]
    for name, s in (
        ("the model, matrices that it was not trained on", m["test"]),
        ("the model, matrices that it was trained on", m["train"]),
        (f"always {words(d.schemes[m['always']])}, not trained on", m["test_always"]),
    ):
        out.append(f"| {name} | {100 * s['hit_rate']:.1f}% | {100 * s['mape']:.1f}% | {s['regret']:.2f} |")
    out.append("| the paper's, 30% of 2,219 matrices | 87.1% | 8.2% | |\n")
    tested = [x for x in d.some if x["matrix"] not in training and x["case"].chosen in x["case"].ms]

    def best(x):
        return min(t for a, t in x["case"].ms.items() if a != "cusparse")

    if tested:
        out.append(
            f"The {len(tested)} triangles with at least {LEAST_ROWS:,} rows among these, time / time of the fastest"
            " algorithm of the same run (geometric mean):"
            f" **{mean(x['case'].ms[x['case'].chosen] / best(x) for x in tested):.2f}** for `auto`,"
            f" **{mean(x['case'].ms['ag'] / best(x) for x in tested):.2f}** for `ag` with the learned model's scheme,"
            f" {mean(x['best'] / best(x) for x in tested):.2f} for `ag` with its best scheme (the schemes' own run)."
        )
    return "\n".join(out) + "\n"


TABLES = {"ag rivals": rivals, "ag spaces": spaces, "ag model": learned}
