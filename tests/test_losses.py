"""Heads of every loss from end to end: prune, certificate, re-check and command line."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from typer.testing import CliRunner

import leanset
from leanset import InputError
from leanset.cli.app import app
from leanset.data import Numbers
from leanset.scores import METHODS
from tests import plain

L2 = 1e-2


def problem(loss, n=400, seed=0):
    """Features, targets and held-out data of one kind, with some noise."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n + 100, 5))
    outputs = features @ rng.normal(size=(5, 3)) + 0.5 * rng.normal(size=(n + 100, 3))
    targets = {"softmax": outputs.argmax(axis=1), "sigmoid": (outputs > 0.8).astype(int), "squared": outputs}[loss]
    return features[:n], targets[:n], (features[n:], targets[n:])


LOSSES = ("softmax", "sigmoid", "squared")


def scikit_head(loss, features, targets, rows):
    """Fit with scikit-learn on the features as all examples scale them."""
    x = plain.design(features)[rows]
    if loss == "squared":
        return Ridge(alpha=len(rows) * L2, fit_intercept=False).fit(x, targets[rows]).coef_
    model = LogisticRegression(C=1 / (len(rows) * L2), fit_intercept=False, tol=1e-10, max_iter=10_000)
    if loss == "softmax":
        return model.fit(x, targets[rows]).coef_
    return np.vstack([model.fit(x, targets[rows, c]).coef_ for c in range(targets.shape[1])])


@pytest.mark.parametrize("loss", LOSSES)
def test_the_certificate_says_what_scikit_learn_measures(loss):
    features, targets, validation = problem(loss)
    options = {"fraction": 0.5, "l2": L2, "penalty": "mean", "loss": loss, "frontier": False}
    result = leanset.prune(features, targets, validation=validation, **options)
    full, lean = (scikit_head(loss, features, targets, rows) for rows in (np.arange(400), result.kept))
    certificate = result.certificate
    assert certificate.loss == loss
    assert certificate.head_norm == pytest.approx(np.linalg.norm(full), rel=1e-5)
    assert certificate.refit_change == pytest.approx(np.linalg.norm(lean - full), abs=2e-5 * np.linalg.norm(full))
    assert certificate.refit_change < certificate.random_refit_change_mean / 5
    assert certificate.validation_loss_gap <= certificate.first_order_bound + certificate.second_order_bound


@pytest.mark.parametrize("loss", LOSSES)
def test_an_honest_run_holds_and_a_touched_up_one_does_not(loss, tmp_path):
    features, targets, validation = problem(loss)
    options = {"fraction": 0.4, "l2": L2, "loss": loss, "frontier": False, "out": tmp_path / "run"}
    leanset.prune(features, targets, validation=validation, **options)
    checks = leanset.verify(tmp_path / "run", features, targets, validation=validation)
    assert [check.name for check in checks if not check.holds] == []
    certificate = json.loads((tmp_path / "run" / "certificate.json").read_text())
    (tmp_path / "run" / "certificate.json").write_text(json.dumps(certificate | {"refit_change": 1e-9}))
    checks = leanset.verify(tmp_path / "run", features, targets, validation=validation)
    assert [check.name for check in checks if not check.holds] == ["manifest", "measured change"]
    other = {"softmax": "sigmoid", "sigmoid": "squared", "squared": "softmax"}[loss]
    (tmp_path / "run" / "certificate.json").write_text(json.dumps(certificate | {"loss": other}))
    checks = leanset.verify(tmp_path / "run", features, targets, validation=validation)
    assert [check.name for check in checks if not check.holds] == ["manifest", "loss"]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("budget", [{"epsilon": 0.3}, {"relative_epsilon": 0.05}, {"max_loss_gap": 0.02}])
def test_limits_are_kept(loss, budget):
    features, targets, validation = problem(loss)
    options = {"l2": L2, "loss": loss, "frontier": False, "solver": leanset.AdaptiveAnnealing(proposals=20_000)}
    certificate = leanset.prune(features, targets, validation=validation, **budget, **options).certificate
    [(name, limit)] = budget.items()
    seen = certificate.validation_loss_gap if name == "max_loss_gap" else certificate.refit_change
    assert seen <= limit * (certificate.head_norm if name == "relative_epsilon" else 1)
    assert certificate.removed > 40


def test_numbers_keep_their_distribution():
    """Each tenth of the targets loses the same share."""
    features, targets, _ = problem("squared")
    result = leanset.prune(features, targets[:, 0], loss="squared", fraction=0.7, frontier=False)
    tenth = np.argsort(np.argsort(targets[:, 0])) // 40
    np.testing.assert_array_equal(np.bincount(tenth[result.kept]), 12)


def test_labels_keep_their_share():
    """The rarest label of an example decides its group, and every group loses the same share."""
    features, targets, _ = problem("sigmoid", n=800)
    result = leanset.prune(features, targets, loss="sigmoid", fraction=0.5, frontier=False)
    counts = targets.sum(axis=0)
    rarest = [min(np.flatnonzero(row), key=lambda c: counts[c], default=3) for row in targets]
    gone, sizes = (np.bincount(np.array(rarest)[rows], minlength=4) for rows in (result.removed, np.arange(800)))
    assert (np.abs(gone - sizes / 2) <= 1).all()
    share = targets[result.kept].mean(axis=0) / targets.mean(axis=0)
    assert (np.abs(share - 1) < 0.25).all()


def test_every_method_that_needs_no_classes_prunes_numbers():
    features, targets, _ = problem("squared")
    served = [name for name, kind in METHODS.items() if not {"dynamics", "gradient_norm"} & set(kind().all_needs())]
    assert {"random", "herding", "el2n", "influence"} <= set(served)
    for method in served:
        result = leanset.prune(features, targets, loss="squared", method=method, fraction=0.4, frontier=False)
        assert len(result.removed) == 160
    with pytest.raises(InputError, match="needs dynamics"):
        leanset.prune(features, targets, loss="squared", method="forgetting", fraction=0.4)


def test_el2n_of_numbers_is_the_length_of_the_error():
    features, targets, _ = problem("squared")
    result = leanset.prune(features, targets, loss="squared", l2=L2, method="el2n", fraction=0.4, frontier=False)
    head = scikit_head("squared", features, targets, np.arange(400))
    errors = plain.design(features) @ head.T - targets
    np.testing.assert_allclose(result.score, np.linalg.norm(errors, axis=1), rtol=1e-5)


def test_one_label_is_the_binary_head_of_scikit_learn():
    features, targets, _ = problem("sigmoid")
    result = leanset.prune(features, targets[:, 0], loss="sigmoid", l2=L2, fraction=0.4, frontier=False)
    expected = scikit_head("sigmoid", features, targets[:, :1], np.arange(400))
    assert result.certificate.head_norm == pytest.approx(np.linalg.norm(expected), rel=1e-5)
    assert set(result.labels) == {"", "0"}


@pytest.mark.parametrize("loss", ["sigmoid", "squared"])
@pytest.mark.parametrize("kind", ["npz", "parquet"])
def test_the_command_line_reads_prunes_and_verifies(tmp_path, loss, kind):
    features, targets, (held_out, held_targets) = problem(loss)
    data = tmp_path / f"data.{kind}"
    if kind == "npz":
        np.savez(data, features=features, labels=targets, val_features=held_out, val_labels=held_targets)
    else:
        columns = {f"x{c}": features[:, c] for c in range(5)}
        pq.write_table(pa.table(columns | {"label": list(targets.astype(float))}), data)
    arguments = ["prune", str(data), "--loss", loss, "--l2", str(L2), "--count", "150", "--no-frontier", "--json"]
    done = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    validation = (held_out, held_targets) if kind == "npz" else None
    same = leanset.prune(features, targets, validation=validation, loss=loss, l2=L2, count=150, frontier=False)
    assert json.loads(done.stdout)["certificate"]["refit_change"] == same.certificate.refit_change
    np.testing.assert_array_equal(leanset.load(tmp_path / "run").kept, same.kept)
    held = CliRunner().invoke(app, ["verify", str(tmp_path / "run"), "--data", str(data)])
    assert held.exit_code == 0, held.output


@pytest.mark.parametrize(
    ("loss", "targets", "message"),
    [
        ("softmax", np.zeros((400, 2)), r"A matrix of 0 and 1 needs `loss='sigmoid'`"),
        ("softmax", np.linspace(0, 1, 400), r"For continuous targets give `loss='squared'`"),
        ("sigmoid", np.arange(400) % 3, r"must be 0 or 1 for `loss='sigmoid'`; row 2 has 2"),
        ("sigmoid", np.column_stack([np.arange(400) % 2, np.ones(400)]), r"column 1 is 1 in every row"),
        ("squared", np.ones(400), r"every example has the same number"),
        ("squared", np.full(400, np.nan), r"`labels` must be finite; 400 rows are not, first row 0"),
        ("squared", ["a"] * 400, r"`labels` must be numbers"),
        ("squared", np.arange(399.0), r"one row for each of the 400 rows of `features`; got shape \(399, 1\)"),
        ("hinge", np.arange(400) % 2, r"`loss='hinge'` must be 'softmax', 'sigmoid' or 'squared'"),
    ],
)
def test_targets_that_do_not_fit_the_loss_are_named(loss, targets, message):
    with pytest.raises(InputError, match=message):
        leanset.prune(problem("softmax")[0], targets, loss=loss, fraction=0.4)


def test_held_out_targets_must_be_of_the_same_kind():
    features, targets, (held_out, held_targets) = problem("squared")
    with pytest.raises(InputError, match=r"`val_labels` must have the 3 columns of `labels`; got 1"):
        leanset.prune(features, targets, validation=(held_out, held_targets[:, 0]), loss="squared", fraction=0.4)
    features, targets, (held_out, held_targets) = problem("sigmoid")
    with pytest.raises(InputError, match=r"`val_labels` must be 0 or 1"):
        leanset.prune(features, targets, validation=(held_out, 2 * held_targets), loss="sigmoid", fraction=0.4)


def test_a_network_has_classes():
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 2
    stats = leanset.head.HeadStatistics(features=rng.normal(size=(60, 3)), labels=labels, classes=("a", "b"))
    with pytest.raises(InputError, match=r"`loss='squared'` needs other targets: these data have classes"):
        leanset.prune(stats, loss="squared", fraction=0.4)


@pytest.mark.parametrize("unit", [1e-16, 1e-6, 1e6])
def test_the_unit_of_the_numbers_does_not_matter(tmp_path, unit):  # the re-check once stopped at an absolute tolerance
    features, targets, validation = problem("squared")
    scaled = validation[0], unit * validation[1]
    options = {"fraction": 0.4, "l2": L2, "loss": "squared", "frontier": False}
    plain_unit = leanset.prune(features, targets, validation=validation, **options).certificate
    odd_unit = leanset.prune(features, unit * targets, validation=scaled, out=tmp_path / "run", **options).certificate
    assert odd_unit.head_norm == pytest.approx(unit * plain_unit.head_norm, rel=1e-6)
    checks = leanset.verify(tmp_path / "run", features, unit * targets, validation=scaled)
    assert [check.name for check in checks if not check.holds] == []


def test_no_label_is_ever_lost(tmp_path):  # a label that is never the rarest of an example has no group of its own
    rng = np.random.default_rng(0)
    targets = np.zeros((60, 3), dtype=int)
    targets[:20, 0] = 1
    targets[:10, 1] = 1
    targets[10:20, 2] = 1
    targets[20:28, 1] = 1
    targets[28:36, 2] = 1
    features = rng.normal(size=(60, 3)) + targets
    options = {"loss": "sigmoid", "method": "random", "l2": L2, "frontier": False}
    for balance in ("proportional", "none"):
        for seed in range(20):
            result = leanset.prune(features, targets, fraction=0.9, seed=seed, class_balance=balance, **options)
            kept = targets[result.kept]
            assert kept.any(axis=0).all()
            assert not kept.all(axis=0).any()
    leanset.prune(features, targets, fraction=0.9, out=tmp_path / "run", **options)
    kept = (tmp_path / "run" / "kept.txt").read_text().split()
    assert len(kept) == 6


def test_groups_of_numbers_do_not_depend_on_the_order_of_the_rows():
    rng = np.random.default_rng(0)
    tied = np.where(rng.random(200) < 0.8, 0.0, rng.normal(size=200))
    order = rng.permutation(200)
    one, two = Numbers.checked(tied, 200, "features"), Numbers.checked(tied[order], 200, "features")
    np.testing.assert_array_equal(one.groups[order], two.groups)
    value = rng.normal(size=200)
    opposed = Numbers.checked(np.column_stack([value, -value]), 200, "features")
    means = [value[opposed.groups == group].mean() for group in range(10)]
    assert means == sorted(means) or means == sorted(means, reverse=True)


def test_numbers_have_no_probability():
    features, targets, _ = problem("squared")
    result = leanset.prune(features, targets, loss="squared", fraction=0.4, frontier=False)
    assert np.isnan(result.label_probability).all()


def test_the_share_that_is_right_is_of_labels_for_sigmoid():
    features, targets, validation = problem("sigmoid")
    result = leanset.prune(
        features, targets, validation=validation, loss="sigmoid", l2=L2, fraction=0.4, frontier=False
    )
    x = plain.design(features)
    full = [
        LogisticRegression(C=1 / (len(x) * L2), fit_intercept=False, tol=1e-10).fit(x, label).coef_[0]
        for label in targets.T
    ]
    held_out = (validation[0] - features.mean(axis=0)) / features.std(axis=0)
    right = (np.column_stack([held_out, np.ones(len(held_out))]) @ np.transpose(full) > 0) == (validation[1] > 0)
    assert result.certificate.validation_accuracy == pytest.approx(right.mean(), abs=1e-9)


@pytest.mark.parametrize("budget", ["max_accuracy_drop", "min_agreement"])
def test_numbers_have_no_answers_to_limit(budget):
    features, targets, validation = problem("squared")
    with pytest.raises(InputError, match=f"`{budget}` counts right or wrong answers"):
        leanset.prune(features, targets, validation=validation, loss="squared", **{budget: 0.1})
