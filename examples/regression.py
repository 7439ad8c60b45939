"""Numbers in place of classes: the coefficients of a ridge regression from a third of its rows."""

import sys

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from leanset.sklearn import prune_for

table, progression = load_diabetes(return_X_y=True, scaled=False)
model = make_pipeline(StandardScaler(), Ridge(alpha=1.0)).fit(table, progression)

result = prune_for(model, table, progression, keep=1 / 3, weights=True, frontier=False)
kept, scaler = result.kept, model[0]


def coefficients(rows, weights=None):
    return Ridge(alpha=1.0).fit(scaler.transform(table[rows]), progression[rows], sample_weight=weights).coef_


full, lean = model[-1].coef_, coefficients(kept, result.weights)
rng = np.random.default_rng(0)
random = np.array([coefficients(rng.choice(len(table), len(kept), replace=False)) for _ in range(20)])
print(f"{len(kept)} of {len(table)} rows; the largest difference of a coefficient: {np.abs(lean - full).max():.1e}")
print(f"random rows, on average: {np.abs(random - full).max(axis=1).mean():.1f}")
assert np.abs(lean - full).max() < 1e-3 * np.abs(full).max()

if len(sys.argv) > 1:  # a file for the picture
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
    names = load_diabetes().feature_names
    axes.boxplot(random, tick_labels=names, widths=0.5, medianprops={"color": "0.5"})
    places = np.arange(1, len(names) + 1)
    axes.plot(places, full, "_", ms=22, mew=2, color="C0", label="all rows")
    axes.plot(places, lean, "o", ms=5, color="C1", label="a third, with weights")
    axes.set(ylabel="coefficient", title="Ridge on diabetes; boxes: random thirds")
    axes.legend(frameon=False)
    figure.savefig(sys.argv[1], dpi=110)
