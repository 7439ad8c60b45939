"""The rows that a page shows, as columns for its script."""

from typing import Any

import numpy as np

from leanset._arrays import AnyArray, Rows
from leanset.report.page.exhibits import Exhibits
from leanset.report.page.facts import Material, RunFacts
from leanset.report.page.landscape import Landscape

COLUMNS_SHOWN = 8  # features of a table
_LETTERS = 400  # of a text


def item_columns(
    facts: RunFacts, material: Material, shown: Exhibits, labels: AnyArray, landscape: Landscape | None
) -> dict[str, Any]:
    """Return everything known about the shown rows, one list for each property, in the order of `shown_places`."""
    places = shown_places(shown)
    names, codes = np.unique(_as_text(labels[places]), return_inverse=True)
    columns: dict[str, Any] = {
        "row": facts.rows[places].tolist(),
        "labels": names.tolist(),
        "label": codes.tolist(),
        "groups": facts.groups.names,
        "group": facts.groups.of(places),
        "kept": facts.kept[places].astype(int).tolist(),
        "weight": _short(facts.weight[places]),
        "influence": _short(facts.influence_norm[places]),
        "probability": _short(facts.label_probability[places]),
        "score": _short(facts.score[places]) if facts.has_score else None,
        "suspect": facts.suspect[places].astype(int).tolist(),
        "sampled": np.isin(places, shown.sample).astype(int).tolist(),
        "name": None if material.names is None else [str(material.names[place]) for place in places.tolist()],
        "text": None if material.texts is None else [_excerpt(material.texts[place]) for place in places.tolist()],
        "cells": None,
    }
    if material.is_table and material.features is not None:
        columns["columns"] = column_names(material)[:COLUMNS_SHOWN]
        columns["cells"] = [_short(row) for row in np.asarray(material.features[places, :COLUMNS_SHOWN], np.float64)]
    if landscape is not None:
        columns |= {"x": _short(landscape.coordinates[:, 0]), "y": _short(landscape.coordinates[:, 1])}
    return columns


def shown_places(shown: Exhibits) -> Rows:
    """Return the places of all shown rows, ascending."""
    return np.unique(shown.places)


def column_names(material: Material) -> list[str]:
    """Return the names of the features, or their numbers."""
    if material.features is None:
        return []
    return [str(name) for name in material.columns] or [f"feature {k}" for k in range(material.features.shape[1])]


def _short(values: AnyArray) -> list[float | None]:
    """Return numbers with five digits, which is all that is shown; None for those that are not known."""
    return [float(f"{value:.5g}") if np.isfinite(value) else None for value in np.asarray(values, np.float64).tolist()]


def _as_text(labels: AnyArray) -> list[str]:
    return [f"{label:.5g}" if isinstance(label, float) else str(label) for label in labels.tolist()]


def _excerpt(text: str) -> str:
    words = str(text)
    return words if len(words) <= _LETTERS else f"{words[:_LETTERS]}…"
