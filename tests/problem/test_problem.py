import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leanset import InputError
from leanset.problem import BestSetProblem, Constraints


@st.composite
def rules_and_count(draw):
    n_classes = draw(st.integers(1, 5))
    labels = draw(st.lists(st.integers(0, n_classes - 1), min_size=n_classes, max_size=40))
    labels = np.array([*range(n_classes), *labels])
    pinned = np.array(draw(st.lists(st.booleans(), min_size=len(labels), max_size=len(labels))))
    rules = Constraints(
        labels,
        n_classes,
        pinned,
        proportional=draw(st.booleans()),
        least_kept=draw(st.integers(1, 3)),
    )
    return rules, draw(st.integers(0, rules.most)), draw(st.integers(0, 99))


@given(rules_and_count())
def test_random_removals_keep_every_rule(case):
    rules, count, seed = case
    removed = rules.random_removal(count, np.random.default_rng(seed))
    assert removed.sum() == count
    assert rules.violations(removed) == []
    left = np.bincount(rules.groups[~removed], minlength=rules.n_groups)
    sizes = np.bincount(rules.groups, minlength=rules.n_groups)
    assert (left >= np.minimum(rules.least_kept, sizes)).all()


@given(rules_and_count())
def test_quotas_add_up_and_stay_within_capacity(case):
    rules, count, _ = case
    quotas = rules.quotas(count)
    assert quotas.sum() == count
    assert (quotas <= rules.capacity).all()
    assert (quotas >= 0).all()


@given(st.lists(st.integers(5, 60), min_size=2, max_size=6), st.floats(0.05, 0.7))
def test_quotas_are_proportional_to_within_one(sizes, share):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    rules = Constraints(labels, len(sizes), np.zeros(len(labels), bool), proportional=True)
    count = int(share * len(labels))
    exact = count * np.array(sizes) / len(labels)
    assert (np.abs(rules.quotas(count) - exact) < 1).all()


def test_first_allowed_takes_the_preferred_rows_of_each_class():
    rules = Constraints(np.array([0, 0, 0, 1, 1, 1]), 2, np.zeros(6, bool), proportional=True)
    assert np.flatnonzero(rules.first_allowed(np.array([2, 1, 0, 5, 4, 3]), 2)).tolist() == [2, 5]


def test_violations_are_put_into_words():
    rules = Constraints(np.array([0, 0, 1, 1]), 2, np.array([True, False, False, False]), proportional=True)
    found = rules.violations(np.array([True, True, False, False]))
    assert "1 pinned rows were removed" in found[0]
    assert "group 0 lost 2" in found[1]
    assert "proportion" in found[2]


def test_too_many_is_an_error_that_says_how_many_may_go():
    rules = Constraints(np.array([0, 0, 1, 1]), 2, np.array([True, False, False, False]), proportional=False)
    with pytest.raises(InputError, match=r"3 examples cannot be removed: 1 of 4 are pinned .* at most 2 can be"):
        rules.check(3)


def test_norm_is_the_formula_and_feasibility_counts_classes():
    problem = BestSetProblem(
        np.float32([[1, 0], [0, 2], [3, 3]]),
        np.array([0, 1, 1]),
        np.array([False, True, False]),
        np.array([1.0, 1.0]),
        cells=np.zeros(3, int),
        spare=np.array([0, 5]),
    )
    assert problem.norm(np.array([True, False, True])) == pytest.approx(np.hypot(5, 4))
    assert problem.feasible(np.array([False, False, True]))
    assert not problem.feasible(np.array([True, False, False]))  # class 0 may lose nothing
    assert not problem.feasible(np.array([False, True, True]))  # one too many


@given(st.integers(0, 10**6))
def test_a_set_is_feasible_if_it_removes_as_many_of_each_cell(seed):
    rng, k = np.random.default_rng(seed), 12
    labels, cells, removed, other = rng.integers(0, 2, k), rng.integers(0, 3, k), *(rng.random((2, k)) < 0.5)
    problem = BestSetProblem(rng.normal(size=(k, 2)).astype(np.float32), labels, removed, cells=cells)
    permuted = removed.copy()
    for cell in range(3):
        permuted[cells == cell] = rng.permutation(removed[cells == cell])
    assert problem.feasible(permuted)
    counts = [[int(rows[cells == cell].sum()) for cell in range(3)] for rows in (other, removed)]
    assert problem.feasible(other) == (counts[0] == counts[1])
    assert problem.cell_counts(removed).tolist() == counts[1][: cells.max() + 1]


def test_cells_of_several_classes_also_obey_what_classes_can_spare():
    problem = BestSetProblem(
        np.ones((4, 1), np.float32),
        np.array([0, 1, 0, 1]),
        np.array([True, False, True, False]),
        cells=np.array([0, 0, 1, 1]),
        spare=np.array([0, 1]),
    )
    assert problem.feasible(np.array([False, True, True, False]))
    assert not problem.feasible(np.array([False, True, False, True]))  # class 1 may lose one more only
    assert not problem.feasible(np.array([False, False, True, True]))  # one of each class, but both of one cell


@pytest.mark.parametrize(
    "arguments",
    [
        (np.float32([[np.nan]]), np.array([0]), np.array([True])),
        (np.float32([[1.0]]), np.array([0, 1]), np.array([True])),
        (np.float32([1.0]), np.array([0]), np.array([True])),
        (np.float32([[1.0]]), np.array([0]), np.array([True]), None, np.array([0, 1])),
    ],
)
def test_malformed_problems_are_refused(arguments):
    with pytest.raises(InputError, match=r"^`BestSetProblem"):
        BestSetProblem(*arguments)
