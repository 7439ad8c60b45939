from dataclasses import asdict, dataclass
from typing import Any

from leanset.evaluate.protocol import Protocol
from leanset.judge import ON_ALL, SHORTER, choice_name


@dataclass(frozen=True, order=True)
class Job:
    """One training of a study.

    Attributes
    ----------
    seed : seed of the selection, the initial weights and the training order; jobs with the same seed are compared in pairs
    fraction : share of the examples that was removed; 0 for `full`
    model : the network to train
    protocol : name of a `Protocol`
    method : the method that chose the kept examples; or "full", all examples, or "shorter", all examples for the number of
        passes, at least one, whose steps come nearest to those on the share that is left

    Examples
    --------
    >>> job = Job(seed=0, fraction=0.4, model="conv4", protocol="equal-epochs", method="el2n")
    >>> job.key
    'el2n-0.4-s0-conv4-equal-epochs'
    """

    seed: int
    fraction: float
    model: str
    protocol: str
    method: str

    @property
    def key(self) -> str:
        """The job's name, used for its files."""
        return f"{self.selection}-{self.model}-{self.protocol}"

    @property
    def selection(self) -> str:
        """The name of the job's selection. Jobs that differ only in network or protocol share it."""
        return choice_name(self.method, self.fraction, self.seed)

    @property
    def on_all(self) -> bool:
        """Whether it trains on all examples, so that nothing is chosen."""
        return self.method in ON_ALL

    def kept_of(self, n: int) -> int:
        """Return how many of `n` examples it trains on."""
        return n if self.on_all else _share_left(self.fraction, n)

    def epochs(self, usual: int, kept: int, n: int) -> int:
        """Return its epochs on `kept` examples, if all `n` get the `usual` ones.

        Examples
        --------
        >>> Job(0, 0.4, "conv4", "equal-epochs", "shorter").epochs(10, kept=1000, n=1000)
        6
        """
        protocol = Protocol(self.protocol)
        if self.method != SHORTER:
            return protocol.epochs(usual, kept, n)
        left = _share_left(self.fraction, n)
        return max(1, round(protocol.epochs(usual, left, n) * left / n))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def _share_left(fraction: float, n: int) -> int:
    return max(1, round((1 - fraction) * n))
