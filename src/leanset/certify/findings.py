"""Facts needed to interpret a certificate; each finding has a stable code."""

from dataclasses import dataclass

from leanset._arrays import Mask
from leanset.head import Design

_ABOVE_CHANCE = 0.1  # share of the way from chance to perfection below which answers are near chance


FOR_A_NETWORK = "LS119"
# Chosen by three epochs, sets with 80 % removed trained little better than random ones, with 50 % not quite as well as those
# chosen by ten, and with 40 % as well (docs/comparison.md).
_FEW_EPOCHS = 4  # after the first
_MUCH = 0.45


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


def about_validation(validation: Design | None) -> list[Finding]:
    """State that there is no validation data, if there is none."""
    if validation is not None:
        return []
    return [
        Finding(
            "LS104",
            "No validation data was given: losses, answers and bounds are those on the training examples.",
        )
    ]


def about_suspects(suspect: Mask | None) -> list[Finding]:
    """State how many labels are probably wrong, if any are."""
    count = 0 if suspect is None else int(suspect.sum())
    if suspect is None or count == 0:
        return []
    return [
        Finding(
            "LS111",
            f"{count:,} label{' is' if count == 1 else 's are'} probably wrong or very hard "
            f"({100 * count / len(suspect):.1f} % of all): heads fitted without these examples predict another class, and "
            "labels like these look like mistakes. The selection table marks them; `suspects='drop'` leaves them out.",
        )
    ]


def about_the_aim(minimised: str, kept: int, free_weights: int) -> list[Finding]:
    """State that the loss was minimised, and why."""
    if minimised != "loss":
        return []
    return [
        Finding(
            "LS112",
            f"The search minimised the rise of the loss, not ‖Δθ‖: {kept:,} kept examples, {free_weights:,} free weights of "
            "the head. Choose with `minimise`.",
        )
    ]


def about_the_fewest(kept: int, free_weights: int) -> Finding:
    """State how many examples always suffice for the same head."""
    return Finding(
        "LS113",
        f"{kept:,} examples are kept for the same head. Some {free_weights + 1:,} always suffice, one more than the head has "
        "free weights, if weights of any size are allowed (Carathéodory).",
    )


def about_the_start(distance: float, head_norm: float) -> Finding:
    """State how far a given head was from the minimum."""
    return Finding(
        "LS105",
        f"The given head was {distance:.4g} from the minimum of its own problem "
        f"({distance / head_norm:.2%} of the norm there); influences are computed at the minimum.",
    )


def about_chance(right: float, largest: float, who: str) -> list[Finding]:
    """State that a network or a head hardly does better than naming the largest class, if it hardly does.

    Parameters
    ----------
    right : share of the training examples that it answers right
    largest : share of the largest class
    who : what answers

    Examples
    --------
    >>> len(about_chance(0.12, 0.1, "The network")), about_chance(0.3, 0.1, "The network")
    (1, [])
    """
    if right >= largest + _ABOVE_CHANCE * (1 - largest):
        return []
    return [
        Finding(
            "LS118",
            f"{who} is near chance: it answers {100 * right:.1f} % of the training examples right, and the largest class alone "
            f"has {100 * largest:.1f} %. What it says about examples means little.",
        )
    ]


def about_the_network() -> Finding:
    """State that the set was chosen for a network that is trained anew."""
    return Finding(
        FOR_A_NETWORK,
        "Chosen for a network that is trained anew on what is kept: examples stay from which networks learn most, and among "
        "such sets one that moves the head little. For a head on these fixed features, `coverage='none'` chooses better.",
    )


def about_few_epochs(later_epochs: int, removed: float) -> list[Finding]:
    """State that the recorded training was too short to choose by, if it was: where many examples go, the swing decides.

    Parameters
    ----------
    later_epochs : number of recorded epochs after the first of their run, of all runs
    removed : share removed

    Examples
    --------
    >>> about_few_epochs(2, 0.8)[0].code, about_few_epochs(2, 0.4), about_few_epochs(9, 0.8)
    ('LS120', [], [])
    """
    if later_epochs >= _FEW_EPOCHS or removed <= _MUCH:
        return []
    return [
        Finding(
            "LS120",
            f"The network that chose was recorded for {later_epochs} epoch{'s' * (later_epochs != 1)} after the first. How "
            "much an answer swings is hardly seen in so few. With so many examples gone the set may train hardly better than a "
            "random one.",
        )
    ]


def about_the_bound(limit: float) -> Finding:
    """State that the measured change exceeds the requested bound."""
    return Finding("LS108", f"The measured change exceeds the requested bound of {limit:.6g}.")


def about_the_vectors(remark: str) -> Finding:
    """State the accuracy of the vectors that guided the search."""
    return Finding("LS109", remark)


def about_the_clock() -> Finding:
    """State that the result depends on the speed of the machine."""
    return Finding("LS110", "The solver had a time limit, so another machine or run may find a different set.")
