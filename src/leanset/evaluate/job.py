import re
from dataclasses import asdict, dataclass
from typing import Any

from leanset._errors import InputError
from leanset.judge import choice_name

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
    method : the method that chose the kept examples

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

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


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
