"""The little Markdown that leanset itself writes, read back into blocks: headings, tables, lists and paragraphs."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Block:
    """A heading or a paragraph (`text`), a list (`lines`), or a table (`lines` of cells under `header`)."""

    kind: str
    text: str = ""
    header: tuple[str, ...] = ()
    lines: tuple[tuple[str, ...], ...] = ()


def blocks(text: str) -> list[Block]:
    r"""Return the blocks of a text.

    Examples
    --------
    >>> [block.kind for block in blocks("# A\n\nb\nc\n\n- d\n- e\n\n| x | y |\n|---|---|\n| 1 | 2 |")]
    ['heading', 'paragraph', 'list', 'table']
    """
    parts = re.split(r"\n\s*\n", re.sub(r"^(#+ .*)$", r"\n\1\n", text.strip(), flags=re.MULTILINE))
    return [_block(part.strip().splitlines()) for part in parts if part.strip()]


def _block(lines: list[str]) -> Block:
    if lines[0].startswith("#"):
        return Block("heading", lines[0].lstrip("# "))
    if lines[0].startswith("|"):
        header, *rows = [_cells(line) for line in lines]
        return Block("table", header=header, lines=tuple(rows[1:]))
    if lines[0].startswith("- "):
        return Block("list", lines=tuple((line.removeprefix("- "),) for line in lines))
    return Block("paragraph", _plain(" ".join(lines)))


def _cells(line: str) -> tuple[str, ...]:
    return tuple(_plain(cell.strip()) for cell in line.strip().strip("|").split("|"))


def _plain(text: str) -> str:
    return text.replace("**", "").replace("`", "")
