"""The material of a report: finds what the rows of a run look like, and makes sure that it is that run's data."""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leanset._arrays import AnyArray, Rows, places_among
from leanset._errors import InputError
from leanset._options import default_of, options_of
from leanset._progress import Reporter, Silent
from leanset.data import Examples, HasExamples, Images, channels_first, chosen_rows, examples_from, fingerprint
from leanset.head import LOSSES
from leanset.inputs import STATISTICS, read_source, statistics_in
from leanset.report import Material
from leanset.rows import all_rows, as_table
from leanset.settings import ReadingOptions, Settings

Features = str | os.PathLike[str] | ArrayLike | Examples | HasExamples | Images
Pictures = str | os.PathLike[str] | ArrayLike | Images


def material_for(
    rows: Rows,
    labels: AnyArray,
    settings: dict[str, Any],
    features: Features | None,
    images: Pictures | None,
    *,
    columns: Sequence[str] | None = None,
    names: Sequence[str] | AnyArray | None = None,
    texts: Sequence[str] | None = None,
    reading: ReadingOptions | None = None,
    reporter: Reporter | None = None,
) -> Material:
    """Return what the rows of a run look like, in the order of the run.

    Parameters
    ----------
    rows, labels, settings : of the run
    features : its features, as an array, a source, or a network's statistics; or its images
    images : its images, as an array, a source, or `Images`
    columns, names, texts : names of the features; a name and a text for each row of the data
    reading, reporter : how to read a source, and who is told about it
    """
    how = reading or ReadingOptions(), reporter or Silent()
    known = _columns(features) if columns is None else columns
    data = _opened(features, LOSSES[settings["loss"]].targets, *how)
    if isinstance(data, Images):
        data, images = None, data
    pictures = _pictures(images, *how)
    matrix = None if data is None else _features(data, rows, settings)
    if isinstance(data, Examples):
        known = known or data.columns or ()
        texts = data.texts if texts is None else texts
        names = data.names if names is None else names
    made = Material(features=matrix, columns=_checked_columns(known, matrix))
    made = replace(made, names=_of_rows(names, rows, "names"), texts=_of_rows(texts, rows, "texts"))
    return made if pictures is None else _with_pictures(made, pictures, rows, labels)


def command_for(settings: dict[str, Any]) -> str:
    """Return the command that repeats a run; SOURCE stands for its data.

    Examples
    --------
    >>> command_for({"budget": {"fraction": 0.4}, "seed": 3, "l2": None, "weights": True, "frontier": False})
    'leanset prune SOURCE --fraction 0.4 --seed 3 --weights --no-frontier --out run/'
    """
    words = [word for name, value in settings["budget"].items() for word in _flag(name, value)]
    defaults = {item.name: default_of(item) for item in Settings.__dataclass_fields__.values()}
    options = options_of(Settings)
    for name, value in settings.items():
        on_line = name in options and options[name].on_command_line
        plain = isinstance(value, bool | int | float | str)
        if on_line and plain and value != defaults[name]:
            words += _flag(name, value)
    return " ".join(["leanset prune SOURCE", *words, "--out run/"])


def _flag(name: str, value: Any) -> list[str]:
    flag = name.replace("_", "-")
    if isinstance(value, bool):
        return [f"--{flag}" if value else f"--no-{flag}"]
    return [f"--{flag}", f"{value:g}" if isinstance(value, float) else str(value)]


def _columns(features: Features | None) -> Sequence[str]:
    names = getattr(features, "columns", None)  # of a frame of pandas or polars
    return () if names is None else [str(name) for name in names]


def _checked_columns(columns: Sequence[str], features: AnyArray | None) -> Sequence[str]:
    if features is not None and columns and len(columns) != features.shape[1]:
        raise InputError(f"`columns` must name the {features.shape[1]} features; got {len(columns)} names.")
    return tuple(columns)


def _opened(features: Features | None, targets: str, reading: ReadingOptions, reporter: Reporter) -> Any:
    if isinstance(features, str | os.PathLike):
        source = os.fspath(features)
        if source.startswith(STATISTICS):
            return statistics_in(source).examples()
        return read_source(source, reading, reporter, targets)
    if features is None or isinstance(features, Images):
        return features
    return examples_from(features) if isinstance(features, Examples | HasExamples) else np.asarray(features)


def _features(data: Any, rows: Rows, settings: dict[str, Any]) -> AnyArray:
    if not isinstance(data, Examples):
        return np.asarray(_of_rows(data, rows, "features"))
    examples = data.counting()
    if fingerprint(examples) != settings["data_fingerprint"]:
        raise InputError("these are not the data of this run: their fingerprint is another.")
    places = examples.places_of(rows)
    features = examples.features if len(places) == len(examples) else chosen_rows(examples.features, places)
    return all_rows(as_table(features))  # a page shows few rows, but looks among all of them for neighbours


def _pictures(images: Pictures | None, reading: ReadingOptions, reporter: Reporter) -> Images | None:
    if images is None or isinstance(images, Images):
        return images
    if isinstance(images, str | os.PathLike):
        data = read_source(os.fspath(images), reading, reporter)
        if not isinstance(data, Images):
            raise InputError(f"{images}: contains features, not images.")
        return data
    pixels = channels_first(np.asarray(images), "images")
    return Images(pixels, np.zeros(len(pixels), dtype=np.int64), ("",), identity="shown, never stored")


def _with_pictures(made: Material, images: Images, rows: Rows, labels: AnyArray) -> Material:
    places = places_among(images.rows, rows)
    if (places < 0).any():
        raise InputError(
            f"the {len(images):,} images do not have all rows of this run, which go up to {int(rows[-1]):,}."
        )
    whole = len(places) == len(images)
    shown = images if whole else images.take(places)
    if made.names is None and shown.files:
        made = replace(made, names=shown.files)
    if len(images.classes) == 1:
        return replace(made, pictures=shown.pixels)
    named = np.array(images.classes)[shown.labels]
    classes = np.unique(labels.astype(str))
    pairs = np.unique(np.char.add(np.char.add(labels.astype(str), "\0"), named))
    if len(pairs) != len(classes):
        raise InputError(
            "the classes of the images are not those of this run; give the images of its rows, in its order."
        )
    return replace(made, pictures=shown.pixels, labels=named)


def _of_rows(values: Any, rows: Rows, name: str) -> Any:
    """Return the values of a run's rows; there must be one for each row of the data."""
    if values is None or len(values) == len(rows):
        return values
    if len(values) <= int(rows[-1]):
        raise InputError(
            f"`{name}` must have one entry for each of the {len(rows):,} rows of this run; got {len(values):,}."
        )
    return values[rows] if isinstance(values, np.ndarray) else [values[row] for row in rows.tolist()]
