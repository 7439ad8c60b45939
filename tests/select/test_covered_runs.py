"""Runs that keep some of every difficulty: the search, its options, and what the certificate says."""

import dataclasses
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import leanset
from leanset import Coverage, InputError
from leanset._arrays import quantile_bins
from leanset._progress import Silent
from leanset._rng import stream
from leanset.cli.app import app
from leanset.data import checked_examples
from leanset.fitting import fitted_task
from leanset.inputs import inputs_from
from leanset.plan import plan_for
from leanset.report import verdict
from leanset.report.page.findings import about_random
from leanset.scores.suspects import confident_disagreement
from leanset.select.coverage import LearningRecord
from tests.select.test_by_score import recorded

CALM = leanset.AdaptiveAnnealing(chains=2, proposals=20_000)


def planned(data, **options):
    """The inputs and the plan of a run with these options."""
    settings = leanset.Settings(**options)
    inputs = inputs_from(data, settings)
    return inputs, plan_for(settings, inputs.outline())


def started(stats, **options):
    """The start that a run with these options has, from the parts that it is documented to be made of."""
    inputs, plan = planned(stats, **options)
    count = plan.budget.size(len(stats.labels))
    record = inputs.recorded
    known = LearningRecord.of(record)
    task, _, _ = fitted_task(inputs, plan, None, Silent())
    suspect = confident_disagreement(task.predicted, stats.labels).mean()
    rng = stream(plan.settings.seed, "start", count)
    return plan.coverage.start(known, plan.constraints, count, rng, suspect)


def described(**options):
    return {"name": "Coverage"} | dataclasses.asdict(Coverage(**options))


@pytest.mark.parametrize("balance", ["proportional", "none", 30])
def test_the_search_exchanges_within_class_stratum_and_weight_only(toy, balance):
    stats = recorded(toy)
    options = {
        "fraction": 0.5,
        "coverage": Coverage(strata=4, bins=2),
        "class_balance": balance,
        "pinned": [0, 1, 2],
        "seed": 7,
    }
    result = leanset.prune(stats, **options, solver=CALM, frontier=False)
    start, cells = started(stats, **options)
    found = np.isin(np.arange(len(start)), result.removed)
    np.testing.assert_array_equal(np.bincount(cells[found]), np.bincount(cells[start]))
    bins = quantile_bins(result.influence_norm, cells, 2)
    np.testing.assert_array_equal(np.bincount(bins[found]), np.bincount(bins[start]))
    assert (found != start).any()
    assert not found[:3].any()
    if balance == "proportional":
        np.testing.assert_array_equal(np.bincount(stats.labels[found]), np.bincount(stats.labels[start]))
    if balance == 30:
        assert (np.bincount(stats.labels[~found]) >= 30).all()


def test_covering_costs_balance_but_leaves_more_of_it_than_chance(toy):
    """Free of the cells, the search has every set that it has within them."""
    stats = recorded(toy)
    covered, free = (
        leanset.prune(stats, fraction=0.4, coverage=coverage, frontier=False).certificate
        for coverage in (Coverage(centre=0.5, spread=10.0, swing=0.0), "none")
    )
    assert free.refit_change <= covered.refit_change < covered.random_refit_change_mean


def settings_of(stats, **options):
    return planned(stats, fraction=0.4, **options)[1]


def test_auto_covers_where_a_training_tells_the_difficulty(toy):
    stats = recorded(toy)
    features, labels, _ = toy
    assert settings_of(stats).coverage == Coverage()
    assert settings_of(stats, method="leanset").coverage == Coverage()
    assert settings_of(stats, coverage="none").coverage is None
    assert settings_of(stats, method="el2n").coverage is None
    assert settings_of(stats, formulation="paper").coverage is None
    assert settings_of(checked_examples(features, labels)).coverage is None


def test_what_cannot_be_covered_is_refused(toy):
    features, labels, _ = toy
    with pytest.raises(
        InputError,
        match=r"`coverage=Coverage\(strata=10, .*\)` needs training dynamics.*not recorded",
    ):
        leanset.prune(features, labels, fraction=0.4, coverage=Coverage())
    for other in ({"method": "el2n"}, {"formulation": "paper"}):
        with pytest.raises(InputError, match="part of leanset's own search"):
            settings_of(recorded(toy), coverage=Coverage(), **other)


@pytest.mark.parametrize("coverage", ["all", None, 3, Coverage])
def test_what_is_no_coverage_is_refused(toy, coverage):
    with pytest.raises(InputError, match=r"`coverage=.*` must be 'auto', 'none' or"):
        settings_of(recorded(toy), coverage=coverage)


def test_a_run_with_another_coverage_is_another_run(toy, tmp_path):
    stats, options = recorded(toy), {"count": 60, "solver": CALM, "frontier": False, "out": tmp_path / "run"}
    first = leanset.prune(stats, **options, coverage=Coverage(strata=4, cut=0.1))
    noted = json.loads((tmp_path / "run" / "settings.json").read_text())["coverage"]
    assert noted == described(strata=4, cut=0.1)
    for other in (Coverage(strata=4), "auto", "none"):
        with pytest.raises(leanset.RunFolderError, match="`coverage`"):
            leanset.prune(stats, **options, coverage=other)
    again = leanset.prune(stats, **options, coverage=Coverage(strata=4, cut=0.1))
    np.testing.assert_array_equal(again.removed, first.removed)


def test_a_run_with_other_dynamics_is_another_run(toy, tmp_path):
    options = {"count": 60, "solver": CALM, "frontier": False, "out": tmp_path / "run"}
    leanset.prune(recorded(toy), **options)
    with pytest.raises(leanset.RunFolderError, match="recorded_digest"):
        leanset.prune(recorded(toy, epochs=11), **options)


def test_the_answer_depends_on_the_seed_and_not_on_the_threads(toy):
    stats, options = recorded(toy), {"count": 60, "coverage": Coverage(strata=4), "solver": CALM, "frontier": False}
    one, two, other = (leanset.prune(stats, **options, seed=seed, threads=k) for seed, k in ((1, 1), (1, 2), (2, 1)))
    np.testing.assert_array_equal(one.removed, two.removed)
    assert one.certificate.refit_change == two.certificate.refit_change
    assert one.removed.tolist() != other.removed.tolist()


def test_the_command_line_covers_or_not(toy, tmp_path):
    recorded(toy).save(tmp_path / "head")

    def called(coverage, code):
        arguments = ("prune", f"head:{tmp_path / 'head'}", "--count", 60, "--coverage", coverage, "--no-frontier")
        arguments = (*arguments, "--proposals", 20_000, "--out", tmp_path / coverage, "--json")
        done = CliRunner().invoke(app, [str(word) for word in arguments], env={"COLUMNS": "200"})
        assert done.exit_code == code, done.output
        return done

    for coverage, noted in (
        ("auto", described()),
        ("none", None),
    ):
        called(coverage, 0)
        assert json.loads((tmp_path / coverage / "settings.json").read_text())["coverage"] == noted
    assert "must be 'auto', 'none'" in called("some", 2).stderr
    assert not (tmp_path / "some").exists()


@pytest.mark.parametrize(("wrong", "told"), [(0.0, False), (0.4, True)])
def test_many_disputed_labels_are_told_of_in_the_certificate(toy, wrong, told):
    features, labels, _ = toy
    rng = np.random.default_rng(0)
    given = np.where(rng.random(len(labels)) < wrong, (labels + 1) % 3, labels)
    probability = np.full((len(labels), 3), 0.05) + 0.85 * np.eye(3)[labels]
    stats = recorded((features, given, None))
    stats = dataclasses.replace(stats, logits=np.log(probability))
    coverage = Coverage(suspects=True)
    notes = leanset.prune(stats, fraction=0.5, coverage=coverage, solver=CALM, frontier=False).certificate.notes
    assert any("labels are disputed" in note for note in notes) == told


@pytest.mark.parametrize(("coverage", "told"), [("auto", True), ("none", False)])
def test_a_set_for_a_network_is_not_judged_by_the_head(toy, coverage, told):
    certificate = leanset.prune(recorded(toy), fraction=0.5, coverage=coverage, solver=CALM, frontier=False).certificate
    assert certificate.for_a_network == told
    worse = dataclasses.replace(
        certificate, loss_above_random_low=0.1, loss_above_random=0.2, validation_loss_gap_high=0.5
    )
    said = verdict(worse)
    assert (said.tone == "bad") != told
    assert ("WORSE" in said.beside) != told
    assert ("a network that is trained anew" in said.beside) == told
    assert (about_random(worse) == []) == told


@pytest.mark.parametrize(
    ("epochs", "removed", "coverage", "told"),
    [(2, 0.5, "auto", True), (3, 0.5, "auto", False), (2, 0.4, "auto", False), (2, 0.5, "none", False)],
)
def test_a_short_record_is_told_of_where_many_examples_go(toy, epochs, removed, coverage, told):
    stats = recorded(toy, epochs=epochs)  # of two runs
    found = leanset.prune(stats, fraction=removed, coverage=coverage, solver=CALM, frontier=False).certificate.findings
    assert ["for 2 epochs after the first" in finding.text for finding in found if finding.code == "LS120"] == [
        True
    ] * told
