from dataclasses import dataclass, replace

import numpy as np

from leanset._arrays import AnyArray, Matrix, Rows, Vector
from leanset._errors import InputError
from leanset._memory import OF_A_RUN, Shares
from leanset.data import Examples
from leanset.head.loss import Loss
from leanset.head.ridge import Ridge
from leanset.rows import (
    Column,
    Derived,
    MemoryRows,
    RowTable,
    ScaledRows,
    all_rows,
    as_table,
    gathered,
    kept_rows,
    largest_in_rows,
    map_rows,
    on_cluster,
    some_rows,
    sum_rows,
)

_LARGEST = 1e140  # of an entry, so that sums of squares stay below 1e308
_WORTH_GATHERING = 0.75  # share of the rows up to which passes over a copy are worth its memory


@dataclass(frozen=True)
class Scaling:
    """What is taken off the columns of the features, and what they are then divided by."""

    mean: Vector
    scale: Vector

    def design_rows(self, features: AnyArray | RowTable, *, bias: bool, memory: int = OF_A_RUN) -> RowTable:
        """Return the scaled features in float64 with a column of ones appended, or of zeros for a head without a bias.

        They are a copy in memory if that fits, else, and where workers read them, they are scaled each time they are read.
        """
        rows = ScaledRows(as_table(features), self.mean, self.scale, float(bias))
        return MemoryRows(all_rows(rows)) if Shares.of(memory, *rows.shape).copies_rows and not on_cluster() else rows

    def head_from_raw(self, weights: Matrix) -> Matrix:
        """Return the head on scaled features that has the same outputs as a (C, d+1) head on raw features."""
        scaled = weights[:, :-1] * self.scale
        bias = weights[:, -1] + weights[:, :-1] @ self.mean
        return np.column_stack([scaled, bias])


@dataclass(frozen=True)
class Design:
    """The inputs of the head: rows of D columns (features and a 1 for the bias), their targets, and the loss.

    `penalise_bias` says whether the penalty on the head is also on the last column. `worth` is how much each row counts, 1
    on average; every row counts 1 if it is None. Weights that the methods take come on top of it: they say how much of a row
    is there, 0 if it was removed. So this class is the only place where the two are multiplied. `memory` is about how many
    bytes a run may take; columns of outputs that exceed their share are computed whenever they are read.
    """

    rows: RowTable
    targets: AnyArray
    loss: Loss
    penalise_bias: bool = True
    worth: Vector | None = None
    memory: int = OF_A_RUN

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (C, D) of a head."""
        return self.loss.outputs, self.rows.shape[1]

    @property
    def free_weights(self) -> int:
        """How many weights of a head the loss can tell apart: (C−1)·D if outputs compete, else C·D."""
        outputs, width = self.shape
        return (outputs - 1 if self.loss.coupled else outputs) * width

    @property
    def width(self) -> int:
        """Numbers that a pass stores per row: its columns and its outputs."""
        return sum(self.shape)

    def sample(self, rows: Rows) -> "Design":
        """Return a copy of some rows."""
        worth = None if self.worth is None else self.worth[rows]
        return replace(self, rows=some_rows(self.rows, rows), targets=self.targets[rows], worth=worth)

    def counting(self, weights: Vector) -> "tuple[Design, Vector]":
        """Return the rows of non-zero weight as a design of their own, and their weights; all, if most rows count.

        A fit passes over them dozens of times, so they are gathered once (`gathered`) and not in each pass.
        """
        rows = np.flatnonzero(weights)
        if not 0 < len(rows) <= _WORTH_GATHERING * len(self):
            return self, weights
        some = gathered(self.rows, rows, self.shares.kept)
        worth = None if self.worth is None else self.worth[rows]
        return replace(self, rows=some, targets=self.targets[rows], worth=worth), weights[rows]

    def counts(self, weights: Vector | None = None) -> Vector | None:
        """Return how much each row counts if `weights` of them are there; None if every row counts 1."""
        if self.worth is None or weights is None:
            return self.worth if weights is None else weights
        return np.asarray(self.worth * weights)

    def total(self, weights: Vector | None = None) -> float:
        """Return how much all rows count together."""
        counts = self.counts(weights)
        return float(len(self) if counts is None else counts.sum())

    @property
    def worth_of_rows(self) -> Vector:
        """How much each row counts, as an array in any case."""
        return np.ones(len(self)) if self.worth is None else self.worth

    def ridge(self, l2: float) -> Ridge:
        """Return the penalty (l2/2)‖θ‖² on the columns that it is on."""
        return Ridge.on(self.shape[1], l2, bias=self.penalise_bias, coupled=self.loss.coupled)

    def losses(self, theta: Matrix) -> Vector:
        """Return the (n,) losses under a head."""
        loss = self.loss  # what a pass uses must be small: it may be sent to workers, and the design is not
        return map_rows(lambda x, y: loss.values(x @ theta.T, y), self.rows, self.targets, width=self.width)

    def mean_loss(self, theta: Matrix, weights: Vector | None = None) -> float:
        """Return the (weighted) mean of the losses."""
        counts, loss = self.counts(weights), self.loss
        if counts is None:
            return float(self.losses(theta).mean())

        def total(x: Matrix, y: AnyArray, w: Vector) -> float:
            return float(w @ loss.values(x @ theta.T, y))

        return sum_rows(total, self.rows, self.targets, width=self.width, weights=counts) / float(counts.sum())

    def objective(self, theta: Matrix, l2: float, weights: Vector | None = None) -> float:
        """Return the (weighted) mean of the losses plus the penalty."""
        return self.mean_loss(theta, weights) + self.ridge(l2).value(theta)

    def predicted(self, theta: Matrix, weights: Vector | None = None) -> Column:
        """Return the (n, C) predictions of a head; rows of weight 0 may be skipped and set to 0."""
        loss = self.loss

        def outputs(x: Matrix) -> Matrix:
            return loss.predicted(x @ theta.T)

        if not self.stores_outputs:
            return Derived(outputs)
        return kept_rows(outputs, self.rows, width=self.width, weights=weights)

    @property
    def stores_outputs(self) -> bool:
        """Whether a column of outputs fits into its share of the memory; depends on sizes only, wherever the rows are."""
        return self.shares.stores(len(self), self.loss.outputs)

    @property
    def shares(self) -> Shares:
        """How the memory of a run on these rows is shared out."""
        return Shares.of(self.memory, *self.rows.shape)

    def residual(self, predicted: Column) -> Column:
        """Return the (n, C) residuals of predictions, each as often as its row counts: its product with x is the gradient.

        They are computed whenever they are read: a second column of the same size would cost more than it saves.
        """
        loss = self.loss

        def weighted(x: Matrix, p: Matrix, y: AnyArray, w: Vector | None = None) -> Matrix:
            plain = loss.residual(p, y)
            return plain if w is None else plain * w[:, None]

        return Derived(weighted, tuple(each for each in (predicted, self.targets, self.worth) if each is not None))

    def gradient_sum(self, residual: Column, weights: Vector | None = None) -> Matrix:
        """Return Σ_i weights_i residual_i ⊗ x_i, a (C, D) matrix; the residuals are those of `residual`."""
        if weights is None:
            return sum_rows(lambda x, r: r.T @ x, self.rows, residual, width=self.width)
        return sum_rows(lambda x, r, w: (r * w[:, None]).T @ x, self.rows, residual, width=self.width, weights=weights)

    def gradient_at(self, predicted: Column, weights: Vector | None = None) -> tuple[Matrix, float]:
        """Return the (weighted) sum of the gradients where the predictions are known, and its scale.

        The scale is Σ w_i ‖r_i‖‖x_i‖: rounding leaves a sum of some 1e-16 times that, even where the true sum is zero.
        """
        loss = self.loss

        def part(x: Matrix, p: Matrix, y: AnyArray, w: Vector | None = None) -> tuple[Matrix, AnyArray]:
            residual = loss.residual(p, y)
            if w is not None:
                residual *= w[:, None]
            lengths = np.einsum("ij,ij->i", residual, residual) * np.einsum("ij,ij->i", x, x)
            return residual.T @ x, np.asarray(np.sqrt(lengths).sum())

        counts = self.counts(weights)
        gradient, scale = sum_rows(part, self.rows, predicted, self.targets, width=self.width, weights=counts)
        return gradient, float(scale)

    def mean_gradient(self, theta: Matrix) -> Matrix:
        """Return the gradient of the mean loss (no penalty) at a head."""
        return self.gradient_at(self.predicted(theta))[0] / self.total()

    def mean_squared_output(self, change: Matrix) -> float:
        """Return the (weighted) mean of ‖Δθ x‖² over the rows."""

        def energy(x: Matrix, w: Vector | None = None) -> float:
            moved = x @ change.T
            return float(np.einsum("ij,ij->", moved, moved if w is None else moved * w[:, None]))

        return sum_rows(energy, self.rows, width=self.width, weights=self.worth) / self.total()


def design_of(
    examples: Examples,
    loss: Loss,
    *,
    standardize: bool,
    penalise_bias: bool = True,
    bias: bool = True,
    memory: int = OF_A_RUN,
) -> tuple[Design, Design | None, Scaling]:
    """Build the training design, the validation design (if there is one) and the scaling they share.

    If the bias is not penalised, features are centred in any case. The head and its penalty are then the same but for the
    bias, which becomes the output at the mean example; far from zero it would be hard to tell from the other weights.
    A head without a bias has a column of zeros in its place, whose weights the penalty holds at zero. The mean and the
    deviation are those of the weighted examples, if they have weights. `memory` is about how many bytes a run may take.

    Examples
    --------
    >>> from leanset.data import checked_examples
    >>> from leanset.head.softmax import Softmax
    >>> examples = checked_examples([[1.0, 5.0], [3.0, 5.0]], [0, 1])
    >>> design, _, scaling = design_of(examples, Softmax(2), standardize=True)
    >>> design.shape, scaling.mean.tolist(), scaling.scale.tolist()
    ((2, 3), [2.0, 5.0], [1.0, 1.0])
    """
    width = examples.features.shape[1]
    scaling = Scaling(np.zeros(width), np.ones(width))
    if standardize or not penalise_bias:
        scaling = _scaling(examples.features, _worth(examples))
    if not standardize:
        scaling = replace(scaling, scale=np.ones(width))
    rows = scaling.design_rows(examples.features, bias=bias, memory=memory)
    design = Design(rows, examples.labels, loss, penalise_bias, _worth(examples), memory)
    _refuse_overflow(design, "features")
    if examples.validation is None:
        return design, None, scaling
    held_out = examples.validation
    rows = scaling.design_rows(held_out.features, bias=bias, memory=memory)
    judge = replace(design, rows=rows, targets=held_out.labels, worth=_worth(held_out))
    _refuse_overflow(judge, "val_features")
    return design, judge, scaling


def _refuse_overflow(design: Design, features: str) -> None:
    largest = float(largest_in_rows(design.rows).max())
    if not largest <= _LARGEST:
        raise InputError(
            f"`{features}` reach {largest:.3g} as the head sees them, and squares of that overflow; scale the features, "
            "or let leanset do it (`standardize=True`)."
        )


def _worth(examples: Examples) -> Vector | None:
    """Return weights with the mean 1, so that n examples count n together, whatever the unit of the weights."""
    return None if examples.weight is None else np.asarray(examples.weight / examples.weight.mean())


def _scaling(features: AnyArray | RowTable, worth: Vector | None) -> Scaling:
    table, n, width = as_table(features), *features.shape
    # Columns are divided by their largest value before squaring, so that 1e160 or 1e-200 neither overflows nor vanishes.
    peak = np.maximum(largest_in_rows(table), np.finfo(np.float64).tiny)

    def average(x: AnyArray, w: Vector | None = None) -> Vector:
        return np.asarray((x / peak).sum(axis=0) / n if w is None else w @ (x / peak) / n)

    mean = sum_rows(average, table, width=width, weights=worth)

    def squares(x: AnyArray, w: Vector | None = None) -> Vector:
        deviation = x / peak - mean
        return np.asarray(np.einsum("ij,ij->j", deviation, deviation if w is None else deviation * w[:, None]))

    variance = sum_rows(squares, table, width=width, weights=worth) / n
    mean, scale = mean * peak, np.sqrt(variance) * peak
    # The deviation of a constant column is rounding noise of its mean; dividing by it would turn noise into signal.
    constant = scale <= 1e-12 * np.maximum(np.abs(mean), np.finfo(np.float64).tiny)
    return Scaling(mean, np.where(constant, 1.0, scale))
