import numpy as np
import pytest

from leanset._rng import stream
from leanset.data import checked_examples
from leanset.head import Softmax, choose_l2, cross_fitted, design_of, fit_head
from tests import plain


@pytest.fixture
def design(toy):
    return design_of(checked_examples(*toy[:2]), Softmax(3), standardize=True)[0]


def held_out_losses(design, l2):
    """Loss of each row under a head fitted by the loops of `plain` without its fold."""
    x, y, fold = plain.matrix_of(design), design.targets, stream(0, "folds of the head").permutation(len(design)) % 5
    losses = np.zeros(len(x))
    for nth in range(5):
        theta = plain.fit(x[fold != nth], y[fold != nth], 3, l2)
        losses[fold == nth] = [-np.log(plain.softmax(theta @ x[i])[y[i]]) for i in np.flatnonzero(fold == nth)]
    return losses


def test_the_chosen_l2_has_the_lowest_held_out_loss_of_its_neighbours(design):
    chosen = choose_l2(design, None, 0).l2
    here, below, above = (held_out_losses(design, chosen * step).mean() for step in (1.0, 10**-0.5, 10**0.5))
    assert here <= 1.005 * min(below, above)


def test_noise_asks_for_more_penalty_than_signal(design):
    rng = np.random.default_rng(0)
    noisy = design_of(
        checked_examples(plain.matrix_of(design)[:, :-1], rng.integers(0, 3, len(design))), Softmax(3), standardize=True
    )[0]
    assert choose_l2(noisy, None, 0).l2 > 10 * choose_l2(design, None, 0).l2


def test_cross_fitted_predictions_never_saw_their_row(design):
    l2, theta = 0.05, fit_head(design, 0.05).theta
    found = cross_fitted(design, l2, theta, lambda stack: stack, 0)
    own = found[np.arange(len(design)), design.targets]
    np.testing.assert_allclose(-np.log(own), held_out_losses(design, l2), atol=0.02)  # the fits are loose


def test_validation_rows_choose_the_l2_if_there_are_any(toy):
    design, validation, _ = design_of(checked_examples(*toy[:2], toy[2]), Softmax(3), standardize=True)
    chosen, x, held_out = choose_l2(design, validation, 0).l2, plain.matrix_of(design), plain.matrix_of(validation)

    def loss(l2):
        theta = plain.fit(x, design.targets, 3, l2)
        return np.mean(
            [-np.log(plain.softmax(theta @ row)[y]) for row, y in zip(held_out, validation.targets, strict=True)]
        )

    assert loss(chosen) <= 1.005 * min(loss(chosen / 10**0.5), loss(chosen * 10**0.5))
