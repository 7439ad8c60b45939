"""The penalty (l2/2)‖θ‖² of a head, on every column or on all but the bias.

A softmax head does not change when one number is added to a column for all classes. The penalty holds that number at zero.
Where a column has no penalty, nothing would, and the minimum would be a line. So it is held there by a term of its own,
½·C·(mean of the column)². This term is zero at the minimum, and gradients have no part along it, so it changes no answer;
it only makes the minimum one point and the Hessian invertible.
"""

from dataclasses import dataclass

import numpy as np

from leanset._arrays import Matrix, Vector


@dataclass(frozen=True)
class Ridge:
    """The penalty as a quadratic form; the only place that knows which columns it is on.

    Attributes
    ----------
    columns : (D,) l2 of each column, 0 for a column without a penalty
    held : (D,) weight of the term that holds what all outputs share in a column, 0 where none is needed

    Examples
    --------
    >>> ridge = Ridge.on(2, 0.5, bias=False, coupled=True)
    >>> ridge.slope(np.array([[2.0, 3.0], [0.0, -3.0]])).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """

    columns: Vector
    held: Vector

    @classmethod
    def on(cls, width: int, l2: float, *, bias: bool, coupled: bool) -> "Ridge":
        """Penalise the columns of a head, the last of which is the bias; `coupled` is the loss's."""
        columns = np.full(width, l2)
        if not bias:
            columns[-1] = 0.0
        return cls(columns, ((columns == 0) & coupled).astype(np.float64))

    @property
    def strength(self) -> float:
        """The curvature that the penalty has in every direction; 0 if a column has no penalty."""
        return float(self.columns.min())

    def value(self, theta: Matrix) -> float:
        """Return the penalty of a head."""
        return 0.5 * float(np.sum(theta * self.slope(theta)))

    def slope(self, stack: Matrix) -> Matrix:
        """Return the gradient of the penalty at a (C, D) head, or at each head of a (k, C, D) stack."""
        slope = self.columns * stack
        if self.held.any():
            slope += self.held * stack.mean(axis=-2, keepdims=True)
        return slope

    def settled(self, theta: Matrix) -> Matrix:
        """Return the head with the same loss and the same penalised weights that has no part along what is held."""
        return np.asarray(theta - (self.held > 0) * theta.mean(axis=0))

    def add_to(self, hessian: Matrix) -> None:
        """Add the Hessian of the penalty to a (C·D, C·D) matrix."""
        outputs, width = len(hessian) // len(self.columns), len(self.columns)
        hessian[np.diag_indices(len(hessian))] += np.tile(self.columns, outputs)
        view = hessian.reshape(outputs, width, outputs, width)
        for d in np.flatnonzero(self.held):
            view[:, d, :, d] += self.held[d] / outputs

    def along(self, output_basis: Matrix, feature_basis: Matrix) -> Matrix:
        """Return the curvature of the penalty along u ⊗ v for the columns u, v of two orthonormal bases: (C, D)."""
        shared = output_basis.mean(axis=0) ** 2 * len(output_basis)
        return self.columns @ feature_basis**2 + np.outer(shared, self.held @ feature_basis**2)
