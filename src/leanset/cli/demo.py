from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich import box
from rich.table import Table

from leanset import PruneResult, prune
from leanset._arrays import AnyArray
from leanset._errors import missing_extra
from leanset.checking import checks_of
from leanset.cli import options, show
from leanset.cli.guard import guarded
from leanset.cli.screen import styled
from leanset.report import share

_C = 1.0  # scikit-learn's default
_TO_THE_MINIMUM: dict[str, Any] = {"solver": "newton-cholesky", "tol": 1e-12, "max_iter": 1000}  # of scikit-learn
_DRAWS = 5
# Of the re-checks.
_TOLD = ("partition", "head norm", "measured change", "validation same answers", "validation loss gap")

Part = tuple[AnyArray, AnyArray]


@guarded
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the two runs and their figures.")] = Path("leanset-demo"),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier demo in that folder.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Show on real data how few examples give the same model, and re-check it; under two minutes.

    Example: leanset demo --out demo/
    """
    with show.silenced(as_json):
        results = run_demo(out, overwrite=overwrite)
    if as_json:
        show.show_json({folder: result.to_dict() for folder, result in results.items()})


def run_demo(out: Path, *, overwrite: bool) -> dict[str, PruneResult]:
    """Find how few examples give the same model, then remove more than that; re-check both runs, draw figures."""
    parts = {"breast-cancer": _same_model, "digits": _near_model}
    return {str(out / name): part(out / name, overwrite) for name, part in parts.items()}


def _same_model(out: Path, overwrite: bool) -> PruneResult:
    train, held_out = _breast_cancer()
    show.OUT.print(
        styled(("1. Breast cancer: how few examples give the same model?\n", "bold")),
        f"{len(train[1])} examples of two classes, {len(held_out[1])} more held out. The model: scikit-learn's "
        f"LogisticRegression(C={_C:g}).\n",
        sep="",
    )
    result = prune(*train, same_model=True, C=_C, validation=held_out, out=out, overwrite=overwrite)
    c = result.certificate
    show.OUT.print(
        styled((f"{len(result.kept)} of {c.n} are enough", "bold")),
        f", with weights from {c.least_weight:.2f} to "
        f"{c.largest_weight:.2f}. scikit-learn, fitted on them with sample_weight:",
        sep="",
    )
    _beside_scikit_learn(result, train, held_out)
    _recheck(out, train, held_out)
    show.draw_figures(result, out)
    return result


def _near_model(out: Path, overwrite: bool) -> PruneResult:
    train, held_out = _digits()
    show.OUT.print(
        styled(("\n2. Handwritten digits: how near does it come with 70 % removed?\n", "bold")),
        f"{len(train[1]):,} examples of ten classes, {len(held_out[1])} more held out. l2 is chosen by their loss.\n",
        sep="",
    )
    result = prune(
        *train, fraction=0.7, weights=True, validation=held_out, frontier=False, out=out, overwrite=overwrite
    )
    show.show_result(result, str(out))
    _recheck(out, train, held_out)
    show.draw_figures(result, out)
    return result


def _recheck(out: Path, train: Part, held_out: Part) -> None:
    show.OUT.print("\nRe-checking the saved run with independent code", style="bold")
    checks = list(checks_of(out, *train, validation=held_out))
    told = [check for check in checks if check.name in _TOLD or not check.holds]
    for check in told:
        show.show_check(check)
    more = sum(check.checked for check in checks) - len(told)
    show.OUT.print(styled("  ", ("holds", "green"), f"  {more} more checks"))


@dataclass(frozen=True)
class _Fits:
    """scikit-learn's models of all examples, of the kept ones with their weights, and of random ones."""

    whole: Any
    lean: Any
    random: list[Any]

    def shares(self, held_out: Part) -> tuple[list[float], list[float]]:
        """Return the share of right answers of each model, and of answers as the first one gives them."""
        answers = self.whole.predict(held_out[0])
        models = [self.whole, self.lean, *self.random]
        right = [model.score(*held_out) for model in models]
        same = [float((model.predict(held_out[0]) == answers).mean()) for model in models]
        return _three(right), _three(same)

    def differences(self) -> list[float]:
        """Return the largest difference of a coefficient, or of the intercept, to the model of all examples."""
        first, *others = (np.append(model.coef_, model.intercept_) for model in (self.whole, self.lean, *self.random))
        return _three([0.0, *(float(np.abs(other - first).max()) for other in others)])


def _three(values: list[float]) -> list[float]:
    return [values[0], values[1], float(np.mean(values[2:]))]


def _fits(result: PruneResult, train: Part, options: dict[str, Any]) -> _Fits:
    from sklearn.linear_model import LogisticRegression

    features, labels = train
    rng = np.random.default_rng(0)
    drawn = [rng.choice(len(labels), len(result.kept), replace=False) for _ in range(_DRAWS)]

    def fit(rows: AnyArray, weights: AnyArray | None) -> Any:
        return LogisticRegression(C=_C, **options).fit(features[rows], labels[rows], sample_weight=weights)

    every = np.arange(len(labels))
    return _Fits(fit(every, None), fit(result.kept, result.weights), [fit(rows, None) for rows in drawn])


def _beside_scikit_learn(result: PruneResult, train: Part, held_out: Part) -> None:
    exact, usual, kept = _fits(result, train, _TO_THE_MINIMUM), _fits(result, train, {}), len(result.kept)
    right, same = exact.shares(held_out)
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("", style="bold")
    for heading in (f"all {len(train[1])}", f"these {kept}", f"{kept} at random"):
        table.add_column(heading, justify="right")
    table.add_row("right answers, held out", *map(share, right))
    table.add_row("same answers, held out", "", *map(share, same[1:]))
    for name, fits in (("at the minimum", exact), ("default options", usual)):
        _, lean, random = fits.differences()
        table.add_row(f"coefficients apart, {name}", "", f"{lean:.0e}", f"{random:.2f}")
    show.OUT.print(table)
    show.OUT.print(
        f"Coefficients reach {np.abs(exact.whole.coef_).max():.2f}; the largest difference is shown. Random: mean of "
        f"{_DRAWS} draws, without weights. By default scikit-learn stops at a tolerance of 1e-4, short of the minimum, on all "
        "data too: that is the last line.",
        style="dim",
    )


def _breast_cancer() -> tuple[Part, Part]:
    train, held_out = _shuffled("load_breast_cancer", 398)
    mean, deviation = train[0].mean(axis=0), train[0].std(axis=0)
    return ((train[0] - mean) / deviation, train[1]), ((held_out[0] - mean) / deviation, held_out[1])


def _digits() -> tuple[Part, Part]:
    return _shuffled("load_digits", 1347)


def _shuffled(loader: str, size: int) -> tuple[Part, Part]:
    """Return `size` examples of one of scikit-learn's data sets for training, and the others."""
    try:
        from sklearn import datasets
    except ImportError:
        raise missing_extra("The demo's data (scikit-learn's)", "sklearn") from None
    features, labels = getattr(datasets, loader)(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(labels))
    train, rest = order[:size], order[size:]
    return (features[train], labels[train]), (features[rest], labels[rest])
