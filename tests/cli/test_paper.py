import json

import numpy as np
import pytest

from leanset._progress import Silent
from leanset.data import open_source
from leanset.paper import EXPERIMENTS, Experiment
from leanset.paper.scale import SCALES
from tests.cli.calling import call
from tests.paper.tiny import TINY, TINY_SETTINGS
from tests.training.networks import striped_images


@pytest.fixture
def tiny_npz(tmp_path):
    images = striped_images(n=75, size=12)
    path = tmp_path / "striped.npz"
    held_out = {"val_images": images.held_out.pixels, "val_labels": images.held_out.labels}
    np.savez(path, images=images.pixels, labels=images.labels, **held_out)
    return path


@pytest.fixture
def tiny_scale(monkeypatch):
    monkeypatch.setitem(SCALES, "cpu", TINY)
    for name, settings in TINY_SETTINGS.items():
        monkeypatch.setitem(EXPERIMENTS[name], "cpu", settings)


QUICK = ("--seeds", 1, "--workers", 1)


def test_what_is_wrong_is_said_before_the_data_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for arguments, said in (
        (("figure-7",), "experiment 'figure-7' is unknown; choose from theory, pruning"),
        (
            ("pruning", "--scale", "huge", "--data", "absent.npz"),
            "--scale huge is unknown; choose from cpu, quick, published",
        ),
        (("noise", "--data", "absent.npz"), "give --noisy-labels"),
        (("pruning",), "no data: give --data cifar10:DIR"),
        (("pruning", "--data", "absent.npz"), "there is no file or folder `absent.npz`"),
        (("pruning", "--data", "npz:a.npz", "--data", "b.npz"), "2 sources of 1 kinds"),
        (("all", "--data", "absent.npz", "--noisy-labels", "labels.npz"), "labels.npz"),
    ):
        assert said in call("paper", *arguments, check=2).stderr
    assert list(tmp_path.iterdir()) == []


def test_features_are_no_images(toy_npz):
    assert "contains features" in call("paper", "pruning", "--data", toy_npz, check=2).stderr


def test_numbers_that_make_no_sense_are_refused(tiny_npz, tiny_scale, tmp_path):
    for option in ("--seeds", "--workers"):
        done = call("paper", "pruning", "--data", tiny_npz, option, 0, "--out", tmp_path / "out", check=2)
        assert " 0 must be at least 1" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("prefix", ["", "npz:"])
def test_a_run_writes_its_folder_and_no_path_of_this_machine(tiny_npz, tiny_scale, tmp_path, prefix):
    out = tmp_path / "out"
    page = tmp_path / "page.html"
    done = call("paper", "pruning", "--data", f"{prefix}{tiny_npz}", *QUICK, "--out", out, "--report", page, check=0)
    assert "Pruning curves (figure 1 of the paper)" in page.read_text()
    assert str(tmp_path) not in page.read_text()
    assert f"pruning: {out / 'pruning'}" in done.stdout
    assert {path.name for path in out.iterdir()} == {"pruning", "tables"}
    assert (out / "tables" / "npz" / "lenet").is_dir()
    record = json.loads((out / "pruning" / "record.json").read_text())
    assert record["command"] == "leanset paper pruning --data npz:DIR --scale cpu --seeds 1"
    assert record["seeds"] == [0]
    for file in ("record.json", "README.md", "trainings.csv", "summary.csv"):
        assert str(tmp_path) not in (out / "pruning" / file).read_text()


def test_wrong_labels_from_a_file(tiny_npz, tiny_scale, tmp_path):
    right = open_source(str(tiny_npz)).labels
    wrong = np.arange(75) % 5 == 0
    np.savez(tmp_path / "noisy.npz", swapped=np.where(wrong, (right + 1) % 3, right).astype(np.uint8), other=[1.5])
    noisy = ("--noisy-labels", tmp_path / "noisy.npz", "--noisy-names")
    place = ("--data", tiny_npz, "--out", tmp_path / "out", "--work", tmp_path / "work", *QUICK)
    assert "has no 'worse'" in call("paper", "noise", *place, *noisy, "swapped,worse", check=2).stderr
    assert "'other' must be a list of whole" in call("paper", "noise", *place, *noisy, "other", check=2).stderr
    assert not (tmp_path / "work").exists()
    done = call("paper", "noise", *place, *noisy, "swapped", "--quiet", check=0)
    assert done.stdout == ""
    assert (tmp_path / "work" / "npz" / "lenet-swapped").is_dir()
    assert "## swapped: " in (tmp_path / "out" / "noise" / "README.md").read_text()
    assert json.loads((tmp_path / "out" / "noise" / "record.json").read_text())["command"].endswith(
        "--noisy-labels FILE"
    )


def test_a_dry_run_counts_a_training_that_experiments_share_once(tiny_npz, tiny_scale, tmp_path):
    out = tmp_path / "out"

    def trainings(name):
        done = call("paper", name, "--data", tiny_npz, *QUICK, "--out", out, "--dry-run", "--json", check=0)
        shares = json.loads(done.stdout)["shares"]
        return sum(share["number"] for share in shares if "training" in share["work"])

    images = open_source(str(tiny_npz))
    asked = Experiment(images, TINY, out, out, "", Silent(), seeds=1)
    jobs = {name: TINY_SETTINGS[name].jobs(asked) for name in EXPERIMENTS if name != "noise"}
    assert trainings("pruning") == len(set(jobs["pruning"]))
    # Those of nas are in a study of their own.
    apart = len(set(jobs["nas"]))
    assert trainings("all") == apart + len({job for name in jobs if name != "nas" for job in jobs[name]})
    assert not out.exists()
