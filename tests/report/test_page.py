import json
import re
import sys
import types
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import leanset
from leanset import InputError, MissingExtraError
from leanset.data import Images
from leanset.report.page import html
from leanset.report.page.findings import ADVICE, about_classes, about_pairs, about_random, about_residual, notes
from leanset.report.page.landscape import landscape
from leanset.report.page.neighbours import near_duplicates, nearest_kept
from leanset.report.verdict import certificate_lines, verdict
from tests.report.pages import CLASSES, NASTY, names_of, pictures_of, small_run

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def run():
    return small_run()


@pytest.fixture(scope="module")
def written(run, tmp_path_factory):
    """Return the text of a page with pictures and names, and the path of the page."""
    pytest.importorskip("vl_convert")
    result, features = run
    path = tmp_path_factory.mktemp("page") / "new" / "report.html"
    result.report(path, features, pictures_of(240), names=names_of(240))
    return path.read_text(), path


def parsed(page, name):
    return json.loads(
        re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page, flags=re.DOTALL)[1]
    )


def test_the_page_is_one_file_that_asks_for_nothing(written):
    page, path = written
    own = page.replace(html.charting_library(), "")
    assert [item.name for item in path.parent.iterdir()] == ["report.html"]
    assert re.findall(r"""(?:src|href)=["'](?!#|data:)""", own) == []
    assert re.findall(r"https?://", own) == []
    assert "default-src 'none'" in own


def test_markup_in_names_stays_text(written):
    page, _ = written
    own = page.replace(html.charting_library(), "")
    assert NASTY not in own
    assert "<b>bold" not in own
    assert "<u>" not in own
    items = parsed(page, "data")["items"]
    assert sorted(items["labels"]) == sorted(CLASSES)
    assert set(items["name"]) == set(names_of(240))


def test_the_page_knows_every_row_and_which_ones_are_kept(run, written):
    (result, _), (page, _) = run, written
    items = parsed(page, "data")["items"]
    assert items["row"] == list(range(240))
    assert np.flatnonzero(items["kept"]).tolist() == result.kept.tolist()
    assert len(parsed(page, "thumbs")) == 240
    by_key = {gallery["key"]: gallery for gallery in parsed(page, "extra")["galleries"]}
    assert by_key["duplicates"]["items"] == [[0, 1]]
    assert all(items["kept"][b] and not items["kept"][a] for a, b in by_key["redundant"]["items"])
    top = by_key["influential"]["items"][0][0]
    assert top == int(np.argmax(result.influence_norm))


def test_the_slider_has_every_size_and_marks_the_run(run, written):
    (result, _), (page, _) = run, written
    sizes = parsed(page, "extra")["sizes"]
    assert [size["removed"] for size in sizes] == [point.removed for point in result.frontier]
    assert [size["removed"] for size in sizes if size["is_chosen"]] == [result.certificate.removed]


def test_no_chart_has_more_than_seven_lines(written):
    for spec in parsed(written[0], "data")["charts"].values():
        for layer in spec["layer"]:
            scale = layer["encoding"].get("color", {}).get("scale", {"domain": []})
            assert len(scale["domain"]) <= 7


def test_pictures_fit_into_the_size_and_the_page_says_what_is_left_out(run, tmp_path):
    pytest.importorskip("vl_convert")
    result, features = run
    result.report(tmp_path / "bare.html", features, np.zeros((240, 2, 2), np.uint8))
    limit = (tmp_path / "bare.html").stat().st_size + 30_000
    result.report(tmp_path / "small.html", features, pictures_of(240, side=64), max_bytes=limit)
    page = (tmp_path / "small.html").read_text()
    assert (tmp_path / "small.html").stat().st_size <= limit
    shown = len(parsed(page, "thumbs"))
    assert 0 < shown < 240
    assert f"{240 - shown} pictures of these rows did not fit" in page
    with pytest.raises(InputError, match=r"`max_bytes=1000` is too small: this page has"):
        result.report(tmp_path / "none.html", features, pictures_of(240), max_bytes=1000)
    assert not (tmp_path / "none.html").exists()


def test_a_saved_run_alone_makes_a_page_that_says_what_is_missing(run, tmp_path):
    pytest.importorskip("vl_convert")
    run[0].report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "Without the features, neighbours and the map cannot be shown" in page
    assert 'id="map"' not in page


def test_texts_and_columns_are_shown(run, tmp_path):
    pytest.importorskip("vl_convert")
    result, features = run
    result.report(tmp_path / "texts.html", features, texts=[f"text <i>{row}</i>" for row in range(240)])
    assert parsed((tmp_path / "texts.html").read_text(), "data")["items"]["text"][7] == "text <i>7</i>"
    result.report(tmp_path / "table.html", features, columns=list("abcde"))
    items = parsed((tmp_path / "table.html").read_text(), "data")["items"]
    assert items["columns"] == list("abcde")
    np.testing.assert_allclose(items["cells"][3], features[3], rtol=1e-4)
    with pytest.raises(InputError, match="`columns` must name the 5 features; got 2"):
        result.report(tmp_path / "no.html", features, columns=["a", "b"])


def test_numbers_and_label_sets_have_pages_too(tmp_path):
    pytest.importorskip("vl_convert")
    rng = np.random.default_rng(0)
    features = rng.normal(size=(120, 4))
    options = {"fraction": 0.3, "threads": 1, "frontier": False}
    numbers = leanset.prune(features, features @ [1.0, 2, 3, 4] + rng.normal(size=120), loss="squared", **options)
    numbers.report(tmp_path / "numbers.html", features)
    groups = parsed((tmp_path / "numbers.html").read_text(), "data")["items"]["groups"]
    assert len(groups) == 10
    assert all(" to " in name for name in groups)
    tags = (features[:, :3] + rng.normal(size=(120, 3)) > 0).astype(int)
    several = leanset.prune(features, tags, loss="sigmoid", **options)
    several.report(tmp_path / "several.html", features)
    items = parsed((tmp_path / "several.html").read_text(), "data")["items"]
    assert items["groups"] == ["0", "1", "2"]
    assert items["group"][5] == np.flatnonzero(tags[5]).tolist()


def test_other_data_are_refused(run, tmp_path):
    result, features = run
    with pytest.raises(InputError, match="`features` must have one entry for each of the 240 rows"):
        result.report(tmp_path / "a.html", features[:100])
    labels = np.array(CLASSES)[np.arange(240) % 3]
    np.savez(tmp_path / "other.npz", features=features, labels=labels)
    with pytest.raises(InputError, match="not the data of this run"):
        result.report(tmp_path / "a.html", tmp_path / "other.npz")
    strangers = Images(np.zeros((240, 1, 4, 4), np.uint8), np.arange(240) % 3, ("a", "b", "c"))
    with pytest.raises(InputError, match="classes of the images are not those of this run"):
        result.report(tmp_path / "a.html", features, strangers)
    with pytest.raises(InputError, match="do not have all rows"):
        result.report(tmp_path / "a.html", features, strangers.take(np.arange(5)))
    with pytest.raises(InputError, match=r"is a folder; give the name of the file"):
        result.report(tmp_path, features)


def test_class_names_of_the_images_replace_numbers(tmp_path):
    pytest.importorskip("vl_convert")
    rng = np.random.default_rng(0)
    codes = np.arange(90) % 2
    features = rng.normal(size=(90, 3)) + codes[:, None]
    result = leanset.prune(features, codes, count=30, frontier=False, threads=1)
    images = Images(pictures_of(90).transpose(0, 3, 1, 2), codes, ("cat", "dog"))
    result.report(tmp_path / "report.html", features, images)
    assert parsed((tmp_path / "report.html").read_text(), "data")["items"]["groups"] == ["cat", "dog"]


@pytest.mark.parametrize("absent", ["jinja2", "vl_convert"])
def test_without_the_extra_it_is_named(run, tmp_path, monkeypatch, absent):
    html.charting_library.cache_clear()
    monkeypatch.setitem(sys.modules, absent, None)
    with pytest.raises(MissingExtraError, match=r'pip install "leanset\[report\]"'):
        run[0].report(tmp_path / "report.html")
    html.charting_library.cache_clear()


def test_umap_makes_the_map_where_it_is_installed(monkeypatch):
    module = types.ModuleType("umap")
    module.__spec__ = types.SimpleNamespace()
    module.UMAP = lambda **_: types.SimpleNamespace(fit_transform=lambda points: points[:, :2] + 7)
    monkeypatch.setitem(sys.modules, "umap", module)
    made = landscape(np.random.default_rng(0).normal(size=(60, 3)), 0)
    assert made.how.startswith("UMAP")
    assert landscape(np.ones((3, 3)), 0).how.startswith("PCA")


def test_neighbours_are_those_of_all_pairs():
    rng = np.random.default_rng(1)
    points, kept = rng.normal(size=(300, 3)), np.arange(300) % 3 > 0  # as many directions as columns: exact
    pairs = nearest_kept(points - points.mean(axis=0), kept)
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    for first, second in zip(pairs.first, pairs.second, strict=True):
        assert distance[first, second] == pytest.approx(distance[first, kept].min())
    assert sorted(pairs.first.tolist()) == np.flatnonzero(~kept).tolist()
    doubled = np.concatenate([points, points[:4] + 1e-6])
    found = near_duplicates(doubled - doubled.mean(axis=0))
    assert {(a, b) for a, b in zip(found.first.tolist(), found.second.tolist(), strict=True) if b >= 300} == {
        (k, 300 + k) for k in range(4)
    }


def test_ls103_a_class_nearly_gone(run):
    facts = run[0].facts()
    assert about_classes(facts) == []
    first = facts.labels == CLASSES[0]
    [found] = about_classes(replace(facts, kept=facts.kept & ~first))
    assert found.code == "LS103"
    assert f"(0 of {first.sum()})" in found.text


def test_ls114_and_ls117_near_duplicates():
    pairs = near_duplicates(np.array([[-2.0], [-1.0], [-1.001], [0.0], [1.0], [2.001]]))
    assert about_pairs(None, np.zeros(6)) == []
    assert [found.code for found in about_pairs(pairs, np.zeros(6))] == ["LS117"]
    assert [found.code for found in about_pairs(pairs, np.arange(6))] == ["LS117", "LS114"]


def test_ls115_no_better_than_random(run):
    certificate = run[0].certificate
    better = replace(certificate, loss_above_random_low=-0.2, loss_above_random_high=-0.1)
    assert about_random(better) == []
    unsure = replace(certificate, loss_above_random_low=-0.1, loss_above_random_high=0.1)
    assert [found.code for found in about_random(unsure)] == ["LS115"]
    assert about_random(replace(unsure, refit_change=0.0)) == []  # the same model need not be better
    assert "higher than" in about_random(replace(unsure, loss_above_random_low=0.05))[0].text


def test_ls116_a_large_residual(run):
    certificate = run[0].certificate
    assert about_residual(certificate) == []
    [found] = about_residual(replace(certificate, inverse_residual=0.3))
    assert found.code == "LS116"


def test_the_urgent_comes_first_and_a_far_head_is_urgent(run):
    facts = run[0].facts()
    gone = replace(facts, kept=facts.kept & (facts.labels != CLASSES[0]))
    assert notes(gone, None, facts.labels)[0].code == "LS103"
    far = leanset.Finding("LS105", "far")
    for distance, urgency in ((10.0, "check"), (1e-6, "know")):
        certificate = replace(facts.certificate, findings=(far,), start_head_distance=distance)
        [note] = [
            note for note in notes(replace(facts, certificate=certificate), None, facts.labels) if note.code == "LS105"
        ]
        assert note.urgency == urgency


def test_every_code_has_advice_and_a_place_in_the_docs():
    sources = Path(leanset.__file__).parent.rglob("*.py")
    known = {code for path in sources for code in re.findall(r'"(LS\d{3})"', path.read_text())}
    assert set(ADVICE) == known
    sections = re.findall(r"^## (LS\d{3})$", (DOCS / "findings.md").read_text(), flags=re.MULTILINE)
    assert sections == sorted(known)


def test_the_verdict_says_how_to_train_and_how_random_sets_do(run):
    certificate = run[0].certificate
    said = verdict(replace(certificate, loss_above_random_low=-0.2, loss_above_random_high=-0.1))
    assert said.headline.startswith("40.0 % removed; ")
    assert said.training == "Train with C unchanged."
    same = verdict(replace(certificate, refit_change=0.0, weighted=True))
    assert "the model is the same to" in same.headline
    assert same.training == "Train with C unchanged and the weights in kept.csv."
    assert verdict(replace(certificate, loss_above_random_low=0.1)).tone == "bad"
    assert verdict(replace(certificate, penalty="mean")).training == "Train with l2 (weight decay) unchanged."
    assert verdict(replace(certificate, removed=0)).headline.startswith("Nothing")


def test_no_line_of_the_certificate_has_a_signed_zero(run):
    tiny = {"validation_loss_gap": -1e-9, "validation_loss_gap_low": -1e-8, "validation_loss_gap_high": 1e-9}
    lines = certificate_lines(replace(run[0].certificate, **tiny))
    text = " ".join(f"{line.ours} {line.random} {line.meaning}" for line in lines)
    assert re.findall(r"[+−-]0(?:\.0+)?\b", text) == []
    assert "less than 0.0001 either way" in text


def test_a_replaced_run_loses_its_report(tmp_path):
    result, _ = small_run(count=40, fraction=None, frontier=False)
    result.save(tmp_path / "run")
    (tmp_path / "run" / "report.html").write_text("old")
    result.save(tmp_path / "run", overwrite=True)
    assert not (tmp_path / "run" / "report.html").exists()


@pytest.mark.shared
def test_a_page_about_fifty_thousand_images_stays_under_ten_megabytes(cifar_head, tmp_path):
    pytest.importorskip("vl_convert")
    pictures = cifar_head.parent / "cifar-10-batches-py"
    if not pictures.is_dir():
        pytest.skip("needs ../shared/data/cifar-10-batches-py")
    options = {"method": "random", "l2": 1e-4, "frontier": False, "random_draws": 2, "suspects": "ignore"}
    result = leanset.prune(str(cifar_head), fraction=0.4, **options)
    result.report(tmp_path / "report.html", str(cifar_head), f"cifar10:{pictures}")
    assert (tmp_path / "report.html").stat().st_size < 10_000_000
    page = (tmp_path / "report.html").read_text()
    assert parsed(page, "data")["items"]["groups"][:2] == ["airplane", "automobile"]
    assert len(parsed(page, "thumbs")) >= 3000
