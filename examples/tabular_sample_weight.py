"""The same scikit-learn model from a part of a table: keep few rows, and fit them with `sample_weight`."""

import sys

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import leanset

table, labels = load_breast_cancer(return_X_y=True)
features = StandardScaler().fit_transform(table)

result = leanset.prune(features, labels, same_model=True, C=1.0, frontier=False)  # C as LogisticRegression has it
kept = result.kept

exact = {"solver": "newton-cholesky", "tol": 1e-12}  # else scikit-learn stops short of the minimum, on all rows too
full = LogisticRegression(C=1.0, **exact).fit(features, labels)
lean = LogisticRegression(C=1.0, **exact).fit(features[kept], labels[kept], sample_weight=result.weights)
apart = np.abs(lean.coef_ - full.coef_).max()
print(f"{len(kept)} of {len(labels)} rows give the same coefficients: the largest difference is {apart:.0e}")
assert apart < 1e-6
assert (lean.predict(features) == full.predict(features)).all()

if len(sys.argv) > 1:  # a file for the picture
    import matplotlib.pyplot as plt

    rows = np.random.default_rng(0).choice(len(labels), len(kept), replace=False)
    random = LogisticRegression(C=1.0, **exact).fit(features[rows], labels[rows])
    figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
    axes.axline((0, 0), slope=1, color="0.8")
    axes.plot(full.coef_[0], random.coef_[0], "x", color="0.5", label=f"{len(kept)} rows at random")
    axes.plot(full.coef_[0], lean.coef_[0], "o", ms=4, color="C0", label=f"{len(kept)} rows with weights")
    axes.set(xlabel=f"coefficient from all {len(labels)} rows", ylabel="coefficient from a part", title="Breast cancer")
    axes.legend(frameon=False)
    figure.savefig(sys.argv[1], dpi=110)
