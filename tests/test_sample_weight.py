"""Examples that count differently: the weighted problem is the problem, as if rows came several times.

The oracle for whole weights is the table in which each row is repeated as often as its weight says.
"""

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from typer.testing import CliRunner

import leanset
from leanset import Cholesky, InputError, Kronecker, LiSSA
from leanset.certify import loss_gap_bounds, quality_on
from leanset.cli.app import app
from leanset.data import Images, checked_examples
from leanset.head import (
    LOSSES,
    PENALTIES,
    FittedHead,
    HeadStatistics,
    choose_l2,
    design_of,
    fit_head,
    newton_step,
    refit,
)
from leanset.influence import influence_map, prepare_inverses
from leanset.problem import WeightProblem
from leanset.solve import solve_weights
from tests.head.test_losses import targets_of

L2, N = 1e-2, 60
QUICK = {"frontier": False, "l2": L2, "proposals": 20_000}
KINDS = {"scaled": {"standardize": True}, "plain bias": {"standardize": False, "penalise_bias": False}}


def tables(loss, seed=5):
    """Return examples with whole weights, the same with repeated rows, and the row that each repeated one comes from."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(N, 3)) * [1.0, 4.0, 0.3] + [0.0, 2.0, 1.0]
    targets = targets_of(loss, rng, features @ rng.normal(size=(3, 3)))
    counts = rng.integers(1, 5, N)
    copies, kind = np.repeat(np.arange(N), counts), LOSSES[loss](3).targets
    weighted = checked_examples(features, targets, targets=kind, weight=counts / 7.0)  # only their ratios matter
    return weighted, checked_examples(features[copies], targets[copies], targets=kind), copies


def heads(loss, kind, penalty="mean"):
    """Return the head of the weighted table, that of the repeated one, and where the repeated rows come from."""
    weighted, repeated, copies = tables(loss)
    designs = [design_of(each, LOSSES[loss](3), **KINDS[kind])[0] for each in (weighted, repeated)]
    fits = [fit_head(design, L2, relative_error=1e-11).theta for design in designs]
    return *(
        FittedHead.at(design, theta, L2, PENALTIES[penalty]) for design, theta in zip(designs, fits, strict=True)
    ), copies


def summed(values, copies):
    """Add up what belongs to the same row."""
    total = np.zeros((N, *values.shape[1:]))
    np.add.at(total, copies, values)
    return total


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_head_and_its_derivatives_are_those_of_repeated_rows(loss, kind):
    one, many, copies = heads(loss, kind)
    np.testing.assert_allclose(one.theta, many.theta, atol=1e-9)
    assert one.objective(one.theta) == pytest.approx(many.objective(many.theta))
    np.testing.assert_allclose(one.curvature().hessian(), many.curvature().hessian(), atol=1e-10)
    probe = np.random.default_rng(0).normal(size=(2, *one.theta.shape))
    np.testing.assert_allclose(one.curvature().apply(probe), many.curvature().apply(probe), atol=1e-9)
    np.testing.assert_allclose(one.kronecker.solve(probe), many.kronecker.solve(probe), rtol=1e-6, atol=1e-9)
    scale = len(many) / N  # weights have the mean 1
    np.testing.assert_allclose(
        scale * one.gradients(np.arange(N)), summed(many.gradients(np.arange(len(many))), copies)
    )


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("inverse", [Cholesky(), Kronecker(), LiSSA(depth=20_000, tolerance=1e-12)], ids=str)
def test_the_influence_of_a_row_is_that_of_all_its_copies(inverse, centred):
    one, many, copies = heads("softmax", "plain bias")
    ours, theirs = (influence_map(head, inverse, centred=centred) for head in (one, many))
    expected = summed(theirs.vectors(np.arange(len(many))).astype(float), copies)
    size = np.abs(expected).max()
    np.testing.assert_allclose(np.abs(ours.vectors(np.arange(N))), np.abs(expected), atol=1e-5 * size)
    np.testing.assert_allclose(ours.norms(), np.linalg.norm(expected, axis=1), rtol=1e-4, atol=1e-5 * size)
    part = np.random.default_rng(1).random(N)
    np.testing.assert_allclose(np.abs(ours.total(part)), np.abs(theirs.total(part[copies])), atol=1e-5 * size)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", LOSSES)
def test_removing_rows_is_removing_all_their_copies(loss, kind, penalty):
    one, many, copies = heads(loss, kind, penalty)
    kept = (np.random.default_rng(2).random(N) < 0.7).astype(float)
    inverses = [prepare_inverses(head, Cholesky(), 2**30) for head in (one, many)]
    both = list(zip((one, many), (kept, kept[copies]), inverses, strict=True))
    assert one.l2_on(kept) == pytest.approx(many.l2_on(kept[copies]))
    for found in (
        [refit(head, weights, inverse.precondition).change for head, weights, inverse in both],
        [np.linalg.norm(newton_step(head, weights, inverse.precondition).solution) for head, weights, inverse in both],
        [np.linalg.norm(inverse.influence_of_sum(head, 1 - weights).solution) for head, weights, inverse in both],
    ):
        assert found[0] == pytest.approx(found[1], rel=1e-5)


def test_bounds_means_and_shares_are_those_of_repeated_rows_and_intervals_are_of_the_rows_there_are():
    one, many, _ = heads("softmax", "scaled")
    moved = one.theta + 0.1 * np.random.default_rng(3).normal(size=one.theta.shape)
    for ours, theirs in zip(*(loss_gap_bounds(each.design, moved, one.theta) for each in (one, many)), strict=True):
        assert ours == pytest.approx(theirs)
    ours, theirs = (quality_on(head.design, one.theta, moved) for head in (one, many))
    for name in ("loss", "accuracy", "same_answers"):
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name))
    assert ours.loss_gap.mean == pytest.approx(theirs.loss_gap.mean)
    assert ours.loss_gap.highest > theirs.loss_gap.highest  # copies are no new rows
    even = quality_on(many.design, one.theta, moved).loss_gap
    design = many.design.sample(np.arange(len(many)))
    as_ones = quality_on(type(design)(**vars(design) | {"worth": np.full(len(many), 3.0)}), one.theta, moved).loss_gap
    assert (as_ones.mean, as_ones.low, as_ones.high) == pytest.approx((even.mean, even.low, even.high))


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
def test_factors_on_the_weights_hold_the_head_where_it_is(loss, penalty):
    head, _, _ = heads(loss, "scaled", penalty)
    kept = (np.random.default_rng(0).random(N) < 0.8).astype(float)
    found = solve_weights(WeightProblem(head, kept, 0.02, 50.0))
    assert found.exact
    after = refit(head, found.values, prepare_inverses(head, Cholesky(), 2**30).precondition)
    assert after.change < 1e-6 * head.norm


def test_l2_is_chosen_by_weighted_losses():
    """Validation rows that do not count cannot have a say."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 240)
    features = labels[:, None] + rng.normal(size=(240, 8))
    noise = rng.normal(size=(200, 8)) * 5
    val_features, val_labels = np.vstack([features[:80], noise]), np.r_[labels[:80], np.arange(200) % 2]

    def chosen(*held_out):
        examples = checked_examples(features[80:], labels[80:], held_out)
        return choose_l2(*design_of(examples, LOSSES["softmax"](2), standardize=True)[:2], 0).l2

    alone = chosen(val_features[:80], val_labels[:80])
    assert chosen(val_features, val_labels, np.r_[np.ones(80), np.full(200, 1e-9)]) == alone
    assert chosen(val_features, val_labels) != alone


@pytest.mark.parametrize("loss", ["softmax", "squared"])
def test_scikit_learn_fits_the_same_head_with_the_weights_of_the_result(toy, loss):
    features, labels, _ = toy
    targets = labels if loss == "softmax" else features @ np.arange(5.0) + labels
    given = np.random.default_rng(0).gamma(2.0, size=240) * 3

    def fit(rows, weights):
        model = (
            Ridge(alpha=2.0) if loss == "squared" else LogisticRegression(C=0.5, tol=1e-12, solver="newton-cholesky")
        )
        return model.fit(features[rows], targets[rows], sample_weight=weights).coef_

    result = leanset.prune(
        features, targets, keep=120, weights=True, C=0.5, loss=loss, sample_weight=given, frontier=False
    )
    full = fit(np.arange(240), given)
    np.testing.assert_allclose(fit(result.kept, result.weights), full, atol=1e-7 * np.abs(full).max())
    plain = leanset.prune(features, targets, keep=120, C=0.5, loss=loss, sample_weight=given, frontier=False)
    np.testing.assert_array_equal(plain.weights, given[plain.kept])  # without weights of leanset, those that were given
    # The measured change is scikit-learn's, up to the bias, which it does not penalise.
    change = np.linalg.norm(fit(plain.kept, plain.weights) - full)
    assert change <= plain.certificate.refit_change * (1 + 1e-6)
    assert plain.certificate.refit_change < plain.certificate.random_refit_change_mean / 2


def test_equal_weights_change_nothing_and_their_unit_does_not_matter(toy):
    features, labels, _ = toy
    plain, even = (
        leanset.prune(features, labels, keep=120, sample_weight=w, **QUICK) for w in (None, np.full(240, 2.5))
    )
    np.testing.assert_array_equal(plain.kept, even.kept)
    assert even.certificate.refit_change == pytest.approx(plain.certificate.refit_change, rel=1e-6)
    given = np.random.default_rng(1).random(240) + 0.1
    one, ten = (leanset.prune(features, labels, keep=120, sample_weight=w, **QUICK) for w in (given, 8 * given))
    np.testing.assert_array_equal(one.kept, ten.kept)
    np.testing.assert_allclose(ten.weights, 8 * one.weights)
    assert (one.kept != plain.kept).any()


def test_rows_of_weight_zero_are_no_part_of_the_problem(toy, tmp_path):
    features, labels, _ = toy
    given = np.random.default_rng(1).random(240) + 0.1
    given[::6] = 0.0
    counting = np.flatnonzero(given)
    whole = leanset.prune(features, labels, keep=100, sample_weight=given, out=tmp_path / "run", **QUICK)
    part = leanset.prune(features[counting], labels[counting], keep=100, sample_weight=given[counting], **QUICK)
    np.testing.assert_array_equal(whole.kept, counting[part.kept])
    np.testing.assert_array_equal(whole.weights, part.weights)
    assert all(check.holds for check in leanset.verify(tmp_path / "run", features, labels, sample_weight=given))
    whole.report(tmp_path / "page.html", features)


@pytest.mark.parametrize(
    "options", [{}, {"weights": True}, {"penalty": "mean"}, {"suspects": "drop"}, {"method": "el2n", "proposals": None}]
)
def test_runs_are_re_checked_by_code_of_its_own(toy, tmp_path, options):
    features, labels, (val_features, val_labels) = toy
    rng = np.random.default_rng(2)
    given, val_given = rng.gamma(1.0, size=240) + 0.05, rng.gamma(1.0, size=120)
    validation = val_features, val_labels, val_given
    result = leanset.prune(
        features, labels, keep=90, sample_weight=given, validation=validation, out=tmp_path / "run", **QUICK | options
    )
    assert result.certificate.sample_weighted
    assert result.certificate.weighted == bool(options.get("weights"))

    def failed(**data):
        checks = leanset.verify(tmp_path / "run", features, labels, **data)
        return [check.name for check in checks if not check.holds]

    assert failed(sample_weight=given, validation=validation) == []
    assert "weights" in failed(validation=validation)
    assert "data" in failed(sample_weight=given[::-1], validation=validation)
    assert "data" in failed(sample_weight=given, validation=(val_features, val_labels))
    saved = tmp_path / "run" / "certificate.json"
    honest = json.loads(saved.read_text())
    for name, check in (
        ("training_loss_gap", "training loss gap"),
        ("random_refit_change_mean", "random removals, mean"),
    ):
        saved.write_text(json.dumps(honest | {name: 1.5 * abs(honest[name]) + 0.01}))
        assert check in failed(sample_weight=given, validation=validation)
    saved.write_text(json.dumps(honest))
    np.testing.assert_array_equal(leanset.load(tmp_path / "run").weights, result.weights)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (np.ones(239), r"`sample_weight` must contain one number for each of the 240 examples; got float64 \(239,\)"),
        (np.r_[np.ones(239), -1.0], "`sample_weight` must contain finite numbers, 0 or more; row 239 has -1.0"),
        (np.r_[np.nan, np.ones(239)], "row 0 has nan"),
        (np.zeros(240), "`sample_weight` must not be zero for all examples"),
        (["heavy"] * 240, "one number for each of the 240"),
    ],
)
def test_weights_that_cannot_be_used(toy, given, match):
    with pytest.raises(InputError, match=match):
        leanset.prune(*toy[:2], keep=100, sample_weight=given)


def test_a_class_that_does_not_count_is_named(toy):
    features, labels, _ = toy
    with pytest.raises(InputError, match="without the rows of weight 0, no example of class 1 is left"):
        leanset.prune(features, labels, keep=100, sample_weight=(labels != 1).astype(float))


def test_what_has_no_weights_refuses_them_in_one_line(toy, toy_npz, tmp_path):
    features, labels, _ = toy
    statistics = HeadStatistics(features=features, labels=labels, classes=("a", "b", "c"))
    pixels = Images(np.zeros((6, 1, 8, 8), np.uint8), np.arange(6) % 2, ("a", "b"))
    for network in (statistics, pixels):
        with pytest.raises(
            InputError, match=r"`sample_weight` does not apply to .*: networks are trained without weights"
        ):
            leanset.prune(network, keep=4, sample_weight=np.ones(240))
    with pytest.raises(InputError, match=r"`sample_weight` does not apply to .*give its column"):
        leanset.prune(str(toy_npz), keep=100, sample_weight=np.ones(240))
    grey = tmp_path / "grey.npz"
    np.savez(grey, images=np.zeros((6, 8, 8), np.uint8), labels=np.arange(6) % 2, sample_weight=np.ones(6))
    with pytest.raises(InputError, match="`sample_weight` does not apply to images"):
        leanset.prune(str(grey), keep=4, model="conv4")
    table = tmp_path / "rows.npz"
    np.savez(table, features=features, labels=labels, sample_weight=np.ones(240))
    with pytest.raises(InputError, match="a comparison counts all examples alike"):
        leanset.compare(str(table))


@pytest.mark.parametrize("kind", ["csv", "parquet", "npz", "npy"])
def test_files_bring_their_weights_to_the_command_line(toy, tmp_path, kind):
    features, labels, _ = toy
    given = np.random.default_rng(3).integers(1, 9, 240) / 4
    source, options = tmp_path / f"X.{kind}", []
    columns = {f"x{k}": features[:, k] for k in range(5)} | {"kind": labels, "worth": given}
    if kind == "csv":
        with source.open("w", newline="") as file:
            csv.writer(file).writerows(
                [list(columns), *zip(*(each.tolist() for each in columns.values()), strict=True)]
            )
    elif kind == "parquet":
        pq.write_table(pa.table(columns), source)
    elif kind == "npz":
        np.savez(source, X=features, y=labels, sample_weight=given)
    else:
        for name, array in (("X", features), ("y", labels), ("sample_weight", given)):
            np.save(tmp_path / f"{name}.npy", array)
    if kind in ("csv", "parquet"):
        options = ["--label-column", "kind", "--weight-column", "worth"]
    out = tmp_path / "run"
    call = ["prune", str(source), "--keep", "100", "--no-frontier", "--l2", str(L2), "--proposals", "20000"]
    answer = CliRunner().invoke(app, [*call, *options, "--out", str(out)])
    assert answer.exit_code == 0, answer.output
    if options:
        assert "Label: kind. Weight: worth." in " ".join(answer.output.split())
    expected = leanset.prune(features, labels, keep=100, sample_weight=given, **QUICK)
    found = leanset.load(out)
    np.testing.assert_array_equal(found.kept, expected.kept)
    with (out / "kept.csv").open() as file:
        assert [float(row["weight"]) for row in csv.DictReader(file)] == given[found.kept].tolist()
    assert CliRunner().invoke(app, ["verify", str(out)]).exit_code == 0


def test_a_column_called_sample_weight_is_one_and_can_be_left_out_or_made_a_feature(toy, tmp_path):
    features, labels, _ = toy
    given = np.random.default_rng(3).random(240) + 0.5
    table = pa.table({f"x{k}": features[:, k] for k in range(5)} | {"label": labels, "sample_weight": given})
    usual = leanset.prune(table, keep=100, **QUICK)
    assert (usual.origin.weight, usual.certificate.sample_weighted) == ("sample_weight", True)
    dropped = leanset.prune(table, keep=100, drop=["sample_weight"], **QUICK)
    assert (dropped.origin.left_out, dropped.certificate.sample_weighted) == (("sample_weight",), False)
    measured = leanset.prune(table, keep=100, feature_columns=["x0", "sample_weight"], **QUICK)
    assert (measured.columns, measured.certificate.sample_weighted) == (["x0", "sample_weight"], False)
    for options, match in (
        ({"weight_column": "x0", "feature_columns": ["x0"]}, "the weight column `x0` cannot be a feature, too"),
        ({"weight_column": "label", "label_column": "label"}, "cannot be the weight column, too"),
        ({"weight_column": "worth"}, "no column `weight_column='worth'`"),
    ):
        with pytest.raises(InputError, match=match):
            leanset.prune(table, keep=100, **options)
    named = table.append_column("heavy", pa.array(["yes"] * 240))
    with pytest.raises(InputError, match="column `heavy` must contain numbers, 0 or more; it is string"):
        leanset.prune(named, keep=100, weight_column="heavy", drop=["sample_weight"])
