"""The site builds with every link checked, loads nothing from elsewhere, and describes every public name."""

import doctest
import importlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from docs.making import gallery, reference, results

ROOT = Path(__file__).resolve().parents[1]
LOADED = re.compile(r"<(?:script|img|link|iframe)\b[^>]*>")
MODULES = [pytest.param(module, id=module) for module in reference.NAMES]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("material")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_site_has_every_page_and_loads_nothing_from_elsewhere(site):
    pages = {path.relative_to(site).as_posix(): path.read_text() for path in site.rglob("*.html")}
    expected = [*results.pages(), *gallery.pages(), "index.md", "changes.md", "contributing.md"]
    expected += [f"reference/{module}.md" for module in reference.NAMES]
    expected += [path.name for path in (ROOT / "docs").glob("*.md")]
    assert {name.replace(".md", ".html") for name in expected} <= set(pages)
    loaded = {tag for text in pages.values() for tag in LOADED.findall(text)}
    assert len(loaded) > 10
    assert [tag for tag in loaded if "//" in tag] == []


def test_the_search_works_from_disk_and_asks_no_server(site, browser):
    page, asked, errors = browser.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((site / "index.html").as_uri())
    page.click("[data-md-component=search-query]")
    page.keyboard.type("annealing")
    page.wait_for_selector(".md-search-result__link")
    assert [url for url in asked if not url.startswith("file:")] == []
    assert errors == []


def test_records_of_results_are_tables_and_files_of_the_site(site):
    page = (site / "results" / "heart" / "index.html").read_text()
    assert "python -m benchmarks lossless" in page
    assert page.count("<table>") >= 10
    assert (site / "results" / "heart" / "lossless.json").is_file()
    assert (site / "results" / "paper" / "pruning" / "accuracy.png").is_file()


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_described_with_an_example_that_runs(module):
    if module.endswith((".torch", ".sklearn")):
        pytest.importorskip(module.rpartition(".")[2])
    room, page = importlib.import_module(module), reference.page_of(module)
    assert [name for name in reference.names_in(module) if f"\n## {name}\n" not in page] == []
    called = [getattr(room, name) for name in reference.names_in(module) if callable(getattr(room, name))]
    described = [item for item in called if not (inspect.isclass(item) and issubclass(item, Exception))]
    assert [item.__name__ for item in described if ">>>" not in (inspect.getdoc(item) or "")] == []


def test_signatures_leave_out_what_the_list_of_options_says():
    page = reference.page_of("leanset")
    assert "prune(features, labels=None, settings=None, *, ...)" in page
    assert "\n- `fraction`: share of examples to remove, in (0, 1)\n" in page


@pytest.mark.parametrize("name", [name for name in gallery.IN_ORDER if name != "quickstart"])
def test_the_gallery_has_a_small_picture_of_each_idea(name):
    picture = ROOT / "docs" / "images" / "gallery" / f"{name}.png"
    assert picture.stat().st_size < 100_000
    assert f"![{name.replace('_', ' ').capitalize()}]" in gallery.pages()[f"gallery/{name}.md"]


def test_what_makes_the_pages_does_what_it_says():
    assert doctest.testmod(reference).failed == 0
    pytest.importorskip("mkdocs")
    hooks = importlib.import_module("docs.making.hooks")
    assert doctest.testmod(hooks) == (0, 1)
