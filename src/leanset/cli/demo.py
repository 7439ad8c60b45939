from pathlib import Path

import numpy as np

from leanset import PruneResult, prune
from leanset._arrays import AnyArray
from leanset._errors import missing_extra
from leanset.checking import checks_of
from leanset.cli import show


def run_demo(out: Path, *, overwrite: bool) -> None:
    """Prune the digits in both formulations, re-check the result and draw the figures."""
    train, held_out = _digits()
    show.OUT.print(
        f"[bold]Handwritten digits[/bold]: {len(train[1]):,} examples of 10 classes, {len(held_out[1]):,} held out.\n"
        "Removing 40 %: first as published, then with leanset's corrected formulation.\n"
    )
    paper = prune(*train, fraction=0.4, validation=held_out, formulation="paper", frontier=False)
    ours = prune(*train, fraction=0.4, validation=held_out, out=out, overwrite=overwrite)
    _compare(paper, ours)
    show.show_result(ours, str(out))
    show.OUT.print("\n[bold]Re-checking the saved run with independent code[/bold]")
    for check in checks_of(out, *train, validation=held_out):
        show.show_check(check)
    show.draw_figures(ours, out)


def _compare(paper: PruneResult, ours: PruneResult) -> None:
    for title, result in (("the paper's", paper), ("leanset's", ours)):
        c = result.certificate
        show.OUT.print(
            f"  {title:12s} formulation predicts a change of {c.influence_change:.3f}; "
            f"measured: [bold]{c.refit_change:.3f}[/bold] (random: {c.random_refit_change_mean:.3f})"
        )


def _digits() -> tuple[tuple[AnyArray, AnyArray], tuple[AnyArray, AnyArray]]:
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise missing_extra("The demo's data (scikit-learn's digits)", "sklearn") from None
    features, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    train, test = order[:1347], order[1347:]
    return (features[train], labels[train]), (features[test], labels[test])
