from dataclasses import replace

import numpy as np
import pytest

import leanset
from leanset.cost import estimation
from leanset.cost.speeds import Line, Speeds, measured_speeds
from leanset.cost.work import Shape, Work
from leanset.head import Sigmoid, Softmax, Squared
from leanset.influence import Cholesky, Kronecker
from leanset.inputs import inputs_from
from leanset.plan import plan_for

rng = np.random.default_rng(0)
LABELS = rng.integers(0, 3, 400)
FEATURES = rng.normal(size=(400, 5)) + np.eye(3, 5)[LABELS]
ONE_EACH = Line(0.0, 1.0)
NOTHING = Speeds(*[Line(0.0, 0.0)] * 4, solve=0.0, invert=0.0, move=0.0, begin=0.0)
PARTS = ("look", "product", "curve", "vector", "solve", "invert", "move", "begin")


def planned(**options):
    settings = leanset.Settings(**({"fraction": 0.5} | options))
    outline = inputs_from(leanset.data.checked_examples(FEATURES, LABELS), settings).outline()
    return plan_for(settings, outline), outline


def work_of(speeds, **options):
    plan, _ = planned(**options)
    return Work(plan, Shape(n=400, width=6, outputs=3, coordinates=12, movable=400, explicit=True), speeds)


def count(part, **options):
    """How often a search for half of the rows does something, if every other part takes no time."""
    value = ONE_EACH if isinstance(getattr(NOTHING, part), Line) else 1.0
    return work_of(replace(NOTHING, **{part: value}), **options).search(1.0, 200)


@pytest.mark.parametrize(
    ("loss", "inverse"),
    [
        (Softmax(3), Cholesky()),
        (Softmax(3), Kronecker(directions=8)),
        (Sigmoid(2), Cholesky()),
        (Squared(2), Cholesky()),
    ],
)
def test_every_part_of_a_run_can_be_timed(loss, inverse):
    found = measured_speeds(loss, 500, 6, inverse, inverse.vector_length(loss, 6), 500, 2**24)
    for part in ("look", "product", "curve", "vector"):
        line = getattr(found, part)
        assert line.call + 500 * line.row > 0
    assert found.solve > 0
    assert found.move > 0
    without = measured_speeds(loss, 500, 6, inverse, inverse.vector_length(loss, 6), 0, 2**24)
    assert (without.move, without.begin) == (0.0, 0.0)


def test_a_line_goes_through_both_timings_and_knows_no_negative_time():
    line = Line.through((100, 2.0), (300, 5.0))
    assert [line.call + line.row * rows for rows in (100, 300)] == pytest.approx([2.0, 5.0])
    slower = Line.through((100, 3.0), (300, 2.0))  # noise
    assert (slower.call, slower.row) == (2.0, 0.0)
    assert Line.through((50, 1.0), (50, 1.0)) == Line(0.0, 0.02)


def test_the_exchanges_are_those_of_the_solver():
    solver = leanset.AdaptiveAnnealing(proposals=80_000, chains=1)
    assert 0.5 * 80_000 <= count("move", solver=solver) <= 80_000
    assert count("move", solver=replace(solver, proposals=160_000)) == pytest.approx(2 * count("move", solver=solver))
    assert count("move", method="el2n") == count("begin", method="el2n") == 0


def test_a_score_is_measured_and_nothing_else():
    """One refit and one Newton step on the kept rows, and no vectors."""
    work = work_of(replace(NOTHING, product=ONE_EACH), method="el2n")
    assert work.search(1.0, 200) == pytest.approx(work.refit(200) + work.refit(200, 0.6))
    assert count("vector", method="el2n") == 0


@pytest.mark.parametrize("part", PARTS)
def test_a_search_with_weights_does_at_least_what_a_search_without_does_unless_weights_are_exact(part):
    few = {"fraction": 0.5, "weights": True, "minimise": "loss"}
    work = work_of(replace(NOTHING, **{part: ONE_EACH if part in PARTS[:4] else 1.0}), **few)
    plain = replace(work, plan=planned(minimise="loss")[0])
    kept = work.shape.coordinates
    assert work.search(1.0, 400 - kept) >= plain.search(1.0, 400 - kept)


def test_the_stages_are_the_parts_of_a_run(monkeypatch):
    monkeypatch.setattr(estimation, "measured_speeds", lambda *shape: replace(NOTHING, look=ONE_EACH))
    plan, outline = planned(l2=0.1)
    without = dict(estimation.estimate_plan(planned(l2=0.1, frontier=False)[0], outline).stages)
    whole = dict(estimation.estimate_plan(plan, outline).stages)
    assert whole == without | {"frontier": whole["frontier"]}
    chosen = dict(estimation.estimate_plan(planned()[0], outline).stages)
    assert chosen == whole | {"choosing l2": chosen["choosing l2"]}
    more = dict(estimation.estimate_plan(planned(l2=0.1, random_draws=11)[0], outline).stages)
    assert more["certifying"] == pytest.approx(2 * whole["certifying"])  # 11 + 1 in place of 5 + 1
    ignored = dict(estimation.estimate_plan(planned(l2=0.1, suspects="ignore")[0], outline).stages)
    assert set(whole) - set(ignored) == {"looking for wrong labels"}
