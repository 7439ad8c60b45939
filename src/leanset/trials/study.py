"""All cells of a comparison on features: planned, computed where they are missing, and summarised."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from leanset._errors import InputError
from leanset._options import options_of
from leanset._progress import Reporter
from leanset._version import __version__
from leanset.data import Examples, fingerprint
from leanset.inputs import Inputs, inputs_from
from leanset.judge import (
    FULL,
    LEANSET,
    PAPER,
    WEIGHTED,
    check_methods,
    choice_name,
    in_seeds,
    on_features,
    prune_options,
    with_baseline,
)
from leanset.plan import plan_for
from leanset.report import load, machine
from leanset.settings import CompareSettings, HeadOptions, Settings
from leanset.trials.cell import Bench, Cell, FullHead
from leanset.trials.finished import Finished
from leanset.trials.split import FeatureSource, Splits
from leanset.trials.summary import CompareResult, CompareRow, summarise, verdicts

METHODS = (LEANSET, WEIGHTED, PAPER, "el2n", "herding", "moderate")
FRACTIONS = (0.4, 0.7, 0.9)
SEEDS = 5
HELD_OUT_SHARE = 0.2
_HEAD = ("loss", "l2", "bias", "penalise_bias", "penalty", "standardize")  # what a plan fills in, from C too
_LEAST_DRAWS = 2  # random removals for each certificate, which a comparison does not look at


@dataclass(frozen=True)
class Study:
    """A comparison that can be done.

    Attributes
    ----------
    splits : the data of every seed
    settings : options of `leanset.prune` that all methods share, defaults filled in where a head needs them
    methods, fractions, seeds : what is compared; the baseline comes first
    data : what the results depend on besides the settings
    """

    splits: Splits
    settings: Settings
    methods: tuple[str, ...]
    fractions: tuple[float, ...]
    seeds: int
    data: dict[str, Any]

    @classmethod
    def planned(cls, source: FeatureSource, settings: CompareSettings) -> "Study":
        """Check everything that can be checked before any head is fitted."""
        splits = _splits(source, settings)
        methods = with_baseline(METHODS if settings.methods is None else settings.methods)
        fractions = tuple(dict.fromkeys(settings.fractions or FRACTIONS))
        inputs = inputs_from(splits.data(0), _shared(settings))
        _check(methods, inputs)
        plans = [
            plan_for(replace(_shared(settings), fraction=fraction, **prune_options(method)), inputs.outline())
            for method in methods
            for fraction in fractions
        ]
        filled = replace(_shared(settings), C=None, **{name: getattr(plans[0].settings, name) for name in _HEAD})
        data = inputs.digests(("errors", "dynamics", "gradient_norm"))
        data["data_fingerprint"] = fingerprint(inputs.examples)
        return cls(splits, filled, methods, fractions, settings.seeds or SEEDS, data)

    def identity(self) -> dict[str, Any]:
        """Return everything that a cell depends on, apart from its method, fraction and seed."""
        shared = {name: getattr(self.settings, name) for name in _HEAD}
        share = self.splits.share if self.splits.redrawn else None
        return shared | self.data | {"held_out_share": share, "leanset_version": __version__}

    def run(self, finished: Finished, reporter: Reporter) -> None:
        """Compute the cells that are not finished, one seed after the other."""
        missing = [key for key in self.all_keys() if finished.get(choice_name(*key), Cell) is None]
        if not missing:
            return
        done = 0
        with reporter.stage(f"{len(missing):,} heads", units=len(missing), unit="heads") as advance:
            for split in sorted({self.splits.nth(key[2]) for key in missing}):
                bench = Bench.on(self.splits.data(split), replace(self.settings, fraction=self.fractions[0]))
                full = _full_head(bench, split, finished)
                for key in (key for key in missing if self.splits.nth(key[2]) == split):
                    if key[0] != FULL:
                        finished.put(choice_name(*key), bench.tried(full, *key))
                    done += 1
                    advance(done / len(missing))

    def result(self, finished: Finished) -> CompareResult:
        """Summarise the finished cells."""
        seeds = range(self.seeds)
        cells: dict[tuple[str, float], list[Cell]] = {}
        for fraction in self.fractions:
            cells[FULL, fraction] = [_cell(finished, (FULL, 0.0, self.splits.nth(seed))) for seed in seeds]
            for method in self.methods:
                cells[method, fraction] = [_cell(finished, (method, fraction, seed)) for seed in seeds]
        rows = summarise(cells, list(map(self.splits.rows, seeds)))
        return CompareResult(rows, verdicts(rows), self._about(rows))

    def table(self, finished: Finished) -> list[dict[str, Any]]:
        """Return one row for each cell."""
        names = ("method", "fraction", "seed")
        return [dict(zip(names, key, strict=True)) | _cell(finished, key).flat() for key in self.all_keys()]

    def record(self) -> dict[str, Any]:
        """Return what was asked, under which setup, on which machine."""
        asked = {"methods": self.methods, "fractions": self.fractions, "seeds": self.seeds}
        return {"question": asked, "setup": self.identity(), "machine": machine() | {"load_at_end": load()}}

    def all_keys(self) -> list[tuple[str, float, int]]:
        """Return method, fraction and seed of each cell, first those of the heads of all data, one for each split."""
        seeds = range(self.seeds)
        on_all = [(FULL, 0.0, split) for split in dict.fromkeys(map(self.splits.nth, seeds))]
        chosen = [(method, fraction, seed) for seed in seeds for fraction in self.fractions for method in self.methods]
        return on_all + chosen

    def _about(self, rows: Sequence[CompareRow]) -> str:
        trained, judged = rows[0].kept, len(self.splits.rows(0))
        share, settings = f"{100 * self.splits.share:.4g} %", self.settings
        l2 = "l2 chosen by held-out rows" if settings.l2 is None else f"l2 {settings.l2:.4g}"
        again = "draws the choice of every method anew"
        each = f"each holds out another {share} of each class and {again}" if self.splits.redrawn else f"each {again}"
        bias = "no bias" if not settings.bias else "" if settings.penalise_bias else "none on the bias"
        penalty = f"{settings.penalty} penalty{bias and f', {bias}'}"
        covered = "other validation rows and other seeds" if self.seeds > 1 else "other validation rows only"
        source = self.splits.source
        used = source.origin.sentence() if isinstance(source, Examples) else ""
        return (
            f"{trained:,} training rows, {judged:,} validation rows; {settings.loss} loss, {l2} "
            f"({penalty}). {in_seeds(self.seeds).capitalize()}: {each}. Intervals (95 %) cover {covered}. {used}"
        ).rstrip()


def _splits(source: FeatureSource, settings: CompareSettings) -> Splits:
    share = HELD_OUT_SHARE if settings.held_out_share is None else settings.held_out_share
    splits = Splits(source, share)
    if not splits.redrawn:
        settings.refuse(("held_out_share",), "data with validation rows of their own")
    elif not len(splits.rows(0)):
        raise InputError("nothing can be held out to judge on: every class has one example; pass validation data.")
    return splits


def _shared(settings: CompareSettings) -> Settings:
    head = {name: getattr(settings, name) for name in options_of(HeadOptions) if name != "validation"}
    return Settings(**head, threads=settings.threads, progress=False, frontier=False, random_draws=_LEAST_DRAWS)


def _check(methods: Sequence[str], inputs: Inputs) -> None:
    recorded = [name for name in ("dynamics", "gradient_norm") if inputs.recorded.has(name)]
    check_methods(
        methods, on_features(recorded), "needs records of a network's training, which these features do not have"
    )


def _cell(finished: Finished, key: tuple[str, float, int]) -> Cell:
    cell = finished.get(choice_name(*key), Cell)
    assert cell is not None  # every cell was computed
    return cell


def _full_head(bench: Bench, split: int, finished: Finished) -> FullHead:
    """Return the head of all training rows of a split, which is fitted once; its cell is finished with it."""
    name, cell_name = f"head-s{split}", choice_name(FULL, 0.0, split)
    known = finished.get(name, FullHead)
    if known is not None and finished.get(cell_name, Cell) is not None:
        return known
    full, cell = bench.full()
    finished.put(name, full)
    finished.put(cell_name, cell)
    return full
