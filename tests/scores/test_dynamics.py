"""Scores from training dynamics, against loops over epochs."""

import dataclasses
import itertools

import numpy as np
import pytest
from scipy import stats

from leanset import InputError
from leanset.data import Dynamics
from leanset.scores import AUM, DUAL, EL2N, DynUnc, Evidence, Forgetting, share_wrong
from tests.scores.problems import make_evidence

EVIDENCE = make_evidence(0, rows=20, epochs=14, runs=3)


def by_loop(of_one_row, recorded):
    runs = [np.asarray(getattr(record, recorded), dtype=float) for record in EVIDENCE.dynamics]
    return [np.mean([of_one_row(list(run[:, row])) for run in runs]) for row in range(len(EVIDENCE))]


def forgetting_events(correct):
    if True not in correct:
        return len(correct)
    events = 0
    for before, now in itertools.pairwise(correct):
        if before and not now:
            events += 1
    return events


def every_window(values, length):
    return [values[start : start + length] for start in range(len(values) - length + 1)]


def test_forgetting_counts_events():
    np.testing.assert_allclose(Forgetting().scores(EVIDENCE), by_loop(forgetting_events, "correct"))


def test_never_learned_is_above_any_number_of_events():
    correct = np.zeros((9, 2), dtype=bool)
    correct[::2, 1] = True  # forgotten as often as nine epochs allow
    ones = np.ones((9, 2), np.float32)
    scores = Forgetting().scores(Evidence(groups=np.zeros(2, int), dynamics=(Dynamics(correct, ones, ones, ones),)))
    assert scores[0] > scores[1]


def test_aum_is_the_mean_margin():
    np.testing.assert_allclose(AUM().scores(EVIDENCE), by_loop(np.mean, "margin"))


@pytest.mark.parametrize(("first", "last"), [(1, 1), (1, 10), (6, 10), (14, 14)])
def test_el2n_is_the_mean_error_over_its_window(first, last):
    expected = by_loop(lambda errors: np.mean(errors[first - 1 : last]), "error_norm")
    np.testing.assert_allclose(EL2N(first=first, last=last).scores(EVIDENCE), expected)


def test_el2n_reads_the_end_of_a_record_that_is_too_short():
    record = EVIDENCE.dynamics[0]
    short = Dynamics(*(getattr(record, name)[:8] for name in Dynamics.names()))
    evidence = Evidence(groups=EVIDENCE.groups, dynamics=(short,))
    np.testing.assert_allclose(EL2N().scores(evidence), record.error_norm[3:8].mean(axis=0), rtol=1e-6)


def test_el2n_without_dynamics_is_the_error_of_the_head():
    evidence = dataclasses.replace(EVIDENCE, dynamics=None)
    expected = [sum(part**2 for part in row) ** 0.5 for row in evidence.errors.tolist()]
    np.testing.assert_allclose(EL2N().scores(evidence), expected)


@pytest.mark.parametrize("window", [1, 3, 10])
def test_dynamic_uncertainty_is_the_mean_deviation_over_windows(window):
    expected = by_loop(lambda p: np.mean([np.std(part) for part in every_window(p, window)]), "label_probability")
    np.testing.assert_allclose(DynUnc(window=window).scores(EVIDENCE), expected, atol=1e-12)


@pytest.mark.parametrize(("window", "epochs"), [(1, None), (3, 5), (10, None), (10, 12)])
def test_dual_is_the_mean_product_over_windows(window, epochs):
    def product(p):
        return np.mean([np.std(part) * (1 - np.mean(part)) for part in every_window(p[:epochs], window)])

    expected = by_loop(product, "label_probability")
    np.testing.assert_allclose(DUAL(window=window, epochs=epochs).scores(EVIDENCE), expected, atol=1e-12)


@pytest.mark.parametrize("method", [DynUnc(window=99), DUAL(window=99)])
def test_a_record_shorter_than_the_window_is_one_window(method):
    runs = [record.label_probability.astype(float) for record in EVIDENCE.dynamics]
    factors = [1.0 if method.name == "dyn-unc" else 1.0 - run.mean(axis=0) for run in runs]
    expected = np.mean([run.std(axis=0) * factor for run, factor in zip(runs, factors, strict=True)], axis=0)
    np.testing.assert_allclose(method.scores(EVIDENCE), expected)


def test_dual_draws_in_proportion_to_score_and_beta_density():
    evidence, method, share = make_evidence(7, rows=5, runs=1), DUAL(power=2.0), 0.4
    mean = evidence.dynamics[0].label_probability.astype(float).mean(axis=0)
    b = 15 * (1 - mean.mean()) * (1 - share**2)  # five rows: all of them are among the ten of highest score
    weight = method.scores(evidence) * stats.beta.pdf(mean, 16 - b, b)
    rng, draws = np.random.default_rng(0), 4000
    drawn_first = [method.preference(evidence, 2, rng)[-1] for _ in range(draws)]
    frequency = np.bincount(drawn_first, minlength=5) / draws
    np.testing.assert_allclose(frequency, weight / weight.sum(), atol=0.03)


def test_dual_keeps_easier_examples_the_more_go():
    evidence = make_evidence(8, rows=400, runs=1)
    mean = evidence.dynamics[0].label_probability.mean(axis=0)
    orders = {count: DUAL().preference(evidence, count, np.random.default_rng(0)) for count in (40, 390)}
    assert mean[orders[390][-10:]].mean() > mean[orders[40][-10:]].mean()


def test_an_epoch_without_an_example_repeats_what_was_seen_last():  # loaders that drop their last batch leave gaps
    def record(values):
        values = np.array(values, np.float32)[:, None]
        return Dynamics(values > 0, values, values, values)

    gaps, filled = (record(v) for v in ([np.nan, 0.2, np.nan, 0.8, 0.6], [0.2, 0.2, 0.2, 0.8, 0.6]))
    for method in (AUM(), EL2N(), DynUnc(window=2), DUAL(window=2), Forgetting()):
        with_gaps, without = (
            method.scores(Evidence(groups=np.zeros(1, int), dynamics=(run,))) for run in (gaps, filled)
        )
        np.testing.assert_allclose(with_gaps, without)


def test_a_run_that_left_a_row_out_does_not_count_for_it():
    both, first = make_evidence(1, runs=2), make_evidence(1, runs=2).dynamics[0]
    left_out = both.dynamics[1]
    for name in Dynamics.names():
        getattr(left_out, name)[:, 3] = False if name == "correct" else np.nan
    np.testing.assert_allclose(AUM().scores(both)[3], first.margin[:, 3].astype(float).mean())


def test_rows_that_no_run_trained_on_are_named():
    evidence = make_evidence(1, runs=1)
    evidence.dynamics[0].error_norm[:, 4:6] = np.nan
    with pytest.raises(InputError, match="no finite score for 2 of 30 rows: they were never trained on"):
        Forgetting().scores(evidence)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EL2N(first=0), r"`EL2N\(first=0\)` must be a whole number ≥ 1"),
        (lambda: EL2N(first=5, last=4), r"`EL2N\(first=5, last=4\)` must have `first` <= `last`"),
        (lambda: DynUnc(window=0), r"`DynUnc\(window=0\)`"),
        (lambda: DynUnc(window=2.5), r"`DynUnc\(window=2.5\)`"),
        (lambda: DUAL(epochs=0), r"`DUAL\(epochs=0\)`"),
        (lambda: DUAL(power=0.0), r"`DUAL\(power=0.0\)` must be a finite number > 0"),
        (lambda: DUAL(remove="high"), r"pass `beta_sampling=False` too"),
    ],
)
def test_options_that_make_no_sense_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def first_epochs(evidence, count):
    """The same evidence, had the trainings ended after so many epochs."""
    runs = [
        Dynamics(*(getattr(run, field.name)[:count] for field in dataclasses.fields(Dynamics)))
        for run in evidence.dynamics
    ]
    return dataclasses.replace(evidence, dynamics=tuple(runs))


def wrong_answers(epochs):
    """The share of wrong answers if each epoch happens as often as it is told."""
    return 1 - np.mean([run.correct[epochs] for run in EVIDENCE.dynamics])


@pytest.mark.parametrize("epochs", [10, 14])
def test_in_long_trainings_wrong_answers_of_all_epochs_count_alike(epochs):
    assert share_wrong(first_epochs(EVIDENCE, epochs)) == pytest.approx(wrong_answers(range(epochs)))


@pytest.mark.parametrize("epochs", [2, 4, 7])
def test_in_short_trainings_wrong_answers_of_the_first_epoch_count_a_tenth(epochs):
    """As if the first epoch had happened once, and the others as often as it takes to make nine parts of ten."""
    repeated = [0] * (epochs - 1) + 9 * list(range(1, epochs))
    assert share_wrong(first_epochs(EVIDENCE, epochs)) == pytest.approx(wrong_answers(repeated))


def test_wrong_answers_of_one_epoch_are_all_there_are():
    assert share_wrong(first_epochs(EVIDENCE, 1)) == pytest.approx(wrong_answers([0]))
