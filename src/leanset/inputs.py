import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from leanset._arrays import Matrix, Rows
from leanset._errors import InputError, warn
from leanset._folder import Folder, json_safe
from leanset._memory import FOR_FEATURES
from leanset._options import Checked, options_of
from leanset._progress import Reporter
from leanset.data import (
    FEATURES_MEMORY,
    Examples,
    Features,
    Images,
    Origin,
    Reading,
    array_digest,
    chosen_rows,
    examples_from,
    is_dataset,
    is_frame,
    kind_of,
    open_source,
    read_in_memory,
)
from leanset.head import LOSSES, HeadStatistics
from leanset.plan import Outline, checked_head
from leanset.rows import RowTable
from leanset.runs import SOURCE
from leanset.scores import Evidence, Needs
from leanset.settings import CompareSettings, HeadOptions, NetworkOptions, PruneOptions, ReadingOptions, Settings

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
    logits: Features | None
    recorded: Evidence

    def outline(self) -> Outline:
        """Return the facts about the data that a plan needs."""
        examples = self.examples
        return Outline(
            targets=examples.targets,
            width=examples.features.shape[1],
            total=examples.total,
            rows=examples.source_rows,
            left_out=examples.rows is not None,
            held_out=examples.validation is not None,
            dynamics=bool(self.recorded.dynamics),
            l2=self.l2,
            penalty=self.penalty,
            standardize=self.standardize,
            in_memory=0 if isinstance(examples.features, RowTable) else examples.features.nbytes,
        )

    def named_after(self, images: Images) -> "Inputs":
        """Return the inputs with the names of the images that a network saw."""
        return replace(self, examples=replace(self.examples, names=images.files or None, origin=images.origin))

    def take(self, places: Rows) -> "Inputs":
        """Return the inputs with some of the examples."""
        return replace(
            self,
            examples=self.examples.take(places),
            logits=None if self.logits is None else chosen_rows(self.logits, places),
            recorded=self.recorded.take(places),
        )

    def digests(self, needs: Needs) -> dict[str, str | None]:
        """Return digests of the other inputs: the start, and the training records that a strategy needs."""
        wanted = {name for need in needs for name in ((need,) if isinstance(need, str) else need)}
        arrays: list[Features | None] = [self.logits] if "errors" in wanted else []
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
    if is_table(features, labels):
        _check_alone("a dataset" if is_dataset(features) else "a frame with labels", labels, settings)
        return read_table(features, settings, LOSSES[settings.loss].targets)
    if not isinstance(features, str):
        settings.refuse(options_of(ReadingOptions), "data in memory")
        if isinstance(features, Images | HeadStatistics):
            _check_alone(type(features).__name__, labels, settings, network=True)
            return features
        memory = settings.memory if isinstance(settings, Settings) else None
        targets, weight = LOSSES[settings.loss].targets, _weight_in(settings)
        most = features_memory(settings)
        return examples_from(features, labels, settings.validation, targets, memory, weight, most)
    _check_alone(features, labels, settings, network=features.startswith(STATISTICS))
    if features.startswith(STATISTICS):
        settings.refuse(options_of(ReadingOptions), "head statistics")
        return statistics_in(features)
    return read_source(features, settings, reporter, LOSSES[settings.loss].targets)


def features_memory(options: Checked) -> int:
    """Return how many bytes of features are read as a whole: a share of the memory of a run."""
    return int(options.memory) // FOR_FEATURES if isinstance(options, PruneOptions) else FEATURES_MEMORY


def read_source(
    source: str, options: ReadingOptions, reporter: Reporter, targets: str = "classes"
) -> Images | Examples:
    """Read a data source with the user's options; features beyond the memory of a run stay where they are."""
    most = features_memory(options)
    with reporter.stage("Reading the data", units=100, unit="%") as advance:
        data = open_source(source, targets=targets, advance=advance, features_memory=most, **_reading(options))
    _warn_of_unreadable(data)
    return replace(data, origin=replace(data.origin, source=_anywhere(source), reading=_given(options)))


def _anywhere(source: str) -> str:
    """Return a source with its whole path, which leads there from any folder."""
    kind = kind_of(source)
    if "://" in source:
        return source
    return f"{kind}:{Path(source.removeprefix(f'{kind}:')).expanduser().resolve()}"


def _given(options: ReadingOptions) -> dict[str, Any]:
    """Return the reading options that were given, as plain values."""
    given = {name: value for name, value in options.given().items() if name in options_of(ReadingOptions)}
    return {name: os.fspath(v) if isinstance(v, os.PathLike) else json_safe(v) for name, v in given.items()}


def is_table(data: Any, labels: ArrayLike | None) -> bool:
    """Return whether data are a table in memory that has a column of labels."""
    return is_dataset(data) or (labels is None and is_frame(data))


def read_table(data: Any, options: ReadingOptions, targets: str) -> Images | Examples:
    """Read a Hugging Face dataset, or a frame with a column of labels, with the user's options."""
    most = features_memory(options)
    read = read_in_memory(data, Reading(targets=targets, features_memory=most, **_reading(options)))
    _warn_of_unreadable(read)
    return replace(read, origin=replace(read.origin, reading=_given(options)))


def _reading(options: ReadingOptions) -> dict[str, Any]:
    """Return a user's options as arguments of the reader, which calls one of them by another name."""
    known = {name: getattr(options, name) for name in options_of(ReadingOptions) if name != "on_bad_image"}
    model = None if options.text_model is None else os.fspath(options.text_model)
    return known | {"on_bad": options.on_bad_image, "text_model": model}


def _warn_of_unreadable(data: Images | Examples) -> None:
    if isinstance(data, Images):
        for part, what in ((data, "row"), (data.held_out, "held-out row")):
            for bad in () if part is None else part.unreadable:
                warn(f"left out {what} {bad.row}: {bad.file}: {bad.reason}")


def recorded_source(run: Path) -> tuple[str, ReadingOptions]:
    """Return the source that a saved run was read from, "" if it was in memory, and the options that it was read with."""
    folder = Folder(run)
    origin = Origin.from_dict(folder.read_json(SOURCE)) if folder.has(SOURCE) else Origin()
    known = {name: value for name, value in origin.reading.items() if name in options_of(ReadingOptions)}
    return origin.source, ReadingOptions(**known)


def statistics_in(source: str) -> HeadStatistics:
    """Open the folder of head statistics that a source such as "head:DIR" names."""
    return HeadStatistics.load(os.path.expanduser(source.removeprefix(STATISTICS)))


def inputs_from(source: Examples | HeadStatistics, settings: Settings) -> Inputs:
    """Convert features or head statistics to `Inputs`.

    Plain features are standardised, and their l2 is chosen. Head statistics are used as the network saw
    them: raw features, its weight decay as l2, and its head as the start.
    """
    head, statistics = settings.head, source if isinstance(source, HeadStatistics) else None
    examples = source.examples() if isinstance(source, HeadStatistics) else source.counting()
    if statistics is not None and statistics.head is not None:
        if head is not None:
            raise InputError("`head` does not apply to statistics that contain the head of their network.")
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
            features=None if isinstance(examples.features, RowTable) else examples.features,
            dynamics=None if statistics is None else statistics.dynamics or None,
            gradient_norm=None if statistics is None else statistics.gradient_norm,
        ),
    )


def _check_alone(what: str, labels: ArrayLike | None, settings: HeadOptions, *, network: bool = False) -> None:
    if labels is not None or settings.validation is not None:
        raise InputError(f"`{what}` contains its own labels and validation data; do not pass others.")
    if _weight_in(settings) is not None:
        instead = "networks are trained without weights" if network else "give its column (`weight_column`) or npz key"
        raise InputError(f"`sample_weight` does not apply to `{what}`: {instead}.")


def _weight_in(settings: HeadOptions) -> ArrayLike | None:
    return settings.sample_weight if isinstance(settings, PruneOptions) else None


def refuse_network_options(settings: Settings) -> None:
    """Raise if network options were given for data that are pruned without a network."""
    settings.refuse(options_of(NetworkOptions), "features, which are pruned without a network")
