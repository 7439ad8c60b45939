import dataclasses
import re

import numpy as np
import pytest

from leanset import InputError
from leanset.judge import LOSS, Comparison, Interval, paired, verdict, written


def said(comparison, **more):
    return verdict("leanset", "random", 0.4, comparison, **more)


def numbers(sentence):
    return [float(text.replace("−", "-")) for text in re.findall(r"[−+]?\d+\.\d+", sentence)]


@pytest.mark.parametrize("shift", [-0.02, -0.005, 0.0, 0.005, 0.02])
def test_the_sentence_says_what_the_test_says(shift):
    rng = np.random.default_rng(1)
    theirs = rng.normal(0.9, 0.01, 5)
    comparison = paired(theirs + shift + rng.normal(0, 0.004, 5), theirs)
    sentence, difference = said(comparison), comparison.difference
    assert (" is better than " in sentence) == (comparison.p_value < 0.05 and difference.mean > 0)
    assert (" is worse than " in sentence) == (comparison.p_value < 0.05 and difference.mean < 0)
    assert sentence.startswith("no difference seen between leanset and random") == (comparison.p_value >= 0.05)
    assert "at 40 % removed: " in sentence
    assert sentence.endswith("(5 seeds).")
    points = 100 * np.array([difference.mean, difference.low, difference.high])
    np.testing.assert_allclose(numbers(sentence), points, atol=0.0501)


def test_swapping_the_methods_swaps_better_and_worse():
    comparison = Comparison(Interval(0.0123, 0.004, 0.0206, 5), 0.01)
    turned = Comparison(Interval(-0.0123, -0.0206, -0.004, 5), 0.01)
    assert "better" in said(comparison)
    assert "worse" in said(turned)
    assert numbers(said(comparison))[0] == -numbers(said(turned))[0]


def test_one_seed_gives_no_verdict():
    sentence = said(paired([0.92], [0.9]))
    assert sentence == "leanset against random at 40 % removed: +2.0 points, one seed: no interval."
    assert "−2.0 points" in said(paired([0.9], [0.92]))


def test_equal_runs_are_no_difference_and_zero_has_no_sign():
    sentence = said(paired([0.9, 0.8], [0.9, 0.8]))
    assert "no difference seen" in sentence
    assert ": 0.0 points, 95 % interval 0.0 to 0.0 (2 seeds)" in sentence
    assert " 0.0 points" in said(Comparison(Interval(-0.0001, -0.004, 0.004, 5), 0.9))


@pytest.mark.parametrize("near", [4e-4, 4e-5])
def test_an_end_on_one_side_of_zero_is_not_written_as_zero(near):
    assert all(number > 0 for number in numbers(said(Comparison(Interval(0.002, near, 0.004 - near, 5), 0.04))))


@pytest.mark.parametrize(("fraction", "words"), [(0.28, "28 %"), (0.125, "12.5 %"), (0.0, "0 %"), (0.995, "99.5 %")])
def test_the_fraction_is_written_as_percent(fraction, words):
    assert f"at {words} removed" in verdict("a", "b", fraction, Comparison(Interval(0.0, -0.1, 0.1, 3), 1.0))


def test_a_p_value_adjusted_for_many_comparisons_can_withhold_a_verdict():
    plain = Comparison(Interval(0.01, 0.004, 0.016, 5), 0.01)
    sentence = said(dataclasses.replace(plain, p_value=0.12))
    assert "is better than" in said(plain)
    assert sentence.startswith("no difference seen")
    assert sentence.endswith("(5 seeds), but p = 0.12 among all comparisons.")


def test_the_interval_must_have_the_level_of_the_significance():
    ours, theirs = np.random.default_rng(0).normal(0.9, 0.01, (2, 5))
    with pytest.raises(InputError, match=r"level 0\.95; got one of level 0\.9"):
        said(paired(ours, theirs, level=0.9))
    assert "90 % interval" in said(paired(ours, theirs, level=0.9), significance=0.1)


def test_a_lower_loss_is_better():
    lower, higher = Interval(-0.012, -0.014, -0.010, 5), Interval(0.012, 0.010, 0.014, 5)
    assert "is better than" in said(Comparison(lower, 0.001), measure=LOSS)
    assert "is worse than" in said(Comparison(higher, 0.001), measure=LOSS)
    assert "−0.0120 in loss, 95 % interval −0.0140 to −0.0100" in said(Comparison(lower, 0.001), measure=LOSS)


@pytest.mark.parametrize("size", [1e-7, 1e-3, 1.0, 250.0])
def test_losses_are_written_to_two_digits_of_the_half_width_whatever_their_size(size):
    mean, low, high = written(Interval(3 * size, 1.5 * size, 4.5 * size, 5), LOSS)
    assert [float(text) for text in (mean, low, high)] == pytest.approx([3 * size, 1.5 * size, 4.5 * size], rel=0.05)
    assert len(mean) <= len(f"{size:.9f}") + 1


def test_one_seed_may_have_an_interval_of_its_rows_and_a_sentence_may_go_on():
    sentence = said(Comparison(Interval(0.02, 0.01, 0.03, 1), 0.01), more="; all answers unchanged")
    assert sentence.endswith("95 % interval 1.0 to 3.0 (one seed); all answers unchanged.")
