import os
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
    """The inputs of a run: the examples, the start of the head, and the records of a training run.

    Attributes
    ----------
    examples : features and targets
    l2, standardize : defaults for the fit of the head
    start : (C, d+1) weights of a head for the unscaled features, or None
    logits : (n, C) outputs of the network, or None
    recorded : features and the records of a training run
    """

    examples: Examples
    l2: float
    standardize: bool
    start: Matrix | None
    logits: AnyArray | None
    recorded: Evidence

    def outline(self) -> Outline:
        """Return the facts about the data that a plan needs."""
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
        """Return digests of the other inputs: the start, and the training records that a strategy needs."""
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
    """Read the source if it is given by name, check arrays, and return other data unchanged."""
    if isinstance(features, os.PathLike):
        features = os.fspath(features)
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
    """Return the features and targets of a run: from `source`, or from the head statistics in its folder."""
    store = run / NETWORK / "head"
    if source is None:
        if not store.is_dir():
            raise InputError(f"{run}: is not a run on images, so give its data with --data.")
        return HeadStatistics.load(store).examples()
    if source.startswith(STATISTICS):
        return HeadStatistics.load(Path(source.removeprefix(STATISTICS)).expanduser()).examples()
    data = read_source(source, ReadingOptions(), reporter, targets)
    if isinstance(data, Images):
        raise InputError(
            f"--data {source}: a run on images is checked against the features of its network; leave --data out, or give "
            f"{STATISTICS}{store}."
        )
    return data


def inputs_from(source: Examples | HeadStatistics, settings: Settings) -> Inputs:
    """Convert features or head statistics to `Inputs`.

    Plain features are standardised and get leanset's default l2. Head statistics are used as the network saw them: raw
    features, its weight decay as l2, and its head as the start.
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
        raise InputError(f"`{what}` contains its own labels and validation data; do not pass others.")


def refuse_network_options(settings: Settings) -> None:
    """Raise if network options were given for data that are pruned without a network."""
    _refuse("features, which are pruned without a network", settings, NetworkOptions)


def _refuse(what: str, settings: Settings, kind: type[Any]) -> None:
    given = settings.given()
    for name in options_of(kind):
        if name in given:
            raise InputError(f"`{name}={given[name]!r}` does not apply to {what}.")


def _checked_head(head: ArrayLike, shape: tuple[int, int]) -> Matrix:
    try:
        weights = np.asarray(head, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.empty(0)
    if weights.shape != shape or not np.isfinite(weights).all():
        raise InputError(
            f"`head=` must be a finite {shape} array, one row per class, the bias as last column; got shape {weights.shape}."
        )
    return weights
