"""How near the search is to what any set without weights can reach under the total penalty.

CIFAR-10 ResNet-20 head, l2 1e-4, n·l2 fixed, no class balance, 90 and 95 % removed. With the curvature H_K of the set that was
found, removing R moves the head by about Δ(R) = (1/k) H_K⁻¹ Σ_R g_i. For every direction u of length 1, ‖Δ(R)‖ ≥ ⟨u, Δ(R)⟩,
and the least ⟨u, Δ(R)⟩ over all sets of that size is the sum of the m smallest ⟨u, (1/k) H_K⁻¹ g_i⟩. So each u proves a lower
bound to first order; it is concave in u and raised by 300 steps of subgradient ascent. `times_below_random` is what was
reached, `most_times_below_random` what the bound allows.
"""

import numpy as np

import leanset
from benchmarks._data import load_examples, planned, prune
from benchmarks._record import Findings, Request, Row, at_least
from leanset._arrays import Matrix, mask_of
from leanset.influence import influence_map

SEED, FRACTIONS, STEPS = 0, (0.9, 0.95), 300


def run(request: Request) -> Findings:
    examples = load_examples(request)
    rows = []
    for fraction in FRACTIONS:
        options = {"penalty": "total", "class_balance": "none", "seed": SEED}
        result = prune(examples, fraction=fraction, minimise="parameters", **options)
        _, task = planned(examples, fraction, seed=SEED, penalty="total")
        removed = mask_of(result.removed, len(examples))
        guide = influence_map(task.head, task.inverses.steering, centred=False, weights=(~removed).astype(np.float64))
        vectors = guide.vectors(np.arange(len(examples))).astype(np.float64)
        rows.append(_row(fraction, result.certificate, vectors, removed))
    claims = [
        at_least(f"{row['fraction']:.0%}: share of what is possible", row["limit"] / row["first_order"], 0.8)
        for row in rows
    ]
    return Findings(rows, [SEED], claims)


def _row(fraction: float, certificate: leanset.Certificate, vectors: Matrix, removed: np.ndarray) -> Row:
    limit, random = _bound(vectors, removed), certificate.random_refit_change_mean
    return {
        "fraction": fraction,
        "random": random,
        "reached": certificate.refit_change,
        "first_order": float(np.linalg.norm(vectors[removed].sum(axis=0))),
        "limit": limit,
        "times_below_random": certificate.below_random,
        "most_times_below_random": random / limit,
    }


def _bound(vectors: Matrix, removed: np.ndarray) -> float:
    """Return the highest lower bound found, from the direction in which the set itself moves the head."""
    count, best = int(removed.sum()), 0.0
    direction = vectors[removed].sum(axis=0)
    direction /= np.linalg.norm(direction)
    for step in range(STEPS):
        along = vectors @ direction
        least = vectors[np.argpartition(along, count)[:count]].sum(axis=0)
        value = float(direction @ least)
        best = max(best, value)
        direction = direction + 0.3 / np.sqrt(step + 1) * (least - value * direction) / np.linalg.norm(least)
        direction /= np.linalg.norm(direction)
    return best
