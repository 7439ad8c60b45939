"""What a reader must know to read a certificate rightly; each finding has a code that stays the same."""

from dataclasses import dataclass

import numpy as np

from leanset.head import Design, FittedHead, Refit


@dataclass(frozen=True)
class Finding:
    """One thing to know.

    Examples
    --------
    >>> Finding("LS104", "No validation data was given.").code
    'LS104'
    """

    code: str
    text: str


def about_the_head(n: int, change: float, loss: str) -> list[Finding]:
    """Say what the certificate speaks of, and in which scale."""
    return [
        Finding(
            "LS101",
            f"The certificate speaks of the {loss} head on these fixed features; "
            "what a whole network does, only retraining tells.",
        ),
        Finding(
            "LS102",
            f"In the scale of the paper's Theorem 1, which leaves out the 1/n, the measured change is {n * change:.6g}.",
        ),
    ]


def about_validation(validation: Design | None, head: FittedHead, after: Refit) -> Finding:
    """Say how the head did before and after, or that nobody knows."""
    if validation is None:
        return Finding(
            "LS104",
            "No validation data was given: there is no loss gap, and the bounds are for the loss on the training examples.",
        )
    before, lean = (validation.share_right(theta) for theta in (head.theta, after.theta))
    if np.isnan(before):
        before, lean = (float(validation.losses(theta).mean()) for theta in (head.theta, after.theta))
        return Finding(
            "LS103",
            f"The mean loss on the validation examples is {before:.6g} with the head of all examples and {lean:.6g} with "
            "the head refitted on the kept ones.",
        )
    return Finding(
        "LS103",
        f"Of the validation examples the head of all examples gets {100 * before:.2f} % right, the head refitted on the "
        f"kept ones {100 * lean:.2f} %.",
    )


def about_the_start(distance: float, head_norm: float) -> Finding:
    """Say how far a given head was from the minimum."""
    return Finding(
        "LS105",
        f"The head that was given lay {distance:.4g} from the minimum of its own problem "
        f"({distance / head_norm:.2%} of that norm); influences are taken at the minimum.",
    )


def about_the_bound(limit: float) -> Finding:
    """Say that the measured change is larger than was asked for."""
    return Finding("LS108", f"The measured change exceeds the bound of {limit:.6g} that was asked for.")


def about_the_vectors(remark: str) -> Finding:
    """Say how good the vectors were that steered the search."""
    return Finding("LS109", remark)


def about_the_clock() -> Finding:
    """Say that the answer depends on the machine."""
    return Finding("LS110", "The solver was limited in seconds, so another machine or run may find another set.")
