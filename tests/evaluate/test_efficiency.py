import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leanset.evaluate.efficiency import efficiency_panels, lengths_on_all, savings, steps_for
from leanset.judge import FULL, LEANSET, SHORTER, STRATIFIED

WHOLE = 1000


def learnt(steps):
    """What a network reaches after some steps on all examples: each doubling adds two points."""
    return 0.8 + 0.02 * math.log2(steps / WHOLE)


def row(method, fraction, steps, accuracy, protocol="equal-epochs", **more):
    made = {"model": "lenet", "protocol": protocol, "fraction": fraction, "method": method, "seed": 0}
    return made | {"steps": steps, "accuracy": accuracy} | more


ON_ALL = [
    row(FULL, 0.0, WHOLE, learnt(WHOLE)),
    row(SHORTER, 0.8, WHOLE // 5, learnt(WHOLE // 5)),
    row(FULL, 0.0, 4 * WHOLE, learnt(4 * WHOLE), protocol="epochs=40"),
]


@given(st.floats(WHOLE / 5, 4 * WHOLE))
def test_between_lengths_the_steps_are_those_of_a_network_that_learns_with_their_logarithm(steps):
    assert steps_for(learnt(steps), lengths_on_all(ON_ALL, "lenet")) == pytest.approx(steps, rel=1e-6)


@pytest.mark.parametrize("accuracy", [learnt(100), learnt(5000)])
def test_what_no_length_reaches_is_not_guessed(accuracy):
    assert math.isnan(steps_for(accuracy, lengths_on_all(ON_ALL, "lenet")))
    assert math.isnan(steps_for(0.8, lengths_on_all(ON_ALL[:1], "lenet")))
    assert math.isnan(steps_for(0.8, {}))


def test_a_longer_training_that_is_worse_needs_no_more_steps_for_what_a_shorter_one_reached():
    assert steps_for(0.9, {100: 0.8, 200: 0.9, 300: 0.85, 400: 0.95}) == pytest.approx(200)
    assert 300 < steps_for(0.92, {100: 0.8, 200: 0.9, 300: 0.85, 400: 0.95}) < 400


def test_a_set_saves_the_steps_that_all_data_needs_beyond_its_own():
    # It reaches with 500 steps what all data reach with 800, and so saves three tenths of a training each time.
    pruned = row(LEANSET, 0.5, 500, learnt(800))
    [said] = savings([*ON_ALL, pruned], LEANSET, {"lenet": 1.0})
    assert said == (
        f"lenet, equal epochs: {100 * learnt(800):.1f} % takes 50 % of the steps with 50 % removed by leanset, about 80 % with "
        "all data: choosing has paid for itself after 4 trainings."
    )
    [half] = savings([*ON_ALL, pruned], LEANSET, {"lenet": 0.5})
    assert "after 2 trainings" in half
    [unknown] = savings([*ON_ALL, pruned], LEANSET, {"conv4": 1.0})
    assert unknown.endswith("about 80 % with all data.")


def test_a_set_that_is_worth_less_than_a_shorter_training_saves_nothing():
    [said] = savings([*ON_ALL, row(LEANSET, 0.5, 500, learnt(400))], LEANSET, {"lenet": 1.0})
    assert said.endswith("about 40 % with all data: nothing is saved.")


def test_means_over_seeds_are_drawn_in_the_order_of_steps():
    pruned = [
        row(method, fraction, round(WHOLE * (1 - fraction)), 0.7 - fraction / 10 + 0.01 * seed, seed=seed)
        for method in (LEANSET, STRATIFIED)
        for fraction in (0.4, 0.8)
        for seed in (0, 1)
    ]
    [panel] = efficiency_panels([*pruned, *ON_ALL, row(LEANSET, 0.4, WHOLE, 0.9, protocol="equal-steps")])
    on_all, random, ours = panel.curves
    assert np.allclose(on_all.x, [20, 100, 400])
    assert np.allclose(on_all.mean, [100 * learnt(WHOLE * share) for share in (0.2, 1, 4)])
    assert np.allclose(ours.x, [20, 60])
    assert np.allclose(ours.mean, [62.5, 66.5])
    assert (random.style, ours.style) == ("other", "ours")


def test_one_length_on_all_data_or_trainings_that_do_not_say_their_steps_are_not_drawn():
    assert efficiency_panels([ON_ALL[0], row(LEANSET, 0.4, 600, 0.7)]) == []
    silent = [{key: value for key, value in made.items() if key != "steps"} for made in ON_ALL]
    assert efficiency_panels(silent) == savings(silent, LEANSET, {}) == []
