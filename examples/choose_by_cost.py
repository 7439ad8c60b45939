"""Do not fix the size, fix the damage: the largest set whose measured effect stays within a limit."""

import sys

import numpy as np

import leanset

rng = np.random.default_rng(0)
labels = rng.integers(0, 5, 1500)
features = rng.normal(size=(1500, 20)) + 2 * np.eye(5, 20)[labels]
train, held_out = slice(0, 1000), slice(1000, 1500)
validation = features[held_out], labels[held_out]

by_change = leanset.prune(features[train], labels[train], relative_epsilon=0.02, frontier=False)
by_answers = leanset.prune(features[train], labels[train], min_agreement=0.98, validation=validation, frontier=False)
by_loss = leanset.prune(features[train], labels[train], max_loss_gap=0.005, validation=validation)
print(f"weights may change by 2 %: {len(by_change.removed)} of 1000 can go")
print(f"98 % of the answers must stay: {len(by_answers.removed)} of 1000 can go")
print(f"validation loss may change by 0.005, at the far end of its interval: {len(by_loss.removed)} of 1000 can go")
print(by_loss.certificate.outcome)
for point in by_loss.frontier:
    print(f"{point.removed:4d} removed: change {point.refit_change:.3f}, loss {point.validation_loss_gap:+.4f}")
assert by_answers.certificate.validation_same_answers >= 0.98
assert by_loss.certificate.validation_loss_gap_high <= 0.005

if len(sys.argv) > 1:  # a file for the picture
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
    removed = [point.removed for point in by_loss.frontier]
    axes.plot(removed, [point.random_refit_change for point in by_loss.frontier], "--", color="0.5", label="random")
    axes.plot(removed, [point.refit_change for point in by_loss.frontier], "o-", ms=4, label="leanset")
    axes.axvline(len(by_loss.removed), color="C1", label="as many as the loss allows")
    axes.set(
        xlabel="examples removed, of 1,000", ylabel="measured change of the head", title="Every size, to choose from"
    )
    axes.legend(frameon=False)
    figure.savefig(sys.argv[1], dpi=110)
