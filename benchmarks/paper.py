"""The paper's formulation, as published, beside leanset's and the usual rules.

Problem (b), 40 % and 70 % removed: sets from `formulation="paper"` (uncentred influences, full Hessian, the paper's
annealing, no class balance), `formulation="newton"` (class balance as by default, and without it, so that balance is
not what makes the difference), random sets with equal class shares (mean of five), EL2N with the easiest removed
(smallest ‖p − y‖ under the fitted head) and the smallest influence norms removed; leanset's also with penalty="total".
Each set is judged the same way, under both penalties: n·l2 left alone (total) and l2 left alone (mean):

  paper_predicts     ‖(1/n) H⁻¹ Σ g_i‖, what the paper minimises; the right prediction under the total penalty
  centred_predicts   the same with g_i + l2·θ̂; the right one under the mean penalty
  refit_total        measured: the head refitted to its minimum on the kept rows, n·l2 left alone
  refit_mean         measured: the same, l2 left alone
  gap_total          rise of the validation loss under the first refit
  gap_mean           rise of the validation loss under the second

Problem (a), ε = 0.5: the largest set either formulation finds under either penalty, what it promises (the paper its
influence norm, leanset its bound) and what a refit measures.
"""

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from benchmarks._data import load_examples, planned, prune
from benchmarks._record import Claim, Findings, Request, Row, at_least, at_most
from benchmarks._show import markdown
from leanset._arrays import Mask, mask_of
from leanset._threads import working_threads
from leanset.certify import quality_on
from leanset.data import Examples
from leanset.head import PENALTIES, refit
from leanset.select import Task, strategy_named

FRACTIONS = (0.4, 0.7)
EPSILON = 0.5
SEED = 0
DRAWS = 5
PAPERS, OURS, OURS_UNBALANCED, RANDOM = "paper", "newton", "newton, no class balance", "random"
OURS_TOTAL, OURS_TOTAL_UNBALANCED = "newton, total penalty", "newton, total penalty, no class balance"


def run(request: Request) -> Findings:
    examples = load_examples(request)
    with working_threads(None):
        _, task = planned(examples, FRACTIONS[0], seed=SEED)
        rows = [row for fraction in FRACTIONS for row in _size_rows(examples, task, fraction)]
    rows += [_bound_row(examples, formulation, penalty) for formulation in (PAPERS, OURS) for penalty in PENALTIES]
    return Findings(rows, [SEED], _claims(rows), {"paper.md": _report(rows).encode()})


def _claims(rows: list[Row]) -> list[Claim]:
    claims = []
    for fraction in FRACTIONS:
        by_rule = {row["rule"]: row for row in rows if row.get("fraction") == fraction}
        papers = by_rule[PAPERS]
        kept, broken = (papers[key] / papers["paper_predicts"] for key in ("refit_total", "refit_mean"))
        claims.append(
            at_most(f"{fraction:.0%}, total penalty: the paper's set moves the head as predicted, times", kept, 1.2)
        )
        claims.append(
            at_least(f"{fraction:.0%}, mean penalty: it moves the head more than predicted, times", broken, 1.0)
        )
        for penalty, ours in (("total", OURS_TOTAL_UNBALANCED), ("mean", OURS_UNBALANCED)):
            better = papers[f"refit_{penalty}"] / by_rule[ours][f"refit_{penalty}"]
            claims.append(
                at_least(f"{fraction:.0%}, {penalty} penalty: and more than leanset's set, times", better, 1.0)
            )
    for row in rows:
        if row.get("formulation") == OURS:
            name = f"problem (a), ε = {EPSILON}, {row['penalty']} penalty: leanset's measured change"
            claims.append(at_most(name, row["measured"], EPSILON))
    return claims


def _size_rows(examples: Examples, task: Task, fraction: float) -> Iterator[Row]:
    for rule, options in (
        (PAPERS, {"formulation": "paper"}),
        (OURS, {}),
        (OURS_UNBALANCED, {"class_balance": "none"}),
        (OURS_TOTAL, {"penalty": "total"}),
        (OURS_TOTAL_UNBALANCED, {"penalty": "total", "class_balance": "none"}),
    ):
        began = time.perf_counter()
        result = prune(examples, fraction=fraction, seed=SEED, **options)
        seconds = time.perf_counter() - began
        yield _row(fraction, rule, _judged(task, mask_of(result.removed, len(examples)))) | {"seconds": seconds}
    for rule, masks in _baselines(task, round(fraction * len(examples))).items():
        judged = [_judged(task, mask) for mask in masks]
        yield _row(fraction, rule, {key: float(np.mean([each[key] for each in judged])) for key in judged[0]})


def _row(fraction: float, rule: str, judged: dict[str, float]) -> Row:
    return {"part": "problem (b): the size is given", "fraction": fraction, "rule": rule, **judged}


def _baselines(task: Task, count: int) -> dict[str, list[Mask]]:
    rng = np.random.default_rng(SEED)
    difficulty = np.linalg.norm(task.head.residual, axis=1)
    return {
        RANDOM: [task.constraints.random_removal(count, rng) for _ in range(DRAWS)],
        "EL2N, easiest removed": [_smallest(difficulty, count)],
        "influence norm, smallest removed": [_smallest(strategy_named(PAPERS, None).begin(task).norms, count)],
    }


def _smallest(scores: np.ndarray, count: int) -> Mask:
    return mask_of(np.argsort(scores, kind="stable")[:count], len(scores))


def _judged(task: Task, removed: Mask) -> dict[str, float]:
    gone, kept = removed.astype(np.float64), (~removed).astype(np.float64)
    head, inverses = task.head, task.inverses
    assert task.validation is not None
    judged = {
        "paper_predicts": _length(inverses.influence_of_sum(head, gone, centred=False).solution),
        "centred_predicts": _length(inverses.influence_of_sum(head, gone, centred=True).solution),
    }
    for name in ("total", "mean"):
        after = refit(replace(head, penalty=PENALTIES[name]), kept, inverses.precondition)
        judged[f"refit_{name}"] = after.change
        judged[f"gap_{name}"] = quality_on(task.validation, head.theta, after.theta).loss_gap.mean
    return judged


def _length(stack: np.ndarray) -> float:
    return float(np.linalg.norm(stack))


def _bound_row(examples: Examples, formulation: str, penalty: str) -> Row:
    began = time.perf_counter()
    certificate = prune(examples, epsilon=EPSILON, formulation=formulation, penalty=penalty, seed=SEED).certificate
    return {
        "part": f"problem (a): ε = {EPSILON} is given",
        "formulation": formulation,
        "penalty": penalty,
        "removed": certificate.removed,
        "share": certificate.removed / certificate.n,
        "promised": certificate.influence_change if formulation == PAPERS else EPSILON,
        "measured": certificate.refit_change,
        "loss_gap": certificate.validation_loss_gap,
        "seconds": time.perf_counter() - began,
    }


def _report(rows: list[Row]) -> str:
    parts = dict.fromkeys(row["part"] for row in rows)
    tables = (f"## {part.capitalize()}\n\n{markdown([row for row in rows if row['part'] == part])}" for part in parts)
    legend = (__doc__ or "").strip().partition("\n")
    return f"# {legend[0]}\n{legend[2]}\n\n" + "\n".join(tables)
