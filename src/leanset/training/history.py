from dataclasses import dataclass

from leanset._errors import RunFolderError


@dataclass(frozen=True)
class EpochLog:
    """Mean loss and accuracy of one epoch, measured on the augmented examples during training."""

    epoch: int
    loss: float
    accuracy: float


def history_csv(history: tuple[EpochLog, ...]) -> str:
    r"""Return the epochs as CSV.

    Examples
    --------
    >>> history_csv((EpochLog(1, 2.25, 0.125),))
    'epoch,loss,accuracy\n1,2.250000,0.125000\n'
    """
    lines = [f"{log.epoch},{log.loss:.6f},{log.accuracy:.6f}" for log in history]
    return "\n".join(["epoch,loss,accuracy", *lines, ""])


def history_from_csv(text: str) -> tuple[EpochLog, ...]:
    """Read what `history_csv` wrote."""
    rows = [line.split(",") for line in text.splitlines()[1:]]
    try:
        return tuple(EpochLog(int(epoch), float(loss), float(accuracy)) for epoch, loss, accuracy in rows)
    except ValueError as error:
        raise RunFolderError(f"history.csv: is not the history of a training ({error}).") from None
