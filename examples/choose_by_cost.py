"""Do not fix the size, fix the damage: the largest set whose measured effect stays within a limit."""

import numpy as np

import leanset

rng = np.random.default_rng(0)
labels = rng.integers(0, 3, 900)
features = rng.normal(size=(900, 6)) + np.eye(3, 6)[labels]
train, held_out = slice(0, 600), slice(600, 900)
validation = features[held_out], labels[held_out]

by_change = leanset.prune(features[train], labels[train], relative_epsilon=0.02, l2=1e-2, frontier=False)
by_loss = leanset.prune(features[train], labels[train], max_loss_gap=0.005, validation=validation, l2=1e-2)
print(f"weights may change by 2 %: {len(by_change.removed)} of 600 can go")
print(f"validation loss may rise by 0.005: {len(by_loss.removed)} of 600 can go")
for point in by_loss.frontier:
    print(f"{point.removed:4d} removed: change {point.refit_change:.3f}, loss {point.validation_loss_gap:+.4f}")
assert by_loss.certificate.validation_loss_gap <= 0.005
