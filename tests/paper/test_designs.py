from collections import Counter
from dataclasses import astuple
from fractions import Fraction

import pytest

from leanset import InputError
from leanset.paper.designs import sampled_designs
from leanset.training.models.convnet import (
    ACTIVATIONS,
    CONVNETS,
    DEPTHS,
    NORMALISATIONS,
    POOLINGS,
    WIDTHS,
)

AXES = (DEPTHS, WIDTHS, ACTIVATIONS, NORMALISATIONS, POOLINGS)


def deviations(designs):
    """Sum over all choices of the squared deviation of their count from an equal share, in exact arithmetic."""
    total = Fraction(0)
    for values, met in zip(AXES, zip(*map(astuple, designs), strict=True), strict=True):
        counts = Counter(met)
        total += sum((counts[value] - Fraction(len(designs), len(values))) ** 2 for value in values)
    return total


@pytest.mark.parametrize("count", [1, 7, 12, 36])
@pytest.mark.parametrize("seed", [0, 1])
def test_every_choice_of_the_whole_space_is_as_frequent_as_any_other(count, seed):
    sample = sampled_designs(count, seed=seed)
    # Nothing is taken twice, so that the one design that would even the counts out may be gone in a larger sample.
    allowed = 1 if count <= max(map(len, AXES)) else 2
    assert len(set(sample)) == count
    for values, met in zip(AXES, zip(*map(astuple, sample), strict=True), strict=True):
        counts = Counter(met)
        assert max(counts.values()) - min(counts[value] for value in values) <= allowed


@pytest.mark.parametrize("most", [None, 12_000_000])
def test_each_design_is_one_that_leaves_the_least_deviation(most):
    affordable, sample = set(sampled_designs(most_multiply_adds=most)), sampled_designs(25, most_multiply_adds=most)
    for taken in (0, 3, 11, 24):
        before = sample[:taken]
        least = min(deviations((*before, other)) for other in affordable - set(before))
        assert deviations(sample[: taken + 1]) == least


def test_costly_designs_are_left_out_and_all_others_can_come():
    most = 5_000_000
    affordable = [design for design in CONVNETS.values() if design.multiply_adds(1, 28) <= most]
    everything = sampled_designs(most_multiply_adds=most, channels=1, image_size=28)
    assert list(everything) == affordable
    almost = sampled_designs(len(affordable) - 1, most_multiply_adds=most, channels=1, image_size=28)
    assert len(set(affordable) - set(almost)) == 1
    assert sampled_designs(len(affordable), most_multiply_adds=most, channels=1, image_size=28) == everything


def test_both_limits_hold_together():
    limited = sampled_designs(most_multiply_adds=15_000_000, most_map_entries=90_000)
    one, other = sampled_designs(most_multiply_adds=15_000_000), sampled_designs(most_map_entries=90_000)
    assert set(limited) == set(one) & set(other) < set(one)
    assert all(design.map_entries(32) <= 90_000 for design in other)


def test_no_count_and_a_great_one_give_the_whole_space():
    assert sampled_designs() == sampled_designs(10_000) == tuple(CONVNETS.values())


def test_the_seed_decides_and_a_small_sample_begins_a_larger_one():
    assert sampled_designs(30, seed=3) == sampled_designs(30, seed=3)
    assert sampled_designs(30, seed=3) != sampled_designs(30, seed=4)
    assert sampled_designs(40, seed=3)[:30] == sampled_designs(30, seed=3)


def test_impossible_samples_are_refused():
    with pytest.raises(InputError, match="count=0"):
        sampled_designs(0)
    cheapest = min(design.multiply_adds(3, 32) for design in CONVNETS.values())
    assert sampled_designs(most_multiply_adds=cheapest)
    with pytest.raises(InputError, match=f"most_multiply_adds={cheapest - 1}.*{cheapest:,}"):
        sampled_designs(most_multiply_adds=cheapest - 1)
    fewest = min(design.map_entries(32) for design in CONVNETS.values())
    assert sampled_designs(most_map_entries=fewest)
    with pytest.raises(InputError, match=f"most_map_entries={fewest - 1}.*{fewest:,}"):
        sampled_designs(most_map_entries=fewest - 1)
