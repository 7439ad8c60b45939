"""The page of a comparison or of an experiment: what was found in words, tables, and charts to choose lines in."""

import base64
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
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
    """

    text: str
    panels: Sequence[Panel] = ()
    pictures: Sequence[Path] = field(default_factory=tuple)


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
    names = list(dict.fromkeys(curve.name for panel in study.panels for curve in _by_style(panel)))
    return {
        "id": f"part-{nth}",
        "title": title,
        "blocks": [_shown(block) for block in rest],
        "methods": names,
        "checked": names[:MOST_LINES],
        "charts": [_chart(panel, names, f"chart-{nth}-{k}") for k, panel in enumerate(study.panels)],
        "pictures": [],
    }


def _shown(block: Block) -> dict[str, Any]:
    return {"kind": block.kind, "text": block.text, "header": block.header, "rows": block.lines}


def _by_style(panel: Panel) -> list[Curve]:
    order = {"ours": 0, "baseline": 1, "other": 2}
    return sorted(panel.curves, key=lambda curve: order[curve.style])


def _chart(panel: Panel, names: Sequence[str], at: str) -> dict[str, Any]:
    lines = [point for curve in panel.curves for point in _points(curve)]
    looks = {curve.name: curve.style for curve in panel.curves}
    others = [name for name in names if looks.get(name) == "other"]
    colours = [_colour(looks.get(name, "other"), others.index(name) if name in others else 0) for name in names]
    dashes = [_dash(looks.get(name, "other"), others.index(name) if name in others else 0) for name in names]
    x = {"field": "x", "type": "quantitative", "title": panel.xlabel, "scale": {"zero": False, "nice": True}}
    scale: Spec = {"zero": False, "clamp": True}
    if panel.y_limits is not None:
        scale |= {"domain": list(panel.y_limits)}
    y = {"field": "y", "type": "quantitative", "title": panel.ylabel, "scale": scale}
    legend = {"title": None, "orient": "top", "columns": 2, "labelLimit": 130, "symbolType": "stroke"}
    who = {"field": "method", "type": "nominal", "legend": legend}
    colour, dash = ({**who, "scale": {"domain": list(names), "range": looked}} for looked in (colours, dashes))
    tip = [{"field": "method", "type": "nominal", "title": " "}]
    for key, name in (("x", panel.xlabel), ("y", panel.ylabel)):
        tip.append({"field": key, "type": "quantitative", "title": name, "format": ".4~g"})
    encoding = {"x": x, "y": y, "color": colour, "tooltip": tip}
    layers: list[Spec] = [
        {
            "transform": [{"filter": "isValid(datum.low)"}],
            "mark": {"type": "rule", "opacity": 0.45, "clip": True},
            "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": colour},
        },
        {"mark": {"type": "line", "strokeWidth": 2, "clip": True}, "encoding": {**encoding, "strokeDash": dash}},
        {"mark": {"type": "point", "filled": True, "size": 40, "clip": True}, "encoding": encoding},
    ]
    if panel.reference is not None:
        mark = {"type": "rule", "color": "var(--mark)", "strokeDash": [4, 4]}
        layers.append({"data": {"values": [{"y": panel.reference}]}, "mark": mark, "encoding": {"y": y}})
    words = f"{panel.title}: {panel.ylabel} against {panel.xlabel}, a line for each method."
    spec = chart(layers, words, height=320, data={"name": "lines", "values": []})
    return {"id": at, "title": panel.title, "reference": panel.reference_name, "spec": spec, "lines": lines}


def _points(curve: Curve) -> list[Spec]:
    x, mean = vector(curve.x), vector(curve.mean)
    low = vector(curve.low) if curve.low is not None else np.full(len(x), np.nan)
    high = vector(curve.high) if curve.high is not None else np.full(len(x), np.nan)
    rows = zip(x.tolist(), mean.tolist(), low.tolist(), high.tolist(), strict=True)
    return [{"method": curve.name, "x": a, "y": b, "low": c, "high": d} for a, b, c, d in rows if np.isfinite(b)]


def _colour(style: str, nth: int) -> str:
    return {"ours": "var(--ours)", "baseline": "var(--mark)"}.get(style, f"var(--line-{nth % _COLOURS})")


def _dash(style: str, nth: int) -> list[int]:
    return {"ours": _DASHES[0], "baseline": _DASHES[1]}.get(style, _DASHES[nth // _COLOURS % len(_DASHES)])
