"""Report pages in a real browser, from disk and without a network."""

from itertools import pairwise

import numpy as np
import pytest

import leanset
from tests.report.pages import CLASSES, NASTY, names_of, pictures_of, small_run

WIDTHS = (375, 1280)

# Elements whose text is cut off or sticks out of the page; what scrolls by itself, and what is hidden, is left out.
OVERFLOWING = """() => {
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    if (element.closest(".scroll, .hidden, .skip, script, style, details:not([open]) > :not(summary)")) continue;
    const box = element.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    const beyond = box.right > innerWidth + 1 || box.left < -1;
    const isHtml = element instanceof HTMLElement;
    const cut = isHtml && element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== "inline";
    const text = element.textContent.trim();
    if ((beyond || cut) && text) found.push(`${element.tagName}.${element.className}: ${text.slice(0, 40)}`);
  }
  return found;
}"""


@pytest.fixture(scope="module")
def pages(browser, tmp_path_factory):
    """Return the paths of pages: of images, of a table, and of a comparison."""
    pytest.importorskip("vl_convert")
    folder = tmp_path_factory.mktemp("pages")
    result, features = small_run(weights=True)
    result.report(folder / "images.html", features, pictures_of(240), names=names_of(240))
    result.report(folder / "table.html", features, columns=[NASTY, "b", "c", "d", "e"])
    result.report(folder / "alone.html")
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 90)
    methods = ["leanset", "leanset-weights", "el2n", "random", "herding", "moderate", "k-center", "grand-last"]
    found = leanset.compare(
        rng.normal(size=(90, 3)) + labels[:, None], labels, methods=methods, fractions=[0.4], seeds=2, threads=1
    )
    found.report(folder / "compare.html")
    return {path.stem: path for path in folder.iterdir()}


@pytest.fixture
def visit(browser):
    """Return a function that opens a page offline and fails if the page complains or asks for anything."""
    complaints, contexts = [], []

    def open_page(path, width=1280, look="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=look, offline=True)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda request: None if request.url.startswith(("file:", "data:")) else complaints.append(request.url),
        )
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-drawn=yes]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.mark.parametrize("name", ["images", "table", "alone", "compare"])
@pytest.mark.parametrize("width", WIDTHS)
def test_pages_load_without_complaint_and_nothing_overflows(visit, pages, name, width):
    page = visit(pages[name], width)
    assert page.locator(".chart svg").count() == page.locator(".chart").count()
    for details in page.locator("details").all():
        details.evaluate("element => { element.open = true; }")
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OVERFLOWING) == []


def test_the_slider_tells_and_draws_what_another_size_costs(visit, pages):
    page = visit(pages["images"])
    words, slider = page.locator("#size-words"), page.locator("#size")
    assert "40.0 % removed (96 of 240): this run" in words.inner_text()
    rule = page.locator("#frontier-answers .mark-rule.role-mark line")
    before = rule.get_attribute("transform")
    slider.focus()
    page.keyboard.press("End")
    assert "this run" not in words.inner_text()
    assert "random sets" in words.inner_text()
    assert slider.get_attribute("aria-valuetext") in words.inner_text()
    page.wait_for_timeout(100)
    assert rule.get_attribute("transform") != before


def count_of(page):
    return int(page.locator("#found").inner_text().split()[0])


def test_filters_leave_what_was_asked_for(visit, pages):
    page = visit(pages["images"])
    assert count_of(page) == 240
    assert page.locator("#rows .card").count() == 48
    page.select_option("select[name=state]", "1")
    assert count_of(page) == 144
    page.select_option("select[name=label]", label=CLASSES[2])
    some = count_of(page)
    assert 0 < some < 144
    assert set(page.locator("#rows .card b").all_inner_texts()) == {CLASSES[2]}
    assert set(page.locator("#rows .card .state").all_inner_texts()) == {"kept"}
    page.fill("input[name=weight-low]", "1.2")
    fewer = count_of(page)
    assert fewer < some
    page.select_option("select[name=order]", "-weight")
    weights = [float(text.split("weight ")[1]) for text in page.locator("#rows .card .said").all_inner_texts()]
    assert weights == sorted(weights, reverse=True)
    assert min(weights) >= 1.2
    page.fill("input[name=influence-high]", "0")
    assert count_of(page) == 0
    page.click("button[type=reset]")
    page.wait_for_timeout(50)
    assert count_of(page) == 240
    page.click("#later")
    assert page.locator("#page-number").inner_text() == "page 2 of 5"


def test_a_table_is_browsed_by_rows(visit, pages):
    page = visit(pages["table"])
    assert page.locator("#rows tbody tr").count() == 25
    assert NASTY in page.locator("#rows thead th").all_inner_texts()
    page.select_option("select[name=state]", "0")
    assert set(page.locator("#rows .state").all_inner_texts()) == {"removed"}


def background(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def test_the_look_follows_the_system_and_the_button(visit, pages):
    light, dark = visit(pages["images"], look="light"), visit(pages["images"], look="dark")
    shades = background(light), background(dark)
    assert shades[0] != shades[1]
    line = "#frontier-change .mark-line path"
    colours = [page.evaluate(f"getComputedStyle(document.querySelector('{line}')).stroke") for page in (light, dark)]
    assert colours[0] != colours[1]  # charts too
    light.get_by_role("button", name="Switch to the dark look").press("Enter")
    assert background(light) == shades[1]
    light.emulate_media(media="print")  # paper is white, whatever the look
    assert background(light) == "rgb(255, 255, 255)"


def test_markup_in_names_is_shown_as_text(visit, pages):
    page = visit(pages["images"])
    assert page.title() != "taken"
    assert page.locator("img[src=x]").count() == 0
    assert NASTY in page.locator("select[name=label]").inner_text()
    assert names_of(1)[0] in page.locator("#rows .file").first.inner_text()
    assert page.locator("#rows u").count() == 0
    page.locator("#map .mark-symbol path").first.hover(force=True)
    assert page.locator("#tip img").count() == 1


def test_the_map_shows_one_class(visit, pages):
    page = visit(pages["images"])
    points = page.locator("#map .mark-symbol.role-mark path")
    page.wait_for_function("document.querySelectorAll('#map .mark-symbol.role-mark path').length === 240")
    page.select_option("#map-class", label=CLASSES[0])
    page.wait_for_timeout(200)
    assert 0 < points.count() < 240


def test_everything_to_use_has_a_name_and_the_headings_are_in_order(visit, pages):
    page = visit(pages["images"])
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("input, select, button, a, summary")].filter(
          (element) => !(element.labels?.length || element.textContent.trim() || element.getAttribute("aria-label"))).length"""
    )
    assert unnamed == 0
    assert page.evaluate("[...document.images].filter((image) => !image.alt).length") == 0
    levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3')].map((heading) => Number(heading.tagName[1]))")
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"


def test_a_comparison_shows_at_most_seven_lines(visit, pages):
    page = visit(pages["compare"])
    boxes = page.locator(".methods input")
    assert boxes.count() == 9
    assert page.locator(".methods input:checked").count() == 7
    assert page.locator(".methods input:disabled").count() == 2
    boxes.first.uncheck()
    assert page.locator(".methods input:disabled").count() == 0
