import itertools

import numpy as np
import pytest

from leanset import AdaptiveAnnealing, Exhaustive, InputError, LeansetError, Outcome, SimulatedAnnealing
from leanset._threads import working_threads
from leanset.problem import BestSetProblem, LargestSetProblem, Removal
from leanset.solve import Solver, solve
from leanset.solve.driver import no_progress
from tests.problems import PROBLEMS, SOLVERS


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_solvers_reach_the_optimum_of_tiny_problems_and_never_beat_it(problem, solver):
    best, ours = solve(problem, Exhaustive()), solve(problem, solver, seed=1)
    assert best.outcome is Outcome.optimal
    assert problem.feasible(ours.removed)
    assert ours.norm == pytest.approx(problem.norm(ours.removed))
    assert ours.norm == pytest.approx(best.norm, rel=1e-5)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_exhaustive_search_is_the_minimum_over_all_subsets(problem):
    """Enumerate every 0/1 vector, with no cleverness that could share Exhaustive's mistakes."""
    size = len(problem.removed)
    masks = (np.array(bits, dtype=bool) for bits in itertools.product([0, 1], repeat=size))
    best = min(problem.norm(mask) for mask in masks if problem.feasible(mask))
    assert solve(problem, Exhaustive()).norm == pytest.approx(best)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_rotating_the_coordinates_changes_nothing(problem):
    turn, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(problem.vectors.shape[1],) * 2))
    turned = BestSetProblem(
        (problem.vectors @ turn).astype(np.float32),
        problem.groups,
        problem.removed,
        problem.offset @ turn,
        problem.cells,
        problem.spare,
    )
    assert solve(turned, Exhaustive()).norm == pytest.approx(solve(problem, Exhaustive()).norm, rel=1e-4)


@pytest.fixture(scope="module")
def large():
    """Heavy-tailed vectors as real heads have them: 4,000 rows, 60 coordinates, 4 classes, 40 % removed."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(4000, 60)) * np.exp(1.5 * rng.normal(size=(4000, 1)))
    vectors -= vectors.mean(axis=0)
    labels = np.arange(4000) % 4
    removed = np.zeros(4000, dtype=bool)
    removed[rng.permutation(4000)[:1600]] = True
    return BestSetProblem(vectors.astype(np.float32), labels, removed)


def test_same_seed_same_answer_whatever_the_threads(large):
    answers = []
    for threads in (1, 2, 4):
        with working_threads(threads):
            answers.append(solve(large, AdaptiveAnnealing(proposals=200_000), seed=5).removed.tobytes())
    assert len(set(answers)) == 1
    assert solve(large, AdaptiveAnnealing(proposals=200_000), seed=6).removed.tobytes() != answers[0]


def test_annealing_beats_random_by_far_and_the_adaptive_one_beats_the_papers(large):
    rng = np.random.default_rng(1)
    random = np.mean([large.norm(rng.permutation(large.removed)) for _ in range(20)])
    adaptive = np.mean([solve(large, AdaptiveAnnealing(proposals=500_000, chains=1), seed=s).norm for s in range(3)])
    simulated = np.mean([solve(large, SimulatedAnnealing(proposals=500_000), seed=s).norm for s in range(3)])
    assert adaptive < random / 50
    assert adaptive < simulated


def test_more_proposals_find_better_sets(large):
    few, many = (solve(large, AdaptiveAnnealing(proposals=n, chains=1)).norm for n in (10_000, 1_000_000))
    assert many < few


def test_outcomes_tell_a_cut_short_search_from_a_settled_one(large):
    assert solve(large, AdaptiveAnnealing(proposals=20_000)).outcome is Outcome.still_improving
    assert solve(PROBLEMS[0], AdaptiveAnnealing()).outcome is Outcome.settled


def test_a_time_budget_is_kept(large):
    solve(large, AdaptiveAnnealing(proposals=1_000))  # compile first
    selection = solve(large, AdaptiveAnnealing(seconds=0.5))
    assert 0.3 < selection.seconds < 3.0
    assert selection.norm < large.norm(large.removed)


def test_progress_rises_to_one(large):
    seen = []
    solve(large, AdaptiveAnnealing(proposals=300_000, chains=1), progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1.0, abs=0.01)


def test_solvers_with_less_effort_try_less(large):
    whole = solve(large, AdaptiveAnnealing(proposals=400_000))
    part = solve(large, AdaptiveAnnealing(proposals=400_000).with_effort(0.25))
    assert part.proposals == pytest.approx(whole.proposals / 4, rel=0.01)


def test_exhaustive_refuses_large_problems(large):
    with pytest.raises(InputError, match=r"`Exhaustive\(\)` would visit"):
        solve(large, Exhaustive())


def test_the_driver_catches_a_solver_that_cheats():
    class Cheat(Solver):
        def search(self, problem, seed, progress):
            return Removal(np.zeros(len(problem.removed), dtype=bool), Outcome.settled)

    with pytest.raises(LeansetError, match="breaks the problem's constraints"):
        solve(PROBLEMS[0], Cheat())


def test_the_answer_is_never_worse_than_the_start():
    class Worse(Solver):
        def search(self, problem, seed, progress):
            return Removal(np.array([False, True]), Outcome.settled)

    problem = BestSetProblem(np.float32([[1], [9]]), np.zeros(2, int), np.array([True, False]))
    assert solve(problem, Worse()).norm == 1.0


@pytest.mark.parametrize("bound", [0.05, 0.5, 2.0])
def test_growth_stays_within_its_bound_and_finds_the_largest_tiny_set(bound):
    rng = np.random.default_rng(4)
    problem = LargestSetProblem(rng.normal(size=(12, 2)).astype(np.float32), np.arange(12) % 2, bound, np.array([5, 5]))
    masks = (np.array(bits, dtype=bool) for bits in itertools.product([0, 1], repeat=12))
    largest = max(int(mask.sum()) for mask in masks if problem.feasible(mask))
    attempt = SimulatedAnnealing(proposals=200_000).largest(problem, 0, no_progress)
    assert problem.feasible(attempt.removed)
    assert attempt.removed.sum() == largest


def test_growth_says_when_nothing_fits():
    problem = LargestSetProblem(np.float32([[5.0], [7.0]]), np.zeros(2, int), 1.0, np.array([1]))
    assert SimulatedAnnealing(proposals=1_000).largest(problem, 0, no_progress).outcome is Outcome.nothing_fits


@pytest.mark.parametrize(
    "make",
    [
        lambda: AdaptiveAnnealing(proposals=0),
        lambda: AdaptiveAnnealing(seconds=-1),
        lambda: AdaptiveAnnealing(chains=0),
        lambda: SimulatedAnnealing(cold=2.0),
        lambda: SimulatedAnnealing(levels=0),
    ],
)
def test_settings_are_checked_on_construction(make):
    with pytest.raises(InputError, match=r"^`(Adaptive|Simulated)Annealing\("):
        make()
