import csv
import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from leanset.evaluate import Question
from leanset.judge import POINTS, Interval, plus_minus
from tests.cli.calling import call
from tests.training.networks import striped_images

NETWORK = ("--model", "lenet", "--epochs", 1, "--batch-size", 16, "--device", "cpu", "--workers", 1)
FILES = {
    *("trainings.csv", "trainings.parquet", "summary.csv", "summary.parquet"),
    *("accuracy.svg", "accuracy.png", "README.md", "answer.json", "record.json"),
}
METHODS, FRACTIONS, SEEDS = ("random", "el2n"), (0.25, 0.5), 3  # fewer seeds give no intervals


@pytest.fixture(scope="module")
def image_npz(tmp_path_factory):
    """Sixty images without held-out ones."""
    path, images = tmp_path_factory.mktemp("data") / "images.npz", striped_images(60, held_out=0)
    np.savez(path, images=images.pixels, labels=images.labels)
    return path


@pytest.fixture(scope="module")
def compared(image_npz, tmp_path_factory):
    """A finished comparison: its folder, and what was printed."""
    out = tmp_path_factory.mktemp("compare") / "out"
    asked = ("--methods", ",".join(METHODS), "--fractions", "0.25, 0.5", "--seeds", SEEDS, "--out", out)
    return out, call("compare", image_npz, *NETWORK, *asked, "--json", check=0), asked


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_from_images_to_tables_figures_and_words(compared):
    out, done, _ = compared
    assert {file.name for file in out.iterdir() if file.is_file()} == FILES
    answer = json.loads(done.stdout)
    assert answer == json.loads((out / "answer.json").read_text())
    jobs = Question(methods=METHODS, fractions=FRACTIONS, seeds=SEEDS).jobs("lenet")
    trainings = rows_of(out / "trainings.csv")
    assert {(row["method"], row["fraction"], row["seed"], row["protocol"]) for row in trainings} == {
        (job.method, str(job.fraction), str(job.seed), job.protocol) for job in jobs
    }
    assert len(trainings) == pq.read_table(out / "trainings.parquet").num_rows == len(jobs)
    assert len(rows_of(out / "summary.csv")) == len(answer["rows"]) == len(jobs) / SEEDS
    for row in answer["rows"]:
        mine = [
            float(job["accuracy"])
            for job in trainings
            if all(job[key] == str(row[key]) for key in ("method", "fraction", "protocol"))
        ]
        assert row["accuracy"] == pytest.approx(np.mean(mine))
    page = (out / "README.md").read_text(encoding="utf-8")
    assert all(f"- {line}" in page for line in answer["verdicts"])
    assert len(answer["verdicts"]) == len(METHODS) * len(FRACTIONS) * 2
    cost = json.loads((out / "table" / "scorer.json").read_text())
    assert f"All methods look at one lenet, which is trained once, in {cost['seconds']:.3g} s" in page
    assert answer["choosing"] in page
    against = [line for line in page.splitlines() if line.startswith("| points against class-stratified random")]
    assert len(against) == 2  # one for each protocol
    for row in answer["rows"]:
        if row["method"] not in ("full", "stratified-random"):
            ends = (row[f"against_{end}"] for end in ("low", "high"))
            assert f"| {plus_minus(Interval(row['against_baseline'], *ends, SEEDS), POINTS)} |" in page
        if row["method"] != "full" and row["protocol"] == "equal-epochs":
            assert f"{row['choosing_seconds']:.3g} s ({100 * row['choosing_share']:.3g} %)" in page
    with Image.open(out / "accuracy.png") as drawn:
        assert min(drawn.size) > 100
    assert "<svg" in (out / "accuracy.svg").read_text()


def test_a_share_is_held_out_where_the_source_has_none(compared):
    for row in rows_of(compared[0] / "trainings.csv"):
        assert int(row["kept"]) == round((1 - float(row["fraction"])) * 48)
        assert float(row["accuracy"]) * 12 == pytest.approx(round(float(row["accuracy"]) * 12))


def test_the_baseline_is_there_without_being_asked_for(compared):
    methods = {row["method"] for row in rows_of(compared[0] / "summary.csv")}
    assert methods == {"full", "stratified-random", *METHODS}


def test_the_same_command_again_trains_nothing_and_shows_the_same(compared, image_npz, monkeypatch):
    _, done, asked = compared
    monkeypatch.setattr("leanset.evaluate.study.trained_network", None)
    assert json.loads(call("compare", image_npz, *NETWORK, *asked, "--json", check=0).stdout) == json.loads(done.stdout)
    shown = call("compare", image_npz, *NETWORK, *asked, check=0).stdout
    answer = json.loads(done.stdout)
    differences = [row["against_baseline"] for row in answer["rows"] if row["method"] in METHODS]
    signed = [f"{100 * points:+.1f} ±".replace("-", "−").replace("+0.0", "0.0") for points in differences]
    assert all(text in shown for text in signed)  # each with its interval
    assert all(f"{100 * row['accuracy']:.2f}" in shown for row in answer["rows"])
    assert " ".join(answer["choosing"].split()) in " ".join(shown.split())
    assert call("compare", image_npz, *NETWORK, *asked, "--quiet", check=0).stdout == ""


def test_another_recipe_or_share_in_the_same_folder_is_refused(compared, image_npz, monkeypatch):
    monkeypatch.setattr("leanset.evaluate.study.trained_network", None)
    _, _, asked = compared
    assert "`recipe`" in call("compare", image_npz, *NETWORK, *asked, "--lr", 0.001, check=3).stderr
    assert "`data`" in call("compare", image_npz, *NETWORK, *asked, "--held-out-share", 0.4, check=3).stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--methods", "el3n"), "'el3n'"),
        (("--methods", "random,full"), "'full'"),
        (("--fractions", "0.2,1.2"), "1.2"),
        (("--fractions", "0.2,half"), "--fractions 0.2,half must be comma-separated numbers"),
        (("--fractions", ""), "(0, 1)"),
        (("--protocols", "equal-steps,equal"), "'equal'"),
        (("--protocols", "epochs=0"), "'epochs=0'"),
        (("--protocols", ""), "protocol"),
        (("--seeds", 0), "--seeds 0 must be at least 1"),
        (("--workers", 0), "--workers 0 must be at least 1"),
        (("--train-models", "lenet,lenett"), "--model lenett"),
        (("--held-out-share", 1), "1.0"),
        (("--model", "resnet19"), "resnet20"),
        (("--device", "tpu"), "--device tpu"),
    ],
)
def test_what_is_wrong_is_named_before_anything_is_trained_or_written(image_npz, tmp_path, arguments, said):
    done = call("compare", image_npz, *NETWORK, "--out", tmp_path / "out", *arguments, check=2)
    assert said in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("option", "value"),
    [("--loss", "squared"), ("--l2", 0.1), ("--C", 2), ("--penalty", "total"), ("--no-standardize", None)],
)
def test_options_of_a_head_do_not_apply_to_images(image_npz, tmp_path, option, value):
    given = (option,) if value is None else (option, value)
    done = call("compare", image_npz, *NETWORK, "--out", tmp_path / "out", *given, check=2)
    assert "images" in done.stderr
    assert option in done.stderr
    assert not (tmp_path / "out").exists()


def test_weights_are_for_features_only(image_npz, tmp_path):
    done = call("compare", image_npz, *NETWORK, "--methods", "leanset-weights", "--out", tmp_path / "out", check=2)
    assert "--methods: 'leanset-weights' is for features; choose from leanset, balanced, paper" in done.stderr


def test_a_foreign_folder_keeps_what_it_holds(image_npz, tmp_path):
    (tmp_path / "README.md").write_text("mine")
    assert "in use for something else" in call("compare", image_npz, *NETWORK, "--out", tmp_path, check=3).stderr
    assert (tmp_path / "README.md").read_text() == "mine"


def test_an_interruption_says_that_finished_work_is_kept(image_npz, tmp_path, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("leanset.evaluate.study.trained_network", interrupted)
    done = call("compare", image_npz, *NETWORK, "--methods", "", "--out", tmp_path / "out", check=130)
    assert "run the same command again" in done.stderr


def test_one_seed_and_one_method_make_a_page_too(image_npz, tmp_path):
    least = ("--methods", "", "--fractions", 0.5, "--seeds", 1, "--protocols", "epochs=1", "--out", tmp_path / "out")
    answer = json.loads(call("compare", image_npz, *NETWORK, *least, "--json", check=0).stdout)
    assert {row["method"] for row in answer["rows"]} == {"full", "stratified-random"}
    assert answer["verdicts"] == []
    assert all(row["low"] is None for row in answer["rows"])
    assert {file.name for file in (tmp_path / "out").iterdir() if file.is_file()} == FILES


def test_a_dry_run_says_what_is_left_and_writes_nothing(compared, image_npz, tmp_path):
    out, _, asked = compared
    jobs = Question(methods=METHODS, fractions=FRACTIONS, seeds=SEEDS).jobs("lenet")
    fresh = (*asked[:-1], tmp_path / "out")
    said = json.loads(call("compare", image_npz, *NETWORK, *fresh, "--dry-run", "--json", check=0).stdout)
    trainings = said["shares"][-1]
    assert (trainings["work"], trainings["number"], trainings["finished"]) == ("training lenet", len(jobs), 0)
    assert said["seconds"] == pytest.approx(sum(share["left"] for share in said["shares"]))
    shown = call("compare", image_npz, *NETWORK, *fresh, "--plan", check=0).stdout  # another name for it
    assert "choosing with el2n" in shown
    assert not (tmp_path / "out").exists()
    files = sorted(out.rglob("*"))
    done = json.loads(call("compare", image_npz, *NETWORK, *asked, "--dry-run", "--json", check=0).stdout)
    assert done["seconds"] == 0
    assert sorted(out.rglob("*")) == files
