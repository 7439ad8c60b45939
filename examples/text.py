"""Texts: words become numbers by TF-IDF and SVD, and four of five texts can go.

The texts are made up: complaints and praise from a few phrases, so that many say nearly the same. With your own, replace
`texts` and `labels`; any other embedding of the texts does as well.
"""

import sys

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

import leanset

rng = np.random.default_rng(0)
ABOUT = {
    "delivery": ["the parcel", "the courier", "shipping", "my order", "the box"],
    "quality": ["the fabric", "the zip", "the seam", "the colour", "this jacket"],
    "price": ["the price", "the discount", "the refund", "my invoice", "the voucher"],
}
FEELING = [
    "arrived late and",
    "is just what I hoped for,",
    "was a mess,",
    "is fine but",
    "disappointed me:",
    "surprised me,",
]
ENDING = [
    "I would order again",
    "never again",
    "so I wrote to the shop",
    "as described",
    "and nobody answers",
    "five stars",
]


def one_text(topic):
    return " ".join([rng.choice(ABOUT[topic]), rng.choice(FEELING), rng.choice(ENDING), rng.choice(ABOUT[topic])])


labels = rng.choice(list(ABOUT), 1200)
texts = [one_text(label) for label in labels]
embed = make_pipeline(TfidfVectorizer(), TruncatedSVD(20, random_state=0))
features = embed.fit_transform(texts)

train, held_out = slice(0, 900), slice(900, 1200)
validation = features[held_out], labels[held_out]
result = leanset.prune(features[train], labels[train], keep=0.2, weights=True, validation=validation, frontier=False)
c = result.certificate
print(f"{len(result.kept)} of 900 texts kept; answers that stay the same: {c.validation_same_answers:.1%}")
print("the loudest kept text:", texts[result.kept[np.argmax(result.weights)]])
assert c.validation_same_answers >= c.random_validation_same_answers

if len(sys.argv) > 1:  # a file for the picture
    import matplotlib.pyplot as plt
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
    kept = np.isin(np.arange(900), result.kept)
    plane = LinearDiscriminantAnalysis().fit_transform(features[train], labels[train])
    for topic in ABOUT:
        mine = labels[train] == topic
        (dots,) = axes.plot(*plane[mine & ~kept].T, ".", ms=3, alpha=0.3)
        axes.plot(*plane[mine & kept].T, "o", ms=4, color=dots.get_color(), label=topic)
    axes.set(xticks=[], yticks=[], title="Texts, seen from where the topics part: kept (large) and removed (small)")
    axes.legend(frameon=False)
    figure.savefig(sys.argv[1], dpi=110)
