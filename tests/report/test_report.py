import dataclasses
import sys

import numpy as np
import pytest

import leanset
from leanset import MissingExtraError
from leanset.report import frontier_figure, influence_figure, summary_rows


@pytest.fixture
def certificate(toy):
    return leanset.prune(*toy[:2], count=50, validation=toy[2], l2=1e-2, frontier=False).certificate


def test_summary_says_which_side_of_random_we_are_on(certificate):
    assert "times smaller" in dict(summary_rows(certificate))["  against random"]
    worse = dataclasses.replace(certificate, refit_change=3 * certificate.random_refit_change_mean)
    assert "3.0 times LARGER" in dict(summary_rows(worse))["  against random"]


def test_summary_of_an_empty_answer_is_short(toy):
    nothing = leanset.prune(*toy[:2], epsilon=1e-9, l2=1e-2, frontier=False).certificate
    assert [what for what, _ in summary_rows(nothing)] == ["removed", "kept"]


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
    top = sum(patch.get_height() for patch in figure.axes[0].patches)
    assert top == 50


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r'pip install "leanset\[report\]"'):
        influence_figure(np.ones(3), np.arange(2))
