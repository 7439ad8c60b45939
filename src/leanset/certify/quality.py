import numpy as np
from scipy.special import stdtrit

from leanset._arrays import AnyArray, Matrix, Vector
from leanset.head import Design
from leanset.problem import Paired, Quality
from leanset.rows import map_rows


def quality_on(design: Design, before: Matrix, after: Matrix) -> Quality:
    """Compare two heads row by row.

    Pairing cancels what is hard for both heads, which is nearly all of the spread.

    Examples
    --------
    >>> from leanset.head import Softmax
    >>> from leanset.rows import MemoryRows
    >>> design = Design(MemoryRows(np.ones((4, 1))), np.array([0, 1, 0, 1]), Softmax(2))
    >>> quality = quality_on(design, np.array([[1.0], [0.0]]), np.array([[2.0], [0.0]]))
    >>> quality.accuracy, quality.accuracy_change.mean, quality.same_answers
    (0.5, 0.0, 1.0)
    """
    loss = design.loss

    def compared(x: Matrix, y: AnyArray) -> Matrix:
        old, new = x @ before.T, x @ after.T
        columns = (
            loss.values(old, y),
            loss.values(new, y),
            loss.right(old, y),
            loss.right(new, y),
            loss.same(old, new),
        )
        return np.column_stack(columns)

    old_loss, new_loss, old_right, new_right, same = map_rows(
        compared, design.rows, design.targets, width=2 * design.width
    ).T
    gap = paired(new_loss - old_loss)
    if loss.answers is None:
        return Quality(float(old_loss.mean()), gap, None, None, None)
    return Quality(
        float(old_loss.mean()), gap, float(old_right.mean()), paired(new_right - old_right), float(same.mean())
    )


def paired(differences: Vector) -> Paired:
    """Return the mean of differences with its 95 % interval.

    Examples
    --------
    >>> paired(np.zeros(4))
    Paired(mean=0.0, low=0.0, high=0.0)
    """
    mean, half = float(differences.mean()), half_width(differences)
    return Paired(mean, None, None) if half is None else Paired(mean, mean - half, mean + half)


def half_width(values: Vector) -> float | None:
    """Return half the width of the 95 % interval of a mean; None for a single value."""
    n = len(values)
    return None if n < 2 else float(stdtrit(n - 1, 0.975) * values.std(ddof=1) / np.sqrt(n))
