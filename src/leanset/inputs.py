from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leanset._arrays import AnyArray, Matrix
from leanset._errors import InputError, warn
from leanset._options import options_of
from leanset._progress import Reporter
from leanset.data import Examples, Images, array_digest, examples_from, open_source
from leanset.head import LOSSES, HeadStatistics
from leanset.plan import Outline
from leanset.runs import NETWORK
from leanset.scores import Evidence, Needs
from leanset.settings import NetworkOptions, ReadingOptions, Settings

DEFAULT_L2 = 1e-4
STATISTICS = "head:"
Source = Images | Examples | HeadStatistics


@dataclass(frozen=True)
class Inputs:
    """What a run is made from: the examples, where the head starts, and what was recorded of a training.

    Attributes
    ----------
    examples : features and targets
    l2, standardize : of the head's problem, unless the user says otherwise
    start : (C, d+1) weights of a head for the features as given, or None
    logits : (n, C) the network's own, or None
    recorded : features, and what was recorded of a training
    """

    examples: Examples
    l2: float
    standardize: bool
    start: Matrix | None
    logits: AnyArray | None
    recorded: Evidence

    def outline(self) -> Outline:
        """Return what a plan must know."""
        examples = self.examples
        return Outline(
            targets=examples.targets,
            width=examples.features.shape[1],
            rows=examples.source_rows,
            left_out=examples.rows is not None,
            held_out=examples.validation is not None,
            dynamics=bool(self.recorded.dynamics),
            l2=self.l2,
            standardize=self.standardize,
        )

    def digests(self, needs: Needs) -> dict[str, str | None]:
        """Return digests of what a run sees besides the examples: the start, and what a strategy needs of a training."""
        wanted = {name for need in needs for name in ((need,) if isinstance(need, str) else need)}
        arrays = [self.logits] if "errors" in wanted else []
        arrays += [self.recorded.gradient_norm] if "gradient_norm" in wanted else []
        for record in (self.recorded.dynamics or ()) if "dynamics" in wanted else ():
            arrays += [getattr(record, name) for name in record.names()]
        seen = [array for array in arrays if array is not None]
        return {
            "head_digest": None if self.start is None else array_digest(self.start),
            "recorded_digest": array_digest(*seen) if seen else None,
        }


def opened(features: Any, labels: ArrayLike | None, settings: Settings, reporter: Reporter) -> Source:
    """Return data in the form it has: a source by name is read, arrays are checked."""
    if not isinstance(features, str):
        _refuse("data in memory", settings, ReadingOptions)
        if isinstance(features, Images | HeadStatistics):
            _check_alone(type(features).__name__, labels, settings)
            return features
        return examples_from(features, labels, settings.validation, LOSSES[settings.loss].targets)
    _check_alone(features, labels, settings)
    if features.startswith(STATISTICS):
        _refuse("head statistics", settings, ReadingOptions)
        return HeadStatistics.load(Path(features.removeprefix(STATISTICS)).expanduser())
    return read_source(features, settings, reporter, LOSSES[settings.loss].targets)


def read_source(
    source: str, options: ReadingOptions, reporter: Reporter, targets: str = "classes"
) -> Images | Examples:
    """Read a data source with the user's options."""
    with reporter.stage("Reading the data", units=100, unit="%") as advance:
        data = open_source(
            source,
            on_bad="skip" if options.on_bad_image == "skip" else "stop",
            image_size=options.image_size,
            label_column=options.label_column,
            image_column=options.image_column,
            targets=targets,
            advance=advance,
        )
    if isinstance(data, Images):
        for part, what in ((data, "row"), (data.held_out, "held-out row")):
            for bad in () if part is None else part.unreadable:
                warn(f"left out {what} {bad.row}: {bad.file}: {bad.reason}")
    return data


def examples_of_run(run: Path, source: str | None, targets: str, reporter: Reporter) -> Examples:
    """Return the features and targets that a run was made from: those named, or those its network left in its folder."""
    store = run / NETWORK / "head"
    if source is None:
        if not store.is_dir():
            raise InputError(f"{run}: was not made from images, so name its data with --data.")
        return HeadStatistics.load(store).examples()
    if source.startswith(STATISTICS):
        return HeadStatistics.load(Path(source.removeprefix(STATISTICS)).expanduser()).examples()
    data = read_source(source, ReadingOptions(), reporter, targets)
    if isinstance(data, Images):
        raise InputError(
            f"--data {source}: a run on images is checked against the features of its network; leave --data out, or name "
            f"{STATISTICS}{store}."
        )
    return data


def inputs_from(source: Examples | HeadStatistics, settings: Settings) -> Inputs:
    """Bring features and head statistics to one form.

    Plain features are standardised and get leanset's own l2. A network's statistics are taken as the network saw them:
    raw features, its weight decay as l2, and its head as the start.
    """
    head, statistics = settings.head, source if isinstance(source, HeadStatistics) else None
    examples = source.examples() if isinstance(source, HeadStatistics) else source
    if statistics is not None and head is None:
        head = statistics.head
    decay = None if statistics is None else statistics.weight_decay
    return Inputs(
        examples,
        DEFAULT_L2 if decay is None else decay,
        statistics is None,
        None if head is None else _checked_head(head, (len(examples.classes), examples.features.shape[1] + 1)),
        None if statistics is None else statistics.logits,
        Evidence(
            groups=examples.targets.groups,
            features=examples.features,
            dynamics=None if statistics is None else statistics.dynamics or None,
            gradient_norm=None if statistics is None else statistics.gradient_norm,
        ),
    )


def _check_alone(what: str, labels: ArrayLike | None, settings: Settings) -> None:
    if labels is not None or settings.validation is not None:
        raise InputError(f"`{what}` brings its own labels and validation data; pass nothing beside it.")


def refuse_network_options(settings: Settings) -> None:
    """Raise if options of a network were given for data that are pruned without one."""
    _refuse("features, which are pruned without a network", settings, NetworkOptions)


def _refuse(what: str, settings: Settings, kind: type[Any]) -> None:
    given = settings.given()
    for name in options_of(kind):
        if name in given:
            raise InputError(f"`{name}={given[name]!r}`: has no meaning for {what}.")


def _checked_head(head: ArrayLike, shape: tuple[int, int]) -> Matrix:
    try:
        weights = np.asarray(head, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.empty(0)
    if weights.shape != shape or not np.isfinite(weights).all():
        raise InputError(
            f"`head=` must be a finite {shape} array, one row a class and the bias as last column; got shape {weights.shape}."
        )
    return weights
