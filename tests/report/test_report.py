import dataclasses
import re
import sys

import numpy as np
import pytest

import leanset
from leanset import MissingExtraError
from leanset.report import change, frontier_figure, influence_figure, number, share, summary_rows, summary_text, verdict


@pytest.fixture
def certificate(toy):
    return leanset.prune(*toy[:2], count=50, validation=toy[2], l2=1e-2, frontier=False).certificate


def test_the_first_line_says_better_than_random_only_if_loss_and_answers_are(certificate):
    better = {"loss_above_random": -0.02, "loss_above_random_low": -0.03, "loss_above_random_high": -0.01}
    answers = {"validation_same_answers": 0.98, "random_validation_same_answers": 0.95}

    def said(**fields):
        return verdict(dataclasses.replace(certificate, **(better | answers | fields))).line

    assert (
        "98.0 % of the validation answers stay the same. Better than random, after which 95.0 % of the answers"
        in said()
    )
    assert "No different" in said(loss_above_random_high=0.001)
    assert "No different" in said(validation_same_answers=0.94)
    worse = {"loss_above_random": 0.02, "loss_above_random_low": 0.01, "loss_above_random_high": 0.03}
    assert "WORSE than a random removal" in said(**worse, validation_loss_gap_high=0.05)
    assert "overfits" in said(**worse, validation_loss_gap_high=-0.001)
    assert "the model is the same to" in said(refit_change=0.0)


def test_every_line_of_the_summary_stands_beside_random(certificate):
    rows = {what: (own, random) for what, own, random in summary_rows(certificate)}
    assert rows["same answers, validation"][1] == share(certificate.random_validation_same_answers)
    before, after = certificate.validation_loss, certificate.validation_loss + certificate.validation_loss_gap
    assert rows["validation loss"][0].startswith(f"{before:.4f} before, {after:.4f} after (95 %: ")
    assert rows["validation loss"][1] == change(certificate.random_validation_loss_gap)
    assert rows["the head moves by"][1].startswith(number(certificate.random_refit_change_mean))


def test_no_number_is_a_signed_zero_or_rises_by_a_negative_amount(certificate):
    ends = ("validation_loss_gap", "validation_loss_gap_low", "validation_loss_gap_high", "random_validation_loss_gap")
    for size in (0.0, -0.0006, 1e-9, -1e-9):
        same = dataclasses.replace(certificate, **dict.fromkeys(ends, size), training_loss_gap=size)
        text = summary_text(same, {}, None)
        assert not re.search(r"[+−-]0\.0+\b|rises by|changes by", text), text


def test_summary_of_an_empty_answer_is_short(toy):
    nothing = leanset.prune(*toy[:2], epsilon=1e-9, l2=1e-2, frontier=False).certificate
    assert [what for what, *_ in summary_rows(nothing)] == ["removed"]


def points(gap):
    return {
        "fraction": np.array([0.1, 0.5]),
        "refit_change": np.array([0.1, 0.2]),
        "random_refit_change": np.array([1.0, 2.0]),
        "validation_loss_gap": np.array([gap, gap]),
    }


def test_frontier_figure_has_a_second_panel_only_with_a_gap(certificate):
    pytest.importorskip("matplotlib")
    assert len(frontier_figure(points(np.nan)).axes) == 1
    figure = frontier_figure(points(0.01), certificate)
    assert len(figure.axes) == 2
    np.testing.assert_allclose(figure.axes[0].lines[1].get_ydata(), [0.1, 0.2])


def test_influence_figure_counts_every_example():
    pytest.importorskip("matplotlib")
    norms = np.geomspace(1e-4, 1.0, 50)
    figure = influence_figure(norms, np.arange(20))
    assert [patch.get_data().values.sum() for patch in figure.axes[0].patches] == pytest.approx([100.0, 100.0])


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r'pip install "leanset\[report\]"'):
        influence_figure(np.ones(3), np.arange(2))
