import re
from dataclasses import asdict, dataclass
from typing import Any

from leanset._errors import InputError
from leanset.judge import ON_ALL, SHORTER, choice_name

EQUAL_EPOCHS, EQUAL_STEPS = "equal-epochs", "equal-steps"
_SET_EPOCHS = re.compile(r"epochs=([1-9]\d*)")


@dataclass(frozen=True, order=True)
class Job:
    """One training of a study.

    Attributes
    ----------
    seed : seed of the selection, the initial weights and the training order; jobs with the same seed are compared in pairs
    fraction : share of the examples that was removed; 0 for `full`
    model : the network to train
    protocol : "equal-epochs" (as many passes over the kept examples as over all of them), "equal-steps" (as many steps)
        or "epochs=K"
    method : the method that chose the kept examples; or "full", all examples, or "shorter", all examples for the number of
        passes, at least one, whose steps come nearest to those on the share that is left

    Examples
    --------
    >>> job = Job(seed=0, fraction=0.4, model="conv4", protocol="equal-epochs", method="el2n")
    >>> job.key
    'el2n-0.4-s0-conv4-equal-epochs'
    >>> checked_protocol("equal-steps"), epochs_of("equal-steps", 10, kept=600, n=1000), epochs_of("epochs=3", 10, 600, 1000)
    ('equal-steps', 17, 3)
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
        if self.method != SHORTER:
            return epochs_of(self.protocol, usual, kept, n)
        left = _share_left(self.fraction, n)
        return max(1, round(epochs_of(self.protocol, usual, left, n) * left / n))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def _share_left(fraction: float, n: int) -> int:
    return max(1, round((1 - fraction) * n))


def checked_protocol(protocol: str) -> str:
    """Return the protocol, or raise if there is no such protocol."""
    if protocol not in (EQUAL_EPOCHS, EQUAL_STEPS) and not _SET_EPOCHS.fullmatch(protocol):
        raise InputError(f"`protocol={protocol!r}` must be {EQUAL_EPOCHS!r}, {EQUAL_STEPS!r} or 'epochs=K'.")
    return protocol


def epochs_of(protocol: str, epochs: int, kept: int, n: int) -> int:
    """Return the epochs that a protocol gives to `kept` of `n` examples, if all `n` get `epochs`."""
    if match := _SET_EPOCHS.fullmatch(checked_protocol(protocol)):
        return int(match[1])
    return epochs if protocol == EQUAL_EPOCHS else max(1, round(epochs * n / kept))


def protocol_on_all(protocol: str) -> str:
    """Return the protocol for training on all examples, where equal steps and equal epochs are the same."""
    return EQUAL_EPOCHS if protocol == EQUAL_STEPS else protocol
