import csv
import json
import subprocess
import sys

import numpy as np
import pytest

import leanset
from leanset.head import HeadStatistics
from leanset.trials import cell as cell_module
from tests.cli.calling import call

ASKED = ("--methods", "leanset-weights,el2n", "--fractions", "0.3,0.5", "--seeds", 2, "--l2", 0.01)
FILES = {"README.md", "answer.json", "record.json", "cells.csv", "cells.parquet", "summary.csv", "summary.parquet"}


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_from_features_to_tables_and_words(toy, toy_npz, tmp_path):
    out = tmp_path / "out"
    answer = json.loads(call("compare", toy_npz, *ASKED, "--out", out, "--json", check=0).stdout)
    assert {file.name for file in out.iterdir() if file.is_file()} == FILES
    assert answer == json.loads((out / "answer.json").read_text())
    found = leanset.compare(
        *toy[:2], validation=toy[2], methods=["leanset-weights", "el2n"], fractions=[0.3, 0.5], seeds=2, l2=0.01
    )
    assert answer["verdicts"] == list(found.verdicts)
    summary, cells = rows_of(out / "summary.csv"), rows_of(out / "cells.csv")
    assert len(summary) == 2 * 4
    assert len(cells) == 1 + 2 * 2 * 3
    for row, mine in zip(found.rows, summary, strict=True):
        assert (row.method, str(row.fraction)) == (mine["method"], mine["fraction"])
        assert float(mine["loss"]) == pytest.approx(row.loss.mean, rel=1e-9)
        assert float(mine["unchanged"]) == pytest.approx(row.unchanged.mean, rel=1e-9)
    page = (out / "README.md").read_text(encoding="utf-8")
    assert found.about in page
    assert all(f"- {line}" in page for line in answer["verdicts"])
    assert "| leanset-weights | " in page
    record = json.loads((out / "record.json").read_text())
    assert record["question"] == {
        "methods": ["stratified-random", "leanset-weights", "el2n"],
        "fractions": [0.3, 0.5],
        "seeds": 2,
    }


def test_the_report_of_a_comparison_says_first_how_leanset_does(toy_npz, tmp_path):
    pytest.importorskip("vl_convert")
    page = tmp_path / "page.html"
    quick = ("--methods", "leanset,el2n", "--fractions", 0.5, "--seeds", 2, "--out", tmp_path / "study")
    assert f"Report: {page}" in call("compare", toy_npz, *quick, "--report", page, check=0).stdout
    first = page.read_text().split('class="verdict"')[1].split("</div>")[0]
    assert "leanset" in first
    assert "el2n" not in first


def test_the_same_command_again_computes_nothing_and_shows_the_table(toy_npz, tmp_path, monkeypatch):
    asked = (*ASKED, "--out", tmp_path / "out")
    answer = json.loads(call("compare", toy_npz, *asked, "--json", check=0).stdout)
    monkeypatch.setattr(cell_module, "prune", None)
    shown = call("compare", toy_npz, *asked, check=0).stdout
    for line in answer["verdicts"]:
        assert line in " ".join(shown.split())
    for words in ("30 % removed, 168 of 240 rows kept", "accuracy", "against random", "unchanged", "moves", "time"):
        assert words in shown
    assert all(f"{100 * row['accuracy']['mean']:.2f}" in shown for row in answer["rows"])
    assert call("compare", toy_npz, *asked, "--quiet", check=0).stdout == ""
    assert "different --l2" in call("compare", toy_npz, *asked, "--l2", 0.5, check=3).stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--model", "lenet"), "--model lenet does not apply to features, on which no network is trained."),
        (("--epochs", 3), "--epochs 3 does not apply to features"),
        (("--workers", 2), "--workers 2 does not apply to features"),
        (("--protocols", "equal-steps"), "--protocols equal-steps does not apply to features"),
        (("--train-models", "lenet,conv4"), "--train-models lenet,conv4 does not apply to features"),
        (("--image-size", 32), "--image-size 32 does not apply to a npz source"),
        (("--held-out-share", 0.3), "--held-out-share 0.3 does not apply to data with validation rows of their own."),
        (("--methods", "el3n"), "--methods: 'el3n' is unknown; choose from leanset, leanset-weights, paper, "),
        (("--methods", "leanset,aum"), "--methods: 'aum' needs records of a network's training"),
        (("--fractions", "0.2,1.2"), "--fractions 0.2,1.2 must be one or more numbers in (0, 1)."),
        (("--fractions", "half"), "--fractions half must be comma-separated numbers."),
        (("--seeds", 0), "--seeds 0 must be at least 1."),
        (("--l2", 0.1, "--C", 1), "--l2 0.1 and --C 1.0 are two ways"),
        (("--loss", "hinge"), "--loss hinge must be 'softmax', 'sigmoid' or 'squared'."),
    ],
)
def test_what_is_wrong_is_one_line_before_anything_is_written(toy_npz, tmp_path, arguments, said):
    done = call("compare", toy_npz, "--out", tmp_path / "out", *arguments, check=2)
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_an_interruption_says_that_finished_work_is_kept(toy_npz, tmp_path, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(cell_module, "prune", interrupted)
    done = call("compare", toy_npz, *ASKED, "--out", tmp_path / "out", check=130)
    assert "run the same command again" in done.stderr


def test_head_statistics_of_a_network_are_compared_like_features(toy, tmp_path):
    features, labels, validation = toy
    given = {"features": features, "labels": labels, "classes": ("a", "b", "c"), "validation": validation}
    HeadStatistics(**given).save(tmp_path / "head")
    answer = json.loads(
        call("compare", f"head:{tmp_path / 'head'}", *ASKED, "--out", tmp_path / "out", "--json", check=0).stdout
    )
    assert {row["method"] for row in answer["rows"]} == {"full", "stratified-random", "leanset-weights", "el2n"}


def test_it_works_where_torch_is_not_there(toy_npz, tmp_path):
    code = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "lightning_fabric", "filelock", "matplotlib"):
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Absent())
from leanset.cli import main
sys.argv = ["leanset", "compare", r"{toy_npz}", "--methods", "el2n", "--seeds", "1", "--out", r"{tmp_path / "out"}", "--json"]
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {row["fraction"] for row in json.loads(done.stdout)["rows"]} == {0.4, 0.7, 0.9}


def test_regression_from_a_file(toy, tmp_path):
    features, _, _ = toy
    rng = np.random.default_rng(0)
    numbers = features @ np.arange(5.0) + rng.normal(size=240)
    np.savez(tmp_path / "prices.npz", features=features, labels=numbers)
    asked = ("--loss", "squared", "--methods", "leanset", "--fractions", 0.5, "--seeds", 2, "--out", tmp_path / "out")
    shown = call("compare", tmp_path / "prices.npz", *asked, check=0).stdout
    assert "accuracy" not in shown
    assert "the head moves by" in " ".join(shown.split())
