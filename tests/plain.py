"""Slow and obvious twins of leanset's computations, written from the formulas with loops; the tests' oracles.

`l2` is a number, or one number for each column.
"""

import numpy as np
from scipy.optimize import minimize

from leanset.rows import map_rows


def design(features):
    features = np.asarray(features, dtype=float)
    spread = features.std(axis=0)
    scaled = (features - features.mean(axis=0)) / np.where(spread == 0, 1.0, spread)
    return np.column_stack([scaled, np.ones(len(features))])


def matrix_of(design):
    """Return the whole design matrix, which only tests may look at."""
    return map_rows(lambda x: x, design.rows, width=1)


def residual_of(head):
    """Return the (n, C) residuals of a head, each as often as its row counts."""
    return map_rows(lambda x, r: r, head.rows, head.residual, width=1)


def softmax(logits):
    shifted = np.exp(logits - logits.max())
    return shifted / shifted.sum()


def objective(theta, x, labels, l2):
    losses = [-np.log(softmax(theta @ row)[label]) for row, label in zip(x, labels, strict=True)]
    return np.mean(losses) + 0.5 * np.sum(l2 * theta**2)


def gradient_of(theta, row, label):
    error = softmax(theta @ row)
    error[label] -= 1.0
    return np.outer(error, row)


def gradients(theta, x, labels):
    return np.array([gradient_of(theta, row, label) for row, label in zip(x, labels, strict=True)])


def hessian(theta, x, l2):
    size = theta.size
    total = np.zeros((size, size))
    for row in x:
        p = softmax(theta @ row)
        total += np.kron(np.diag(p) - np.outer(p, p), np.outer(row, row))
    return total / len(x) + np.diag(np.broadcast_to(l2, theta.shape).ravel())


def fit(x, labels, n_classes, l2):
    def value_and_slope(flat):
        theta = flat.reshape(n_classes, -1)
        slope = gradients(theta, x, labels).mean(axis=0) + l2 * theta
        return objective(theta, x, labels, l2), slope.ravel()

    start = np.zeros(n_classes * x.shape[1])
    answer = minimize(value_and_slope, start, jac=True, method="BFGS", options={"gtol": 1e-10, "maxiter": 5000})
    theta = answer.x.reshape(n_classes, -1)
    for _ in range(3):  # BFGS stops at rounding of the objective; plain Newton steps finish the job
        slope = gradients(theta, x, labels).mean(axis=0) + l2 * theta
        step = np.linalg.lstsq(hessian(theta, x, l2), slope.ravel(), rcond=1e-12)[0]
        theta = theta - step.reshape(theta.shape)
    return theta
