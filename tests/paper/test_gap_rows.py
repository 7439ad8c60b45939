import math

import numpy as np
import pytest

from leanset.certify import Prediction
from leanset.judge import mean_interval
from leanset.paper.gap_rows import GapRow, agreement, mean_gaps, retraining_row

SETS = [(method, fraction, seed) for method in ("leanset", "random") for fraction in (0.4, 0.7) for seed in range(3)]
TRUTH = {key: 0.01 * (1 + k) ** 2 for k, key in enumerate(SETS)}


def rows_of(rule, gap_of, sets=SETS):
    return [GapRow(*key, rule, change=1.0, gap=gap_of(TRUTH[key]), bound=1.0) for key in sets]


def found(rows):
    return {(a.rule, a.reference): a for a in agreement(rows)}


def test_a_line_has_its_slope_and_perfect_ranks():
    answer = found(rows_of("paper", lambda gap: 4 * gap - 0.1) + rows_of("refit", lambda gap: gap))
    assert set(answer) == {("paper", "refit")}
    only = answer["paper", "refit"]
    assert (only.sets, only.spearman, only.slope) == pytest.approx((12, 1, 1 / 4))


def test_ranks_see_order_only_and_slope_sees_scale():
    rows = rows_of("rising", lambda gap: gap**3) + rows_of("falling", lambda gap: -2 * gap)
    answer = found(rows + rows_of("refit", lambda gap: gap))
    assert answer["rising", "refit"].spearman == pytest.approx(1)
    assert (answer["falling", "refit"].spearman, answer["falling", "refit"].slope) == pytest.approx((-1, -1 / 2))
    x, y = np.array([gap**3 for gap in TRUTH.values()]), np.array(list(TRUTH.values()))
    covariance = np.mean(x * y) - x.mean() * y.mean()
    assert answer["rising", "refit"].slope == pytest.approx(covariance / x.var())


def test_the_observed_is_regressed_on_the_predicted():
    # Noise that is uncorrelated with the prediction leaves the slope at 1; the other regression would lower it.
    sets = SETS[:4]
    predicted, noise = dict(zip(sets, (0, 0, 1, 1), strict=True)), dict(zip(sets, (-1, 1, -1, 1), strict=True))
    rows = [GapRow(*key, "newton", 1.0, predicted[key], 1.0) for key in sets]
    rows += [retraining_row(*key, pruned_loss=5 + predicted[key] + noise[key], full_loss=5) for key in sets]
    assert found(rows)["newton", "retraining"].slope == pytest.approx(1)


def test_every_rule_meets_both_references_but_not_itself():
    rows = [row for rule in ("paper", "centred", "newton", "refit") for row in rows_of(rule, lambda gap: gap)]
    rows += [retraining_row(*key, pruned_loss=3 * TRUTH[key] + 0.5, full_loss=0.5) for key in SETS]
    answer = found(rows)
    assert set(answer) == {(rule, "refit") for rule in ("paper", "centred", "newton")} | {
        (rule, "retraining") for rule in ("paper", "centred", "newton", "refit")
    }
    for (_, reference), a in answer.items():
        assert a.slope == pytest.approx(1 if reference == "refit" else 3)


def test_only_sets_that_both_speak_of_are_compared_whatever_the_order():
    some = SETS[1:8]
    rows = rows_of("newton", lambda gap: gap) + rows_of("refit", lambda gap: 2 * gap, some)
    shuffled = [rows[k] for k in np.random.default_rng(0).permutation(len(rows))]
    for order in (rows, shuffled):
        only = found(order)["newton", "refit"]
        assert (only.sets, only.spearman, only.slope) == pytest.approx((7, 1, 2))


@pytest.mark.parametrize(
    ("predicted", "observed", "slope"),
    [([], [], math.nan), ([1.0], [2.0], math.nan), ([1.0, 1.0], [2.0, 3.0], math.nan), ([1.0, 2.0], [3.0, 3.0], 0.0)],
)
def test_what_is_undefined_is_nan_without_a_warning(predicted, observed, slope):
    rows = [GapRow("random", 0.4, seed, "paper", 1.0, gap, 1.0) for seed, gap in enumerate(predicted)]
    rows += [GapRow("random", 0.4, seed, "refit", 1.0, gap, 1.0) for seed, gap in enumerate(observed)]
    rows += [GapRow("other", 0.4, 0, rule, 1.0, 0.0, 1.0) for rule in ("paper", "refit") if not predicted]
    only = found(rows)["paper", "refit"]
    assert math.isnan(only.spearman)
    assert only.slope == pytest.approx(slope, nan_ok=True)


def test_a_failed_training_is_not_hidden():
    rows = rows_of("refit", lambda gap: gap)
    rows += [retraining_row(*key, pruned_loss=math.nan if key == SETS[0] else 1.0, full_loss=0.5) for key in SETS]
    only = found(rows)["refit", "retraining"]
    assert math.isnan(only.slope)
    assert math.isnan(only.spearman)


def test_gaps_are_averaged_over_seeds():
    rows = rows_of("refit", lambda gap: gap) + rows_of("paper", lambda gap: -gap)
    means = {(mean.method, mean.fraction, mean.rule): mean.gap for mean in mean_gaps(rows)}
    assert len(means) == len(SETS) // 3 * 2
    for (method, fraction, rule), gap in means.items():
        sign = 1 if rule == "refit" else -1
        assert gap == mean_interval([sign * TRUTH[method, fraction, seed] for seed in range(3)])
        assert gap.n == 3


def test_retraining_says_nothing_of_the_head():
    row = retraining_row("random", 0.4, 5, pruned_loss=0.75, full_loss=0.5)
    assert row.gap == 0.25
    assert math.isnan(row.change)
    assert math.isnan(row.bound)


def test_a_set_named_twice_is_refused():
    twice = [*rows_of("refit", lambda gap: gap), *rows_of("refit", lambda gap: 2 * gap, SETS[2:3])]
    for function in (agreement, mean_gaps):
        with pytest.raises(ValueError, match=r"rule 'refit' for method 'leanset', fraction 0\.4, seed 2"):
            function(twice)


def test_a_prediction_fits_into_a_row():
    said = Prediction("newton", change=2.0, gap=0.1, bound=0.3)
    assert GapRow("random", 0.4, 0, **vars(said)) == GapRow("random", 0.4, 0, "newton", 2.0, 0.1, 0.3)
