import itertools

import numpy as np
import pytest

import leanset
from leanset import InputError, Outcome
from tests import plain


def refit_change(features, labels, removed, l2=1e-4):
    """Measure with the loops of `plain`, from the standardised features of all rows."""
    x, n_classes = plain.design(features), int(max(labels)) + 1
    kept = np.setdiff1d(np.arange(len(x)), removed)
    full = plain.fit(x, labels, n_classes, l2)
    lean = plain.fit(x[kept], np.asarray(labels)[kept], n_classes, l2 * len(x) / len(kept))  # n·l2 stays fixed
    return np.linalg.norm(lean - full)


def test_certificate_states_the_measured_truth(toy):
    features, labels, validation = toy
    result = leanset.prune(features, labels, fraction=0.4, validation=validation, l2=1e-2)
    certificate = result.certificate
    assert certificate.refit_change == pytest.approx(refit_change(features, labels, result.removed, 1e-2), rel=1e-5)
    assert certificate.newton_change == pytest.approx(certificate.refit_change, rel=0.1)
    assert certificate.refit_change < certificate.random_refit_change_mean / 5
    assert certificate.validation_loss_gap <= certificate.first_order_bound + certificate.second_order_bound
    assert (
        certificate.validation_loss_gap_low <= certificate.validation_loss_gap <= certificate.validation_loss_gap_high
    )


def test_kept_and_removed_are_a_sorted_partition_with_equal_shares(toy):
    features, labels, _ = toy
    result = leanset.prune(features, labels, fraction=0.3, frontier=False)
    assert result.kept.dtype == result.removed.dtype == np.int64
    assert (np.sort(np.concatenate([result.kept, result.removed])) == np.arange(240)).all()
    assert (np.diff(result.kept) > 0).all()
    assert (np.diff(result.removed) > 0).all()
    gone, sizes = np.bincount(labels[result.removed]), np.bincount(labels)
    assert (np.abs(gone - 0.3 * sizes) <= 1).all()


def test_certificate_keys_are_stable(toy):
    keys = list(leanset.prune(*toy[:2], count=50, frontier=False).certificate.to_dict())
    assert set(keys) >= {
        "n", "removed", "influence_change", "newton_change", "refit_change", "random_refit_change_mean",
        "random_refit_change_sd", "head_norm", "l2", "inverse", "inverse_residual", "validation_loss_gap",
        "validation_loss_gap_low", "validation_loss_gap_high", "first_order_bound", "second_order_bound", "seed",
        "leanset_version", "data_fingerprint",
    }  # fmt: skip


def test_no_validation_gives_null_and_a_note(toy):
    certificate = leanset.prune(*toy[:2], count=50, frontier=False).certificate
    assert certificate.validation_loss_gap is None
    assert any("No validation data" in note for note in certificate.notes)


def test_epsilon_budgets_are_kept_monotone_and_never_wipe_out_a_class(toy):
    features, labels, _ = toy
    sizes = []
    for epsilon in (0.02, 0.1, 0.5, 2.0, 1e6):
        result = leanset.prune(features, labels, epsilon=epsilon, l2=1e-2, frontier=False)
        assert result.certificate.refit_change <= epsilon
        assert refit_change(features, labels, result.removed, 1e-2) <= epsilon * (1 + 1e-5)
        assert len(np.unique(labels[result.kept])) == 3
        sizes.append(len(result.removed))
    assert sizes == sorted(sizes)
    assert sizes[-1] == 240 - 3  # a limitless budget leaves one example of each class


def test_relative_epsilon_is_a_share_of_the_head_norm(toy):
    features, labels, _ = toy
    relative = leanset.prune(features, labels, relative_epsilon=0.05, l2=1e-2, frontier=False)
    absolute = 0.05 * relative.certificate.head_norm
    assert relative.certificate.refit_change <= absolute
    same = leanset.prune(features, labels, epsilon=absolute, l2=1e-2, frontier=False)
    assert (same.removed == relative.removed).all()


def test_loss_gap_budget_is_kept(toy):
    features, labels, validation = toy
    for gap in (0.002, 0.05):
        result = leanset.prune(features, labels, max_loss_gap=gap, validation=validation, l2=1e-2, frontier=False)
        certificate = result.certificate
        assert max(abs(certificate.validation_loss_gap_low), abs(certificate.validation_loss_gap_high)) <= gap
        assert len(result.removed) > 0


@pytest.mark.parametrize("budget", [{"max_accuracy_drop": 0.02}, {"min_agreement": 0.95}, {"max_loss_gap": 0.05}])
def test_budgets_of_answers_are_kept_and_have_a_floor(toy, budget):
    features, labels, validation = toy
    result = leanset.prune(features, labels, validation=validation, l2=1e-2, frontier=False, **budget)
    certificate = result.certificate
    lean, full = (
        plain.fit(plain.design(features)[rows], labels[rows], 3, l2)
        for rows, l2 in ((result.kept, certificate.train_l2), (np.arange(240), 1e-2))
    )
    x = (validation[0] - features.mean(axis=0)) / features.std(axis=0)
    after, before = (np.argmax(np.c_[x, np.ones(len(x))] @ theta.T, axis=1) for theta in (lean, full))
    assert certificate.validation_same_answers == pytest.approx(np.mean(after == before), abs=1.1 / len(x))
    if "min_agreement" in budget:
        assert np.mean(after == before) >= 0.95
    drop = np.mean(before == validation[1]) - np.mean(after == validation[1])
    if "max_accuracy_drop" in budget:
        assert drop <= -certificate.validation_accuracy_change_low <= 0.02
    assert np.bincount(labels[result.kept]).min() >= 10
    assert len(result.kept) >= 24  # a tenth


def test_a_loss_that_falls_does_not_lead_into_a_corner():
    """An over-confident head: the validation loss falls with every example removed, and the answers get worse."""
    rng = np.random.default_rng(0)
    labels = np.arange(1200) % 3
    features = rng.normal(size=(1200, 12)) + 1.2 * np.eye(3, 12)[labels]
    noisy = np.where(rng.random(1200) < 0.2, rng.integers(0, 3, 1200), labels)
    options = {"validation": (features[600:], labels[600:]), "l2": 1e-6, "frontier": False}
    result = leanset.prune(features[:600], noisy[:600], max_loss_gap=0.01, **options)
    assert result.certificate.validation_same_answers > 0.9
    limitless = leanset.prune(features[:600], noisy[:600], max_loss_gap=1e3, **options)
    assert limitless.certificate.outcome == Outcome.floor.value
    assert np.bincount(noisy[:600][limitless.kept]).min() >= 10


def test_a_budget_that_allows_nothing_says_so(toy):
    result = leanset.prune(*toy[:2], epsilon=1e-9, l2=1e-2)
    assert len(result.removed) == 0
    assert result.certificate.outcome == Outcome.nothing_fits.value
    assert result.certificate.refit_change == 0.0


def test_small_answers_are_near_the_best_of_all_subsets():
    """Refit on every one of the subsets: the true optimum of the question that users ask."""
    rng = np.random.default_rng(0)
    labels = np.array([0, 1] * 6)
    features = rng.normal(size=(12, 2)) + labels[:, None]
    result = leanset.prune(features, labels, count=4, l2=1e-1, frontier=False)
    pairs = [itertools.combinations(np.flatnonzero(labels == c), 2) for c in (0, 1)]
    changes = sorted(refit_change(features, labels, [*a, *b], 1e-1) for a, b in itertools.product(*pairs))
    assert result.certificate.refit_change <= changes[len(changes) // 20]  # within the best twentieth of 225 sets


@pytest.mark.parametrize("class_balance", ["none", 20, "proportional"])
@pytest.mark.parametrize("formulation", ["newton", "paper"])
def test_constraints_hold_in_every_formulation(toy, class_balance, formulation):
    features, labels, _ = toy
    pinned = [0, 5, 17, 200]
    result = leanset.prune(
        features,
        labels,
        fraction=0.6,
        class_balance=class_balance,
        pinned=pinned,
        formulation=formulation,
        frontier=False,
    )
    assert len(result.removed) == 144
    assert not set(pinned) & set(result.removed.tolist())
    left = np.bincount(labels[result.kept], minlength=3)
    assert left.min() >= (20 if class_balance == 20 else 1)
    if class_balance == "proportional":
        assert (np.abs(left - 0.4 * np.bincount(labels)) <= 1).all()


def test_row_zero_can_be_pinned_by_mask(toy):  # an empty-looking index once meant "nothing pinned"
    mask = np.zeros(240, dtype=bool)
    mask[0] = True
    result = leanset.prune(*toy[:2], fraction=0.9, pinned=mask, frontier=False)
    assert 0 in result.kept


def test_same_seed_same_answer_whatever_the_threads(toy):
    runs = [leanset.prune(*toy[:2], fraction=0.4, seed=3, threads=threads, frontier=False) for threads in (1, 2, 3)]
    assert len({run.removed.tobytes() for run in runs}) == 1
    assert len({run.certificate for run in runs}) == 1


def test_paper_formulation_promises_what_it_does_not_keep(toy):
    features, labels, _ = toy
    options = {"fraction": 0.5, "l2": 0.1, "penalty": "mean", "frontier": False}
    paper = leanset.prune(features, labels, formulation="paper", **options).certificate
    ours = leanset.prune(features, labels, **options).certificate
    assert paper.influence_change < paper.refit_change / 5
    assert ours.refit_change < paper.refit_change
    assert any("does not check it" in note for note in paper.notes)


def test_paper_problem_a_is_the_published_one(toy):
    """Uncentred, full Hessian: the prediction stays within ε by the formula, and the set is maximal."""
    features, labels, _ = toy
    result = leanset.prune(features, labels, epsilon=0.5, l2=1e-2, formulation="paper", frontier=False)
    x = plain.design(features)
    theta = plain.fit(x, labels, 3, 1e-2)
    influences = (
        np.linalg.solve(plain.hessian(theta, x, 1e-2), plain.gradients(theta, x, labels).reshape(240, -1).T).T / 240
    )
    total = influences[result.removed].sum(axis=0)
    assert np.linalg.norm(total) <= 0.5
    assert result.certificate.influence_change == pytest.approx(np.linalg.norm(total), rel=1e-4)
    kept_counts = np.bincount(labels[result.kept], minlength=3)
    grown = [np.linalg.norm(total + influences[row]) for row in result.kept if kept_counts[labels[row]] > 1]
    assert min(grown, default=np.inf) > 0.5 * (1 - 1e-4)


@pytest.mark.parametrize(
    "inverse", [leanset.ConjugateGradients(), leanset.LiSSA(), leanset.Kronecker()], ids=lambda inverse: inverse.name
)
def test_every_inverse_leads_to_a_true_certificate(toy, inverse):
    features, labels, _ = toy
    result = leanset.prune(features, labels, fraction=0.4, l2=1e-2, inverse=inverse, frontier=False)
    assert result.certificate.inverse == inverse.name
    assert result.certificate.refit_change == pytest.approx(
        refit_change(features, labels, result.removed, 1e-2), rel=1e-5
    )
    assert result.certificate.refit_change < result.certificate.random_refit_change_mean
    if inverse.name == "kronecker":
        assert result.certificate.inverse_residual > 1e-3  # it is an approximation and must say so
        assert any("Kronecker-approximated" in note for note in result.certificate.notes)
    else:
        assert result.certificate.inverse_residual < 1e-5


def test_a_given_head_is_polished_and_its_distance_reported(toy):
    features, labels, _ = toy
    free = leanset.prune(features, labels, count=60, standardize=False, l2=1e-2, frontier=False)
    head = np.zeros((3, 6))
    given = leanset.prune(features, labels, count=60, standardize=False, l2=1e-2, head=head, frontier=False)
    assert given.certificate.start_head_distance == pytest.approx(given.certificate.head_norm)
    assert given.certificate.head_norm == pytest.approx(free.certificate.head_norm, rel=1e-6)


def test_two_classes_and_many_classes():
    rng = np.random.default_rng(0)
    for n_classes, n in ((2, 120), (60, 420)):
        labels = np.arange(n) % n_classes
        features = rng.normal(size=(n, 12)) + 3 * rng.normal(size=(n_classes, 12))[labels]
        result = leanset.prune(features, labels, fraction=0.3, l2=1e-3, frontier=False)
        certificate = result.certificate
        assert certificate.refit_change < certificate.random_refit_change_mean
        assert len(np.unique(labels[result.kept])) == n_classes


def test_large_heads_take_the_structured_path_within_a_memory_budget(toy):
    """A memory too small for the exact inverse: the search is approximate, the certificate is not."""
    rng = np.random.default_rng(0)
    labels = np.arange(600) % 20
    features = rng.normal(size=(600, 60)) + 2 * rng.normal(size=(20, 60))[labels]
    result = leanset.prune(features, labels, fraction=0.3, l2=1e-2, memory=2**24, frontier=False)
    assert result.certificate.inverse == "cg"
    assert result.certificate.inverse_residual < 1e-8
    assert any("Kronecker-approximated" in note for note in result.certificate.notes)
    assert result.certificate.refit_change < result.certificate.random_refit_change_mean


def test_a_given_inverse_that_does_not_fit_the_memory_is_refused():
    labels = np.arange(200) % 20
    features = np.random.default_rng(0).normal(size=(200, 60))
    with pytest.raises(InputError, match=r"needs matrices of 1,220 × 1,220 numbers, 45 MiB, but `memory=16777216`"):
        leanset.prune(features, labels, count=9, inverse=leanset.ConjugateGradients(), memory=2**24)


@pytest.mark.parametrize("scale", [1e160, 1e-200])
def test_the_scale_of_the_features_does_not_matter(toy, scale):
    plain_scale = leanset.prune(*toy[:2], count=60, l2=1e-2, frontier=False).certificate
    odd_scale = leanset.prune(scale * toy[0], toy[1], count=60, l2=1e-2, frontier=False).certificate
    assert odd_scale.head_norm == pytest.approx(plain_scale.head_norm, rel=1e-6)


def test_a_singular_head_is_an_error_with_advice(toy):
    with pytest.raises(leanset.DivergenceError, match="standardize=True"):
        leanset.prune(1e8 * toy[0], toy[1], count=60, standardize=False)


def test_frontier_runs_from_small_to_large_and_holds_the_answer(toy):
    result = leanset.prune(*toy[:2], fraction=0.4, validation=toy[2], l2=1e-2)
    removed = [point.removed for point in result.frontier]
    assert removed == sorted(set(removed))
    assert len(removed) >= 9
    at = next(point for point in result.frontier if point.removed == 96)
    assert at.refit_change == result.certificate.refit_change
    assert all(point.refit_change < point.random_refit_change for point in result.frontier)


def test_string_labels_come_back_as_names(toy):
    names = np.array(["ant", "bee", "cat"])[toy[1]]
    by_name = leanset.prune(toy[0], names, fraction=0.4, frontier=False)
    by_number = leanset.prune(toy[0], toy[1], fraction=0.4, frontier=False)
    assert (by_name.removed == by_number.removed).all()
    assert set(by_name.labels) == {"ant", "bee", "cat"}


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({}, r"give exactly one budget out of `fraction`, `keep`, `count`, .*; got none"),
        ({"fraction": 0.4, "count": 3}, r"got `fraction=0.4` and `count=3`"),
        ({"fraction": 0.0}, r"`fraction=0.0` must lie in \(0, 1\)"),
        ({"fraction": 1.0}, r"`fraction=1.0` must lie in \(0, 1\)"),
        ({"fraction": float("nan")}, r"`fraction=nan` must be a finite number"),
        ({"fraction": "half"}, r"`fraction='half'` must be a finite number"),
        ({"count": 240}, r"`count=240` must be a whole number in 1..239"),
        ({"count": 2.5}, r"whole number"),
        ({"epsilon": -1.0}, r"`epsilon=-1.0` must be positive"),
        ({"max_loss_gap": 0.1}, r"pass `validation=\(val_features, val_labels\)`"),
        ({"fraction": 0.4, "pinned": [240]}, r"`pinned` has 1 rows outside 0..239; first: 240"),
        ({"fraction": 0.4, "pinned": [-1]}, r"first: -1"),
        ({"fraction": 0.4, "pinned": [0.5]}, r"`pinned` must be a list of row numbers"),
        ({"fraction": 0.9, "pinned": list(range(100))}, r"216 examples cannot be removed: 100 of 240 are pinned"),
        ({"fraction": 0.4, "pinned": list(range(240))}, r"nothing can be removed"),
        ({"fraction": 0.4, "class_balance": "fair"}, r"`class_balance='fair'` must be 'proportional'"),
        ({"fraction": 0.4, "class_balance": 100}, r"`class_balance=100` must be"),
        ({"fraction": 0.4, "l2": -0.1}, r"`l2=-0.1` must be a number of at least 0"),
        ({"fraction": 0.4, "formulation": "hope"}, r"`formulation='hope'` must be 'newton' or 'paper'"),
        ({"fraction": 0.4, "inverse": "cg"}, r"`inverse='cg'` must be an instance"),
        ({"fraction": 0.4, "solver": "fast"}, r"`solver='fast'` must be an instance"),
        ({"fraction": 0.4, "seed": -1}, r"`seed=-1` must be a whole number"),
        ({"fraction": 0.4, "threads": 0}, r"`threads=0` must be at least 1"),
        ({"fraction": 0.4, "memory": "1GiB"}, r"`memory='1GiB'` must be a whole number"),
        ({"fraction": 0.4, "head": "x"}, r"`head=` must be"),
        ({"epsilon": 0.4, "formulation": "paper", "solver": leanset.Exhaustive()}, r"cannot solve the paper's problem"),
        ({"fraction": 0.4, "head": np.zeros((2, 2))}, r"`head=` must be a finite \(3, 6\) array"),
        ({"max_loss_gap": 0.1, "formulation": "paper"}, r"not part of the paper's formulation"),
    ],
)
def test_wrong_calls_are_named_and_leave_nothing_behind(toy, tmp_path, options, match):
    out = tmp_path / "run"
    with pytest.raises(InputError, match=match):
        leanset.prune(*toy[:2], out=out, **options)
    assert not out.exists()
