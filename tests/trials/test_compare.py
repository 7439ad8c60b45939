import json
import math
from dataclasses import replace

import numpy as np
import pytest

import leanset
from leanset import InputError, RunFolderError
from leanset.data import Images, checked_examples
from leanset.head import HeadStatistics
from leanset.judge import paired, paired_by_row
from leanset.trials import cell as cell_module
from leanset.trials import figure_tables
from leanset.trials.finished import CELLS
from leanset.trials.split import Splits
from leanset.trials.summary import CompareRow, Figure, verdicts

ASKED = {"methods": ["el2n", "leanset-weights"], "fractions": [0.5, 0.3], "seeds": 2, "l2": 0.01}


@pytest.fixture
def counted(monkeypatch):
    """The calls of `prune` from here on."""
    calls, prune = [], cell_module.prune
    monkeypatch.setattr(
        cell_module, "prune", lambda *given, **options: (calls.append(options), prune(*given, **options))[1]
    )
    return calls


def without_times(result):
    rows = [replace(row, seconds=None) for row in result.rows]
    return repr((rows, result.verdicts, result.about))


def cell_of(out, method, fraction, seed):
    with np.load(out / CELLS / f"{method}-{fraction:g}-s{seed}.npz") as arrays:
        return dict(arrays)


def test_every_method_meets_every_fraction_below_all_data_and_the_baseline(toy):
    found = leanset.compare(*toy[:2], validation=toy[2], **ASKED)
    names = ["full", "stratified-random", *ASKED["methods"]]
    assert [(row.fraction, row.method) for row in found.rows] == [(f, name) for f in (0.5, 0.3) for name in names]
    assert {row.seeds for row in found.rows} == {2}
    assert [row.kept for row in found.rows] == [240, 120, 120, 120, 240, 168, 168, 168]
    assert len(found.verdicts) >= 4
    for row in found.rows:
        assert (row.method == "stratified-random") == math.isnan(row.loss.difference)
    assert [table.title for table in figure_tables(found.rows)] == [
        "30 % removed, 168 of 240 rows kept",
        "50 % removed, 120 of 240 rows kept",
    ]
    assert "2 seeds: each draws the choice of every method anew." in found.about
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["verdicts"] == list(found.verdicts)


@pytest.mark.parametrize("held_out", [True, False])
def test_figures_are_means_over_seeds_and_differences_are_paired(toy, tmp_path, held_out):
    found = leanset.compare(*toy[:2], validation=toy[2] if held_out else None, out=tmp_path, **ASKED)
    rows = {(row.method, row.fraction): row for row in found.rows}
    row = rows["el2n", 0.5]
    ours, theirs = ([cell_of(tmp_path, name, 0.5, seed) for seed in (0, 1)] for name in ("el2n", "stratified-random"))
    splits = Splits(checked_examples(*toy[:2], toy[2] if held_out else None), 0.2)
    numbers = [splits.rows(0), splits.rows(1)]
    for name, array in (("accuracy", "right"), ("loss", "losses"), ("unchanged", "unchanged")):
        figure = getattr(row, name)
        assert figure.mean == pytest.approx(np.mean([cell[array] for cell in ours]))
        differences = [one[array].mean() - two[array].mean() for one, two in zip(ours, theirs, strict=True)]
        assert figure.difference == pytest.approx(np.mean(differences), abs=1e-12)
        by_hand = paired_by_row([cell[array] for cell in ours], [cell[array] for cell in theirs], numbers)
        assert (figure.low, figure.high) == pytest.approx((by_hand.low, by_hand.high))
    for name in ("change", "seconds"):
        by_hand = paired([cell[name] for cell in ours], [cell[name] for cell in theirs]).difference
        figure = getattr(row, name)
        assert (figure.difference, figure.low, figure.high) == pytest.approx((by_hand.mean, by_hand.low, by_hand.high))


def test_without_validation_rows_each_seed_holds_out_its_own(toy, tmp_path):
    found = leanset.compare(*toy[:2], out=tmp_path, held_out_share=0.25, **ASKED)
    assert "each holds out another 25 % of each class" in found.about
    first, second = (cell_of(tmp_path, "full", 0, seed)["losses"] for seed in (0, 1))
    assert len(first) == len(second) == pytest.approx(60, abs=2)
    assert first.tolist() != second.tolist()
    assert found.rows[0].kept + len(first) == 240


def test_the_same_call_again_computes_nothing_and_finds_the_same(toy, tmp_path, counted):
    first = leanset.compare(*toy[:2], out=tmp_path / "out", **ASKED)
    assert len(counted) == 2 * 2 * 3
    files = {path: path.read_bytes() for path in (tmp_path / "out").iterdir() if path.suffix in (".csv", ".md")}
    again = leanset.compare(*toy[:2], out=tmp_path / "out", **ASKED)
    assert len(counted) == 2 * 2 * 3
    assert repr(again) == repr(first)
    assert files == {path: path.read_bytes() for path in files}
    assert without_times(leanset.compare(*toy[:2], **ASKED)) == without_times(first)  # with no folder at all


def test_an_interrupted_comparison_goes_on_where_it_stopped_and_ends_the_same(toy, tmp_path, monkeypatch):
    whole = leanset.compare(*toy[:2], **ASKED)
    calls, prune = [], cell_module.prune

    def interrupted(*given, **options):
        if len(calls) == 7:
            raise KeyboardInterrupt
        calls.append(options)
        return prune(*given, **options)

    monkeypatch.setattr(cell_module, "prune", interrupted)
    with pytest.raises(KeyboardInterrupt):
        leanset.compare(*toy[:2], out=tmp_path, **ASKED)
    assert len(list((tmp_path / CELLS).glob("*-s?.npz"))) >= 7
    monkeypatch.setattr(
        cell_module, "prune", lambda *given, **options: (calls.append(options), prune(*given, **options))[1]
    )
    assert without_times(leanset.compare(*toy[:2], out=tmp_path, **ASKED)) == without_times(whole)
    assert len(calls) == 12


def test_more_methods_and_seeds_add_to_what_is_there(toy, tmp_path, counted):
    leanset.compare(*toy[:2], out=tmp_path, **ASKED)
    before = len(counted)
    leanset.compare(*toy[:2], out=tmp_path, **ASKED | {"methods": ["el2n", "herding"], "seeds": 3})
    assert [options["settings"].method for options in counted[before:]] == ["herding"] * 4 + [
        *("stratified-random", "el2n", "herding") * 2
    ]


def test_another_setup_or_a_foreign_folder_is_refused(toy, tmp_path, counted):
    features, labels, _ = toy
    leanset.compare(features, labels, out=tmp_path / "out", **ASKED)
    done = len(counted)
    for change, named in (
        ({"l2": 0.02}, "`l2`"),
        ({"penalty": "mean"}, "`penalty`"),
        ({"penalise_bias": False}, "`penalise_bias`"),
        ({"standardize": False}, "`standardize`"),
        ({"held_out_share": 0.4}, "`held_out_share`"),
    ):
        with pytest.raises(RunFolderError, match=named):
            leanset.compare(features, labels, out=tmp_path / "out", **ASKED | change)
    with pytest.raises(RunFolderError, match="different data"):
        leanset.compare(features + 1, labels, out=tmp_path / "out", **ASKED)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "README.md").write_text("mine")
    with pytest.raises(RunFolderError, match="in use for something else"):
        leanset.compare(features, labels, out=tmp_path / "thesis", **ASKED)
    assert len(counted) == done


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"methods": ["el3n"]}, r"'el3n' is unknown; choose from leanset, leanset-weights, paper, "),
        ({"methods": ["ccs"]}, r"'ccs' needs records of a network's training.*choose from leanset"),
        ({"methods": ["balanced"]}, r"'balanced' needs records"),
        ({"methods": "el2n"}, "`methods='el2n'` must be a list of names"),
        ({"fractions": [0.5, 1.0]}, r"must be one or more numbers in \(0, 1\)"),
        ({"fractions": []}, r"must be one or more numbers"),
        ({"fractions": [0.999]}, "192 examples cannot be removed"),
        ({"seeds": 0}, "`seeds=0` must be at least 1"),
        ({"held_out_share": 1.0}, r"`held_out_share=1.0` must lie in \(0, 1\)"),
        ({"l2": 0.1, "C": 1.0}, "two ways to say one thing"),
        ({"l2": -1.0}, "`l2=-1.0` must be a number of at least 0"),
        ({"loss": "sigmoid"}, "`loss='sigmoid'`"),
    ],
)
def test_what_is_wrong_is_named_before_anything_is_computed_or_written(toy, tmp_path, counted, options, said):
    with pytest.raises(InputError, match=said) as caught:
        leanset.compare(*toy[:2], out=tmp_path / "out", **ASKED | options)
    assert "\n" not in str(caught.value)
    assert not counted
    assert not (tmp_path / "out").exists()


def test_a_share_beside_own_validation_rows_and_images_and_classes_of_one_are_refused(toy):
    with pytest.raises(
        InputError, match=r"`held_out_share=0.3` does not apply to data with validation rows of their own"
    ):
        leanset.compare(*toy[:2], validation=toy[2], held_out_share=0.3)
    images = Images(np.zeros((4, 3, 8, 8), np.uint8), np.arange(4) % 2, ("a", "b"))
    with pytest.raises(InputError, match=r"leanset\.torch\.compare"):
        leanset.compare(images)
    with pytest.raises(InputError, match="nothing can be held out"):
        leanset.compare(np.eye(3), [0, 1, 2])
    with pytest.raises(InputError, match="`labels` are missing"):
        leanset.compare(toy[0])


def test_a_networks_statistics_keep_their_own_defaults(toy):
    features, labels, validation = toy
    statistics = HeadStatistics(
        features=features, labels=labels, classes=("a", "b", "c"), weight_decay=0.03, validation=validation
    )
    found = leanset.compare(statistics, methods=[], fractions=[0.5], seeds=1)
    plain = leanset.compare(
        features,
        labels,
        validation=validation,
        l2=0.03,
        penalty="mean",
        standardize=False,
        methods=[],
        fractions=[0.5],
        seeds=1,
    )
    assert "l2 0.03" in found.about
    assert [row.loss.mean for row in found.rows] == pytest.approx([row.loss.mean for row in plain.rows])


def test_regression_shows_its_loss_only(toy):
    features, _, (val_features, _) = toy
    numbers, held_out = features @ np.arange(1.0, 6.0), val_features @ np.arange(1.0, 6.0)
    rng = np.random.default_rng(0)
    found = leanset.compare(
        *(features, numbers + rng.normal(size=240)),
        validation=(val_features, held_out),
        loss="squared",
        **ASKED | {"seeds": 1},
    )
    assert all(math.isnan(row.accuracy.mean) and math.isnan(row.unchanged.mean) for row in found.rows)
    header = figure_tables(found.rows)[0].header
    assert not {"accuracy", "unchanged"} & set(header)
    assert {"loss", "moves"} < set(header)
    assert all("the head moves by" in line for line in found.verdicts if not line.startswith("all data"))
    assert "(one seed)" in found.verdicts[0]


def row_of(method, loss=(0.5, math.nan, math.nan, math.nan), unchanged=0.9):
    figure = Figure(unchanged, 0.0, 0.0, 0.0)
    return CompareRow(method, 0.7, 5, 30, figure, Figure(*loss), figure, figure, 1e-9, figure)


def test_the_verdict_is_about_the_loss_and_says_what_stays():
    rows = [
        row_of("stratified-random", unchanged=0.971),
        row_of("full", (0.5, -0.01, -0.02, -0.001)),
        row_of("leanset-weights", (0.488, -0.012, -0.014, -0.010), unchanged=0.998),
        row_of("herding", (0.501, 0.001, -0.003, 0.005)),
        row_of("el2n", (0.53, 0.03, 0.02, 0.04)),
    ]
    better, same, worse = verdicts(rows)
    assert better == (
        "leanset-weights is better than stratified-random at 70 % removed: −0.0120 in loss, 95 % interval −0.0140 to "
        "−0.0100 (5 seeds); 99.80 % of the answers unchanged (stratified-random: 97.1 %)."
    )
    assert same.startswith("no difference seen between herding and stratified-random at 70 % removed: +0.0010 in loss")
    assert worse.startswith("el2n is worse than stratified-random at 70 % removed: +0.030 in loss")


def test_it_is_said_where_even_all_data_lose_to_a_random_part():
    rows = [row_of("full", (0.6, 0.1, 0.05, 0.15)), row_of("stratified-random")]
    assert verdicts(rows)[0].startswith("all data is worse than stratified-random at 70 % removed: +0.100 in loss")


def test_the_head_of_all_data_is_fitted_once_for_each_split(toy, tmp_path, monkeypatch):
    fits, full = [], cell_module.Bench.full
    monkeypatch.setattr(cell_module.Bench, "full", lambda bench: (fits.append(bench), full(bench))[1])
    leanset.compare(*toy[:2], validation=toy[2], **ASKED)
    assert len(fits) == 1
    first = leanset.compare(*toy[:2], out=tmp_path, **ASKED)
    assert len(fits) == 1 + 2
    for lost in ("full-0-s0", "head-s1", "el2n-0.5-s1"):
        (tmp_path / CELLS / f"{lost}.npz").unlink()
    again = leanset.compare(*toy[:2], out=tmp_path, **ASKED)
    assert without_times(again) == without_times(first)
