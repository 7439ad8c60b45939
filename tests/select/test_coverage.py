"""Sets that keep some of every difficulty, and the search among them."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
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
from leanset.problem import Constraints
from leanset.report import verdict
from leanset.report.page.findings import about_random
from leanset.scores import AUM, DynUnc, kept_shares, share_wrong
from leanset.scores.suspects import confident_disagreement
from leanset.select.coverage import LearningRecord
from tests.problem.test_problem import rules_and_count
from tests.scores.problems import make_evidence
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


@given(rules_and_count(), st.integers(1, 6), st.sampled_from([0.0, 0.3]))
def test_a_start_keeps_every_rule(case, strata, cut):
    rules, count, seed = case
    rng = np.random.default_rng(seed)
    difficulty = rng.integers(0, 4, len(rules.groups)).astype(np.float64)
    record = LearningRecord(difficulty, rng.random(len(difficulty)), 0.2, 9)
    removed, cells = Coverage(strata=strata, cut=cut).start(record, rules, count, rng)
    assert removed.sum() == count
    assert rules.violations(removed) == []  # pinned rows, least kept, and shares of the classes
    assert cells.shape == rules.groups.shape
    if rules.proportional:
        gone = np.bincount(rules.groups[removed], minlength=rules.n_groups)
        assert gone.tolist() == rules.quotas(count).tolist()
        for cell in np.unique(cells[rules.free]):
            assert len(set(rules.groups[rules.free[cells[rules.free] == cell]])) == 1


@given(st.integers(0, 99), st.integers(0, 100), st.sampled_from([0.0, 0.2]), st.sampled_from([0.0, 3.0]))
def test_each_class_keeps_what_the_formula_says(seed, percent, cut, power):
    """Of any stretch of difficulties as many as the probabilities add up to, rounded up or down."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat([0, 1, 2], [40, 20, 8]))
    rules = Constraints(labels, 3, np.zeros(68, bool), proportional=True)
    count = percent * rules.most // 100
    difficulty, swing = rng.normal(size=68), rng.uniform(0.1, 1, 68)
    coverage = Coverage(centre=0.3, spread=0.5, swing=power, cut=cut)
    record = LearningRecord(difficulty, swing, 0.2, 9)
    removed, _ = coverage.start(record, rules, count, rng)
    told = coverage.probabilities(record, rules, count, rng)
    for c, quota in enumerate(rules.quotas(count)):
        members = np.flatnonzero(labels == c)[np.argsort(difficulty[labels == c])]
        rest = members[: len(members) - min(quota, int(cut * len(members) + 1e-9))]
        assert removed[members[len(rest) :]].all()
        u = (np.arange(len(rest)) + 0.5) / len(rest)
        likely = kept_shares(np.log(np.exp(-(((u - 0.3) / 0.5) ** 2) / 2) * swing[rest] ** power), len(members) - quota)
        np.testing.assert_allclose(told[members], np.concatenate([likely, np.zeros(len(members) - len(rest))]))
        assert (np.abs(np.cumsum(~removed[rest]) - np.cumsum(likely)) < 1 + 1e-6).all()


def of_thousand(swing=1.0, wrong=0.2, later_epochs=9):
    """A record of a thousand examples, the easiest first."""
    return LearningRecord(np.arange(1000.0), np.broadcast_to(swing, 1000), wrong, later_epochs)


@pytest.mark.parametrize(("epochs", "runs"), [(1, 1), (2, 5), (5, 2), (12, 1)])
def test_a_record_is_what_the_scores_say_and_each_run_has_a_first_epoch(epochs, runs):
    evidence = make_evidence(3, epochs=epochs, runs=1)
    evidence = dataclasses.replace(evidence, dynamics=evidence.dynamics * runs)
    record = LearningRecord.of(evidence)
    np.testing.assert_array_equal(record.difficulty, AUM().difficulty(evidence))
    np.testing.assert_array_equal(record.swing, DynUnc().scores(evidence))
    assert (record.wrong, record.later_epochs) == (share_wrong(evidence), runs * (epochs - 1))


@pytest.mark.parametrize("proportional", [True, False])
def test_what_is_pinned_stays_for_certain_and_as_many_stay_as_are_asked_for(proportional):
    groups = np.arange(1000) % 2
    pinned = np.arange(1000) % 7 == 0
    rules = Constraints(groups, 2, pinned, proportional=proportional)
    likely = Coverage().probabilities(of_thousand(), rules, 600, np.random.default_rng(0))
    assert (likely[pinned] == 1).all()
    assert likely.sum() == pytest.approx(400)
    assert ((likely >= 0) & (likely <= 1)).all()


def mean_kept(share, wrong):
    """The mean place of what stays by the rule, from 0 for the easiest of a class to 1 for the hardest."""
    rules = Constraints(np.zeros(1000, int), 1, np.zeros(1000, bool), proportional=True)
    rng = np.random.default_rng(0)
    removed, _ = Coverage().start(of_thousand(wrong=wrong), rules, round(1000 * share), rng)
    return np.flatnonzero(~removed).mean() / 999


@pytest.mark.parametrize(
    ("share", "wrong", "harder"),
    [
        (0.2, 0.18, True),
        (0.4, 0.18, True),
        (0.8, 0.18, True),
        (0.9, 0.18, False),
        (0.95, 0.18, False),
        (0.8, 0.4, False),  # a network that learns less, or wrong labels
        (0.95, 0.0, True),  # nothing was ever wrong
    ],
)
def test_easy_ones_go_while_there_are_enough_and_hard_ones_when_there_are_few(share, wrong, harder):
    assert (mean_kept(share, wrong) > 0.5) == harder


@given(st.floats(0.05, 0.9), st.floats(1.0, 4.0), st.floats(0.02, 0.2))
def test_as_much_room_gives_the_same_weights_and_more_room_harder_examples(removed, times, wrong):
    """Half as many of data on which half as many answers are wrong are as much room."""
    swing, rows = np.random.default_rng(0).uniform(0.1, 1, 1000), np.arange(50)
    left = (1 - removed) / times
    weights = Coverage().log_weights(of_thousand(swing, wrong), rows, removed)
    fewer = Coverage().log_weights(of_thousand(swing, wrong / times), rows, 1 - left)
    np.testing.assert_allclose(fewer, weights, atol=1e-9)
    assert mean_kept(removed, wrong) >= mean_kept(removed, wrong * times) - 0.01


@pytest.mark.parametrize(("share", "times"), [(0.3, 1.2), (0.8, 2), (0.95, 2)])
def test_what_swings_stays(share, times):
    rules = Constraints(np.zeros(1000, int), 1, np.zeros(1000, bool), proportional=True)
    swing = np.tile([0.1, 0.3], 500)
    removed, _ = Coverage().start(of_thousand(swing, 0.18), rules, round(1000 * share), np.random.default_rng(0))
    assert (~removed)[1::2].sum() > times * (~removed)[::2].sum()


@given(st.integers(0, 30), st.floats(0.2, 0.95))
def test_swings_that_few_epochs_saw_count_less(later, removed):
    """An example that swings e times as much is e^power times as likely; the power grows with the later epochs, up to nine."""
    swing, rows = np.exp(np.arange(1000.0) / 1000), np.arange(1000)
    flat = Coverage(swing=0.0).log_weights(of_thousand(swing), rows, removed)
    sure = Coverage().log_weights(of_thousand(swing), rows, removed) - flat
    told = Coverage().log_weights(of_thousand(swing, later_epochs=later), rows, removed) - flat
    np.testing.assert_allclose(told, sure * min(later, 9) / 9, atol=1e-9)
    own = Coverage(swing=3.0).log_weights(of_thousand(swing, later_epochs=later), rows, removed) - flat
    np.testing.assert_allclose(own, 3 * rows / 1000, atol=1e-9)


@pytest.mark.parametrize(("suspect", "cut"), [(0.0, 0.0), (0.15, 0.0), (0.25, 0.1), (0.6, 0.4)])
def test_many_suspect_labels_cut_more_if_wished_but_not_more_than_goes(suspect, cut):
    rules = Constraints(np.zeros(1000, int), 1, np.zeros(1000, bool), proportional=True)
    likely = Coverage(centre=2.0, suspects=True)  # the hardest would stay
    removed, _ = likely.start(of_thousand(), rules, 400, np.random.default_rng(0), suspect)
    assert removed[1000 - round(1000 * cut) :].all()
    assert not removed[999 - round(1000 * cut)]
    unasked = Coverage(centre=2.0)
    removed, _ = unasked.start(of_thousand(), rules, 400, np.random.default_rng(0), suspect)
    assert not removed[999]


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"strata": 0}, r"`Coverage\(strata=0\)`"),
        ({"strata": True}, r"`Coverage\(strata=True\)`"),
        ({"strata": 2.5}, r"`Coverage\(strata=2.5\)` must be a whole number"),
        ({"cut": 1.0}, r"`Coverage\(cut=1.0\)` must lie in 0 <= cut < 1"),
        ({"centre": float("inf")}, r"`Coverage\(centre=inf\)` must be a finite number"),
        ({"spread": 0.0}, r"`Coverage\(spread=0.0\)` must be a positive number"),
        ({"swing": float("nan")}, r"`Coverage\(swing=nan\)`"),
        ({"cut": -0.1}, r"`Coverage\(cut=-0.1\)`"),
        ({"cut": float("nan")}, r"`Coverage\(cut=nan\)`"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        Coverage(**options)


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
