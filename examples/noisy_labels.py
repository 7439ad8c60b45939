"""Wrong labels: find them, leave them out, and see what that does to the answers on clean data."""

import sys

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import leanset

features, truth = load_digits(return_X_y=True)
features = features / 16
rng = np.random.default_rng(0)
train, clean = slice(0, 1200), slice(1200, None)
wrong = rng.random(1200) < 0.1
labels = np.where(wrong, (truth[train] + rng.integers(1, 10, 1200)) % 10, truth[train])

result = leanset.prune(features[train], labels, fraction=0.3, suspects="drop", proposals=200_000, frontier=False)
print(
    f"{wrong.sum()} labels are wrong; {len(result.dropped)} were left out as suspect, {wrong[result.dropped].sum()} rightly"
)


def accuracy(rows):
    model = LogisticRegression(C=1.0, max_iter=1000).fit(features[train][rows], labels[rows])
    return model.score(features[clean], truth[clean])


shown = {
    "all, wrong labels too": accuracy(np.arange(1200)),
    f"{len(result.kept)} at random": np.mean([accuracy(rng.choice(1200, len(result.kept), False)) for _ in range(3)]),
    f"{len(result.kept)} kept by leanset": accuracy(result.kept),
}
for name, value in shown.items():
    print(f"{name:24s} {value:.1%} of the clean digits are right")
_, random, kept = shown.values()
assert wrong[result.dropped].mean() > 0.8
assert kept > random

if len(sys.argv) > 1:  # a file for the picture
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 8, figsize=(6.4, 2.4), layout="constrained")
    figure.suptitle("Left out as suspect: the label that was given")
    for place, row in zip(axes.flat, result.dropped, strict=False):
        place.imshow(features[row].reshape(8, 8), cmap="gray_r")
        place.set_title(f"{labels[row]}{'' if wrong[row] else ' (right)'}", fontsize=9)
        place.axis("off")
    figure.savefig(sys.argv[1], dpi=110)
