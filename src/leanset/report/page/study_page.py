"""The page of a comparison or of an experiment: what was found in words, tables, and charts to choose lines in."""

import base64
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from leanset._version import __version__
from leanset.report.canvas import vector
from leanset.report.curves import Curve, Panel
from leanset.report.page.charts import Spec, chart
from leanset.report.page.html import MOST_BYTES, bytes_left, rendered, write_page
from leanset.report.page.markdown import Block, blocks

MOST_LINES = 7  # of a chart at the same time; readers choose which
_SCRIPTS = ("look.js", "charts.js", "study.js")
_COLOURS = 5  # of other methods; beyond these the dashes differ
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2])


@dataclass(frozen=True)
class StudyPart:
    """One part of a page.

    Attributes
    ----------
    text : what was found, as Markdown; its first heading is the title
    panels : charts with a line for each method
    pictures : PNG files
    verdicts : sentences that a reader must not miss, shown first
    """

    text: str
    panels: Sequence[Panel] = ()
    pictures: Sequence[Path] = ()
    verdicts: Sequence[str] = ()


def write_study_page(
    path: str | os.PathLike[str], title: str, studies: Sequence[StudyPart], *, most_bytes: int = MOST_BYTES
) -> None:
    """Write a page about comparisons as one HTML file.

    Parameters
    ----------
    path : the file; its folder is created
    title : of the page
    studies : its parts
    most_bytes : size that the file must not exceed; pictures that do not fit are left out, and the page says so
    """
    parts = [_part(study, nth) for nth, study in enumerate(studies)]
    specs = {chart["id"]: chart["spec"] for part in parts for chart in part["charts"]}
    data = {"charts": specs, "lines": {chart["id"]: chart["lines"] for part in parts for chart in part["charts"]}}
    context = {"version": __version__, "title": title, "parts": parts, "data": data, "left_out": 0}
    left = bytes_left(rendered("study.html", _SCRIPTS, context), most_bytes)
    for part, study in zip(parts, studies, strict=True):
        for file in study.pictures:
            code = base64.b64encode(file.read_bytes()).decode()
            if len(code) + 200 > left:
                context["left_out"] = int(str(context["left_out"])) + 1
                continue
            left -= len(code) + 200
            part["pictures"].append({"name": file.stem, "code": code})
    write_page(path, rendered("study.html", _SCRIPTS, context))


def _part(study: StudyPart, nth: int) -> dict[str, Any]:
    found = blocks(study.text)
    title = found[0].text if found and found[0].kind == "heading" else f"Part {nth + 1}"
    rest = [block for block in found if block is not found[0] or block.kind != "heading"]
    looks = _looks(study.panels)
    return {
        "id": f"part-{nth}",
        "title": title,
        "blocks": [_shown(block) for block in rest],
        "verdicts": list(study.verdicts),
        "looks": looks,
        "checked": [look["name"] for look in looks[:MOST_LINES]],
        "charts": [_chart(panel, looks, f"chart-{nth}-{k}") for k, panel in enumerate(study.panels)],
        "pictures": [],
    }


def _looks(panels: Sequence[Panel]) -> list[dict[str, Any]]:
    """Return the look of each method, the same in every chart: ours first, then the baseline, then the others."""
    styles = {curve.name: curve.style for panel in panels for curve in panel.curves}
    order = {"ours": 0, "baseline": 1, "other": 2}
    names = sorted(styles, key=lambda name: order[styles[name]])
    others = [name for name in names if styles[name] == "other"]
    return [_look(name, styles[name], others.index(name) if name in others else 0) for name in names]


def _look(name: str, style: str, nth: int) -> dict[str, Any]:
    if style == "ours":
        return {"name": name, "colour": "var(--ours)", "dash": _DASHES[0]}
    if style == "baseline":
        return {"name": name, "colour": "var(--mark)", "dash": _DASHES[1]}
    return {"name": name, "colour": f"var(--line-{nth % _COLOURS})", "dash": _DASHES[nth // _COLOURS % len(_DASHES)]}


def _shown(block: Block) -> dict[str, Any]:
    return {"kind": block.kind, "text": block.text, "header": block.header, "rows": block.lines}


def _chart(panel: Panel, looks: Sequence[dict[str, Any]], at: str) -> dict[str, Any]:
    lines = [point for curve in panel.curves for point in _points(curve)]
    names = [look["name"] for look in looks]
    first = [line for line in lines if line["method"] in names[:MOST_LINES]]
    axis = {"values": sorted({line["x"] for line in lines})}
    scale_x = {"zero": False, "nice": False, "padding": 12}
    x = {"field": "x", "type": "quantitative", "title": panel.xlabel, "scale": scale_x, "axis": axis}
    scale: Spec = {"zero": False, "clamp": True}
    if panel.y_limits is not None:
        scale |= {"domain": list(panel.y_limits)}
    y = {"field": "y", "type": "quantitative", "title": panel.ylabel, "scale": scale}
    who = {"field": "method", "type": "nominal", "legend": None}  # the boxes to tick are the legend
    colour, dash = (
        {**who, "scale": {"domain": names, "range": [look[key] for look in looks]}} for key in ("colour", "dash")
    )
    tip = [{"field": "method", "type": "nominal", "title": " "}]
    for key, name in (("x", panel.xlabel), ("y", panel.ylabel)):
        tip.append({"field": key, "type": "quantitative", "title": name, "format": ".4~g"})
    encoding = {"x": x, "y": y, "color": colour, "tooltip": tip}
    layers: list[Spec] = []
    if any(np.isfinite(line["low"]) for line in lines):
        ends = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": colour}
        layers.append({"mark": {"type": "rule", "opacity": 0.45, "clip": True}, "encoding": ends})
    layers += [
        {"mark": {"type": "line", "strokeWidth": 2, "clip": True}, "encoding": {**encoding, "strokeDash": dash}},
        {"mark": {"type": "point", "filled": True, "size": 40, "clip": True}, "encoding": encoding},
    ]
    if panel.reference is not None:
        mark = {"type": "rule", "color": "var(--mark)", "strokeDash": [4, 4]}
        layers.append({"data": {"values": [{"y": panel.reference}]}, "mark": mark, "encoding": {"y": y}})
    words = f"{panel.title}: {panel.ylabel} against {panel.xlabel}, a line for each method."
    spec = chart(layers, words, height=320, data={"name": "lines", "values": first})
    return {"id": at, "title": panel.title, "reference": panel.reference_name, "spec": spec, "lines": lines}


def _points(curve: Curve) -> list[Spec]:
    x, mean = vector(curve.x), vector(curve.mean)
    low = vector(curve.low) if curve.low is not None else np.full(len(x), np.nan)
    high = vector(curve.high) if curve.high is not None else np.full(len(x), np.nan)
    rows = zip(x.tolist(), mean.tolist(), low.tolist(), high.tolist(), strict=True)
    return [{"method": curve.name, "x": a, "y": b, "low": c, "high": d} for a, b, c, d in rows if np.isfinite(b)]
