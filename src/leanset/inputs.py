import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from leanset._arrays import AnyArray, Matrix, Rows
from leanset._errors import InputError, warn
from leanset._options import options_of
from leanset._progress import Reporter
from leanset.data import Examples, Images, array_digest, examples_from, open_source
from leanset.head import LOSSES, HeadStatistics
from leanset.plan import Outline, checked_head
from leanset.scores import Evidence, Needs
from leanset.settings import CompareSettings, HeadOptions, NetworkOptions, ReadingOptions, Settings

STATISTICS = "head:"
# What stays fixed when training on less, by default. A head on features is fitted by itself, as scikit-learn does with its
# C, and under the total penalty examples that are fitted carry nothing (docs/how-to-choose.md has the measurements). A
# network is trained with its weight decay left alone.
FEATURES_PENALTY, NETWORK_PENALTY = "total", "mean"
Source = Images | Examples | HeadStatistics


@dataclass(frozen=True)
class Inputs:
    """The inputs of a run: the examples, the start of the head, and the records of a training run.

    Attributes
    ----------
    examples : features and targets
    l2 : weight decay of the network; None if there is none, and l2 is then chosen
    penalty, standardize : defaults for the fit of the head
    start : (C, d+1) weights of a head for the unscaled features, or None
    logits : (n, C) outputs of the network, or None
    recorded : features and the records of a training run
    """

    examples: Examples
    l2: float | None
    penalty: str
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
            penalty=self.penalty,
            standardize=self.standardize,
        )

    def take(self, places: Rows) -> "Inputs":
        """Return the inputs with some of the examples."""
        return replace(
            self,
            examples=self.examples.take(places),
            logits=None if self.logits is None else self.logits[places],
            recorded=self.recorded.take(places),
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


def opened(features: Any, labels: ArrayLike | None, settings: Settings | CompareSettings, reporter: Reporter) -> Source:
    """Read the source if it is given by name, check arrays, and return other data unchanged."""
    if isinstance(features, os.PathLike):
        features = os.fspath(features)
    if not isinstance(features, str):
        settings.refuse(options_of(ReadingOptions), "data in memory")
        if isinstance(features, Images | HeadStatistics):
            _check_alone(type(features).__name__, labels, settings)
            return features
        memory = settings.memory if isinstance(settings, Settings) else None
        return examples_from(features, labels, settings.validation, LOSSES[settings.loss].targets, memory)
    _check_alone(features, labels, settings)
    if features.startswith(STATISTICS):
        settings.refuse(options_of(ReadingOptions), "head statistics")
        return statistics_in(features)
    return read_source(features, settings, reporter, LOSSES[settings.loss].targets)


def read_source(
    source: str, options: ReadingOptions, reporter: Reporter, targets: str = "classes"
) -> Images | Examples:
    """Read a data source with the user's options."""
    with reporter.stage("Reading the data", units=100, unit="%") as advance:
        data = open_source(
            source,
            on_bad=options.on_bad_image,
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


def statistics_in(source: str) -> HeadStatistics:
    """Open the folder of head statistics that a source such as "head:DIR" names."""
    return HeadStatistics.load(Path(source.removeprefix(STATISTICS)).expanduser())


def inputs_from(source: Examples | HeadStatistics, settings: Settings) -> Inputs:
    """Convert features or head statistics to `Inputs`.

    Plain features are standardised, and their l2 is chosen. Head statistics are used as the network saw
    them: raw features, its weight decay as l2, and its head as the start.
    """
    head, statistics = settings.head, source if isinstance(source, HeadStatistics) else None
    examples = source.examples() if isinstance(source, HeadStatistics) else source
    if statistics is not None and head is None:
        head = statistics.head
    decay = None if statistics is None else statistics.weight_decay
    return Inputs(
        examples,
        decay,
        FEATURES_PENALTY if statistics is None else NETWORK_PENALTY,
        statistics is None,
        None if head is None else checked_head(head, (len(examples.classes), examples.features.shape[1] + 1)),
        None if statistics is None else statistics.logits,
        Evidence(
            groups=examples.targets.groups,
            features=examples.features,
            dynamics=None if statistics is None else statistics.dynamics or None,
            gradient_norm=None if statistics is None else statistics.gradient_norm,
        ),
    )


def _check_alone(what: str, labels: ArrayLike | None, settings: HeadOptions) -> None:
    if labels is not None or settings.validation is not None:
        raise InputError(f"`{what}` contains its own labels and validation data; do not pass others.")


def refuse_network_options(settings: Settings) -> None:
    """Raise if network options were given for data that are pruned without a network."""
    settings.refuse(options_of(NetworkOptions), "features, which are pruned without a network")
