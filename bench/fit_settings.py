#!/usr/bin/env python3
"""The choice of the settings of `chunk` (src/kernels/solve/schedule/chunk_settings.c) against the committed results.

fit_settings.py            the loss with the constants of the source and with those that fit best; with each family of
                           matrices left out of the fit; with each constant a fifth smaller and larger
fit_settings.py --check    the exit status is 1 if the constants of the source lose more than those that fit best, by
                           more than two standard errors
fit_settings.py --report   the loss on the half of the corpus that is for reporting, too

The loss of a triangle is the time with its settings over the shortest time with any settings of `chunk`, without
inverted blocks. FITTED are fitted, over a grid, to results/{solve,families,large}.jsonl and to the half of
results/corpus_solves.jsonl that is for fitting: least geometric mean of the loss. A triangle of the corpus counts if
`auto` chose `chunk`. If no run has measured the settings that rank best, the next that were measured count; the number
of such triangles is printed, and of those of which none were measured, which do not count. Values of FITTED with which
there are any of these are not tried. Needs gcc.
"""

import ctypes
import itertools
import json
import math
import os
import re
import sys

from fit import CONSTANTS, PRECISIONS, ROOT, Settings, family, kind, library, read_statistics, settings, source
from fit_order import ERRORS, left_out, standard_errors_above
from results import mean
from selections import WORST, read_uses

FITTED = {
    "settings_spread": [round(0.6 + 0.04 * i, 2) for i in range(12)],
    "settings_not_planes": [1, 1.15, 1.3, 1.5, 2],
    "settings_grid_sums": [1, 1.1, 1.2, 1.3, 1.4],
}
FILES = ("solve", "families", "large", "corpus_solves")
CHOICES = int(re.search(r"CHUNK_CHOICES = (\d+)", source("solve/schedule/schedule.h")).group(1))
MULTIPROCESSORS, SHARED = 132, 227 * 1024  # of an H200
DOUBLE = PRECISIONS.index("double")


class Limits(ctypes.Structure):
    _fields_ = [("clusters", ctypes.c_int), ("shared_bytes", ctypes.c_size_t)]


class Triangle:
    def __init__(self, matrix, statistics, source):
        self.matrix, self.statistics, self.source = matrix, statistics, source
        self.family, self.measured, self.chosen = family(matrix), {}, None

    def choose(self, lib):
        """ms with the best ranked settings that were measured; are they the best ranked of all?"""
        choice, time = (Settings * CHOICES)(), (ctypes.c_double * CHOICES)()
        count = lib.TrsvChunkSettingsRank(
            ctypes.byref(self.statistics), MULTIPROCESSORS, Limits(1, SHARED), DOUBLE, choice, time
        )
        for i in range(count):
            if key_of(choice[i]) in self.measured:
                return self.measured[key_of(choice[i])], i == 0
        return None, False

    def loss(self, lib):
        """The logarithm; None: no ranked settings were measured."""
        ms = self.choose(lib)[0]
        return math.log(ms / min(self.measured.values())) if ms else None


def key_of(s):
    return s.chunks, s.length, s.width, s.cluster


def triangles():
    """Those with at least two settings, by file; those of the corpus by half."""
    known, halves = read_statistics(), read_uses()
    found = {}
    for name in FILES:
        with open(os.path.join(ROOT, "results", name + ".jsonl"), encoding="utf-8") as f:
            for line in map(json.loads, f):
                key = line["matrix"], line["triangle"]
                if not line["ok"] or line["values"] != "seeded" or line["precision"] != "double" or key not in known:
                    continue
                base = line["matrix"].removeprefix("multicolor:").split("-")[0]
                source = "corpus, " + halves[base] if name == "corpus_solves" else name
                t = found.setdefault((source, *key), Triangle(line["matrix"], known[key], source))
                if line["selected"]:
                    t.chosen = line["algorithm"]
                s = settings(line["setting"])
                ranked = re.search(r"\b(S|stages=)8\b", line["setting"]) and s.import_lifetime == -1
                if kind(line) == "chunk" and line["ms"] > 0 and ranked:
                    t.measured[key_of(s)] = min(line["ms"], t.measured.get(key_of(s), math.inf))
    some = [t for t in found.values() if len(t.measured) > 1]
    return [t for t in some if not t.source.startswith("corpus") or t.chosen == "chunk"]


def print_loss(title, lib, some):
    losses = [math.exp(x) for x in (t.loss(lib) for t in some) if x is not None]
    passed = sum(not t.choose(lib)[1] for t in some)
    print(f"{title}: {mean(losses):.4f} of the best settings, at most {max(losses):.2f}, "
          f"{sum(x > WORST for x in losses)} of {len(losses)} above {WORST}; of {passed} the best ranked settings were "
          f"not measured, of {len(some) - len(losses)} none")


def print_sensitivity(lib, table, place, fitted):
    print("a fifth smaller, a fifth larger (triangles of which no ranked settings were measured, left out):")
    for name, value, _, _ in CONSTANTS:
        if not name.startswith("settings_"):
            continue
        both = []
        for factor in (0.8, 1.2):
            table[place[name]] = factor * float(value)
            losses = [x for x in (t.loss(lib) for t in fitted) if x is not None]
            both.append(f"{math.exp(sum(losses) / len(losses)):.4f} ({len(fitted) - len(losses)})")
        table[place[name]] = float(value)
        print(f"  {name:28s} " + " ".join(both))


def main(args):
    lib, table = library()
    place = {c[0]: i for i, c in enumerate(CONSTANTS)}
    every = triangles()
    fitted = [t for t in every if t.source != "corpus, report"]
    stock, losses = tuple(table[place[name]] for name in FITTED), {}
    for values in itertools.chain(itertools.product(*FITTED.values()), [stock]):
        for name, value in zip(FITTED, values):
            table[place[name]] = value
        some = [t.loss(lib) for t in fitted]
        if None not in some:
            losses[values] = some
    cost = {values: math.exp(sum(x) / len(x)) for values, x in losses.items()}
    best = min(cost, key=lambda values: (cost[values], values != stock))
    above = standard_errors_above(losses, best, stock, fitted)
    describe = lambda values: ", ".join(f"{n} {v:g}" for n, v in zip(FITTED, values)) + f": {cost[values]:.4f}"
    summary = f"{describe(stock)}; least: {describe(best)}, {above:.1f} standard errors less"
    if args == ["--check"]:
        if above > ERRORS:
            print(f"constants.h has {summary}: run bench/fit_settings.py")
        return above > ERRORS
    for source in sorted({t.source for t in (every if args == ["--report"] else fitted)}):
        print_loss(source, lib, [t for t in every if t.source == source])
    families = len({t.family for t in fitted})
    print(f"{summary}; {left_out(losses, fitted):.4f} with each of {families} families left out of the fit")
    print_sensitivity(lib, table, place, fitted)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
