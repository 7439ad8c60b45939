"""A cell is what anyone gets who prunes, fits the head on what is kept, and looks at the validation rows."""

import numpy as np
import pytest

import leanset
from leanset.data import checked_examples
from leanset.judge import on_features, prune_options
from leanset.trials.cell import Bench
from tests import plain

L2 = 0.01


def bench_of(data, **options):
    features, labels, validation = data
    kind = {"sigmoid": "labels", "squared": "numbers"}.get(options.get("loss"), "classes")
    settings = leanset.Settings(fraction=0.5, frontier=False, random_draws=2, **({"l2": L2} | options))
    return Bench.on(checked_examples(features, labels, validation, kind), settings)


def scaled_like(train, rows):
    return np.column_stack([(rows - train.mean(axis=0)) / train.std(axis=0), np.ones(len(rows))])


@pytest.fixture
def small(toy):
    features, labels, (val_features, val_labels) = toy
    return features[:90, :3], labels[:90], (val_features[:50, :3], val_labels[:50])


@pytest.mark.parametrize("method", ["leanset", "el2n"])
@pytest.mark.parametrize("penalty", ["mean", "total"])
def test_a_cell_is_the_head_on_what_is_kept_fitted_by_hand(small, method, penalty):
    features, labels, (val_features, val_labels) = small
    bench = bench_of(small, penalty=penalty)
    cell = bench.tried(bench.full()[0], method, 0.5, 3)
    kept = leanset.prune(
        *small[:2], fraction=0.5, l2=L2, penalty=penalty, seed=3, frontier=False, **prune_options(method)
    ).kept
    x, held_out = plain.design(features), scaled_like(features, val_features)
    full = plain.fit(x, labels, 3, L2)
    after = plain.fit(x[kept], labels[kept], 3, L2 if penalty == "mean" else L2 * 90 / 45)
    losses = [-np.log(plain.softmax(after @ row)[label]) for row, label in zip(held_out, val_labels, strict=True)]
    np.testing.assert_allclose(cell.losses, losses, rtol=1e-5, atol=1e-8)
    np.testing.assert_array_equal(cell.right, (held_out @ after.T).argmax(axis=1) == val_labels)
    np.testing.assert_array_equal(
        cell.unchanged, (held_out @ after.T).argmax(axis=1) == (held_out @ full.T).argmax(axis=1)
    )
    assert cell.change == pytest.approx(np.linalg.norm(after - full) / np.linalg.norm(full), rel=1e-5)
    assert (cell.kept, len(kept)) == (45, 45)


def test_weights_are_scikit_learns_sample_weights(toy):
    linear_model = pytest.importorskip("sklearn.linear_model")
    features, labels, (val_features, val_labels) = toy
    bench = bench_of(toy, l2=None, C=0.5)
    full = bench.full()[0]
    cell = bench.tried(full, "leanset-weights", 0.7, 0)
    result = leanset.prune(features, labels, fraction=0.7, C=0.5, weights=True, frontier=False)
    head, on_all = (linear_model.LogisticRegression(C=0.5, tol=1e-12, max_iter=5000) for _ in range(2))
    head.fit(features[result.kept], labels[result.kept], sample_weight=result.weights)
    on_all.fit(features, labels)
    np.testing.assert_allclose(
        cell.losses, -np.log(head.predict_proba(val_features)[np.arange(120), val_labels]), atol=1e-6
    )
    np.testing.assert_array_equal(cell.right, head.predict(val_features) == val_labels)
    np.testing.assert_array_equal(cell.unchanged, head.predict(val_features) == on_all.predict(val_features))
    np.testing.assert_allclose(full.theta[:, :-1], on_all.coef_, atol=1e-5)


@pytest.mark.parametrize("method", on_features())
def test_the_change_is_the_certificates(toy, method):
    bench = bench_of(toy)
    cell = bench.tried(bench.full()[0], method, 0.4, 1)
    options = {"fraction": 0.4, "l2": L2, "seed": 1, "frontier": False, "random_draws": 2}
    certificate = leanset.prune(*toy[:2], **options, **prune_options(method)).certificate
    assert cell.change == pytest.approx(certificate.refit_change / certificate.head_norm, abs=1e-6)
    assert cell.change_error < 1e-6


def test_labels_are_judged_one_by_one_and_numbers_by_their_loss_only(toy):
    features, labels, (val_features, val_labels) = toy
    tags = np.eye(3)[labels]
    bench = bench_of((features, tags, (val_features, np.eye(3)[val_labels])), loss="sigmoid")
    full, _ = bench.full()
    cell = bench.tried(full, "el2n", 0.5, 0)
    assert set(np.unique(cell.right).round(6)) <= {0.0, 0.333333, 0.666667, 1.0}
    assert cell.unchanged.mean() > 0.8
    bench = bench_of(
        (features, features @ np.arange(1.0, 6.0), (val_features, val_features.sum(axis=1))), loss="squared"
    )
    full, on_all = bench.full()
    cell = bench.tried(full, "el2n", 0.5, 0)
    assert np.isnan(cell.right).all()
    assert np.isnan(cell.unchanged).all()
    predicted = scaled_like(features, val_features) @ full.theta.T
    np.testing.assert_allclose(on_all.losses, 0.5 * (predicted[:, 0] - val_features.sum(axis=1)) ** 2, rtol=1e-9)
