"""The tables of AG-SpTRSV (paper 003) for papers.py, from results/ag.jsonl (every scheme of the reduced space), results/ag_model.json (what the learned model
chooses; ag_train.py), results/ag_search.jsonl where there is one (a search on the device), and the rivals' times among the cases."""
import json
import os
import re

from results import LEAST_ROWS, ROOT, mean

NAMED = ["G3_circuit", "boyd2_kkt", "web-NotreDame", "cont-300_kkt", "wave", "luxembourg_osm", "rail_79841_A", "ct2010", "delaunay_n16", "vsp_model1_crew1_cr42_south31", "finance256", "slam_ais2klinik",
         "as-caida_826", "cit-Cora", "ACTIVSg25k_Ybus", "Dubcova1", "cage10", "circuit_3", "hymls_cavity2D_64_Re1000", "astro-ph"]
RIVALS = [("csc", "Sync-free", 3.81), ("cusparse", "cuSPARSE", 3.99), ("fusion", "YYSpTRSV", 2.14), ("thread", "`thread`", None), ("warp", "`warp`", None)]


def lines(name):
    path = os.path.join(ROOT, "results", name)
    if not os.path.exists(path):
        return []
    with open(path) as f:
        return [json.loads(text) for text in f]


def schemes():
    """The reduced space as src/kernels/ag_scheme.c has it, in words."""
    with open(os.path.join(ROOT, "src", "kernels", "ag_scheme.c")) as f:
        rows = re.findall(r"^  \{(\d+), +(\d+), +(\w+), +(\d), AG_(\w+), +(\d+), +(\d), AG_(\w+), +(\w+) *\}", f.read(), re.M)
    out = []
    for nw, ng, sw, reorder, merge, size, balance, ws, alpha in rows:
        out.append({"nw": int(nw), "ng": int(ng), "sw_rnnz": sw.lower(), "reorder": reorder == "1", "merge": "merge_" + merge.lower(), "size": int(size), "rg": "balance" if balance == "1" else "sequential", "ws": ws.lower(), "alpha": alpha.lower()})
    return out


def words(s):
    return f"nw:{s['nw']},ng:{s['ng']},sw_rnnz:{s['sw_rnnz']},{'reorder' if s['reorder'] else 'natural'},{s['merge']}:{s['size']},rg_{s['rg']},ws_{s['ws']},alpha:{s['alpha']}"


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


def rivals(cases):
    d = Data(cases)
    out = [f"Times as fast as a rival, geometric means over both triangles of the {len({x['matrix'] for x in d.some})} real matrices of {LEAST_ROWS:,} rows or more: the best of {len(d.schemes)} schemes, the one that the learned model takes, and the paper's (2,219 matrices, A100, best of 1,600).\n",
           "| rival | here | best scheme | by the learned model | best scheme is faster in | paper |", "|---|---|---|---|---|---|"]
    for a, name, paper in RIVALS:
        both = [x for x in d.some if a in x["case"].ms]
        if both:
            out.append(f"| {name} | `{a}` | {mean(x['case'].ms[a] / x['best'] for x in both):.2f} | {mean(x['case'].ms[a] / x['learned'] for x in both):.2f} | {sum(x['case'].ms[a] > x['best'] for x in both)} of {len(both)} | {paper or ''} |")
    both = [x for x in d.some if x["case"].chosen in x["case"].ms]
    if both:
        out.append(f"| what `auto` takes | | {mean(x['case'].ms[x['case'].chosen] / x['best'] for x in both):.2f} | {mean(x['case'].ms[x['case'].chosen] / x['learned'] for x in both):.2f} | {sum(x['case'].ms[x['case'].chosen] > x['best'] for x in both)} of {len(both)} | |")
    return "\n".join(out) + "\n"


def spaces(cases):
    """Figure 9's spaces, and what each value of each dimension is worth."""
    d = Data(cases)
    of = {"MF": [i for i, s in enumerate(d.schemes) if not s["reorder"] and s["merge"] == "merge_fixed" and s["ws"] == "hardware"]}
    of["NM"] = of["MF"] + [i for i, s in enumerate(d.schemes) if not s["reorder"] and s["ws"] == "hardware" and i not in of["MF"]]
    of["MHS"] = of["NM"] + [i for i, s in enumerate(d.schemes) if not s["reorder"] and i not in of["NM"]]
    of["RL"] = list(range(len(d.schemes)))
    both = [x for x in d.some if "fusion" in x["case"].ms]
    out = ["The best scheme of the paper's Figure 9's spaces, times as fast as YYSpTRSV (`fusion`):\n", "| space | schemes here | times | paper, A100 |", "|---|---|---|---|"]
    for name, paper in (("MF", 1.66), ("NM", 2.02), ("MHS", 2.08), ("RL", 2.38)):
        out.append(f"| {name} | {len(of[name])} | {mean(x['case'].ms['fusion'] / min(x['ms'][i] for i in of[name]) for x in both):.2f} | {paper} |")
    ranking = sorted(range(len(d.schemes)), key=lambda i: mean(x["ms"][i] / x["best"] for x in d.lines))
    out += [f"\nSchemes by their time over the best one's of each of {len(d.lines)} triangles (geometric mean), and how often each is the best; the first eight and the last four:\n", "| scheme | time | best in |", "|---|---|---|"]
    for i in ranking[:8] + ranking[-4:]:
        out.append(f"| {words(d.schemes[i])} | {mean(x['ms'][i] / x['best'] for x in d.lines):.2f} | {sum(x['ms'][i] == x['best'] for x in d.lines)} |")
    return "\n".join(out) + "\n"


def learned(cases):
    d = Data(cases)
    m, training = d.model, set(d.model["training"])
    out = [f"Trained on {len(training)} of {m['matrices']} matrices, both triangles of each; tested on the others:\n", "| | within 85% of the best | mean absolute percentage error | time over the best scheme's |", "|---|---|---|---|"]
    for name, s in (("the model, matrices that it was not trained on", m["test"]), ("the model, matrices that it was trained on", m["train"]), (f"always {words(d.schemes[m['always']])}, not trained on", m["test_always"])):
        out.append(f"| {name} | {100 * s['hit_rate']:.1f}% | {100 * s['mape']:.1f}% | {s['regret']:.2f} |")
    out.append("| the paper's, 30% of 2,219 matrices | 87.1% | 8.2% | |\n")
    tested = [x for x in d.some if x["matrix"] not in training and x["case"].chosen in x["case"].ms]

    def best(x):
        return min(x["best"], min(t for a, t in x["case"].ms.items() if a != "cusparse"))

    if tested:
        out.append(f"Beside the cost model, on the {len(tested)} triangles of {LEAST_ROWS:,} rows or more among those: time over the fastest measured of all algorithms and schemes (geometric mean): "
                   f"**{mean(x['case'].ms[x['case'].chosen] / best(x) for x in tested):.2f}** for what the cost model takes (`auto`), **{mean(x['learned'] / best(x) for x in tested):.2f}** for `ag` with the learned model's scheme, {mean(x['best'] / best(x) for x in tested):.2f} for `ag` if it always took its best.")
    return "\n".join(out) + "\n"


def replay(x, seconds):
    """What a search would have tried within a time, by what plans and solves have taken: how many, and the best of them."""
    used, best, tries = 0.0, float("inf"), 0
    for i in x["order"]:
        if tries and used >= seconds:
            break
        tries += 1
        used += x["plan_s"][i] + 1e-3 * (6 if x["ms"][i] > 2 * best else 32) * (x["ms"][i] + 0.03)
        best = min(best, x["ms"][i])
    return tries, best


def search(cases):
    d = Data(cases)
    at = {(x["matrix"], x["triangle"]): x for x in d.lines}
    found = {(x["matrix"], x["triangle"]): x for x in lines("ag_search.jsonl")}
    how = "measured on the device (results/ag_search.jsonl)" if found else "replayed from the times of plans and solves in results/ag.jsonl, whose plans were made twelve at a time, not run"
    out = [f"2 s for both triangles of a matrix, schemes in the model's order, {how}; the best of all {len(d.schemes)} beside it. Lower / upper.\n",
           "| matrix | rows | tried | model's scheme, ms | found, ms | best of all, ms | cuSPARSE, ms | `auto`, ms |", "|---|---|---|---|---|---|---|---|"]
    for name in NAMED:
        both = [at[name, t] for t in ("lower", "upper") if (name, t) in at]
        if len(both) < 2:
            continue
        results = [(found[name, x["triangle"]]["tries"], found[name, x["triangle"]]["best_ms"]) if found else replay(x, 1) for x in both]
        ms = lambda values: " / ".join(f"{v:.4f}" if v else "-" for v in values)
        case = [x["case"].ms if x["case"] else {} for x in both]
        out.append(f"| {name} | {(both[0]['case'].rows if both[0]['case'] else int(both[0]['features'][0])):,} | {' / '.join(str(n) for n, _ in results)} | {ms(x['learned'] for x in both)} | {ms(b for _, b in results)} | {ms(x['best'] for x in both)} | {ms(c.get('cusparse') for c in case)} | {ms(c.get(x['case'].chosen) if x['case'] else None for c, x in zip(case, both))} |")
    return "\n".join(out) + "\n"


TABLES = {"ag rivals": rivals, "ag spaces": spaces, "ag model": learned, "ag search": search}
