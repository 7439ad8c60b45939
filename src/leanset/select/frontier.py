import csv
import io
from collections.abc import Iterator
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any

from leanset._errors import RunFolderError


@dataclass(frozen=True)
class FrontierPoint:
    """The best set found of one size, and the effect of its removal on the head.

    Attributes
    ----------
    removed, fraction : examples removed, as a number and as a share
    newton_change : ‖Δθ‖ by a Newton step
    refit_change : ‖Δθ‖ measured by an exact refit
    random_refit_change : the same for a random removal of that size (mean of two draws)
    validation_loss_gap : measured rise of the validation loss; None without validation data
    same_answers : share of the validation examples (training examples, if there are none) whose answer stays the same;
        None for losses without right answers
    random_refit_change_low, random_refit_change_high : least and largest of the random draws
    random_validation_loss_gap, random_same_answers : the same two for the random removals, on average

    Examples
    --------
    >>> import leanset
    >>> result = leanset.prune([[0.1], [1], [2], [3.1]], [0, 1, 0, 1], count=1, l2=1, frontier=True)
    >>> [point.removed for point in result.frontier]
    [1, 2]
    """

    removed: int
    fraction: float
    newton_change: float
    refit_change: float
    random_refit_change: float
    validation_loss_gap: float | None
    same_answers: float | None = None
    random_refit_change_low: float | None = None
    random_refit_change_high: float | None = None
    random_validation_loss_gap: float | None = None
    random_same_answers: float | None = None


@dataclass(frozen=True)
class Frontier:
    """Number removed against certified change, in ascending order, to choose a size from.

    Examples
    --------
    >>> point = FrontierPoint(10, 0.1, 0.2, 0.21, 0.9, None)
    >>> Frontier.from_csv(Frontier((point,)).to_csv()) == Frontier((point,))
    True
    """

    points: tuple[FrontierPoint, ...]

    def __iter__(self) -> Iterator[FrontierPoint]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    def to_csv(self) -> str:
        """Return the points as CSV with a header line; cells without a value are empty."""
        out = io.StringIO()
        writer = csv.DictWriter(out, [field.name for field in fields(FrontierPoint)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(point) for point in self.points)
        return out.getvalue()

    @classmethod
    def from_csv(cls, text: str) -> "Frontier":
        """Rebuild a frontier from `to_csv`."""
        try:
            return cls(tuple(_point(row) for row in csv.DictReader(io.StringIO(text))))
        except (KeyError, TypeError, ValueError, csv.Error) as error:
            raise RunFolderError(f"frontier.csv: is not a frontier written by leanset ({error!r}).") from None


def _point(row: dict[str, str]) -> FrontierPoint:
    # Only what every version has written is required: a frontier without the later columns can still be read.
    known = {field.name: float(text) for field in fields(FrontierPoint) if (text := row.get(field.name))}
    required = [field.name for field in fields(FrontierPoint) if field.default is MISSING]
    missing = [name for name in required if name not in row]
    if missing:
        raise KeyError(missing[0])
    values: dict[str, Any] = {"validation_loss_gap": None, **known, "removed": int(row["removed"])}
    return FrontierPoint(**values)
