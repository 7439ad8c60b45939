import numpy as np
import pytest

import leanset
from leanset import InputError, scores
from leanset.data import Dynamics
from leanset.head import HeadStatistics
from leanset.problem import Constraints
from leanset.scores import METHODS, Evidence
from leanset.select.by_score import chosen_by


def recorded(toy, epochs=12):
    """Statistics with everything a method may need."""
    features, labels, validation = toy
    rng, n = np.random.default_rng(5), len(labels)
    probability = np.clip(rng.random(n) + rng.normal(0, 0.2, (2, epochs, n)), 0.01, 0.99).astype(np.float32)
    records = tuple(Dynamics(p > 0.5, p, 4 * p - 2, np.sqrt(2) * (1 - p)) for p in probability)
    return HeadStatistics(
        features=features.astype(np.float32),
        labels=labels,
        classes=("a", "b", "c"),
        validation=validation,
        dynamics=records,
        gradient_norm=rng.random(n),
        weight_decay=0.01,
    )


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("balance", ["proportional", "none", 30])
def test_every_method_prunes_through_the_same_door(toy, name, balance):
    stats = recorded(toy)
    result = leanset.prune(stats, fraction=0.4, method=name, class_balance=balance, pinned=[0, 1, 2], frontier=False)
    sizes = np.bincount(stats.labels)
    gone = np.bincount(stats.labels[result.removed], minlength=3)
    assert gone.sum() == 96
    assert {0, 1, 2} <= set(result.kept.tolist())
    if balance == "proportional":
        np.testing.assert_allclose(gone, 0.4 * sizes, atol=1)
    elif balance == 30:
        assert (sizes - gone >= 30).all()
    assert result.certificate.method == name
    assert result.certificate.refit_change > 0


@pytest.mark.parametrize("name", METHODS)
def test_the_same_seed_gives_the_same_set(toy, name):
    one, two = (leanset.prune(recorded(toy), count=50, method=name, frontier=False, seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.removed, two.removed)


def test_a_score_removes_its_end_of_the_scale_class_by_class(toy):
    stats = recorded(toy)
    for end in ("low", "high"):
        result = leanset.prune(stats, fraction=0.4, method=scores.GraNd(remove=end), frontier=False)
        sign = 1 if end == "low" else -1
        for c in range(3):
            value = sign * stats.gradient_norm
            mine = stats.labels == c
            gone, stays = mine[result.removed], mine[result.kept]
            assert value[result.removed][gone].max() < value[result.kept][stays].min()
        np.testing.assert_array_equal(result.score, stats.gradient_norm)


def test_without_balance_the_end_is_global(toy):
    stats = recorded(toy)
    result = leanset.prune(stats, count=96, method="grand", class_balance="none", frontier=False)
    assert set(result.removed) == set(np.argsort(stats.gradient_norm)[:96])


def test_a_limit_on_the_change_holds_for_scores_too(toy):
    stats = recorded(toy)
    result = leanset.prune(stats, relative_epsilon=0.1, method="el2n")
    assert len(result.removed) > 0
    assert result.certificate.refit_change <= 0.1 * result.certificate.head_norm
    more = leanset.prune(stats, relative_epsilon=0.3, method="el2n")
    assert len(more.removed) >= len(result.removed)


def test_el2n_of_plain_arrays_comes_from_the_fitted_head(toy):
    features, labels, _ = toy
    result = leanset.prune(features, labels, count=60, method="el2n", frontier=False)
    assert np.isfinite(result.score).all()
    # The examples of largest error have the least probable labels.
    assert np.corrcoef(result.score, result.label_probability)[0, 1] < -0.9


def test_missing_evidence_is_named_with_the_way_to_get_it(toy):
    features, labels, _ = toy
    with pytest.raises(InputError, match=r"forgetting.*needs dynamics.*record"):
        leanset.prune(features, labels, count=60, method="forgetting")
    with pytest.raises(InputError, match=r"gradient norm.*gradient_norms"):
        leanset.prune(features, labels, count=60, method="grand")


def test_wrong_methods_are_refused(toy):
    features, labels, _ = toy
    with pytest.raises(InputError, match=r"`method='el3n'` is unknown.*el2n"):
        leanset.prune(features, labels, count=60, method="el3n")
    with pytest.raises(InputError, match="two ways"):
        leanset.prune(features, labels, count=60, method="el2n", formulation="paper")
    with pytest.raises(InputError, match="does not search, so `solver="):
        leanset.prune(features, labels, count=60, method="el2n", solver=leanset.AdaptiveAnnealing())
    with pytest.raises(InputError, match="instance"):
        leanset.prune(features, labels, count=60, method=3)


def test_a_run_with_other_evidence_is_another_run(toy, tmp_path):
    stats = recorded(toy)
    leanset.prune(stats, count=60, method="grand", frontier=False, out=tmp_path / "run")
    again = stats.with_evidence(gradient_norm=stats.gradient_norm[::-1].copy())
    with pytest.raises(leanset.RunFolderError, match="recorded_digest"):
        leanset.prune(again, count=60, method="grand", frontier=False, out=tmp_path / "run")
    leanset.prune(again, count=60, method="el2n", frontier=False, out=tmp_path / "other")
    leanset.prune(stats, count=60, method="el2n", frontier=False, out=tmp_path / "other")  # el2n does not look at it
    loaded = leanset.load(tmp_path / "run")
    np.testing.assert_array_equal(loaded.score, stats.gradient_norm)


def test_random_removal_is_uniform_over_the_free_rows():
    labels = np.zeros(30, dtype=np.int64)
    constraints = Constraints(labels, 1, np.arange(30) < 10, proportional=False)
    counts = np.zeros(30)
    for seed in range(300):
        counts += chosen_by(scores.Random(), Evidence(groups=labels), constraints, 10, np.random.default_rng(seed))
    assert (counts[:10] == 0).all()
    assert (np.abs(counts[10:] - 150) < 5 * np.sqrt(300 / 4)).all()
