"""The budget of a run: a size, or a bound on the effect of the removal."""

import abc
from dataclasses import dataclass
from typing import ClassVar

from leanset._errors import InputError
from leanset.problem import Effect

LEAST_OF_A_CLASS = 10  # examples of each class that a budget with a floor keeps
_SAME = 1e-6  # of the head's norm: a change that nobody can see


@dataclass(frozen=True)
class Budget(abc.ABC):
    """A budget defines how many examples to remove, or a measured quantity and its limit."""

    value: float
    name: ClassVar[str]
    is_size: ClassVar[bool] = False
    needs_validation: ClassVar[bool] = False
    needs_weights: ClassVar[bool] = False
    needs_answers: ClassVar[bool] = False  # whether the loss must have right and wrong answers
    limits_parameters: ClassVar[bool] = False  # whether the limit is on ‖Δθ‖
    has_floor: ClassVar[bool] = False  # whether a floor keeps it out of degenerate corners

    def to_dict(self) -> dict[str, float]:
        """Return plain values, ready for JSON."""
        return {self.name: self.value}

    def check(self, n: int) -> None:
        """Raise if the budget is not valid for n examples."""
        return

    def size(self, n: int) -> int:
        """Return how many of n examples to remove."""
        raise NotImplementedError(f"{self.name} is not a size")

    def limit(self, head_norm: float) -> float:
        """Return the largest allowed value of the measured quantity, given ‖θ̂‖."""
        return self.value

    def measured(self, effect: Effect) -> float:
        """Return the quantity that the budget limits."""
        return effect.refit_change


@dataclass(frozen=True)
class Fraction(Budget):
    """Remove a share of the examples."""

    name: ClassVar[str] = "fraction"
    is_size: ClassVar[bool] = True

    def size(self, n: int) -> int:
        """Return the number nearest to the share, at least 1."""
        return max(1, round(self.value * n))


@dataclass(frozen=True)
class Keep(Budget):
    """Keep a share of the examples, or from 1 on a number of them.

    Examples
    --------
    >>> Keep(0.25).size(100), Keep(30).size(100)
    (75, 70)
    """

    name: ClassVar[str] = "keep"
    is_size: ClassVar[bool] = True

    def check(self, n: int) -> None:
        """Raise unless at least one example is removed."""
        if self.value >= n:
            raise InputError(
                f"`keep={self.value:g}` must be a share below 1, or a number in 1..{n - 1} for {n:,} examples."
            )

    def size(self, n: int) -> int:
        """Return how many are left, at least 1, after keeping at least 1."""
        kept = self.value if self.value >= 1 else round(self.value * n)
        return n - int(min(max(kept, 1), n - 1))


@dataclass(frozen=True)
class Count(Budget):
    """Remove a fixed number of examples."""

    name: ClassVar[str] = "count"
    is_size: ClassVar[bool] = True

    def check(self, n: int) -> None:
        """Raise unless at least one example is removed and one stays."""
        if not (self.value == int(self.value) and 1 <= self.value < n):
            shown = int(self.value) if self.value == int(self.value) else self.value
            raise InputError(f"`count={shown}` must be a whole number in 1..{n - 1} for {n:,} examples.")

    def size(self, n: int) -> int:
        """Return the number."""
        return int(self.value)


@dataclass(frozen=True)
class Epsilon(Budget):
    """Bound ‖Δθ‖."""

    name: ClassVar[str] = "epsilon"
    limits_parameters: ClassVar[bool] = True


@dataclass(frozen=True)
class RelativeEpsilon(Budget):
    """Bound ‖Δθ‖ / ‖θ̂‖."""

    name: ClassVar[str] = "relative_epsilon"
    limits_parameters: ClassVar[bool] = True

    def limit(self, head_norm: float) -> float:
        """Return the limit as a share of the head's norm."""
        return self.value * head_norm


@dataclass(frozen=True)
class MaxLossGap(Budget):
    """Bound the change of the validation loss: the far end of its interval, in either direction.

    A loss that falls is a change, too: the loss of an over-confident head falls while its answers get worse.
    """

    name: ClassVar[str] = "max_loss_gap"
    needs_validation: ClassVar[bool] = True
    has_floor: ClassVar[bool] = True

    def measured(self, effect: Effect) -> float:
        """Return the far end of the interval of the loss gap."""
        return effect.judged.loss_gap.farthest


@dataclass(frozen=True)
class MaxAccuracyDrop(Budget):
    """Bound the drop of the validation accuracy: the far end of its interval."""

    name: ClassVar[str] = "max_accuracy_drop"
    needs_validation: ClassVar[bool] = True
    needs_answers: ClassVar[bool] = True
    has_floor: ClassVar[bool] = True

    def measured(self, effect: Effect) -> float:
        """Return the largest drop within the interval."""
        change = effect.judged.accuracy_change
        assert change is not None  # the plan checks that the loss has answers
        return -change.lowest


@dataclass(frozen=True)
class MinAgreement(Budget):
    """Bound from below the share of answers that stay the same, on the validation examples if there are any."""

    name: ClassVar[str] = "min_agreement"
    needs_answers: ClassVar[bool] = True
    has_floor: ClassVar[bool] = True

    def limit(self, head_norm: float) -> float:
        """Return the largest share of answers that may change."""
        return 1.0 - self.value

    def measured(self, effect: Effect) -> float:
        """Return the share of answers that change."""
        same = effect.judged.same_answers
        assert same is not None  # the plan checks that the loss has answers
        return 1.0 - same


@dataclass(frozen=True)
class SameModel(Budget):
    """Keep as few examples as reproduce the head."""

    name: ClassVar[str] = "same_model"
    limits_parameters: ClassVar[bool] = True
    needs_weights: ClassVar[bool] = True

    def limit(self, head_norm: float) -> float:
        """Return a millionth of the head's norm."""
        return _SAME * head_norm


_KINDS = (Fraction, Keep, Count, Epsilon, RelativeEpsilon, MaxLossGap, MaxAccuracyDrop, MinAgreement, SameModel)
BUDGETS: dict[str, type[Budget]] = {kind.name: kind for kind in _KINDS}


def the_budget(**given: float | None) -> Budget:
    """Return the one budget that is not None; raise if there is not exactly one.

    Examples
    --------
    >>> the_budget(fraction=0.4, count=None)
    Fraction(value=0.4)
    """
    chosen = {name: value for name, value in given.items() if value is not None and value is not False}
    if len(chosen) != 1:
        names = ", ".join(f"`{name}`" for name in given)
        seen = "none" if not chosen else " and ".join(f"`{name}={value}`" for name, value in chosen.items())
        raise InputError(f"give exactly one budget out of {names}; got {seen}.")
    [(name, value)] = chosen.items()
    return BUDGETS[name](float(value))
