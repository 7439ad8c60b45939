import numpy as np

from leanset._arrays import AnyArray, Matrix, Vector
from leanset.head import Design
from leanset.problem import Paired, Quality
from leanset.rows import map_rows


def quality_on(design: Design, before: Matrix, after: Matrix) -> Quality:
    """Compare two heads row by row.

    Pairing cancels what is hard for both heads, which is nearly all of the spread. Each row counts as the design says.

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
    counts = design.worth
    before_loss, gap = mean_of(old_loss, counts), paired(new_loss - old_loss, counts)
    if loss.answers is None:
        return Quality(before_loss, gap, None, None, None)
    accuracy, moved = mean_of(old_right, counts), paired(new_right - old_right, counts)
    return Quality(before_loss, gap, accuracy, moved, mean_of(same, counts))


def paired(differences: Vector, counts: Vector | None = None) -> Paired:
    """Return the (weighted) mean of differences with its 95 % interval.

    Examples
    --------
    >>> paired(np.zeros(4))
    Paired(mean=0.0, low=0.0, high=0.0)
    """
    mean, half = mean_of(differences, counts), half_width(differences, counts)
    return Paired(mean, None, None) if half is None else Paired(mean, mean - half, mean + half)


def mean_of(values: Vector, counts: Vector | None = None) -> float:
    """Return the mean of values, or that of values that count differently."""
    return float(values.mean() if counts is None else counts @ values / counts.sum())


def half_width(values: Vector, counts: Vector | None = None) -> float | None:
    """Return half the width of the 95 % interval of a mean; None for a single value.

    Values that count more make the interval wider: it is about other rows of the same kind, and weights add no rows.
    """
    from scipy.special import stdtrit  # here, because it would slow down every start

    n = len(values)
    if n < 2:
        return None
    if counts is None:
        return float(stdtrit(n - 1, 0.975) * values.std(ddof=1) / np.sqrt(n))
    deviations = counts / counts.sum() * (values - mean_of(values, counts))
    return float(stdtrit(n - 1, 0.975) * np.sqrt(n / (n - 1) * np.sum(deviations**2)))
