"""Charts as Vega-Lite specifications. Colours are variables of the page, so a chart serves light, dark and paper."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from leanset._arrays import Mask, Matrix, Vector
from leanset.report.page.facts import RunFacts, Size
from leanset.report.page.groups import Retention

Spec = dict[str, Any]
OURS, RANDOM = "this method", "random sets"
_KEPT, _REMOVED = "kept", "removed"
_TALL = 260  # pixels
_BINS = 40
_STEPS = 80  # of a cumulative curve
_SPAN = 1e8  # of the influence axis; norms that are smaller still are as good as none
_LEGEND = {"title": None, "orient": "top"}
_LINES = {**_LEGEND, "symbolType": "stroke", "symbolStrokeWidth": 2.5}


def chart(layers: Sequence[Spec], description: str, height: int = _TALL, **more: Any) -> Spec:
    """Return a chart as wide as the page allows, with words for those who cannot see it."""
    return {"description": description, "width": "container", "height": height, "layer": list(layers), **more}


def frontier_charts(facts: RunFacts) -> list[dict[str, Any]]:
    """Return the panels of the frontier: how far the head moves, the answers that stay, the loss; random's beside."""
    panels = [
        ("change", "How far the head moves", "‖Δθ‖, log scale", "refit_change", "random_refit_change", 1.0),
        ("answers", "Answers that stay the same", "%", "same_answers", "random_same_answers", 100.0),
        (
            "loss",
            "Change of the validation loss",
            "after − before",
            "validation_loss_gap",
            "random_validation_loss_gap",
            1.0,
        ),
    ]
    made = []
    for key, title, unit, ours, random, scale in panels:
        lines = _lines(facts.sizes, ours, random, scale, floor=facts.floor if key == "change" else None)
        if any(line["set"] == OURS for line in lines):
            made.append({"key": key, "title": title, "spec": _frontier_panel(facts, key, title, unit, lines)})
    return made


def _lines(points: Sequence[Size], ours: str, random: str, scale: float, *, floor: float | None) -> list[Spec]:
    """Return the points of both lines; a change below the floor, which no fit can tell from none, is drawn there."""
    lines = []
    for point in points:
        for name, field in ((OURS, ours), (RANDOM, random)):
            value = getattr(point, field)
            if value is not None:
                seen = value if floor is None else max(value, floor)
                lines.append({"removed": 100 * point.fraction, "value": scale * seen, "set": name})
    return lines


def _frontier_panel(facts: RunFacts, key: str, title: str, unit: str, lines: list[Spec]) -> Spec:
    logarithmic = key == "change"
    x = _axis("removed", "removed, %", scale={"domain": [0, 100]})
    y = _axis("value", unit, scale={"zero": False})
    if logarithmic:
        y = _log_axis("value", unit, [line["value"] for line in lines])
    colour = {
        "field": "set",
        "type": "nominal",
        "scale": {"domain": [OURS, RANDOM], "range": ["var(--ours)", "var(--random)"]},
        "legend": _LINES,
    }
    dash = {**colour, "scale": {"domain": [OURS, RANDOM], "range": [[1, 0], [5, 3]]}}
    tip = [_tip("set", ""), _tip("removed", "removed, %", ".1f"), _tip("value", title, ".4~g")]
    encoding = {"x": x, "y": y, "color": colour, "tooltip": tip}
    layers: list[Spec] = []
    if logarithmic:
        layers += _band(facts.sizes, x)
    layers += [
        {
            "data": {"values": lines},
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {**encoding, "strokeDash": dash},
        },
        {"data": {"values": lines}, "mark": {"type": "point", "filled": True, "size": 45}, "encoding": encoding},
        _chosen(facts, lines, x, y),
        {
            "data": {"name": "shown", "values": [{"removed": 100 * facts.certificate.removed / facts.certificate.n}]},
            "mark": {"type": "rule", "color": "var(--mark)", "strokeWidth": 1.5, "strokeDash": [3, 3]},
            "encoding": {"x": x},
        },
    ]
    words = f"{title} against the share removed, for this method and for random sets."
    return chart(layers, words, height=230)


def _band(points: Sequence[Size], x: Spec) -> list[Spec]:
    values = [
        {"removed": 100 * p.fraction, "low": p.random_refit_change_low, "high": p.random_refit_change_high}
        for p in points
        if p.random_refit_change_low and p.random_refit_change_high
    ]
    if not values:
        return []
    y = _axis("low", "")
    mark = {"type": "area", "color": "var(--random)", "opacity": 0.2}
    return [{"data": {"values": values}, "mark": mark, "encoding": {"x": x, "y": y, "y2": {"field": "high"}}}]


def _chosen(facts: RunFacts, lines: Sequence[Spec], x: Spec, y: Spec) -> Spec:
    """Draw a ring round the run itself."""
    at = 100 * facts.certificate.removed / facts.certificate.n
    own = [line for line in lines if line["set"] == OURS and abs(line["removed"] - at) < 1e-9]
    mark = {"type": "point", "size": 260, "strokeWidth": 2.5, "color": "var(--ours)", "filled": False}
    return {"data": {"values": own}, "mark": mark, "encoding": {"x": x, "y": y}}


def prediction_chart(facts: RunFacts) -> Spec:
    """Draw predicted against measured changes, with the line on which a prediction holds."""
    c = facts.certificate
    newton = [(p.newton_change, p.refit_change, p.fraction) for p in facts.sizes]
    newton += [(c.newton_change, c.refit_change, c.removed / c.n)]
    points = [_predicted("Newton step", facts.floor, *each) for each in dict.fromkeys(newton)]
    points.append(_predicted("influence", facts.floor, c.influence_change, c.refit_change, c.removed / c.n))
    ends = [value for point in points for value in (point["predicted"], point["measured"])]
    line = [{"predicted": end, "measured": end} for end in (min(ends), max(ends))]
    x = _log_axis("predicted", "predicted ‖Δθ‖, log scale", ends)
    y = _log_axis("measured", "measured ‖Δθ‖, log scale", ends)
    scale = {"domain": ["Newton step", "influence"], "range": ["var(--ours)", "var(--random)"]}
    colour = {"field": "rule", "type": "nominal", "scale": scale, "legend": _LEGEND}
    shape = {**colour, "scale": {"domain": scale["domain"], "range": ["circle", "diamond"]}}
    tip = [_tip("rule", "rule"), _tip("removed", "removed, %", ".1f")]
    tip += [_tip("predicted", "predicted", ".4~g"), _tip("measured", "measured", ".4~g")]
    layers = [
        {
            "data": {"values": line},
            "mark": {"type": "line", "color": "var(--mark)", "strokeDash": [4, 4]},
            "encoding": {"x": x, "y": y},
        },
        {
            "data": {"values": points},
            "mark": {"type": "point", "filled": True, "size": 70, "opacity": 0.85},
            "encoding": {"x": x, "y": y, "color": colour, "shape": shape, "tooltip": tip},
        },
    ]
    return chart(layers, "Predicted against measured change of the head; on the dashed line a prediction holds.")


def _predicted(rule: str, floor: float, predicted: float, measured: float, fraction: float) -> Spec:
    return {
        "rule": rule,
        "predicted": max(predicted, floor),
        "measured": max(measured, floor),
        "removed": 100 * fraction,
    }


def retention_chart(classes: Sequence[Retention], overall: float) -> Spec:
    """Draw the kept share of each class, with a line at the share of all."""
    values = [
        {"class": each.name, "kept": 100 * each.share, "of": f"{each.after:,} of {each.before:,}"} for each in classes
    ]
    y = {"field": "class", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 110}}
    x = _axis("kept", "kept, %", scale={"domain": [0, 100]})
    tip = [_tip("class", ""), _tip("kept", "kept, %", ".1f"), _tip("of", "rows")]
    layers = [
        {
            "data": {"values": values},
            "mark": {"type": "bar", "color": "var(--kept)"},
            "encoding": {"x": x, "y": y, "tooltip": tip},
        },
        {
            "data": {"values": [{"kept": 100 * overall}]},
            "mark": {"type": "rule", "color": "var(--mark)", "strokeWidth": 2, "strokeDash": [5, 3]},
            "encoding": {"x": x},
        },
    ]
    return chart(layers, "Kept share of each class; the dashed line is the share of all.", height=24 + 20 * len(values))


def influence_chart(norms: Vector, kept: Mask) -> Spec:
    """Draw how influence norms are distributed among kept and among removed rows.

    Two cumulative curves, each in percent of its own rows: stacked counts on a logarithm cannot be read, and most rows
    may have nearly the same norm.
    """
    positive = norms[norms > 0]
    low, high = (float(positive.min()), float(positive.max())) if len(positive) else (1e-12, 1.0)
    steps = np.geomspace(max(low, high / _SPAN), max(high, 1.001 * low), _STEPS)
    values = []
    for name, mask in ((_KEPT, kept), (_REMOVED, ~kept)):
        below = 100 * np.searchsorted(np.sort(norms[mask]), steps, side="right") / max(1, int(mask.sum()))
        values += [{"at": a, "percent": p, "set": name} for a, p in zip(steps.tolist(), below.tolist(), strict=True)]
    tip = [_tip("set", ""), _tip("at", "influence norm at most", ".3~g"), _tip("percent", "% of these rows", ".2f")]
    x = _log_axis("at", "influence norm of a row, log scale", steps.tolist())
    y = _axis("percent", "% of rows at or below it", scale={"domain": [0, 100]})
    dash = {**_kept_colour(), "scale": {"domain": [_KEPT, _REMOVED], "range": [[1, 0], [5, 3]]}}
    colour = {**_kept_colour(), "legend": _LINES}
    encoding = {"x": x, "y": y, "color": colour, "strokeDash": {**dash, "legend": _LINES}, "tooltip": tip}
    layer = {"data": {"values": values}, "mark": {"type": "line", "strokeWidth": 2}, "encoding": encoding}
    return chart([layer], "Cumulative distribution of the influence norms of kept and of removed rows.")


def weight_chart(weights: Vector) -> Spec:
    """Draw how the weights of the kept rows are distributed."""
    edges = np.linspace(float(weights.min()), float(weights.max()) + 1e-9, _BINS + 1)
    rows = np.histogram(weights, edges)[0]
    values = [{"low": a, "high": b, "rows": int(n)} for a, b, n in zip(edges[:-1], edges[1:], rows, strict=True)]
    x = {**_axis("low", "weight of a kept row"), "scale": {"zero": False}}
    tip = [_tip("low", "from", ".3~g"), _tip("high", "to", ".3~g"), _tip("rows", "rows", ",")]
    encoding = {"x": x, "x2": {"field": "high"}, "y": _axis("rows", "rows"), "y2": {"datum": 0}, "tooltip": tip}
    bars = {
        "data": {"values": values},
        "mark": {"type": "bar", "color": "var(--kept)", "binSpacing": 1},
        "encoding": encoding,
    }
    return chart([bars], "Number of kept rows by weight.")


def map_chart(coordinates: Matrix, how: str) -> Spec:
    """Draw rows in the plane; the page itself holds the points, which the browser of rows shares."""
    axis = {"labels": False, "ticks": False, "grid": False, "domain": False, "title": None}
    low, high = coordinates.min(axis=0).tolist(), coordinates.max(axis=0).tolist()
    x, y = (
        {"field": name, "type": "quantitative", "axis": axis, "scale": {"domain": [low[k], high[k]], "zero": False}}
        for k, name in enumerate(("x", "y"))
    )
    shape = {**_kept_colour(), "scale": {"domain": [_KEPT, _REMOVED], "range": ["circle", "cross"]}}
    layer = {
        "data": {"name": "points", "values": []},
        "mark": {"type": "point", "filled": True, "size": 26, "opacity": 0.6},
        "encoding": {
            "x": x,
            "y": y,
            "color": _kept_colour(),
            "shape": shape,
            "tooltip": {"field": "item", "type": "quantitative"},
        },
    }
    return chart([layer], f"Map of the rows. {how}.", height=440)


def _kept_colour() -> Spec:
    scale = {"domain": [_KEPT, _REMOVED], "range": ["var(--kept)", "var(--removed)"]}
    return {"field": "set", "type": "nominal", "scale": scale, "legend": _LEGEND}


def _axis(field: str, title: str, **more: Any) -> Spec:
    return {"field": field, "type": "quantitative", "title": title or None, **more}


def _log_axis(field: str, title: str, values: Sequence[float]) -> Spec:
    """Return a logarithmic axis whose marks are powers of ten, or 1, 2 and 5 times these where there are few.

    Examples
    --------
    >>> _log_axis("a", "", [0.02, 30.0])["axis"]["values"]
    [0.1, 1.0, 10.0]
    >>> _log_axis("a", "", [0.3, 2.5])["axis"]["values"]
    [0.5, 1.0, 2.0]
    """
    low, high = min(values, default=0.1), max(values, default=1.0)
    low, high = (low / 1.2, high * 1.2)
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    steps = (1, 2, 5) if high / low < 30 else (1,)
    every = max(1, len(powers) // 6)
    marks = [float(f"{step}e{power}") for power in powers for step in steps if power % every == 0]
    inside = [mark for mark in marks if low <= mark <= high]
    axis = {"values": inside, "format": ".1~e" if high / low > 1e5 else ".3~g"}
    return _axis(field, title, scale={"type": "log", "domain": [low, high], "nice": False}, axis=axis)


def _tip(field: str, title: str, form: str | None = None) -> Spec:
    kind = "nominal" if form is None else "quantitative"
    return {"field": field, "type": kind, "title": title or " ", **({} if form is None else {"format": form})}
