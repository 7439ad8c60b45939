"""What a comparison would take, and what of it is finished."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Share:
    """One kind of work of a comparison.

    Attributes
    ----------
    work : what is done, in words
    number, finished : how often in all, and how often it is done already
    each : estimated seconds of one
    left : estimated seconds until all are done
    image_passes, pflop : images times epochs, and arithmetic, of what is left; None where no network is trained
    of_full_training : `each` as a share of one training on all examples, that of a training to choose by its arithmetic;
        None where no network is trained
    """

    work: str
    number: int
    finished: int
    each: float
    left: float
    image_passes: int | None = None
    pflop: float | None = None
    of_full_training: float | None = None


@dataclass(frozen=True)
class Forecast:
    """Estimated work and time of a comparison.

    Attributes
    ----------
    shares : the kinds of work, in the order in which they are done
    workers : how many trainings run at the same time; their times are those of one beside the others

    Examples
    --------
    >>> fits = Share(work="fitting", number=3, finished=1, each=2.0, left=4.0)
    >>> Forecast((fits, Share(work="choosing", number=1, finished=0, each=0.5, left=0.5))).seconds
    4.5
    """

    shares: tuple[Share, ...]
    workers: int = 1

    @property
    def seconds(self) -> float:
        """Estimated seconds until everything is done."""
        return sum(share.left for share in self.shares)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"seconds": self.seconds, "workers": self.workers, "shares": [asdict(share) for share in self.shares]}


def joined(forecasts: Mapping[str, Forecast]) -> Forecast:
    """Put the forecasts of several comparisons together, by name, to be made one after the other.

    Examples
    --------
    >>> one = Forecast((Share(work="fitting", number=1, finished=0, each=2.0, left=2.0),), workers=2)
    >>> both = joined({"first": one, "second": one})
    >>> both.seconds, both.workers, [share.work for share in both.shares]
    (4.0, 2, ['first: fitting', 'second: fitting'])
    """
    if len(forecasts) == 1:
        return next(iter(forecasts.values()))
    shares = [
        replace(share, work=f"{name}: {share.work}")
        for name, forecast in forecasts.items()
        for share in forecast.shares
    ]
    return Forecast(tuple(shares), max(forecast.workers for forecast in forecasts.values()))
