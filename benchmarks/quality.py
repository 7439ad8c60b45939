"""How much better than random the sets are that the search finds.

Part "norm": 40 % removed, class by class in proportion. The quantity that the search sees, the centred influence norm
‖(1/n) H⁻¹ Σ (g_i + l2·θ̂)‖ under the Hessian of all rows, after at most ten seconds of `solve`, against the mean of 20 random
sets with the same class counts. Three solvers: leanset's own; the paper's annealing on the very same problem (the
16,384 rows that leanset lets move); and the paper's annealing with every row free to move. Each starts from the same
random set and is told to stop after nine seconds, since it looks at the clock only between slices of its work. Only
`solve` is timed, after one short call that compiles the kernels. The norm is recomputed in float64 from the rows'
gradients, not taken from the solver.

Part "refit": `leanset.prune` at 40, 70 and 90 % with default settings; the measured change of the refitted head against
the mean of five random removals with the same class counts, Newton step, validation-loss gap, and wall seconds of the
whole call.

Three seeds each; a claim speaks of the worst seed.
"""

import time
from dataclasses import replace

import numpy as np

from benchmarks._data import load_examples, planned, prune
from benchmarks._record import Claim, Findings, Request, Row, at_least, at_most
from leanset import AdaptiveAnnealing, SimulatedAnnealing
from leanset._arrays import Mask
from leanset._threads import working_threads
from leanset.data import Examples
from leanset.problem import BestSetProblem
from leanset.select import Task
from leanset.solve import Solver, solve

SEEDS = (0, 1, 2)
NORM_FRACTION, NORM_TARGET, NORM_DRAWS = 0.4, 16.0, 20
SECONDS_TOLD, SECONDS_TARGET = 9.0, 10.0
REFIT_TARGETS = {0.4: 10.0, 0.7: 5.0, 0.9: 5.0}
OURS, PAPERS = "adaptive", "simulated"


def run(request: Request) -> Findings:
    examples, seeds = load_examples(request), SEEDS[:1] if request.small else SEEDS
    with working_threads(None):
        norms = _norm_rows(examples, seeds, 0.5 if request.small else SECONDS_TOLD)
    refits = [_refit_row(examples, fraction, seed) for fraction in REFIT_TARGETS for seed in seeds]
    return Findings(norms + refits, list(seeds), _claims(norms, refits))


def _claims(norms: list[Row], refits: list[Row]) -> list[Claim]:
    ours = [row for row in norms if row["solver"] == OURS]
    claims = [
        at_least("40% removed: norm below random's mean, times", _least(ours), NORM_TARGET),
        at_most("40% removed: seconds of solving", max(row["seconds"] for row in ours), SECONDS_TARGET),
    ]
    for fraction, target in REFIT_TARGETS.items():
        worst = _least([row for row in refits if row["fraction"] == fraction])
        claims.append(at_least(f"{fraction:.0%} removed: measured change below random's, times", worst, target))
    return claims


def _least(rows: list[Row]) -> float:
    return float(min(row["times_below_random"] for row in rows))


def _norm_rows(examples: Examples, seeds: tuple[int, ...], seconds: float) -> list[Row]:
    rows = []
    plan, fitted = planned(examples, NORM_FRACTION, seed=seeds[0])
    count = plan.budget.size(len(examples))
    for seed in seeds:
        task = replace(fitted, seed=seed)  # neither the head nor the constraints depend on the seed
        random = float(np.mean(_random_norms(task, count)))
        search = plan.strategy.begin(task)
        start = search.start(count)
        total = search.influence.total(start.astype(np.float64))
        contests = (
            (OURS, AdaptiveAnnealing(seconds=seconds), search.movable),
            (PAPERS, SimulatedAnnealing(seconds=seconds), search.movable),
            (f"{PAPERS}, all rows", SimulatedAnnealing(seconds=seconds), task.constraints.free),
        )
        for name, solver, movable in contests:
            problem = search.problem(search.influence, movable, start, total)
            rows.append(_contest(task, problem, name, solver, movable, start, random))
    return rows


def _random_norms(task: Task, count: int) -> list[float]:
    rng = np.random.default_rng(task.seed)
    return [_norm(task, task.constraints.random_removal(count, rng)) for _ in range(NORM_DRAWS)]


def _norm(task: Task, removed: Mask) -> float:
    return float(np.linalg.norm(task.inverses.influence_of_sum(task.head, removed.astype(np.float64)).solution))


def _contest(
    task: Task,
    problem: BestSetProblem,
    name: str,
    solver: Solver,
    movable: np.ndarray,
    start: Mask,
    random: float,
) -> Row:
    solve(problem, SimulatedAnnealing(proposals=1000))  # compiles
    began = time.perf_counter()
    found = solve(problem, solver, seed=task.seed)
    seconds = time.perf_counter() - began
    removed = start.copy()
    removed[movable] = found.removed
    norm = _norm(task, removed)
    return {
        "part": "norm",
        "solver": name,
        "movable": len(movable),
        "seed": task.seed,
        "norm": norm,
        "random_mean": random,
        "times_below_random": random / norm,
        "proposals": found.proposals,
        "seconds": seconds,
    }


def _refit_row(examples: Examples, fraction: float, seed: int) -> Row:
    began = time.perf_counter()
    certificate = prune(examples, fraction=fraction, seed=seed).certificate
    return {
        "part": "refit",
        "fraction": fraction,
        "seed": seed,
        "refit_change": certificate.refit_change,
        "random_mean": certificate.random_refit_change_mean,
        "random_sd": certificate.random_refit_change_sd,
        "times_below_random": certificate.below_random,
        "newton_change": certificate.newton_change,
        "loss_gap": certificate.validation_loss_gap,
        "seconds": time.perf_counter() - began,
    }
