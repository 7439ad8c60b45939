from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leanset._arrays import Vector


@dataclass(frozen=True)
class Paired:
    """A mean difference over rows with a paired 95 % interval; the ends are None for a single row."""

    mean: float
    low: float | None
    high: float | None

    @property
    def farthest(self) -> float:
        """The end of the interval that is farther from zero, as a distance."""
        return max(abs(end) for end in (self.mean, self.low, self.high) if end is not None)

    @property
    def lowest(self) -> float:
        """The lower end, or the mean if there is no interval."""
        return self.mean if self.low is None else self.low

    @property
    def highest(self) -> float:
        """The upper end, or the mean if there is no interval."""
        return self.mean if self.high is None else self.high


@dataclass(frozen=True)
class Quality:
    """What the refitted head does on some rows, beside the head of all examples.

    Attributes
    ----------
    loss, loss_gap : mean loss of the head of all examples; the refitted head's minus that
    accuracy, accuracy_change : the same for the share of right answers; None if the loss has no right answers
    same_answers : share of rows on which both heads give the same answer; None likewise
    """

    NAMES: ClassVar[tuple[str, ...]] = (
        *("loss", "loss_gap", "loss_gap_low", "loss_gap_high"),
        *("accuracy", "accuracy_change", "accuracy_change_low", "accuracy_change_high", "same_answers"),
    )

    loss: float
    loss_gap: Paired
    accuracy: float | None
    accuracy_change: Paired | None
    same_answers: float | None

    def numbers(self) -> Vector:
        """Return all numbers in the order of `NAMES`, NaN for those that are None."""
        change = self.accuracy_change or Paired(np.nan, None, None)
        gap = self.loss_gap
        row = (self.loss, gap.mean, gap.low, gap.high, self.accuracy, change.mean, change.low, change.high)
        return np.array([*row, self.same_answers], dtype=np.float64)

    @classmethod
    def from_numbers(cls, numbers: Vector) -> "Quality":
        """Rebuild a record from its `numbers`."""
        loss, gap, gap_low, gap_high, accuracy, change, low, high, same = (
            None if np.isnan(number) else float(number) for number in numbers
        )
        if loss is None or gap is None:
            raise ValueError("every loss has a mean and a gap")
        moved = None if change is None else Paired(change, low, high)
        return cls(loss, Paired(gap, gap_low, gap_high), accuracy, moved, same)


@dataclass(frozen=True)
class RandomRemovals:
    """What random removals of one size do, measured; one entry for each draw.

    Attributes
    ----------
    changes : (draws,) ‖Δθ‖
    training, validation : as in `Effect`
    losses : mean loss over the draws of each row that is judged: a validation row, or a training row if there are none
    """

    changes: Vector
    training: tuple[Quality, ...]
    validation: tuple[Quality, ...]
    losses: Vector

    @property
    def judged(self) -> tuple[Quality, ...]:
        """On the validation examples, or on the training examples if there are no others."""
        return self.validation or self.training


@dataclass(frozen=True)
class Effect:
    """The effect of a removal on the head, predicted and measured.

    Attributes
    ----------
    influence_change : ‖Δθ‖ by first-order influence
    inverse_residual : relative residual of the inverse Hessian used for it
    newton_change : ‖Δθ‖ by one Newton step with the Hessian of the kept examples
    refit_change : ‖Δθ‖ measured by a refit
    training : on all training examples, removed ones included
    validation : on the validation examples; None if there are none
    """

    influence_change: float
    inverse_residual: float
    newton_change: float
    refit_change: float
    training: Quality
    validation: Quality | None

    @property
    def judged(self) -> Quality:
        """On the validation examples, or on the training examples if there are no others."""
        return self.training if self.validation is None else self.validation
