"""Which rows a page shows: the galleries, and the sample that can be browsed and is drawn on the map."""

from dataclasses import dataclass, replace

import numpy as np

from leanset._arrays import AnyArray, Rows, Vector
from leanset._rng import stream
from leanset.report.page.facts import Material, RunFacts
from leanset.report.page.neighbours import NO_PAIRS, Pairs, near_duplicates, nearest_kept, scaled, small_copies
from leanset.report.words import count

EACH = 12  # items of a gallery
_BROWSED = 3000  # rows that can be browsed
_SEARCHED = 50_000  # rows among which neighbours are looked for; bounds time and memory on larger data


@dataclass(frozen=True)
class Gallery:
    """Rows that belong together: why they are shown, and for each, or for each pair, what is said below it."""

    key: str
    title: str
    why: str
    items: list[list[int]]
    captions: list[str]
    left_out: str = ""
    unknown: bool = False  # nothing was found because nothing could be looked for


@dataclass(frozen=True)
class Exhibits:
    """Everything that is shown row by row, as places in the run's rows.

    Attributes
    ----------
    galleries : those that have something to show
    sample : rows to browse, in ascending order
    duplicates : near-duplicates; None if there was nothing to compare
    notes : what was not looked at
    """

    galleries: list[Gallery]
    sample: Rows
    duplicates: Pairs | None
    notes: list[str]

    @property
    def places(self) -> Rows:
        """All places to show: those of the galleries first, because they matter most when space runs out."""
        first = [place for gallery in self.galleries for item in gallery.items for place in item]
        order = dict.fromkeys([*first, *stream(0, "thumbnails").permutation(self.sample).tolist()])
        return np.array(list(order), dtype=np.int64)


def exhibits(facts: RunFacts, material: Material, labels: AnyArray) -> Exhibits:
    """Choose what is shown of a run.

    Parameters
    ----------
    facts : the run
    material : what its rows look like
    labels : as they are shown
    """
    searched, notes = _searched(len(facts))
    points = None
    if material.features is not None:
        points = scaled(material.features[searched], bool(facts.settings.get("standardize")))
    redundant = NO_PAIRS if points is None else _in(searched, nearest_kept(points, facts.kept[searched]))
    duplicates = None
    if isinstance(material.pictures, np.ndarray):
        duplicates = _in(searched, near_duplicates(small_copies(material.pictures, searched)))
    elif points is not None:
        duplicates = _in(searched, near_duplicates(points))
    galleries = [
        replace(_redundant(redundant), unknown=points is None),
        _influential(facts),
        replace(_mislabelled(facts, labels), unknown=facts.certificate.suspects_among_kept is None),
        replace(_duplicated(duplicates or NO_PAIRS, labels), unknown=duplicates is None),
    ]
    shown = [gallery for gallery in galleries if gallery.items or not gallery.unknown]
    if material.features is None:
        notes.append("Without the features, neighbours and the map cannot be shown: give the data of the run.")
    return Exhibits(shown, _sample(facts), duplicates, notes)


def _searched(n: int) -> tuple[Rows, list[str]]:
    if n <= _SEARCHED:
        return np.arange(n), []
    rows = np.sort(stream(0, "searched for neighbours").choice(n, _SEARCHED, replace=False))
    return rows, [f"Neighbours and near-duplicates were looked for among {_SEARCHED:,} of {n:,} rows, drawn at random."]


def _in(searched: Rows, pairs: Pairs) -> Pairs:
    return Pairs(searched[pairs.first], searched[pairs.second], pairs.distance)


def _sample(facts: RunFacts) -> Rows:
    """Draw as many kept as removed rows, as far as there are as many, so that both can be compared."""
    if len(facts) <= _BROWSED:
        return np.arange(len(facts))
    rng = stream(0, "rows to browse")
    kept, removed = rng.permutation(np.flatnonzero(facts.kept)), rng.permutation(np.flatnonzero(~facts.kept))
    some = max(_BROWSED // 2, _BROWSED - len(removed))
    few = kept[:some]
    return np.sort(np.concatenate([few, removed[: _BROWSED - len(few)]]))


def _redundant(pairs: Pairs) -> Gallery:
    some = pairs.where(np.arange(len(pairs)) < EACH)
    return Gallery(
        "redundant",
        "Most redundant",
        "Removed rows, each with the nearest row that is kept.",
        [[int(a), int(b)] for a, b in zip(some.first, some.second, strict=True)],
        [_how_near(distance) for distance in some.distance.tolist()],
    )


def _how_near(distance: float) -> str:
    return "identical features" if distance == 0 else f"{100 * distance:.0f} % of the usual distance"


def _influential(facts: RunFacts) -> Gallery:
    top = np.argsort(-facts.influence_norm, kind="stable")[:EACH]
    usual = float(np.median(facts.influence_norm)) or 1.0
    return Gallery(
        "influential",
        "Most influential",
        "Rows that move the model most if they alone are left out.",
        [[int(place)] for place in top],
        [f"{facts.influence_norm[place] / usual:,.1f} × the median influence" for place in top],
    )


def _mislabelled(facts: RunFacts, labels: AnyArray) -> Gallery:
    suspect = np.flatnonzero(facts.suspect)
    order = suspect[np.argsort(facts.label_probability[suspect], kind="stable")]
    top = order[:EACH]
    more = len(order) - len(top)
    return Gallery(
        "mislabelled",
        "Likely mislabelled",
        "Models fitted without these rows confidently give another class.",
        [[int(place)] for place in top],
        [f"{_probability(facts.label_probability, place)} for “{labels[place]}”" for place in top],
        f"{count(more, 'more row')} of this kind: filter by “suspect” below, or see selection.parquet." if more else "",
    )


def _probability(probability: Vector, place: int) -> str:
    value = float(probability[place])
    return "under 0.1 %" if value < 0.001 else f"{100 * value:.1f} %"


def _duplicated(pairs: Pairs, labels: AnyArray) -> Gallery:
    """Show pairs with different labels first: one of the two is likely wrong."""
    across = labels[pairs.first] != labels[pairs.second]
    order = np.lexsort((pairs.distance, ~across))[:EACH]
    more = len(pairs) - len(order)
    return Gallery(
        "duplicates",
        "Near-duplicates",
        "Pairs that are far closer than neighbours usually are.",
        [[int(pairs.first[k]), int(pairs.second[k])] for k in order],
        ["different labels" if across[k] else _how_near(float(pairs.distance[k])) for k in order],
        f"{count(more, 'more pair')} not shown." if more else "",
    )
