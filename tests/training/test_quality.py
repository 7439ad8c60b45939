"""The loss of a network that is right and too sure, or not sure enough."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from leanset.training.quality import Quality, best_temperature, scaled_loss


def drawn(seed, rows=4000, classes=5):
    """Logits, and labels that are as likely as the logits say."""
    rng = np.random.default_rng(seed)
    logits = torch.from_numpy(rng.normal(0, 1.5, (rows, classes)))
    chances = torch.softmax(logits, dim=1).numpy()
    return logits, torch.from_numpy((rng.random((rows, 1)) > chances.cumsum(axis=1)).sum(axis=1))


@pytest.mark.parametrize("factor", [0.05, 0.5, 1.0, 3.0, 20.0])
def test_logits_that_are_too_large_or_too_small_are_mended(factor):
    logits, labels = drawn(0)
    assert scaled_loss(factor * logits, labels) == pytest.approx(float(cross_entropy(logits, labels)), abs=2e-3)


def test_each_half_is_scaled_by_what_is_best_for_the_other():
    logits, labels = drawn(1, rows=41)
    factors = np.exp(np.linspace(-3, 3, 20_001))

    def losses(half):  # of every class as a label, weighed as in Platt's targets, and of the labels
        chosen, right = logits[half::2].numpy(), labels[half::2].numpy()
        scaled = factors[:, None, None] * chosen
        of_classes = np.log(np.exp(scaled).sum(axis=2, keepdims=True)) - scaled
        n, k = chosen.shape
        target = np.where(np.arange(k) == right[:, None], n + 1, 1) / (n + k)
        return (target * of_classes).sum(axis=(1, 2)), of_classes[:, np.arange(n), right].sum(axis=1)

    (even_fit, even), (odd_fit, odd) = losses(0), losses(1)
    assert scaled_loss(logits, labels) == pytest.approx(
        (even[odd_fit.argmin()] + odd[even_fit.argmin()]) / 41, abs=1e-5
    )


@pytest.mark.parametrize("rows", [20, 100, 1000])
def test_one_wrong_answer_does_not_make_the_other_half_certain(rows):
    labels = torch.arange(rows) % 4
    logits = 6 * torch.nn.functional.one_hot(labels, 4).double()
    logits[0] = logits[1]  # the first half has one wrong answer, the other none
    assert scaled_loss(logits, labels) < 2 * float(cross_entropy(logits, labels))  # 8 times with labels as they are
    assert 0.1 < best_temperature(logits[1::2], labels[1::2]) < 6


@pytest.mark.parametrize("factor", [0.05, 1.0, 20.0])
def test_the_temperature_is_where_the_loss_no_longer_falls(factor):
    logits, labels = drawn(2)
    found = best_temperature(factor * logits, labels)

    def loss(temperature):
        return float(cross_entropy(factor * logits / temperature, labels, label_smoothing=5 / 4005))

    assert loss(found) <= min(loss(0.98 * found), loss(1.02 * found))
    assert best_temperature(logits, labels) == pytest.approx(found / factor, rel=1e-3)


@pytest.mark.parametrize(("scaled", "worth"), [(1.0, True), (1.199, False), (1.3, False), (np.nan, False)])
def test_scaling_is_worth_it_if_the_loss_is_clearly_lower(scaled, worth):
    assert Quality(0.7, 1.2, scaled, 1.5).worth_scaling is worth


def test_what_cannot_be_scaled_is_the_loss_as_it_is():
    assert scaled_loss(torch.tensor([[2.0, 0.0]]), torch.tensor([0])) == pytest.approx(float(np.log1p(np.exp(-2))))
    infinite, ones = torch.tensor([[np.inf, 0.0], [0.0, 1.0]]), torch.tensor([1, 1])
    assert np.isnan(scaled_loss(infinite, ones))
    assert np.isnan(best_temperature(infinite, ones))
