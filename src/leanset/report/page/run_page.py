"""The page of one run."""

import os
from dataclasses import replace
from typing import Any

import numpy as np

from leanset._arrays import AnyArray
from leanset._version import __version__
from leanset.report.page import charts
from leanset.report.page.exhibits import Exhibits, exhibits
from leanset.report.page.facts import Material, RunFacts, Size
from leanset.report.page.findings import notes
from leanset.report.page.groups import drawn, retention
from leanset.report.page.html import MOST_BYTES, bytes_left, rendered, write_page
from leanset.report.page.items import COLUMNS_SHOWN, column_names, item_columns, shown_places
from leanset.report.page.landscape import Landscape, landscape
from leanset.report.page.neighbours import scaled
from leanset.report.page.thumbnails import Thumbnails, thumbnails
from leanset.report.verdict import certificate_lines, verdict
from leanset.report.words import change, count, number, share, size

_SCRIPTS = ("look.js", "charts.js", "frontier.js", "rows.js", "browser.js")
_SPARE = 4000  # bytes for the sentences about pictures, which are written last


def write_run_page(
    path: str | os.PathLike[str], facts: RunFacts, material: Material, *, most_bytes: int = MOST_BYTES
) -> None:
    """Write the page of a run as one HTML file.

    Parameters
    ----------
    path : the file; its folder is created
    facts : the run
    material : what its rows look like, as far as known
    most_bytes : size that the file must not exceed; pictures that do not fit are left out, and the page says so
    """
    labels = facts.labels if material.labels is None else material.labels
    facts = replace(facts, labels=labels)
    shown = exhibits(facts, material, labels)
    context = _context(facts, material, shown, labels)
    pictures = Thumbnails({}, 0)
    if material.pictures is not None:
        bare = rendered("run.html", _SCRIPTS, context | _about_pictures(material, pictures, most_bytes))
        left = bytes_left(bare, most_bytes) - _SPARE
        pictures = thumbnails(material.pictures, shown.places, left)
    page = rendered("run.html", _SCRIPTS, context | _about_pictures(material, pictures, most_bytes))
    bytes_left(page, most_bytes)
    write_page(path, page)


def _about_pictures(material: Material, made: Thumbnails, most_bytes: int) -> dict[str, Any]:
    left_out = ""
    if made.left_out:
        left_out = (
            f"{count(made.left_out, 'picture')} of these rows did not fit into {size(most_bytes)} and are left out; "
            "allow a larger page to see them."
        )
    return {"thumbs": made.encoded, "left_out": left_out, "has_pictures": material.pictures is not None}


def _context(facts: RunFacts, material: Material, shown: Exhibits, labels: AnyArray) -> dict[str, Any]:
    c, classes = facts.certificate, retention(facts)
    laid_out = _landscape(facts, material, shown)
    panels = charts.frontier_charts(facts) if len(facts.frontier) > 1 else []
    specs = {f"frontier-{panel['key']}": panel["spec"] for panel in panels}
    if c.removed:
        if facts.moves:
            specs["prediction"] = charts.prediction_chart(facts)
        specs["retention"] = charts.retention_chart(drawn(classes), float(facts.kept.mean()))
        specs["influence"] = charts.influence_chart(facts.influence_norm, facts.kept)
    if c.has_weights:
        specs["weights"] = charts.weight_chart(facts.weight[facts.kept])
    if laid_out is not None:
        specs["map"] = charts.map_chart(laid_out.coordinates, laid_out.how)
    items = item_columns(facts, material, shown, labels, laid_out)
    places = {int(place): at for at, place in enumerate(shown_places(shown))}
    return {
        "version": __version__,
        "title": f"leanset: {share(c.removed / c.n)} removed",
        "verdict": verdict(c),
        "lines": certificate_lines(c),
        "findings": notes(facts, shown.duplicates, labels),
        "panels": panels,
        "sizes": [_size(point, facts) for point in facts.sizes],
        "classes": classes,
        "classes_drawn": len(drawn(classes)),
        "group_word": {"classes": "class", "labels": "label", "numbers": "tenth of the targets"}[facts.targets],
        "details": _details(facts),
        "settings": {key: _shown(value) for key, value in facts.settings.items()},
        "command": facts.command,
        "used": facts.used,
        "certificate": c,
        "galleries": [
            {**vars(gallery), "items": [[places[place] for place in item] for item in gallery.items]}
            for gallery in shown.galleries
        ],
        "map_how": None if laid_out is None else laid_out.how,
        "notes": _notes(facts, material, shown),
        "is_table": material.is_table,
        "columns_left_out": max(0, len(column_names(material)) - COLUMNS_SHOWN) if material.is_table else 0,
        "floor": number(facts.floor, 1) if any(point.refit_change <= facts.floor for point in facts.sizes) else "",
        "moves": facts.moves,
        "place_of_item": [int(place) for place in places],
        "rows_shown": len(shown.sample),
        "rows_in_all": len(facts),
        "data": {"charts": specs, "items": items},
    }


def _landscape(facts: RunFacts, material: Material, shown: Exhibits) -> Landscape | None:
    if material.features is None:
        return None
    points = scaled(material.features[shown_places(shown)], bool(facts.settings.get("standardize")))
    return landscape(points, facts.certificate.seed)


def _size(point: Size, facts: RunFacts) -> dict[str, Any]:
    """Say what another budget would remove and cost."""
    none = point.refit_change <= facts.floor
    moved = "does not move, as far as a fit can tell" if none else f"moves by {number(point.refit_change)}"
    words = [f"the head {moved} (random sets: {number(point.random_refit_change)})"]
    if point.same_answers is not None:
        random = point.random_same_answers
        beside = "" if random is None else f" (random sets: {share(random)})"
        words.append(f"{share(point.same_answers)} of the answers stay the same{beside}")
    if point.validation_loss_gap is not None:
        random = point.random_validation_loss_gap
        beside = "" if random is None else f" (random sets: {change(random)})"
        words.append(f"the validation loss is {change(point.validation_loss_gap)}{beside}")
    return {
        "removed": point.removed,
        "percent": 100 * point.fraction,
        "is_chosen": point.removed == facts.certificate.removed,
        "title": f"{share(point.fraction)} removed ({point.removed:,} of {len(facts):,})",
        "words": words,
    }


def _details(facts: RunFacts) -> list[tuple[str, str]]:
    """Return figures that few readers need: predictions, bounds, and the other way to hold the penalty."""
    c = facts.certificate
    return [
        ("change predicted by influence", number(c.influence_change)),
        ("change predicted by a Newton step", number(c.newton_change)),
        ("change measured by fitting again", number(c.refit_change)),
        ("error of the measurement, at most", number(c.refit_error_bound, 1)),
        (f"change if {'n·l2' if c.penalty == 'mean' else 'l2'} stays fixed instead", number(c.other_penalty_change)),
        (
            "bound on the rise of the loss, first and second order",
            f"{number(c.first_order_bound)} + {number(c.second_order_bound)}",
        ),
        ("length of the head's weights", number(c.head_norm)),
        ("l2 on all rows, and to train with", f"{number(c.l2)}, {number(c.train_l2)}"),
        ("inverse Hessian, and its residual", f"{c.inverse}, {number(c.inverse_residual, 2)}"),
        ("how the search ended", c.outcome or "settled"),
    ]


def _notes(facts: RunFacts, material: Material, shown: Exhibits) -> list[str]:
    notes = list(shown.notes)
    if len(shown.sample) < len(facts):
        kept = int(facts.kept[shown.sample].sum())
        notes.append(
            f"{len(shown.sample):,} of {len(facts):,} rows can be browsed here, drawn at random: {kept:,} kept and "
            f"{len(shown.sample) - kept:,} removed. selection.parquet has all of them."
        )
    hidden = len(column_names(material)) - COLUMNS_SHOWN
    if material.is_table and hidden > 0:
        notes.append(f"The first {COLUMNS_SHOWN} columns are shown; {count(hidden, 'more column')} not.")
    if facts.dropped:
        notes.append(f"{count(facts.dropped, 'row')} with suspect labels were left out before the search.")
    return notes


def _shown(value: Any) -> str:
    if isinstance(value, list) and len(value) > 8:
        return f"{len(value):,} values"
    return "not given" if value is None else str(np.round(value, 12)) if isinstance(value, float) else str(value)
