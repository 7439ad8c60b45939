import math
from dataclasses import dataclass

from leanset._errors import InputError
from leanset.judge.statistics import Comparison, Interval

_MORE_DIGITS = 2  # may be added to show on which side of 0 the ends of an interval lie


@dataclass(frozen=True)
class Measure:
    """How differences of a figure are written, and which way is better.

    Attributes
    ----------
    unit : follows the number
    scale : the number is written times this
    higher_is_better : False for losses
    least_digits : decimals; None for two significant digits of the interval's half width
    """

    unit: str
    scale: float = 1.0
    higher_is_better: bool = True
    least_digits: int | None = None


POINTS = Measure("points", scale=100.0, least_digits=1)  # of shares in 0..1, such as accuracies
LOSS = Measure("in loss", higher_is_better=False)


def verdict(
    method: str,
    baseline: str,
    fraction: float,
    comparison: Comparison,
    significance: float = 0.05,
    measure: Measure = POINTS,
    more: str = "",
) -> str:
    """Say in one sentence how a method compares with another.

    A method is better or worse if the interval of the difference excludes 0; for a plain paired t test this means
    p < `significance`. If the p value of `comparison` is adjusted for multiple comparisons, it must be below
    `significance` too. The sentence says so if the two disagree. Without a p value (NaN) the interval decides.

    Parameters
    ----------
    method, baseline : names of the two methods
    fraction : share of the training data that was removed
    comparison : method minus baseline, with an interval of level 1 - `significance`
    significance : chance of reporting a difference where there is none
    measure : what is compared
    more : ends the sentence

    Examples
    --------
    >>> print(verdict("leanset", "random", 0.4, Comparison(Interval(0.012, 0.007, 0.017, 5), 0.002)))
    leanset is better than random at 40 % removed: +1.2 points, 95 % interval 0.7 to 1.7 (5 seeds).
    >>> print(verdict("EL2N", "random", 0.4, Comparison(Interval(0.001, -0.004, 0.006, 5), 0.6)))
    no difference seen between EL2N and random at 40 % removed: +0.1 points, 95 % interval −0.4 to 0.6 (5 seeds).
    >>> print(verdict("EL2N", "random", 0.4, Comparison(Interval(-0.008, math.nan, math.nan, 1), math.nan)))
    EL2N against random at 40 % removed: −0.8 points, one seed: no interval.
    >>> print(verdict("EL2N", "random", 0.4, Comparison(Interval(0.012, 0.009, 0.015, 5), 0.001), measure=LOSS))
    EL2N is worse than random at 40 % removed: +0.0120 in loss, 95 % interval 0.0090 to 0.0150 (5 seeds).
    """
    difference = comparison.difference
    if not math.isclose(difference.level, 1 - significance, abs_tol=1e-9):
        raise InputError(
            f"`verdict(significance={significance})` needs an interval of level {1 - significance:g}; "
            f"got one of level {difference.level:g}."
        )
    at = f"at {100 * fraction:.4g} % removed"
    mean, low, high = written(difference, measure)
    size = f"{mean} {measure.unit}"
    if math.isnan(difference.low):
        return f"{method} against {baseline} {at}: {size}, {in_seeds(difference.n)}: no interval{more}."
    outside = difference.low > 0 or difference.high < 0
    doubted = comparison.p_value >= significance
    if outside and not doubted:
        better = (difference.low > 0) == measure.higher_is_better
        finding = f"{method} is {'better' if better else 'worse'} than {baseline}"
    else:
        finding = f"no difference seen between {method} and {baseline}"
    evidence = f"{size}, {100 * difference.level:.4g} % interval {low} to {high} ({in_seeds(difference.n)})"
    if outside and doubted:
        evidence += f", but p = {comparison.p_value:.2g} among all comparisons"
    return f"{finding} {at}: {evidence}{more}."


def in_seeds(seeds: int) -> str:
    """Write a number of seeds.

    Examples
    --------
    >>> in_seeds(1), in_seeds(5)
    ('one seed', '5 seeds')
    """
    return "one seed" if seeds == 1 else f"{seeds} seeds"


def written(difference: Interval, measure: Measure) -> tuple[str, str, str]:
    """Return the mean, with its sign, and the ends of an interval as text, all with the same number of decimals.

    Examples
    --------
    >>> written(Interval(-0.01234, -0.0150, -0.0097, 5), LOSS)
    ('−0.0123', '−0.0150', '−0.0097')
    """
    digits = _digits(difference, measure)
    mean, low, high = (
        _number(measure.scale * value, digits) for value in (difference.mean, difference.low, difference.high)
    )
    return mean if mean.startswith("−") or float(mean) == 0 else f"+{mean}", low, high


def plus_minus(difference: Interval, measure: Measure) -> str:
    """Write a difference with the half width of its interval, if it has one.

    Examples
    --------
    >>> plus_minus(Interval(-0.01234, -0.0151, -0.0097, 5), LOSS)
    '−0.0123 ± 0.0027'
    """
    mean, *_ = written(difference, measure)
    half = measure.scale * (difference.high - difference.low) / 2
    return mean if math.isnan(half) else f"{mean} ± {_number(half, _digits(difference, measure))}"


def _digits(difference: Interval, measure: Measure) -> int:
    """Return the decimals of the measure, or a few more that show on which side of 0 the ends lie."""
    ends = [measure.scale * end for end in (difference.low, difference.high)]
    least = measure.least_digits
    if least is None:
        size = abs(ends[1] - ends[0]) / 2 or abs(measure.scale * difference.mean)
        least = max(0, 1 - math.floor(math.log10(size))) if math.isfinite(size) and size > 0 else 4
    seen = [abs(end) for end in ends if math.isfinite(end) and end != 0]
    enough = (digits for digits in range(least, least + _MORE_DIGITS) if all(round(end, digits) > 0 for end in seen))
    return next(enough, least + _MORE_DIGITS)


def _number(value: float, digits: int) -> str:
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")  # no minus sign before a 0
