"""Honest runs of all kinds through `verify`: none may be rejected."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import leanset

KINDS = (
    *(
        "small",
        "default",
        "one",
        "bytes",
        "scales",
        "separable",
        "weights",
        "numbers",
        "labels",
        "no penalty on the bias",
    ),
    *("pinned", "many classes", "method", "paper", "limit", "drop", "constant columns", "imbalanced", "same model"),
    *("no bias", "few of a class", "single", "cg", "sample weights"),
)


def problem(kind, rng):
    """Return features, targets and options of an honest run of some kind."""
    n, d, c = int(rng.integers(30, 400)), int(rng.integers(1, 7)), int(rng.integers(2, 5))
    options = {"fraction": float(rng.uniform(0.1, 0.8)), "seed": int(rng.integers(1000))}
    if kind == "default":
        n, d, c = 1000, 4, 2
    if kind == "small":
        n, c = int(rng.integers(8, 30)), 2
    if kind == "many classes":
        n, c = 300, 30
    labels = np.arange(n) % c
    if kind == "imbalanced":
        labels = (rng.random(n) < 0.05).astype(int)
        labels[:4] = 1, 0, 1, 0
    overlap = 0.05 if kind == "separable" else float(rng.uniform(0.3, 2.0))
    features = np.eye(max(c, 2), d)[labels % max(c, 2)] / overlap + rng.normal(size=(n, d))
    held_out = rng.random(n) < 0.3 if rng.random() < 0.4 and n > 60 else None
    if kind in ("one", "single"):
        options = {"count": 1, "seed": options["seed"]}
    elif kind == "bytes":
        features = np.clip(np.round(128 + 60 * features), 0, 255)
        options |= {} if rng.random() < 0.5 else {"standardize": False, "l2": float(10.0 ** rng.uniform(-4, 0))}
    elif kind == "scales":
        features = features * 10.0 ** rng.choice([-160, -30, -5, 5, 30, 160], size=d)
    elif kind == "separable":
        options |= {"l2": float(10.0 ** rng.uniform(-10, -6))}
    elif kind == "weights":
        options |= {"weights": True}
    elif kind == "same model":
        options = {"same_model": True, "seed": options["seed"]}
    elif kind == "numbers":
        labels = features @ rng.normal(size=d) + rng.normal(size=n)
        labels = labels * 10.0 ** rng.integers(-6, 7)
        options |= {"loss": "squared"}
    elif kind == "labels":
        labels = (features @ rng.normal(size=(d, 3)) + rng.normal(size=(n, 3)) > 0).astype(int)
        options |= {"loss": "sigmoid"}
    elif kind == "no penalty on the bias":
        options |= {"C": float(10.0 ** rng.uniform(-2, 3))}
    elif kind == "no bias":
        options |= {"bias": False, "l2": float(10.0 ** rng.uniform(-5, 0))}
    elif kind == "pinned":
        options |= {"fraction": 0.3, "pinned": rng.choice(n, n // 4, replace=False)}
    elif kind == "method":
        options |= {
            "method": str(rng.choice(["el2n", "random", "k-center", "herding", "influence", "stratified-random"]))
        }
    elif kind == "paper":
        options |= {"formulation": "paper"}
    elif kind == "limit":
        budgets = [{"epsilon": 0.05}, {"relative_epsilon": 0.02}, {"min_agreement": 0.95}]
        options = budgets[rng.integers(3)] | {"seed": options["seed"]}
    elif kind == "drop":
        options |= {"suspects": "drop", "fraction": 0.2}
    elif kind == "constant columns":
        features = np.column_stack([features, np.full(n, 7.0), features[:, 0] * 2])
    elif kind == "few of a class":
        options |= {"class_balance": [1, 2, "none"][rng.integers(3)]}
    elif kind == "sample weights":
        options |= {
            "sample_weight": rng.integers(1, 4, n) * rng.uniform(0.5, 2.0, n),
            "weights": bool(rng.random() < 0.3),
        }
    elif kind == "cg":
        options |= {"inverse": leanset.ConjugateGradients()}
    if held_out is None or kind in ("imbalanced", "many classes", "sample weights", "pinned"):
        return features, labels, options
    return features[~held_out], labels[~held_out], options | {"validation": (features[held_out], labels[held_out])}


def rejected(seed, folder):
    """Make one honest run and return what `verify` rejects of it; None if there is no such run."""
    rng = np.random.default_rng([13, seed])
    kind = KINDS[seed % len(KINDS)]
    features, labels, options = problem(kind, rng)
    out = folder / f"honest-{seed}"
    searches = kind not in ("weights", "same model", "method") and not options.get("weights")
    options |= {"proposals": 3000} if searches else {}  # a poor set is as honest as a good one, and sooner found
    try:
        leanset.prune(features, labels, out=out, progress=False, threads=1, frontier=seed % 5 == 0, **options)
    except (leanset.InputError, leanset.DivergenceError):
        return None  # these data have no answer, and the run says so
    data = {name: options.get(name) for name in ("validation", "sample_weight")}
    checks = leanset.verify(out, features, labels, **data)
    return [f"{seed} ({kind}): {check.name}: {check.detail}" for check in checks if not check.holds], checks


def main(argv):
    parser = argparse.ArgumentParser(prog="python -m tests.faults honest", description=__doc__)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args(argv)
    wrong, refused, silent, began = [], 0, {}, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(given.first, given.first + given.runs):
            try:
                found = rejected(seed, Path(folder))
            except Exception as error:  # of any kind: it is one more thing that went wrong
                found = [f"{seed}: {error!r}"], []
            if found is None:
                refused += 1
                continue
            if found[0]:
                wrong.append(found[0])
                sys.stdout.write("".join(f"{line}\n" for line in found[0]))
                sys.stdout.flush()
            for check in found[1]:
                if not check.checked and check.name in ("refit", "random removals"):
                    silent[check.name] = silent.get(check.name, 0) + 1
    sys.stdout.write(
        f"honest: {given.runs - refused} runs verified ({refused} had no answer and said so), {len(wrong)} rejected; "
        f"not re-measured: {silent or 'none'}; {time.monotonic() - began:.0f} s.\n"
    )
    return int(bool(wrong))
