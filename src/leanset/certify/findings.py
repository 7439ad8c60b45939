"""Facts needed to interpret a certificate; each finding has a stable code."""

from dataclasses import dataclass

from leanset.head import Design, FittedHead, Refit


@dataclass(frozen=True)
class Finding:
    """One fact about a certificate.

    Examples
    --------
    >>> Finding("LS104", "No validation data was given.").code
    'LS104'
    """

    code: str
    text: str


def about_the_head(n: int, change: float, loss: str) -> list[Finding]:
    """State the scope and the scale of the certificate."""
    return [
        Finding(
            "LS101",
            f"The certificate is about the {loss} head on these fixed features; "
            "only retraining shows the effect on a whole network.",
        ),
        Finding(
            "LS102",
            f"In the scale of the paper's Theorem 1, which leaves out the 1/n, the measured change is {n * change:.6g}.",
        ),
    ]


def about_validation(validation: Design | None, head: FittedHead, after: Refit) -> Finding:
    """State the quality of the head before and after, or that there is no validation data."""
    if validation is None:
        return Finding(
            "LS104",
            "No validation data was given: there is no loss gap, and the bounds are for the loss on the training examples.",
        )
    if head.loss.answers is None:
        before, lean = (validation.mean_loss(theta) for theta in (head.theta, after.theta))
        return Finding(
            "LS103",
            f"The mean loss on the validation examples is {before:.6g} with the head fitted on all examples and {lean:.6g} "
            "with the head refitted on the kept ones.",
        )
    before, lean = (validation.share_right(theta) for theta in (head.theta, after.theta))
    return Finding(
        "LS103",
        f"The head fitted on all examples gets {100 * before:.2f} % of the validation {head.loss.answers} right, the head "
        f"refitted on the kept ones {100 * lean:.2f} %.",
    )


def about_the_start(distance: float, head_norm: float) -> Finding:
    """State how far a given head was from the minimum."""
    return Finding(
        "LS105",
        f"The given head was {distance:.4g} from the minimum of its own problem "
        f"({distance / head_norm:.2%} of the norm there); influences are computed at the minimum.",
    )


def about_the_bound(limit: float) -> Finding:
    """State that the measured change exceeds the requested bound."""
    return Finding("LS108", f"The measured change exceeds the requested bound of {limit:.6g}.")


def about_the_vectors(remark: str) -> Finding:
    """State the accuracy of the vectors that guided the search."""
    return Finding("LS109", remark)


def about_the_clock() -> Finding:
    """State that the result depends on the speed of the machine."""
    return Finding("LS110", "The solver had a time limit, so another machine or run may find a different set.")
