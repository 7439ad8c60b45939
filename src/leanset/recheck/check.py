from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Check:
    """One statement about a run, whether it holds, and the values found.

    Attributes
    ----------
    name : what is stated
    holds : whether it was found to be so; True also for what cannot be checked
    detail : the values found, or why it cannot be checked
    checked : False for what is only said by the run

    Examples
    --------
    >>> Check("partition", True, "3 kept and 1 removed are all rows").holds
    True
    """

    name: str
    holds: bool
    detail: str
    checked: bool = True


def close(name: str, claimed: float | None, measured: float | None, tolerance: float, slack: float) -> Check:
    """Compare a number with the one measured again; None stands for a number that does not exist.

    Parameters
    ----------
    tolerance : largest difference as a share of the measured number
    slack : largest difference that the accuracy of the two fits explains
    """
    if claimed is None or measured is None:
        both = claimed is None and measured is None
        return Check(name, both, "there is none" if both else f"claimed {claimed}, re-measured {measured}")
    holds = abs(claimed - measured) <= tolerance * abs(measured) + slack
    return Check(name, bool(holds), f"claimed {claimed:.6g}, re-measured {measured:.6g}")


def alike(name: str, said: object, seen: object, what: str) -> Check:
    """Compare two values that have to be equal."""
    arrays = isinstance(said, np.ndarray) and isinstance(seen, np.ndarray)
    same = bool(np.array_equal(said, seen)) if arrays else type(said) is type(seen) and said == seen  # type: ignore[arg-type]
    return Check(name, same, what if same else f"{what}: {_short(said)}, but {_short(seen)}")


def _short(value: object) -> str:
    text = "other values" if isinstance(value, np.ndarray) else str(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
