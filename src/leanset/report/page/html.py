"""From values to one HTML file that needs nothing else: template, style, scripts and the charting library inside."""

import functools
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from leanset._errors import InputError, missing_extra
from leanset._folder import Folder, json_safe
from leanset.report.words import size

TEMPLATES = Path(__file__).with_name("templates")
MOST_BYTES = 10_000_000


def rendered(template: str, scripts: tuple[str, ...], context: dict[str, Any]) -> bytes:
    """Return a page.

    Parameters
    ----------
    template : file in `templates/`
    scripts : files there that go into the page, in this order
    context : values for the template; everything in them is shown as text, whatever markup it contains
    """
    try:
        import jinja2
    except ImportError:
        raise missing_extra("A report page", "report") from None
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["with_code"] = _with_code
    own = {
        "style": _file("page.css"),
        "library": charting_library(),
        "scripts": "\n".join(_file(name) for name in scripts),
    }
    page: str = environment.get_template(template).render(own | json_safe(context))
    return page.encode()


def check_page(path: str | os.PathLike[str]) -> None:
    """Raise now what writing a page would raise after hours of work: a missing extra, or a folder as its file."""
    if find_spec("jinja2") is None or find_spec("vl_convert") is None:
        raise missing_extra("A report page", "report")
    if Path(path).is_dir():
        raise InputError(f"{path}: is a folder; give the name of the file to write, such as report.html.")


def write_page(path: str | os.PathLike[str], page: bytes) -> None:
    """Write a page completely or not at all."""
    check_page(path)
    target = Path(path)
    Folder(target.parent).write_bytes(target.name, page)


def bytes_left(page: bytes, most_bytes: int) -> int:
    """Return how many bytes of pictures fit into a page; raise if it is too large without any."""
    left = most_bytes - len(page)
    if left < 0:
        raise InputError(f"`max_bytes={most_bytes}` is too small: this page has {size(len(page))} without any picture.")
    return left


@functools.cache
def charting_library() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script; making it takes a few seconds."""
    try:
        import vl_convert
    except ImportError:
        raise missing_extra("A report page", "report") from None
    bundle: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # the stub lacks the default
    return bundle.replace("</script", "<\\/script")


def _with_code(text: str) -> str:
    """Escape a text, and set what stands between backticks as code."""
    from markupsafe import Markup, escape

    parts = text.split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if k % 2 else escape(part) for k, part in enumerate(parts)
    )


def _file(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")
