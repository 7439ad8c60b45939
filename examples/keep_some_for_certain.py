"""Constraints are part of the search: pin rows, keep a least number of each class, save, and check again."""

import tempfile

import numpy as np

import leanset

rng = np.random.default_rng(1)
labels = np.array(["common"] * 400 + ["rare"] * 60)
features = rng.normal(size=(460, 5)) + (labels == "rare")[:, None]
gold = [3, 14, 159, 401]  # rows that were labelled with great care

with tempfile.TemporaryDirectory() as folder:
    result = leanset.prune(features, labels, fraction=0.5, class_balance=50, pinned=gold, out=folder, frontier=False)
    assert set(gold) <= set(result.kept.tolist())
    assert (labels[result.kept] == "rare").sum() >= 50
    assert all(check.holds for check in leanset.verify(folder, features, labels))
print("rare examples kept:", (labels[result.kept] == "rare").sum(), "of 60")
