#!/usr/bin/env python3
"""The learned model of the algorithm `ag`: AG-SpTRSV (ACM TACO 21(4), 2024), Section 4.5.

    ag_train.py    from results/ag.jsonl (bench/ag.cu) writes src/kernels/papers/ag/ag_weights.h and ag_weights_2.h,
                   tests/kernels/papers/ag_cases.h and results/ag_model.json

Needs numpy and scikit-learn; neither the build nor the tests do. The hash of their names splits the matrices 70 to 30,
both triangles of each together. The weights are trained on the 70, and the 30 show how good they are. Cross-validation
inside the 70 chooses the strength of the regularization.
"""

import hashlib
import json
import math
import os
import textwrap

import numpy as np
from sklearn.model_selection import GroupKFold
from sklearn.neural_network import MLPClassifier

from results import ROOT

DATA = os.path.join(ROOT, "results", "ag.jsonl")
LOGARITHMS = [0, 1, 2, 3, 5, 6, 8]  # of Table 3's features, which span orders of magnitude
SATISFACTORY = 0.85
STRENGTHS = [0.01, 0.1, 1.0, 3.0]


def polynomials(features):
    x = np.array(features, dtype=float)
    x[:, LOGARITHMS] = np.log10(1 + x[:, LOGARITHMS])
    products = [x[:, i] * x[:, j] for i in range(x.shape[1]) for j in range(i, x.shape[1])]
    return np.hstack([x, np.array(products).T])


class Model:
    def __init__(self, x, y, strength):
        self.mean, self.deviation = x.mean(axis=0), x.std(axis=0)
        self.deviation[self.deviation == 0] = 1
        self.net = MLPClassifier(
            (32, 32), activation="relu", solver="lbfgs", alpha=strength, max_iter=500, random_state=1
        )
        self.net.fit((x - self.mean) / self.deviation, y)

    def outputs(self, x):
        return self.net.predict_proba((x - self.mean) / self.deviation)


def performance(times, chosen):
    """The performance of the choices relative to the best."""
    return np.array([np.min(t) / t[c] for t, c in zip(times, chosen)])


def summary(share):
    return {
        "hit_rate": float(np.mean(share >= SATISFACTORY)),
        "mape": float(np.mean(1 - share)),
        "regret": float(np.exp(np.mean(-np.log(share)))),
    }


def table(name, values):
    values = [f"{v:.7g}f" if any(c in f"{v:.7g}" for c in ".e") else f"{v:.7g}.f" for v in np.ravel(values)]
    rows = textwrap.fill(", ".join(values) + "};", 119, initial_indent="  ", subsequent_indent="  ")
    return f"static const float {name}[] = {{\n{rows}\n"


def write_weights(name, what, digest, parts):
    guard = "TRSV_" + name.upper().replace(".", "_")
    with open(os.path.join(ROOT, "src", "kernels", "papers", "ag", name), "w") as f:
        f.write(
            f"/*\n   {what}\n   made by bench/ag_train.py from results/ag.jsonl, whose SHA-256 is\n   {digest}.\n*/\n"
            f"#ifndef {guard}\n#define {guard}\n\n"
            + "\n".join(parts)
            + "\n#endif\n"
        )


def main():
    with open(DATA, "rb") as f:
        raw = f.read()
    lines = [json.loads(t) for t in raw.splitlines()]
    lines = [line for line in lines if "features" in line]
    times = np.array([[m if m > 0 else math.inf for m in line["ms"]] for line in lines])
    y = (times.min(axis=1)[:, None] >= SATISFACTORY * times).astype(int)
    x = polynomials([line["features"] for line in lines])
    groups = np.array([line["matrix"] for line in lines])
    order = sorted(set(groups), key=lambda m: hashlib.sha256(m.encode()).hexdigest())
    training = set(order[:round(0.7 * len(order))])
    inside = np.array([g in training for g in groups])

    def folds(strength):
        shares = []
        for fit, rest in GroupKFold(5).split(x[inside], groups=groups[inside]):
            model = Model(x[inside][fit], y[inside][fit], strength)
            shares.append(performance(times[inside][rest], model.outputs(x[inside][rest]).argmax(axis=1)))
        return summary(np.concatenate(shares))["regret"]

    strength = min(STRENGTHS, key=folds)
    model = Model(x[inside], y[inside], strength)
    best = int(np.argmin(np.mean(np.log(times[inside] / times[inside].min(axis=1)[:, None]), axis=0)))
    chosen = model.outputs(x).argmax(axis=1)
    digest = hashlib.sha256(raw).hexdigest()
    result = {
        "data": digest,
        "matrices": len(order),
        "training": sorted(training),
        "strength": strength,
        "test": summary(performance(times[~inside], chosen[~inside])),
        "train": summary(performance(times[inside], chosen[inside])),
        "always": best,
        "test_always": summary(performance(times[~inside], [best] * int((~inside).sum()))),
        "order": {
            f"{line['matrix']} {line['triangle']}": [int(i) for i in (-out).argsort(kind="stable")]
            for line, out in zip(lines, model.outputs(x))
        },
    }
    print(json.dumps({k: result[k] for k in ("strength", "test", "train", "always", "test_always")}, indent=1))
    with open(os.path.join(ROOT, "results", "ag_model.json"), "w") as f:
        f.write(json.dumps(result).replace('], "', '],\n"'))
        f.write("\n")

    net = model.net
    layers = [
        f"/* layer {k + 1}: {w.shape[0]} to {w.shape[1]}, by input */\n"
        + table(f"ag_weights_{k + 1}", w)
        + table(f"ag_bias_{k + 1}", b)
        for k, (w, b) in enumerate(zip(net.coefs_, net.intercepts_))
    ]
    write_weights(
        "ag_weights.h",
        "The weights of ag's learned model: the units of its inputs and its first layer,",
        digest,
        [table("ag_mean", model.mean) + table("ag_deviation", model.deviation), layers[0]],
    )
    write_weights("ag_weights_2.h", "The weights of ag's learned model: its other layers,", digest, layers[1:])
    cases = [i for i in range(len(lines)) if not inside[i]][::7][:8]
    outputs = model.outputs(x[cases])
    with open(os.path.join(ROOT, "tests", "kernels", "ag_cases.h"), "w") as f:
        f.write(
            "/* What ag's learned model makes of some triangles that it was not trained on: features, the best scheme,"
            " its output. Made by bench/ag_train.py. */\n"
        )
        f.write("static const struct {\n  double features[10];\n  int    best;\n  double output;\n} cases[] = {\n")
        for i, out in zip(cases, outputs):
            f.write(
                "  {{"
                + ", ".join(f"{v:.17g}" for v in lines[i]["features"])
                + f"}}, {int(out.argmax())}, {out.max():.6g}}},\n"
            )
        f.write("};\n")


if __name__ == "__main__":
    main()
