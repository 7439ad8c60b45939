"""docs/api.md knows every option, every public name and every finding."""

import re
import runpy
from dataclasses import fields
from pathlib import Path

import leanset

ROOT = Path(__file__).resolve().parents[1]
MAKER = runpy.run_path(str(ROOT / "docs" / "make_api.py"))
PAGE = (ROOT / "docs" / "api.md").read_text()


def test_the_options_are_those_of_the_settings():
    assert MAKER["page_with_options"](PAGE) == PAGE, "docs/api.md is not up to date: run `make api`"


def test_every_option_has_a_row():
    rows = set(re.findall(r"^\| `(\w+)` \| (?:`--|only in Python)", PAGE, flags=re.MULTILINE))
    assert rows == {item.name for kind in (leanset.Settings, leanset.CompareSettings) for item in fields(kind)}


def test_an_outdated_page_is_made_anew():
    stale = re.sub(r"\| `seed` .*\n", "", PAGE)
    assert stale != PAGE
    assert MAKER["page_with_options"](stale) == PAGE


def test_every_public_name_is_on_the_page():
    code = " ".join(re.findall(r"`([^`]+)`", PAGE))
    assert [name for name in leanset.__all__ if not re.search(rf"\b{name}\b", code)] == []


def test_every_finding_is_on_the_page_and_no_other():
    sources = Path(leanset.__file__).parent.rglob("*.py")
    codes = {code for path in sources for code in re.findall(r'"(LS\d{3})"', path.read_text())}
    assert set(re.findall(r"^\| `(LS\d{3})` \|", PAGE, flags=re.MULTILINE)) == codes
