"""Embeddings of a pretrained network, some labels wrong: 70 % go, and the head on top stays as good.

Give an npz with features, labels, val_features and val_labels, or nothing for synthetic embeddings with 5 % wrong labels.
12,000 embeddings of width 1,280 take two or three minutes.
"""

import sys

import numpy as np

import leanset


def synthetic(n=4000, width=96, classes=5, wrong=0.05):
    rng = np.random.default_rng(0)
    scale = (1.0 + np.arange(width)) ** -0.5  # few directions matter much, as in real embeddings
    labels = rng.integers(0, classes, n)
    features = scale * (0.4 * rng.normal(size=(classes, width))[labels] + rng.normal(size=(n, width)))
    flipped = rng.random(n) < wrong
    labels = np.where(flipped, (labels + rng.integers(1, classes, n)) % classes, labels)
    return features[:3000], labels[:3000], features[3000:], labels[3000:], flipped[:3000]


if len(sys.argv) > 1:
    with np.load(sys.argv[1]) as stored:
        *data, flipped = *(stored[key] for key in ("features", "labels", "val_features", "val_labels")), None
else:
    *data, flipped = synthetic()
features, labels, *validation = data

result = leanset.prune(features, labels, fraction=0.7, validation=tuple(validation), frontier=False)
c = result.certificate
print(f"{f'{len(result.kept)} of {len(labels)} kept':22s}   leanset    random")
print(f"validation loss        {c.validation_loss_gap:+9.4f} {c.random_validation_loss_gap:+9.4f}")
print(f"unchanged answers      {c.validation_same_answers:9.2%} {c.random_validation_same_answers:9.2%}")
print(f"labels probably wrong: {result.suspect.sum()}; suspects='drop' would leave them out")
if flipped is not None:
    print(f"of the {flipped.sum()} wrong labels, {result.suspect[flipped].mean():.0%} are among them")
assert c.loss_above_random < 0
assert c.validation_same_answers > c.random_validation_same_answers
