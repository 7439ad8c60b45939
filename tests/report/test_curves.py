import itertools
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from leanset import InputError, MissingExtraError
from leanset.report import Bars, Curve, Panel, bars_figure, curves_figure, save_figure, scatter_figure
from leanset.report.canvas import look

X = np.array([0.2, 0.4, 0.8])


def many_curves(others=11):
    rng = np.random.default_rng(0)
    means = 0.9 - 0.3 * X**2 + rng.normal(0, 0.02, (others + 2, 3))
    styles = ["ours", "baseline", *["other"] * others]
    names = ["leanset", "random", *(f"method {k}" for k in range(others))]
    return [Curve(n, X, m, m - 0.01, m + 0.01, s) for n, m, s in zip(names, means, styles, strict=True)]


def panel(curves, title="a", **more):
    return Panel(title, "removed", "accuracy", curves, **more)


def legend_names(figure):
    legends = [*figure.legends, *(axis.get_legend() for axis in figure.axes if axis.get_legend())]
    return [[text.get_text() for text in legend.get_texts()] for legend in legends]


def texts(figure):
    from matplotlib.text import Text

    return [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]


@pytest.fixture(autouse=True)
def _matplotlib():
    pytest.importorskip("matplotlib")


def test_every_mean_and_interval_is_drawn_where_it_is():
    curves = many_curves()
    axis = curves_figure([panel(curves)]).axes[0]
    for curve, line in zip(curves, axis.lines, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), np.stack([X, curve.mean], axis=1))
    bars = [item for item in axis.collections if len(item.get_paths()) == 3]
    for curve, item in zip(curves[1:], bars, strict=True):
        ends = [[[x, low], [x, high]] for x, low, high in zip(X, curve.low, curve.high, strict=True)]
        np.testing.assert_allclose([path.vertices for path in item.get_paths()], ends)


def test_ours_is_the_thickest_and_on_top():
    lines = curves_figure([panel(many_curves()[::-1])]).axes[0].lines
    ours = next(line for line in lines if line.get_color() == look("ours", 0)["color"])
    others = [line for line in lines if line is not ours]
    assert ours.get_linewidth() > max(line.get_linewidth() for line in others)
    assert ours.get_zorder() > max(line.get_zorder() for line in others)


def test_looks_differ_even_without_colour():
    curves = [look("ours", 0), look("baseline", 0), *(look("other", k) for k in range(11))]
    assert len({(a["marker"], str(a["ls"]), a["linewidth"]) for a in curves}) == 13
    assert len({(a["marker"], str(a["ls"]), a["color"]) for a in (look("other", k) for k in range(100))}) == 100


def test_a_name_looks_the_same_in_every_panel():
    curves = many_curves(3)
    left, right = curves_figure([panel(curves), panel(curves[:0:-1], "b")]).axes[:2]
    for curve, line in zip(curves[1:], reversed(right.lines), strict=True):
        twin = left.lines[curves.index(curve)]
        assert (twin.get_color(), twin.get_marker()) == (line.get_color(), line.get_marker())


@pytest.mark.parametrize(("others", "panels"), [(2, 1), (11, 1), (11, 2), (2, 2), (11, 3), (14, 3)])
def test_one_legend_names_everything_once_with_ours_first(others, panels):
    curves = many_curves(others)
    figure = curves_figure([panel(curves, str(k), reference=0.95, reference_name="full data") for k in range(panels)])
    assert legend_names(figure) == [[*(curve.name for curve in curves), "full data"]]


@pytest.mark.parametrize(("others", "panels"), [(11, 1), (11, 2), (11, 3)])
def test_a_legend_of_many_covers_no_curve(others, panels):
    figure = curves_figure([panel(many_curves(others), str(k)) for k in range(panels)])
    figure.draw_without_rendering()
    legend = (figure.legends or [figure.axes[-1].get_legend()])[0].get_window_extent()
    assert not any(axis.get_window_extent().overlaps(legend) for axis in figure.axes[:panels])
    assert figure.bbox.x0 <= legend.x0 < legend.x1 <= figure.bbox.x1
    assert figure.bbox.y0 <= legend.y0 < legend.y1 <= figure.bbox.y1


def test_letters_are_legible_on_a_page():
    bars = bars_figure("a", "x", ["one", "two"], [Bars("b", [1, 2]), Bars("c", [2, 1])])
    for figure in (curves_figure([panel(many_curves())] * 2), bars, scatter_figure("a", "x", "y", {"b": (X, X)})):
        assert figure.get_figwidth() <= 7
        assert min(text.get_fontsize() for text in texts(figure)) >= 8


def test_missing_points_and_logarithms_are_drawn(tmp_path):
    mean = np.array([20.0, np.nan, 60.0])
    curve = Curve("a", X, mean, mean - 30, mean + 30)  # an end below 0 has no logarithm
    figure = curves_figure([panel([curve], log_y=True, y_limits=(15.0, 90.0))])
    save_figure(figure, tmp_path, "a")
    assert figure.axes[0].get_yscale() == "log"
    assert figure.axes[0].get_ylim() == (15.0, 90.0)
    assert "60" in [text.get_text() for text in figure.axes[0].get_yticklabels(which="minor")]


def test_a_logarithmic_x_axis_has_plain_numbers():
    figure = curves_figure([panel([Curve("a", [10.0, 40.0, 170.0], [1.0, 2.0, 3.0])], log_x=True)])
    figure.draw_without_rendering()
    axis = figure.axes[0]
    assert axis.get_xscale() == "log"
    shown = {text.get_text() for text in axis.get_xticklabels()}
    assert {"10", "20", "50", "100"} <= shown


def test_scatter_has_one_range_with_a_diagonal_and_counts_what_it_hides():
    x, y = np.array([1.0, 10.0, -1.0, np.nan]), np.array([2.0, 300.0, 1.0, 1.0])
    figure = scatter_figure("a", "predicted", "observed", {"b": (x, y), "c": (X, X)}, diagonal=True, log=True)
    axis = figure.axes[0]
    assert axis.get_xlim() == axis.get_ylim()
    assert axis.get_xlim()[0] < 0.2 < 300 < axis.get_xlim()[1]
    assert legend_names(figure) == [["b (2 not shown)", "c", "equal"]]
    np.testing.assert_array_equal(axis.lines[0].get_xydata(), [[1.0, 2.0], [10.0, 300.0]])
    linear = scatter_figure("a", "predicted", "observed", {"b": (x, y)})
    assert legend_names(linear) == [["b (1 not shown)"]]


def test_bars_are_as_long_as_their_numbers_and_do_not_overlap():
    groups = [Bars("b", [1.0, 2.0], [0.5, 1.0], [1.5, 3.0]), Bars("c", [3.0, 4.0])]
    figure = bars_figure("a", "share", ["one", "two"], groups, ours=["two"], reference=2.5, reference_name="random")
    axis = figure.axes[0]
    assert [bar.get_width() for bar in axis.patches] == [1.0, 2.0, 3.0, 4.0]
    spans = sorted((bar.get_y(), bar.get_y() + bar.get_height()) for bar in axis.patches)
    assert all(before[1] < after[0] for before, after in itertools.pairwise(spans))
    assert axis.get_ylim()[0] > axis.get_ylim()[1]  # the first label is on top
    assert [text.get_fontweight() for text in axis.get_yticklabels()] == ["normal", "bold"]
    assert legend_names(figure) == [["b", "c", "random"]]
    np.testing.assert_array_equal(axis.collections[0].get_segments()[1][:, 0], [1.0, 3.0])


def test_saved_figures_are_the_same_bytes_in_every_process(tmp_path):
    code = """
import sys
from pathlib import Path
from tests.report.test_curves import many_curves, panel
from leanset.report import curves_figure, save_figure
save_figure(curves_figure([panel(many_curves())]), Path(sys.argv[1]), "figure")
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "one")], check=True, cwd=Path(__file__).parents[2])
    save_figure(curves_figure([panel(many_curves())]), tmp_path / "two", "figure")
    for ending in ("svg", "png"):
        assert (tmp_path / "one" / f"figure.{ending}").read_bytes() == (
            tmp_path / "two" / f"figure.{ending}"
        ).read_bytes()


def test_saving_twice_changes_nothing_and_leaves_two_files(tmp_path):
    figure = curves_figure([panel(many_curves())] * 2)
    paths = save_figure(figure, tmp_path / "new", "figure")
    first = [path.read_bytes() for path in paths]
    assert [path.read_bytes() for path in save_figure(figure, tmp_path / "new", "figure")] == first
    assert sorted((tmp_path / "new").iterdir()) == sorted(paths)
    assert ElementTree.fromstring(first[0]).tag.endswith("svg")
    width, height = (int.from_bytes(first[1][at : at + 4]) for at in (16, 20))  # PNG's header
    assert (width, height) == tuple(round(200 * inches) for inches in figure.get_size_inches())


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: curves_figure([]), "at least one panel"),
        (lambda: Curve("a", X, X[:2]), r"`Curve\('a'\)` needs lists of the same length"),
        (lambda: Curve("a", X, X, low=X), "both `low` and `high`"),
        (lambda: Curve("a", X, X, style="mine"), "style='mine'"),
        (lambda: curves_figure([panel([Curve("a", X, X), Curve("a", X, X)])]), "two curves with the same name"),
        (
            lambda: curves_figure([panel([Curve("a", X, X)]), panel([Curve("a", X, X, style="ours")])]),
            "'other' and 'ours'",
        ),
        (
            lambda: bars_figure("a", "x", ["one"], [Bars("b", [1.0, 2.0])]),
            r"`Bars\('b'\)` must have 1 numbers, one for each label; got 2",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r'pip install "leanset\[report\]"'):
        curves_figure([panel(many_curves())])
