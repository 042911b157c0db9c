#!/usr/bin/env python3
"""The choice of the ordering (src/kernels/ilu/order.c) against the committed results.

fit_order.py            the rule with its constants and with those that fit best; the loss with each family left out of
                        the fit; how far each prediction is off
fit_order.py --check    the exit status is 1 if the constants of the source lose more than those that fit best, by more
                        than two standard errors
fit_order.py --report   the rule on the half of the corpus that is for reporting, too
fit_order.py --factors PROGRAM CORPUS MATRICES   writes results/factors.jsonl by bench/factors.c, from both folders

FITTED are fitted, over a grid, to the generated systems that are for fitting and to the real matrices: least geometric
mean of the time to solution over that of the better ordering, where a system that is not solved counts UNSOLVED. Times
are those of results/{corpus,solutions}.jsonl with the orderings natural and multicolor, and what a look at the other
ordering takes (comparison_ms). The rule is that of the library: order_model.c includes order.c.
Needs gcc, and no packages of Python but for --factors.
"""

import ctypes
import itertools
import json
import math
import os
import re
import subprocess
import sys
import tempfile

from fit import CONSTANTS, KERNELS, ROOT, Statistics, family
from results import mean

FITTED = {
    "order_growth": [round(1.05 + 0.05 * i, 2) for i in range(10)],
    "order_iterations": [30, 40, 50, 60, 75, 100],
}
UNSOLVED = 3
BOUND = 1.15  # losses above it are counted and named
ERRORS = 2  # standard errors that the constants of the source may lose
TRUE = 1e-4  # more than this of b left is no solution
PREDICTED = (
    "natural",
    "natural_setup",
    "estimate",
    "estimate_setup",
    "multicolor",
    "multicolor_setup",
    "rest",
    "trial",
    "growth",
)


def comparison_ms(multicolor, regular, entries, levels):
    """ms of a look at the other ordering: the set-up of auto minus that of the chosen ordering, in
    results/{corpus,solutions}.jsonl; predictions() prints how far off it is."""
    if multicolor:
        return 0.5 + 0.3e-6 * entries + 0.18e-3 * levels
    return 0.25 if regular else 0.7


class Known(ctypes.Structure):
    _fields_ = [
        ("statistics", Statistics * 2),
        ("lower", ctypes.c_long),
        ("upper", ctypes.c_long),
        ("pivots", ctypes.c_int * 2),
        ("fill", ctypes.c_double * 2),
    ]


class Rule:
    """TrsvFactorCreateOrdered() with constants that can be changed."""

    def __init__(self):
        model = os.path.join(ROOT, "bench", "order_model.c")
        files = [os.path.join(folder, n) for folder, _, names in os.walk(KERNELS) for n in names if n.endswith(".c")]
        files = sorted(f for f in files if not f.endswith(os.path.join("ilu", "order.c")))
        flags = ["-std=gnu11", "-O1", "-shared", "-fPIC", "-DTRSV_MODEL_QUALIFIER=", "-I" + KERNELS]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "order.so")
            subprocess.run(["gcc", *flags, model, *files, "-o", path, "-lm"], check=True)
            self.lib = ctypes.CDLL(path)
        self.table = (ctypes.c_double * len(CONSTANTS)).in_dll(self.lib, "TrsvModel")
        self.place = {c[0]: i for i, c in enumerate(CONSTANTS)}
        self.source = {c[0]: float(c[1]) for c in CONSTANTS}

    def set_constants(self, **constants):
        for name, value in constants.items():
            self.table[self.place[name]] = value

    def choose(self, known):
        """1: multicolor, 0: natural; was the other ordering made?; the predictions, in seconds"""
        p = (ctypes.c_double * len(PREDICTED))()
        tried = ctypes.c_int()
        return self.lib.OrderChoose(ctypes.byref(known), p, ctypes.byref(tried)), tried.value, dict(zip(PREDICTED, p))


class System:
    def __init__(self, line, ways):
        """ways: results of natural, multicolor, and auto as it was measured"""
        both = line["natural"], line["multicolor"]
        statistics = [Statistics(*(d[n] for n, _ in Statistics._fields_)) for d in both]
        pair = ctypes.c_int * 2
        self.known = Known(
            (Statistics * 2)(*statistics),
            line["lower"],
            line["upper"],
            pair(*(d["pivots"] for d in both)),
            (ctypes.c_double * 2)(*(math.nan if f is None else f for f in line["fill"])),
        )
        self.name, self.values, self.use = line["matrix"], line["values"], line["use"]
        self.family = self.name.split("-")[0] if self.use != "real" else family(self.name) + self.name
        self.ways, self.chosen = ways, ways[2]["order"].startswith("multicolor")
        self.solved = [w["converged"] and 0 <= w["residual"] <= TRUE for w in ways]
        self.best = min((w["ms"] for w, s in zip(ways[:2], self.solved) if s), default=0)
        self.entries, self.levels = line["lower"] + line["upper"], both[0]["levels"]

    def comparison(self, rule, choice):
        regular = rule.lib.OrderIsRegular(ctypes.byref(self.known))
        return comparison_ms(choice, regular, self.entries, self.levels)

    def loss(self, rule):
        """Time over that of the better ordering; None: not solved."""
        choice, tried, _ = rule.choose(self.known)
        more = self.comparison(rule, choice) if tried else 0
        if self.ways[choice]["reason"] == "DIVERGED_INDEFINITE_PC":
            # the set-up finds a pivot that is not positive, and continues in the natural ordering
            choice, more = 0, more + self.ways[choice]["setup_ms"]
        return self.time(choice, more)

    def time(self, choice, more=0):
        """The same for a way, with `more` ms."""
        return (self.ways[choice]["ms"] + more) / self.best if self.solved[choice] else None


def systems(*wanted):
    ways, found = {}, []
    for name in ("corpus", "solutions"):
        with open(os.path.join(ROOT, "results", name + ".jsonl"), encoding="utf-8") as f:
            for line in map(json.loads, f):
                ways.setdefault((line["matrix"], line["values"]), {})[line["way"]] = line
    with open(os.path.join(ROOT, "results", "factors.jsonl"), encoding="utf-8") as f:
        for line in map(json.loads, f):
            of = ways.get((line["matrix"], line["values"]), {})
            if line["use"] in wanted and {"natural", "multicolor", "auto"} <= set(of):
                found.append(System(line, [of[way] for way in ("natural", "multicolor", "auto")]))
    return [s for s in found if s.best]


def print_losses(title, losses):
    some = [x for x in losses if x]
    above = f"{sum(x > BOUND for x in some)} of {len(losses)} above {BOUND}, {len(losses) - len(some)} not solved"
    print(f"{title}: {mean(some):.4f} of the better ordering, at most {max(some):.2f}, {above}")


def stock_of(rule):
    return tuple(rule.source[name] for name in FITTED)


def table(rule, fitted):
    """values of FITTED -> log of the loss of each system"""
    found = {}
    for values in itertools.chain(itertools.product(*FITTED.values()), [stock_of(rule)]):
        rule.set_constants(**dict(zip(FITTED, values)))
        found[values] = [math.log(s.loss(rule) or UNSOLVED) for s in fitted]
    rule.set_constants(**rule.source)
    return found


def left_out(losses, fitted):
    """The geometric mean where each family's constants are those that fit the others best."""
    total = 0
    for name in {s.family for s in fitted}:
        inside = [i for i, s in enumerate(fitted) if s.family == name]
        outside = [i for i, s in enumerate(fitted) if s.family != name]
        best = min(losses, key=lambda k: sum(losses[k][i] for i in outside))
        total += sum(losses[best][i] for i in inside)
    return math.exp(total / len(fitted))


def standard_errors_above(losses, best, stock, fitted):
    """Standard errors by which the constants of the source lose more than the best; families are independent."""
    families = {}
    for s, a, b in zip(fitted, losses[stock], losses[best]):
        families[s.family] = families.get(s.family, 0) + a - b
    error = math.sqrt(sum(v * v for v in families.values()))
    return sum(families.values()) / error if error else 0


def quartiles(title, values):
    v = sorted(values)
    print(f"  {title}: {v[len(v) // 4]:.2f}, {v[len(v) // 2]:.2f}, {v[3 * len(v) // 4]:.2f} ({len(v)} systems)")


def predictions(rule, fitted):
    """Measured over predicted, where both orderings solve: quartiles."""
    ratios = {
        "set-up, natural, a schedule": [],
        "set-up saved, ms, measured less predicted": [],
        "an iteration, natural": [],
        "an iteration, multicolor": [],
        "growth over G": [],
        "a look at the other ordering": [],
    }
    for s in fitted:
        choice, tried, p = rule.choose(s.known)
        n, m, auto = s.ways
        if tried and choice == s.chosen and s.solved[choice] and s.solved[2]:
            look = auto["setup_ms"] - s.ways[choice]["setup_ms"]
            ratios["a look at the other ordering"].append(look / s.comparison(rule, choice))
        if not all(s.solved[:2]) or n["iterations"] < 5:
            continue
        if n["lower"].startswith("chunk"):
            ratios["set-up, natural, a schedule"].append((n["setup_ms"] - 1) / (1e3 * p["natural_setup"]))
        ratios["set-up saved, ms, measured less predicted"].append(
            n["setup_ms"] - m["setup_ms"] - 1e3 * (p["natural_setup"] - p["multicolor_setup"])
        )
        for way, name in ((n, "natural"), (m, "multicolor")):
            ratios["an iteration, " + name].append(way["solve_ms"] / way["iterations"] / (1e3 * (p[name] + p["rest"])))
        if p["growth"] < 100:
            ratios["growth over G"].append(m["iterations"] / n["iterations"] / p["growth"])
    for title, values in ratios.items():
        quartiles(title, values)


def factors(program, *folders):
    make = os.path.join(ROOT, "bench", "corpus", "make.py")
    listed = subprocess.run([sys.executable, make, "--list"], capture_output=True, text=True, check=True).stdout
    use = dict(line.split() for line in listed.splitlines())
    files = sorted(os.path.join(f, n) for f in folders for n in os.listdir(f) if ".mtx" in n)
    with open(os.path.join(ROOT, "results", "factors.jsonl"), "w", encoding="utf-8") as f:
        for file in files + ["g2d5:1000", "g3d7:128"]:
            half = use.get(os.path.basename(file).split("-")[0], "real")
            command = [program, "-f", file] + (["-values", "own"] if half != "real" else [])
            for line in subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines():
                f.write(re.sub(r"-?\bnan\b", "null", line[:1] + f'"use": "{half}", ' + line[1:]) + "\n")
    return 0


def describe(values, cost):
    return ", ".join(f"{name} {value:g}" for name, value in zip(FITTED, values)) + f": {cost[values]:.4f}"


def main(args):
    if args[:1] == ["--factors"]:
        return factors(*args[1:])
    rule, fitted = Rule(), systems("fit", "real")
    losses = table(rule, fitted)
    cost = {k: math.exp(sum(v) / len(v)) for k, v in losses.items()}
    best = min(cost, key=cost.get)
    stock = stock_of(rule)
    above = standard_errors_above(losses, best, stock, fitted)
    summary = f"{describe(stock, cost)}; least: {describe(best, cost)}, {above:.1f} standard errors less"
    if args == ["--check"]:
        if above > ERRORS:
            print(f"constants.h has {summary}: run bench/fit_order.py")
        return above > ERRORS
    for use in ("fit", "real") + (("report",) if args == ["--report"] else ()):
        print_losses(use, [s.loss(rule) for s in systems(use)])
    families = len({s.family for s in fitted})
    print(f"{summary}; {left_out(losses, fitted):.4f} with each of {families} families left out of the fit")
    same = sum(rule.choose(s.known)[0] == s.chosen for s in fitted)
    print(f"unsolved systems count {UNSOLVED}; the choice is that of auto on the GPU for {same} of {len(fitted)}")
    print("measured over predicted, quartiles:")
    predictions(rule, fitted)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
