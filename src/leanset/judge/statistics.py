from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from leanset._arrays import Rows, Vector
from leanset._errors import InputError
from leanset._rng import stream

_MOST_ENUMERATED = 16  # up to so many differences, all sign patterns are tried; beyond, patterns are drawn


@dataclass(frozen=True)
class Interval:
    """The mean of `n` values and an interval that covers the true mean with probability `level`.

    One value has no spread, so `low` and `high` are NaN.
    """

    mean: float
    low: float
    high: float
    n: int
    level: float = 0.95


@dataclass(frozen=True)
class Comparison:
    """Two methods compared seed by seed: the mean difference and its two-sided p value (NaN for one seed)."""

    difference: Interval
    p_value: float


def mean_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """Return the mean of independent values with Student's t interval.

    Parameters
    ----------
    values : one number per seed
    level : probability with which the interval covers the true mean

    Examples
    --------
    >>> interval = mean_interval([0.90, 0.91, 0.92])
    >>> f"{interval.mean:.2f} ({interval.low:.3f} to {interval.high:.3f})"
    '0.91 (0.885 to 0.935)'
    >>> mean_interval([0.9])
    Interval(mean=0.9, low=nan, high=nan, n=1, level=0.95)
    """
    return _interval(_finite("values", values), level, rounding=0.0)


def paired(ours: ArrayLike, theirs: ArrayLike, level: float = 0.95) -> Comparison:
    """Compare two methods that were measured with the same seeds: paired t interval and two-sided paired t test.

    If every seed gives the same difference, the t test divides by zero. Then the limit is used: the interval is a point,
    and p is 0 if there is a difference and 1 if there is none. Differences of the size of rounding errors count as none.

    Parameters
    ----------
    ours, theirs : one measurement per seed, in the same order
    level : probability with which the interval covers the true difference

    Examples
    --------
    >>> comparison = paired([0.93, 0.95, 0.94], [0.91, 0.92, 0.93])
    >>> f"{comparison.difference.mean:+.2f}, p = {comparison.p_value:.3f}"
    '+0.02, p = 0.074'
    >>> paired([0.3], [0.3]).p_value
    nan
    >>> paired([0.1 + 0.2, 0.5], [0.3, 0.5]).p_value
    1.0
    """
    differences, rounding = _differences(ours, theirs)
    interval = _interval(differences, level, rounding)
    return Comparison(interval, _t_test_p(differences, rounding))


def paired_by_row(
    ours: Sequence[ArrayLike], theirs: Sequence[ArrayLike], rows: Sequence[ArrayLike], level: float = 0.95
) -> Interval:
    """Compare two methods that were measured on the same rows with the same seeds.

    The interval covers other rows and other seeds. It has a part for each: Student's t interval over the rows (each
    averaged over the seeds that measured it), and over the seeds (each averaged over its rows). Their half widths are
    added like the sides of a right triangle. Adding the two variances counts what belongs to a row and a seed together
    twice (Cameron, Gelbach and Miller 2011 subtract it), so the interval errs on the wide side. A single seed has no
    spread; then the interval covers other rows only.

    Parameters
    ----------
    ours, theirs : for each seed, one measurement per row
    rows : for each seed, the number of each row; a row may occur under several seeds
    level : probability with which the interval covers the true difference

    Examples
    --------
    >>> interval = paired_by_row([[0.5, 0.7, 0.6]] * 2, [[0.4, 0.5, 0.6], [0.3, 0.5, 0.4]], [[0, 1, 2]] * 2)
    >>> f"{interval.mean:+.2f}, {interval.n} seeds"
    '+0.15, 2 seeds'
    """
    _check_level(level)
    by_seed = [_differences(one, two)[0] for one, two in zip(ours, theirs, strict=True)]
    together = np.concatenate(by_seed)
    mean, n = float(together.mean()), len(by_seed)
    _, place = np.unique(np.concatenate([np.asarray(part) for part in rows]), return_inverse=True)
    row_sums: Vector = np.bincount(place, together - mean).astype(np.float64)
    seed_sums = np.array([float((part - mean).sum()) for part in by_seed])
    if len(row_sums) < 2:
        return Interval(mean, np.nan, np.nan, n, level)
    halves = [_half_width(sums, len(together), level) for sums in (row_sums, seed_sums) if len(sums) > 1]
    half = float(np.linalg.norm(halves))
    return Interval(mean, mean - half, mean + half, n, level)


def sign_flip_p(differences: ArrayLike, draws: int = 2**_MOST_ENUMERATED, seed: int = 0) -> float:
    """Return the two-sided p value of the sign-flip permutation test that differences are symmetric around zero.

    It does not assume a normal distribution, but p is at least 2 / 2ⁿ: 0.0625 with 5 seeds.

    Parameters
    ----------
    differences : one per seed; with at most 16, all sign patterns are tried and p is exact
    draws : sign patterns to draw if there are more; the observed one counts too, so that p is never 0
    seed : seed of the draws

    Examples
    --------
    >>> sign_flip_p([0.1, 0.2, 0.3]) == 2 / 2**3
    True
    """
    given = _finite("differences", differences)
    if draws < 1:
        raise InputError(f"`draws={draws}` must be at least 1.")
    n, hits, block = len(given), 0, 4096  # draws at a time, to bound the memory
    rounding = 1e-12 * float(np.abs(given).sum())  # so that a pattern that ties counts as a tie
    observed = abs(float(given.sum())) - rounding
    if n <= _MOST_ENUMERATED:
        signs = 1 - 2 * (np.arange(2**n)[:, None] >> np.arange(n) & 1)
        return float((np.abs(signs @ given) >= observed).mean())
    rng = stream(seed, "sign flips", n)
    for start in range(0, draws, block):
        signs = 1 - 2 * rng.integers(0, 2, (min(block, draws - start), n))
        hits += int((np.abs(signs @ given) >= observed).sum())
    return (1 + hits) / (1 + draws)


def holm(p_values: ArrayLike) -> Vector:
    """Return p values adjusted for multiple comparisons by Holm's step-down rule; NaN stays NaN and is not counted.

    If all adjusted values below α are rejected, the chance of any false rejection is below α.

    Parameters
    ----------
    p_values : one per comparison

    Examples
    --------
    >>> holm([0.03, np.nan, 0.01]).tolist()
    [0.03, nan, 0.02]
    """
    given = np.asarray(p_values, dtype=np.float64)
    if given.ndim != 1 or np.any((given < 0) | (given > 1)):
        raise InputError(f"`p_values` must be a list of numbers in 0..1; got {given.tolist()}.")
    adjusted = np.full(len(given), np.nan)
    order = np.argsort(given, kind="stable")[: int(np.isfinite(given).sum())]  # NaNs sort last
    steps = given[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def bootstrap_interval(
    statistic: Callable[[Rows], float], n: int, draws: int = 2000, seed: int = 0, level: float = 0.95
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of a statistic of `n` items.

    Parameters
    ----------
    statistic : function from row numbers, drawn with replacement, to the value on those rows
    n : number of items
    draws : number of resamples; those where the statistic is NaN are left out ((NaN, NaN) if all are)
    seed : seed of the draws
    level : share of the draws inside the interval

    Examples
    --------
    >>> values = np.arange(100.0)
    >>> low, high = bootstrap_interval(lambda rows: float(values[rows].mean()), 100)
    >>> bool(low < values.mean() < high)
    True
    """
    _check_level(level)
    if n < 1 or draws < 1:
        raise InputError(f"`bootstrap_interval(n={n}, draws={draws})` needs at least one item and one draw.")
    rng = stream(seed, "bootstrap", n)
    drawn = np.array([statistic(rng.integers(0, n, n)) for _ in range(draws)], dtype=np.float64)
    drawn = drawn[~np.isnan(drawn)]
    if not len(drawn):
        return np.nan, np.nan
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def spearman(a: ArrayLike, b: ArrayLike) -> float:
    """Return Spearman's rank correlation, with average ranks for ties; NaN if either list is constant or has a NaN.

    Parameters
    ----------
    a, b : one number per item each

    Examples
    --------
    >>> f"{spearman([1, 2, 3, 4], [10, 20, 40, 30]):.3f}"
    '0.800'
    >>> spearman([1, 2, 3], [5, 5, 5])
    nan
    """
    one, two = _pair("a", a, "b", b, finite=False)
    if len(one) < 2 or np.isnan(one).any() or np.isnan(two).any():
        return float("nan")
    ranks, others = _ranks(one), _ranks(two)
    ranks, others = ranks - ranks.mean(), others - others.mean()
    length = np.sqrt(float(ranks @ ranks) * float(others @ others))
    return float(np.clip(ranks @ others / length, -1.0, 1.0)) if length else float("nan")


def top_spearman(scores: ArrayLike, truth: ArrayLike, top: int = 10) -> float:
    """Return the rank correlation over the `top` items that are truly best (all items if there are fewer).

    Parameters
    ----------
    scores : estimated value of each item
    truth : true value of each item, higher is better; among ties at the edge, the first are taken
    top : number of items

    Examples
    --------
    >>> f"{top_spearman([0, 9, 2, 1, 3], [0.1, 0.2, 0.8, 0.7, 0.9], top=3):.2f}"
    '1.00'
    """
    if top < 2:
        raise InputError(f"`top={top}` must be at least 2: one item has no order.")
    one, two = _pair("scores", scores, "truth", truth, finite=False)
    best = np.argsort(-two, kind="stable")[:top]
    return spearman(one[best], two[best])


def _differences(ours: ArrayLike, theirs: ArrayLike) -> tuple[Vector, float]:
    """Return the differences, with 0 for those of the size of rounding errors, and that size."""
    one, two = _pair("ours", ours, "theirs", theirs)
    rounding = 4 * np.finfo(np.float64).eps * float(max(np.abs(one).max(), np.abs(two).max()))
    differences = one - two
    differences[np.abs(differences) <= rounding] = 0.0
    return differences, rounding


def _interval(values: Vector, level: float, rounding: float) -> Interval:
    _check_level(level)
    mean, n = float(values.mean()), len(values)
    if n < 2:
        return Interval(mean, np.nan, np.nan, n, level)
    half = float(stdtrit(n - 1, (1 + level) / 2)) * _standard_error(values, rounding)
    return Interval(mean, mean - half, mean + half, n, level)


def _half_width(sums: Vector, n: int, level: float) -> float:
    """Return the half width of the t interval of a mean of n deviations that are known by their sums over clusters."""
    k = len(sums)
    return float(stdtrit(k - 1, (1 + level) / 2) * np.sqrt(k / (k - 1)) * np.linalg.norm(sums) / n)


def _t_test_p(differences: Vector, rounding: float) -> float:
    if len(differences) < 2:
        return float("nan")
    mean, error = float(differences.mean()), _standard_error(differences, rounding)
    if error == 0:
        return float(mean == 0)
    return float(2 * stdtr(len(differences) - 1, -abs(mean) / error))


def _standard_error(values: Vector, rounding: float) -> float:
    if np.ptp(values) <= rounding:
        return 0.0
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def _ranks(values: Vector) -> Vector:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[place]


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise InputError(f"`level={level}` must lie between 0 and 1.")


def _finite(name: str, values: ArrayLike) -> Vector:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not len(array) or not np.isfinite(array).all():
        raise InputError(f"`{name}` must be a list of at least one finite number; got {array.tolist()}.")
    return array


def _pair(name: str, a: ArrayLike, other: str, b: ArrayLike, *, finite: bool = True) -> tuple[Vector, Vector]:
    one, two = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if finite:
        one, two = _finite(name, a), _finite(other, b)
    if one.ndim != 1 or one.shape != two.shape:
        raise InputError(f"`{name}` and `{other}` must have the same length; got shapes {one.shape} and {two.shape}.")
    return one, two
