"""What a removal does, in words, and the certificate beside random's figures: for the page and for the summary."""

from dataclasses import dataclass

from leanset.certify import Certificate
from leanset.report.words import between, change, number, share

_SAME = 1e-6  # of the head's norm: closer than any training with a network's precision gets
GOOD, PLAIN, BAD = "good", "plain", "bad"


@dataclass(frozen=True)
class Verdict:
    """What to remember of a run, in sentences, and how it stands beside random sets.

    Attributes
    ----------
    headline : how much goes, and what that does
    training : how to train on what is left
    beside : how random sets compare; what to do where they do better
    tone : "good", "plain" or "bad"
    """

    headline: str
    training: str
    beside: str
    tone: str

    @property
    def line(self) -> str:
        """The verdict in one line, for terminals."""
        return f"{self.headline}. {self.beside}" if self.beside else f"{self.headline}."


@dataclass(frozen=True)
class Line:
    """One line of the certificate: what it is, its value, random's value, what it means, and its 95 % interval if any."""

    what: str
    ours: str
    random: str
    meaning: str
    interval: str = ""


def verdict(c: Certificate) -> Verdict:
    """Say what the removal does, how to train on what is left, and how random sets compare.

    Examples
    --------
    >>> import numpy as np, leanset
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 80)
    >>> result = leanset.prune(rng.normal(size=(80, 3)) + y[:, None], y, count=20, weights=True, C=1.0, frontier=False)
    >>> said = verdict(result.certificate)
    >>> said.headline.startswith("25.0 % removed; the model is the same to ")
    True
    >>> said.training
    'Train with C unchanged and the weights in kept.csv.'
    """
    if c.removed == 0:
        return Verdict("Nothing can go within this budget", "Allow more change, or give a number to remove.", "", PLAIN)
    return Verdict(f"{share(c.removed / c.n)} removed; {_effect(c)}", _training(c), *_beside_random(c))


def _moves(c: Certificate) -> float:
    """Return how far the head moves, as a share of its norm, with what the refit may be wrong by."""
    return max(c.refit_change, c.refit_error_bound) / (c.head_norm or 1.0)


def _judged_on(c: Certificate) -> str:
    return "training" if c.validation_loss is None else "validation"


def _effect(c: Certificate) -> str:
    moved = _moves(c)
    if moved <= _SAME:
        return f"the model is the same to {number(moved, 1)}"
    if c.same_answers is not None:
        return f"{share(c.same_answers)} of the {_judged_on(c)} answers stay the same"
    gap = c.training_loss_gap if c.validation_loss_gap is None else c.validation_loss_gap
    return f"the {_judged_on(c)} loss is {change(gap)}"


def _training(c: Certificate) -> str:
    fixed = "l2 (weight decay) unchanged" if c.penalty == "mean" else "C unchanged"
    weights = " and the weights in kept.csv" if c.has_weights else ""
    return f"Train with {fixed}{weights}."


def _beside_random(c: Certificate) -> tuple[str, str]:
    """Say "better than random" only if that holds for the loss and for the answers."""
    where = _judged_on(c)
    if c.loss_above_random_low > 0:
        instead = f"{where} loss is {change(-c.loss_above_random)}"
        if c.for_a_network:
            chosen = "Chosen for a network that is trained anew. A head on today's features would do better"
            return f"{chosen} after a random removal, where its {instead}, or with `coverage='none'`.", PLAIN
        if _rise(c) > 0:
            advice = "Remove fewer examples, or let leanset choose (no `method`, no `minimise`)."
            return f"WORSE than a random removal, whose {instead}. {advice}", BAD
        advice = f"the model overfits at l2 = {c.l2:.2g}. Raise l2, or leave it out to have it chosen."
        return f"But after a random removal the {instead}: {advice}", BAD
    stay = "" if c.random_same_answers is None else f"{share(c.random_same_answers)} of the answers stay the same and "
    random = f"{stay}the {where} loss is {change(_random_gap(c))}"
    unchanged = c.same_answers is None or c.same_answers >= (c.random_same_answers or 0.0)
    if c.loss_above_random_high < 0 and unchanged:
        return f"Better than random, after which {random}.", GOOD
    if _moves(c) <= _SAME:  # few random draws may differ too much to tell, and this needs no comparison
        return f"After a random removal {random}.", GOOD
    return f"No different from random as far as the loss can tell; after a random removal {random}.", PLAIN


def _rise(c: Certificate) -> float:
    return c.training_loss_gap if c.validation_loss_gap_high is None else c.validation_loss_gap_high


def _random_gap(c: Certificate) -> float:
    return c.random_training_loss_gap if c.random_validation_loss_gap is None else c.random_validation_loss_gap


def certificate_lines(c: Certificate) -> list[Line]:
    """Return the certificate for readers, each figure beside that of random sets.

    Examples
    --------
    >>> import numpy as np, leanset
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 80)
    >>> result = leanset.prune(rng.normal(size=(80, 3)) + y[:, None], y, count=20, frontier=False)
    >>> [line.what for line in certificate_lines(result.certificate)][:3]
    ['removed', 'same answers, training', 'training loss']
    """
    lines = [Line("removed", f"{c.removed:,} of {c.n:,} ({share(c.removed / c.n)})", f"{c.removed:,}", "")]
    if not c.removed:
        return lines
    if c.validation_loss is not None:
        lines += _answers("validation", c.validation_same_answers, c.random_validation_same_answers)
        lines += _accuracy(c)
        lines.append(_validation_loss(c, c.validation_loss))
    lines += _answers("training", c.training_same_answers, c.random_training_same_answers)
    if c.validation_loss is None:
        lines.append(
            Line(
                "training loss",
                change(c.training_loss_gap),
                change(c.random_training_loss_gap),
                "On all training rows.",
            )
        )
    lines.append(_moved(c))
    if c.has_weights:
        lines.append(
            Line(
                "weights of the kept",
                f"{c.least_weight:.2f} to {c.largest_weight:.2f}",
                "" if c.sample_weighted else number(c.n / (c.n - c.removed)),
                f"Worth {c.effective_size:,.0f} evenly weighted examples.",
            )
        )
    return lines


def _answers(where: str, same: float | None, random: float | None) -> list[Line]:
    if same is None or random is None:
        return []
    meaning = f"Share of the {where} rows on which the old and the new model give the same answer."
    return [Line(f"same answers, {where}", share(same), share(random), meaning)]


def _accuracy(c: Certificate) -> list[Line]:
    if c.validation_accuracy is None or c.validation_accuracy_change is None:
        return []
    after = c.validation_accuracy + c.validation_accuracy_change
    ends = (c.validation_accuracy_change_low, c.validation_accuracy_change_high)
    low, high = (None if end is None else 100 * end for end in ends)
    interval = between(low, high, 2, " points")
    return [
        Line(
            "validation accuracy",
            f"{100 * c.validation_accuracy:.2f} % before, {100 * after:.2f} % after",
            change(100 * (c.random_validation_accuracy_change or 0.0), 2, " points"),
            _meaning(interval),
            interval,
        )
    ]


def _validation_loss(c: Certificate, before: float) -> Line:
    gap, interval = c.validation_loss_gap or 0.0, between(c.validation_loss_gap_low, c.validation_loss_gap_high)
    return Line(
        "validation loss",
        f"{before:.4f} before, {before + gap:.4f} after",
        change(c.random_validation_loss_gap or 0.0),
        _meaning(interval),
        interval,
    )


def _meaning(interval: str) -> str:
    return f"95 % interval: {interval}." if interval else ""


def _moved(c: Certificate) -> Line:
    if c.refit_change <= c.refit_error_bound:
        ours = f"less than {number(c.refit_error_bound, 1)}"
    else:
        ours = number(c.refit_change)
        ours += f" ({share(min(1.0, c.refit_change / c.head_norm))} of its norm)" if c.head_norm else ""
    random = f"{number(c.random_refit_change_mean)} ± {number(c.random_refit_change_sd, 2)}"
    return Line("the head moves by", ours, random, "Length of the change of the weights, measured by fitting again.")
