import re
from dataclasses import asdict, dataclass
from typing import Any

from leanset._errors import InputError

FULL = "full"  # the method of jobs that train on everything
EQUAL_EPOCHS, EQUAL_STEPS = "equal-epochs", "equal-steps"
_SET_EPOCHS = re.compile(r"epochs=([1-9]\d*)")


@dataclass(frozen=True, order=True)
class Job:
    """One training of a study.

    Attributes
    ----------
    seed : of the selection, of the weights and of the order of training; jobs of one seed are compared in pairs
    fraction : share that was removed; 0 for `full`
    model : the network trained
    protocol : "equal-epochs" (as many passes over the kept examples as over all), "equal-steps" (as many steps) or
        "epochs=K"
    method : what chose the kept examples

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
        """A name for files."""
        return f"{self.selection}-{self.model}-{self.protocol}"

    @property
    def selection(self) -> str:
        """A name for the selection, which jobs that differ in network or protocol have in common."""
        short = f"{self.fraction:g}"
        exact = short if float(short) == self.fraction else repr(self.fraction)
        return f"{self.method}-{exact}-s{self.seed}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def checked_protocol(protocol: str) -> str:
    """Return a protocol, or say what one is."""
    if protocol not in (EQUAL_EPOCHS, EQUAL_STEPS) and not _SET_EPOCHS.fullmatch(protocol):
        raise InputError(f"protocol {protocol!r} must be {EQUAL_EPOCHS}, {EQUAL_STEPS} or epochs=K.")
    return protocol


def epochs_of(protocol: str, epochs: int, kept: int, n: int) -> int:
    """Return how many passes over `kept` of `n` examples a protocol asks for, the whole set being given `epochs`."""
    if match := _SET_EPOCHS.fullmatch(checked_protocol(protocol)):
        return int(match[1])
    return epochs if protocol == EQUAL_EPOCHS else max(1, round(epochs * n / kept))
