"""The terminal. Texts from files and file names are shown as they are: no markup, and nothing that steers a terminal."""

import re
import sys
from typing import Any

from rich.console import Console
from rich.text import Text

# Control characters but tab and newline, and those that turn the direction of writing or hide.
_HIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def visible(text: str) -> str:
    r"""Return a text with every character that a terminal would obey, and not show, written out.

    Examples
    --------
    >>> visible("a\x1b[2Jb")
    'a\\u001b[2Jb'
    """
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def one_line(text: str) -> str:
    r"""Return a text from a file for one line of the screen, so that it cannot pretend to be several.

    Examples
    --------
    >>> one_line("none\n  holds  everything")
    'none\\n  holds  everything'
    """
    return visible(text.replace("\n", "\\n"))


def styled(*parts: str | tuple[str, str]) -> Text:
    """Return a text of parts, each alone or with a style.

    Examples
    --------
    >>> styled(("holds", "green"), ": [all]").plain
    'holds: [all]'
    """
    pairs = [(part, "") if isinstance(part, str) else part for part in parts]
    return Text.assemble(*((visible(text), style) for text, style in pairs))


class Screen(Console):
    """A console for which every string is plain text; styles come from `styled` or from the style of a print."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Turn a string into text, which the console does for everything that it prints."""
        return super().render_str(visible(text), **options)


def take_any_character() -> None:
    """Let standard output and error write a mark for a character that their encoding lacks, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def knows_unicode() -> bool:
    """Return whether standard output can write every character."""
    return (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") in ("utf8", "utf16", "utf32")
