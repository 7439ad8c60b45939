"""Findings for readers: what the certificate notes and what the page itself sees, each with advice and a place in the docs."""

from dataclasses import dataclass

import numpy as np

from leanset._arrays import AnyArray
from leanset.certify import Certificate, Finding
from leanset.report.page.facts import RunFacts
from leanset.report.page.groups import retention
from leanset.report.page.neighbours import Pairs
from leanset.report.words import count, number, share

DOCS = "docs/findings.md"
ACT, CHECK, KNOW = "act", "check", "know"
_FEW = 5  # kept examples of a class from which hardly anything can be learnt
_FAR_BELOW = 1 / 3  # of the share that all classes keep on average
_LARGE_RESIDUAL = 0.01
_NAMED = 5  # classes that a sentence names


@dataclass(frozen=True)
class Advice:
    """What a code is called, how urgent it is, and what to do about it."""

    title: str
    urgency: str
    advice: str


ADVICE: dict[str, Advice] = {
    "LS101": Advice(
        "About the head only",
        KNOW,
        "Before you retrain a whole network on what is left, compare methods by training: `leanset compare`.",
    ),
    "LS102": Advice("The scale of the paper", KNOW, "Needed only to compare with numbers of the paper; nothing to do."),
    "LS103": Advice(
        "A class is nearly gone",
        ACT,
        "Keep classes in proportion (`class_balance='proportional'`) or set the least number to keep of each.",
    ),
    "LS104": Advice(
        "No validation data",
        CHECK,
        "Give held-out rows (`validation=`, or `val_features` and `val_labels` in the file): losses on training rows flatter.",
    ),
    "LS105": Advice(
        "Distance of the given head from its minimum",
        KNOW,
        "If it is large, train the head to its minimum first, or check l2 and the scaling of the features.",
    ),
    "LS106": Advice(
        "The paper's formulation", KNOW, "Trust the measured change; without `formulation='paper'` it is minimised."
    ),
    "LS107": Advice(
        "The hardest went first",
        CHECK,
        "Look at the rows below that are probably mislabelled before you throw them away.",
    ),
    "LS108": Advice("A bound is exceeded", ACT, "Remove fewer examples, or allow a larger change."),
    "LS109": Advice(
        "Approximate vectors",
        KNOW,
        "The certificate is measured and holds. For a better set, allow more `memory` or choose another `inverse`.",
    ),
    "LS110": Advice(
        "The search had a time limit", KNOW, "For the same answer everywhere, limit `proposals` and not `seconds`."
    ),
    "LS111": Advice(
        "Suspect labels",
        CHECK,
        "Look at them below and correct what is wrong, or leave them out with `suspects='drop'`.",
    ),
    "LS112": Advice(
        "The loss was minimised",
        KNOW,
        "With fewer kept rows than three for each weight of the head, its weights cannot all stay; keep more to hold them.",
    ),
    "LS113": Advice("How few always suffice", KNOW, "Wider `weight_bounds` come closer to this number."),
    "LS114": Advice(
        "Near-duplicates with different labels",
        CHECK,
        "One label of each pair is likely wrong: look at the pairs below and correct or remove them.",
    ),
    "LS115": Advice(
        "No better than random",
        CHECK,
        "Remove fewer examples, give weights (`weights=True`), or draw at random: it is as good here and costs nothing.",
    ),
    "LS116": Advice(
        "The inverse has a large residual",
        CHECK,
        "Predicted changes are rough; measured ones hold. Use `inverse=leanset.Cholesky()`, or a larger l2.",
    ),
    "LS117": Advice(
        "Near-duplicates",
        KNOW,
        "One of each pair is enough. If copies are also among held-out rows, measured accuracies flatter.",
    ),
    "LS118": Advice(
        "Near chance",
        ACT,
        "Train longer, use another network or better features, or check that labels and rows belong together.",
    ),
    "LS119": Advice(
        "Chosen for a network",
        KNOW,
        "Train the network anew on what is kept; figures about the head say little about it. `leanset compare` measures it.",
    ),
    "LS120": Advice(
        "Chosen by a short training",
        ACT,
        "Train the network that chooses for ten epochs or more.",
    ),
}


@dataclass(frozen=True)
class Note:
    """A finding with its advice, ready to be shown."""

    code: str
    title: str
    urgency: str
    text: str
    advice: str
    anchor: str


def notes(facts: RunFacts, pairs: Pairs | None, labels: AnyArray) -> list[Note]:
    """Return all findings about a run, the most urgent first.

    Parameters
    ----------
    facts : the run
    pairs : near-duplicates among its rows; None if they were not looked for
    labels : as they are shown
    """
    found = [*facts.certificate.findings, *about_classes(facts), *about_random(facts.certificate)]
    found += [*about_residual(facts.certificate), *about_pairs(pairs, labels)]
    order = {ACT: 0, CHECK: 1, KNOW: 2}
    shown = [_note(finding, facts.certificate) for finding in found]
    return sorted(shown, key=lambda note: (order[note.urgency], note.code))


def _note(finding: Finding, certificate: Certificate) -> Note:
    known = ADVICE.get(finding.code, Advice("Finding", KNOW, "A later version of leanset wrote this finding."))
    far = finding.code == "LS105" and certificate.far_from_minimum
    anchor = f"{DOCS}#{finding.code.lower()}"
    return Note(finding.code, known.title, CHECK if far else known.urgency, finding.text, known.advice, anchor)


def about_classes(facts: RunFacts) -> list[Finding]:
    """State which classes lost nearly all of their rows, compared with what all classes lost."""
    overall = float(facts.kept.mean())
    gone = []
    for each in retention(facts):
        few = each.after < min(_FEW, each.before)
        if few or each.share < _FAR_BELOW * overall:
            gone.append(f"{each.name} ({each.after:,} of {each.before:,})")
    if not gone:
        return []
    rest = f" and {len(gone) - _NAMED:,} more" if len(gone) > _NAMED else ""
    names = ", ".join(gone[:_NAMED])
    return [
        Finding(
            "LS103",
            f"Hardly anything is kept of {count(len(gone), 'class', 'classes')}: {names}{rest}. "
            f"Overall {share(overall)} are kept.",
        )
    ]


def about_random(certificate: Certificate) -> list[Finding]:
    """State that the set is not better than a random one, if it is not."""
    if not certificate.removed or certificate.loss_above_random_high < 0 or certificate.for_a_network:
        return []
    same = certificate.refit_change <= certificate.refit_error_bound
    if same:  # a model that does not change at all cannot be better, and need not be
        return []
    worse = certificate.loss_above_random_low > 0
    than = "higher than" if worse else "no lower than"
    return [Finding("LS115", f"The loss after this removal is {than} after random removals of the same size.")]


def about_residual(certificate: Certificate) -> list[Finding]:
    """State that the inverse Hessian was applied inaccurately, if it was."""
    if not certificate.inverse_residual > _LARGE_RESIDUAL:
        return []
    size = number(certificate.inverse_residual, 2)
    return [Finding("LS116", f"The inverse ({certificate.inverse}) leaves a relative residual of {size}.")]


def about_pairs(pairs: Pairs | None, labels: AnyArray) -> list[Finding]:
    """State how many near-duplicates there are, and how many of them have different labels."""
    if pairs is None or not len(pairs):
        return []
    found = [Finding("LS117", f"{count(len(pairs), 'pair')} of rows are nearly the same.")]
    across = int(np.sum(labels[pairs.first] != labels[pairs.second]))
    if across:
        found.append(
            Finding("LS114", f"{count(across, 'pair')} of rows are nearly the same but have different labels.")
        )
    return found
