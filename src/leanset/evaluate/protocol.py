import re
from dataclasses import dataclass

from leanset._errors import InputError
from leanset.head import MeanPenalty, Penalty, TotalPenalty

EQUAL_EPOCHS, EQUAL_STEPS = "equal-epochs", "equal-steps"
_TOTAL_DECAY = "+total-decay"
_SET_EPOCHS = re.compile(r"epochs=([1-9]\d*)")


@dataclass(frozen=True)
class Protocol:
    """How a network is trained on a part of the examples, if its training on all of them is known.

    Attributes
    ----------
    name : "equal-epochs" (as many passes over the kept examples as over all of them), "equal-steps" (as many steps) or
        "epochs=K"; with "+total-decay" the weight decay is divided by the share kept, so that it weighs as much beside the
        sum of the losses as it does on all examples

    Examples
    --------
    >>> Protocol("equal-steps").epochs(10, kept=600, n=1000), Protocol("epochs=3").epochs(10, kept=600, n=1000)
    (17, 3)
    >>> Protocol("equal-epochs+total-decay").weight_decay(1e-3, kept=500, n=1000)
    0.002
    >>> Protocol("equal-steps+total-decay").on_all
    'equal-epochs'
    """

    name: str

    def __post_init__(self) -> None:
        if self._length not in (EQUAL_EPOCHS, EQUAL_STEPS) and not _SET_EPOCHS.fullmatch(self._length):
            raise InputError(
                f"`protocol={self.name!r}` must be {EQUAL_EPOCHS!r}, {EQUAL_STEPS!r} or 'epochs=K', each also with "
                f"{_TOTAL_DECAY!r} after it."
            )

    @property
    def _length(self) -> str:
        return self.name.removesuffix(_TOTAL_DECAY)

    @property
    def _penalty(self) -> Penalty:
        return TotalPenalty() if self.name.endswith(_TOTAL_DECAY) else MeanPenalty()

    @property
    def on_all(self) -> str:
        """The protocol of a training on all examples, where equal steps are equal epochs and no decay changes."""
        return EQUAL_EPOCHS if self.has_equal_steps else self._length

    @property
    def shorter(self) -> str:
        """The protocol of a shorter training on all examples, where no decay changes."""
        return self._length

    @property
    def has_equal_steps(self) -> bool:
        """Whether a part of the examples gets as many steps as all of them."""
        return self._length == EQUAL_STEPS

    @property
    def title(self) -> str:
        """The name for readers."""
        return self.name.replace("+", ", ").replace("-", " ")

    def epochs(self, usual: int, kept: int, n: int) -> int:
        """Return the epochs on `kept` of `n` examples, if all `n` get the `usual` ones."""
        if match := _SET_EPOCHS.fullmatch(self._length):
            return int(match[1])
        return max(1, round(usual * n / kept)) if self.has_equal_steps else usual

    def weight_decay(self, usual: float, kept: int, n: int) -> float:
        """Return the weight decay on `kept` of `n` examples, if all `n` get the `usual` one."""
        return self._penalty.l2_on(usual, n, kept)
