"""One cell of a comparison: a method chooses, the head is fitted on what it keeps, and the validation rows judge it."""

import time
from dataclasses import dataclass, replace

import numpy as np

from leanset._arrays import AnyArray, Matrix, Vector
from leanset.head import Design, HeadFit, choose_l2, design_of, fit_head
from leanset.inputs import inputs_from
from leanset.judge import prune_options
from leanset.plan import plan_for
from leanset.pruning import prune
from leanset.rows import map_rows
from leanset.settings import Settings
from leanset.trials.split import FeatureSource


@dataclass(frozen=True)
class Cell:
    """What one head does on the v validation rows.

    Attributes
    ----------
    losses : (v,) loss of each row
    right : (v,) share of each row's answers that are right; NaN if the loss knows no right answers
    unchanged : (v,) share of each row's answers that are those of the head of all data; NaN likewise
    change, change_error : ‖Δθ‖/‖θ̂‖ against the head of all data, and a bound on its error
    kept : number of training rows
    seconds : time to choose them
    """

    losses: Vector
    right: Vector
    unchanged: Vector
    change: float
    change_error: float
    kept: int
    seconds: float

    def flat(self) -> dict[str, float]:
        """Return the figures of the cell, for a table."""
        means = {"accuracy": self.right, "loss": self.losses, "unchanged": self.unchanged}
        plain = {name: getattr(self, name) for name in ("change", "change_error", "kept", "seconds")}
        return {name: float(values.mean()) for name, values in means.items()} | plain


@dataclass(frozen=True)
class FullHead:
    """The head of all training rows: its weights, and how far they can be from the exact minimum."""

    theta: Matrix
    error_bound: float

    @property
    def norm(self) -> float:
        """‖θ̂‖; 1 for a head that is zero."""
        return float(np.linalg.norm(self.theta)) or 1.0


@dataclass(frozen=True)
class Bench:
    """One split, made ready for heads.

    Attributes
    ----------
    source : training rows with validation rows
    settings : options of `leanset.prune` that all methods share
    l2 : of the head of all data
    design, validation : the rows as heads see them
    """

    source: FeatureSource
    settings: Settings
    l2: float
    design: Design
    validation: Design

    @classmethod
    def on(cls, source: FeatureSource, settings: Settings) -> "Bench":
        """Prepare the rows of a split. The scaling is that of all training rows, whatever is removed later."""
        inputs = inputs_from(source, settings)
        plan = plan_for(settings, inputs.outline())
        design, validation, _ = design_of(inputs.examples, plan.loss, **plan.kind_of_head)
        assert validation is not None  # every split has validation rows
        if plan.l2 is not None:
            return cls(source, settings, plan.l2, design, validation)
        l2 = choose_l2(design, validation, int(settings.seed)).l2  # once for all methods
        return cls(source, replace(settings, l2=l2), l2, design, validation)

    def full(self) -> tuple[FullHead, Cell]:
        """Fit the head of all training rows."""
        fit = fit_head(self.design, self.l2)
        full = FullHead(fit.theta, fit.error_bound)
        return full, self._judged(fit, full, len(self.design), float("nan"))

    def tried(self, full: FullHead, method: str, fraction: float, seed: int) -> Cell:
        """Let a method choose, and fit the head on what it keeps with the weights and the penalty of its result."""
        options = replace(self.settings, fraction=fraction, seed=seed, **prune_options(method))
        began = time.perf_counter()
        result = prune(self.source, settings=options)
        seconds = time.perf_counter() - began
        fit = fit_head(self.design, result.train_l2, weights=result.weight, start=full.theta)
        return self._judged(fit, full, len(result.kept), seconds)

    def _judged(self, fit: HeadFit, full: FullHead, kept: int, seconds: float) -> Cell:
        loss, rows = self.design.loss, self.validation

        def judged(x: Matrix, y: AnyArray) -> Matrix:
            old, new = x @ full.theta.T, x @ fit.theta.T
            return np.column_stack([loss.values(new, y), loss.right(new, y), loss.same(old, new)])

        losses, right, unchanged = map_rows(judged, rows.rows, rows.targets, width=2 * rows.width).T
        return Cell(
            losses=losses,
            right=right,
            unchanged=unchanged,
            change=float(np.linalg.norm(fit.theta - full.theta)) / full.norm,
            change_error=(fit.error_bound + full.error_bound) / full.norm,
            kept=kept,
            seconds=seconds,
        )
