import csv
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import leanset
from leanset.scores import METHODS
from leanset.training.models import MODELS
from tests.cli.calling import call
from tests.training.networks import striped_images

NETWORK = ("--model", "lenet", "--epochs", 2, "--batch-size", 32, "--device", "cpu")


@pytest.fixture(scope="module")
def image_folder(tmp_path_factory):
    """Class folders of PNG files, with a test part."""
    folder, images = tmp_path_factory.mktemp("images"), striped_images()
    for part, data in (("train", images), ("test", images.held_out)):
        for row, (pixels, label) in enumerate(zip(data.pixels, data.labels, strict=True)):
            place = folder / part / data.classes[label].replace(" ", "-")
            place.mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels.transpose(1, 2, 0)).save(place / f"{row:04d}.png")
    return folder


@pytest.fixture(scope="module")
def image_run(image_folder, tmp_path_factory):
    """A run on those images."""
    out = tmp_path_factory.mktemp("runs") / "run"
    call("prune", f"folder:{image_folder}", *NETWORK, "--fraction", 0.4, "--no-frontier", "--out", out, check=0)
    return out


def test_from_images_to_a_verified_run_and_a_network_trained_on_what_was_kept(image_folder, image_run, tmp_path):
    result = leanset.load(image_run)
    assert len(result.removed) == round(0.4 * 96)
    assert result.certificate.l2 == 2e-4
    assert result.certificate.start_head_distance > 0
    assert "FAILS" not in call("verify", image_run, check=0).stdout
    call("verify", image_run, "--data", f"head:{image_run}/network/head", check=0)
    refused = call("verify", image_run, "--data", f"folder:{image_folder}", check=2)
    assert "which are in its folder; give nothing, or head:" in refused.stderr
    kept = ("--subset", image_run / "kept.txt")
    done = call("train", f"folder:{image_folder}", *NETWORK, *kept, "--json", "--out", tmp_path / "lean", check=0)
    answer = json.loads(done.stdout)
    assert answer["examples"] == len(result.kept)
    assert 0 <= answer["held_out_accuracy"] <= 1
    assert answer["held_out_loss"] > 0
    shown = call("train", f"folder:{image_folder}", *NETWORK, *kept, "--out", tmp_path / "lean", check=0)
    assert f"{100 * answer['held_out_accuracy']:.2f} %" in shown.stdout
    assert f"{answer['held_out_loss']:.3f}" in shown.stdout
    decay = ("--decay", "total", "--out", tmp_path / "total")
    call("train", f"folder:{image_folder}", *NETWORK, *kept, *decay, check=0)
    about = json.loads((tmp_path / "total" / "training.json").read_text())
    assert about["weight_decay"] == pytest.approx(2e-4 * 96 / len(result.kept))


def test_the_report_of_a_run_on_images_shows_them_with_their_file_names(image_folder, image_run, tmp_path):
    pytest.importorskip("vl_convert")
    page = tmp_path / "report.html"
    call("report", image_run, "--data", f"folder:{image_folder}", "--out", page, "--quiet", check=0)
    text = page.read_text()
    assert "data:image/webp" in text
    assert "0001.png" in text
    assert str(image_folder) not in text
    assert 'id="map"' in text  # the features are those that the run left in its folder


def test_the_same_command_takes_up_its_run_and_another_coverage_is_another_run(image_folder, image_run, tmp_path):
    again = ("prune", f"folder:{image_folder}", *NETWORK, "--fraction", 0.4, "--no-frontier", "--out", image_run)
    made = (image_run / "certificate.json").read_bytes()
    assert json.loads((image_run / "settings.json").read_text())["coverage"]["name"] == "Coverage"
    shown = call(*again, check=0).stdout
    [command] = [line.partition("kept: ")[2] for line in shown.splitlines() if line.startswith("Train on what is kept")]
    part = call(*shlex.split(command)[1:], *NETWORK[2:], "--json", "--out", tmp_path / "next", check=0)
    assert json.loads(part.stdout)["examples"] == len(leanset.load(image_run).kept)
    call(*again, "--coverage", "auto", check=0)
    assert (image_run / "certificate.json").read_bytes() == made
    assert "--coverage" in call(*again, "--coverage", "none", check=3).stderr
    assert "must be 'auto', 'none'" in call(*again, "--coverage", "some", check=2).stderr


def test_any_method_from_the_statistics_that_a_run_left(image_run):
    methods = [name for name in METHODS if name != "grand"]
    for name in methods[::4]:
        done = call(
            "prune",
            f"head:{image_run}/network/head",
            "--method",
            name,
            "--count",
            30,
            "--json",
            "--no-frontier",
            check=0,
        )
        assert json.loads(done.stdout)["certificate"]["method"] == name


def test_grand_is_added_to_a_finished_network(image_folder, image_run, tmp_path):
    out = tmp_path / "run"
    subprocess.run(["cp", "-r", image_run, out], check=True)
    made = (out / "network" / "model.pt").stat().st_mtime_ns
    again = (f"folder:{image_folder}", *NETWORK, "--fraction", 0.3, "--no-frontier", "--out", out)
    call("prune", *again, "--method", "grand", check=3)  # another run lies there
    call("prune", *again, "--method", "grand", "--overwrite", check=0)
    assert (out / "network" / "model.pt").stat().st_mtime_ns == made
    assert leanset.load(out).certificate.method == "grand"


def test_own_weights_instead_of_training(image_folder, image_run, tmp_path):
    done = call(
        "prune",
        f"folder:{image_folder}",
        *("--model", "lenet", "--checkpoint", image_run / "network" / "model.pt", "--device", "cpu"),
        *("--epsilon", 0.5, "--out", tmp_path / "run", "--no-frontier", "--json"),
        check=0,
    )
    assert json.loads(done.stdout)["certificate"]["refit_change"] <= 0.5
    assert done.stderr == ""
    weights = torch.load(image_run / "network" / "model.pt", weights_only=True)["weights"]
    torch.save(weights, tmp_path / "foreign.pt")
    foreign = ("--model", "lenet", "--checkpoint", tmp_path / "foreign.pt", "--device", "cpu", "--fraction", 0.4)
    done = call("prune", f"folder:{image_folder}", *foreign, "--no-frontier", "--json", check=0)
    assert "0.0002 is assumed" in done.stderr
    told = call("prune", f"folder:{image_folder}", *foreign, "--no-frontier", "--json", "--weight-decay", 0.01, check=0)
    assert json.loads(told.stdout)["certificate"]["l2"] == 0.01
    by_c = call("prune", f"folder:{image_folder}", *foreign, "--no-frontier", "--json", "--C", 1.0, check=0)
    assert by_c.stderr == ""  # no weight decay is assumed
    assert not json.loads(by_c.stdout)["certificate"]["penalised_bias"]


def test_what_is_wrong_is_said_before_training(image_folder, tmp_path):
    source, out = f"folder:{image_folder}", tmp_path / "run"
    for arguments, said in (
        (("--fraction", 0.4), "give --model"),
        (("--fraction", 1.4, *NETWORK), "must lie in (0, 1)"),
        (("--fraction", 0.4, "--model", "resnet19"), "resnet20"),
        (("--fraction", 0.4, *NETWORK, "--method", "el3n"), "el2n"),
        (("--fraction", 0.4, *NETWORK, "--preset", "slow"), "must be 'fast', 'quick', 'quick-narrow'"),
        (("--fraction", 0.4, *NETWORK, "--lr", -1), "--lr -1.0 must be positive"),
        (
            ("--fraction", 0.4, *NETWORK, "--std", "0,1,1", "--mean", "0,0,0"),
            "--std 0.0,1.0,1.0 must be larger than 0",
        ),
        (("--fraction", 0.4, *NETWORK, "--remove", "low"), "--remove low does not apply to leanset"),
        (("--fraction", 0.4, *NETWORK, "--method", "el2n", "--remove", "middle"), "'low' or 'high'"),
        (("--fraction", 0.4, *NETWORK, "--label-column", "y"), "does not apply to a folder source"),
        (("--fraction", 0.4, *NETWORK, "--mean", "0.5,0.5,0.5"), "both --mean and --std"),
        (("--fraction", 0.4, *NETWORK, "--checkpoint", "m.pt"), "--epochs 2 does not apply to a checkpoint"),
        (("--fraction", 0.4, "--model", "lenet", "--checkpoint", "m.pt"), "no such checkpoint"),
        (("--fraction", 0.4, *NETWORK, "--l2", -1), "--l2 -1.0 must be a number of at least 0"),
        (("--fraction", 0.4, *NETWORK, "--stem", "large"), "one stem for all sizes"),
        (("--fraction", 0.4, *NETWORK, "--method", "el2n", "--seconds", 3), "does not search"),
        (("--fraction", 0.4, *NETWORK, "--on-bad-image", "ask"), "must be 'stop' or 'skip'"),
        (("--fraction", 0.4, *NETWORK, "--device", "tpu"), "'auto', 'cpu'"),
    ):
        done = call("prune", source, *arguments, "--out", out, check=2)
        assert said in done.stderr
        assert not out.exists()


def test_an_output_folder_that_cannot_be_used_is_refused_before_training(
    image_folder, image_run, tmp_path, monkeypatch
):
    monkeypatch.setattr("leanset.capture.network.train", None)  # would fail if it came to training
    (tmp_path / "notes.txt").write_text("mine")
    busy = call("prune", f"folder:{image_folder}", *NETWORK, "--fraction", 0.4, "--out", tmp_path, check=3)
    assert "not a leanset run" in busy.stderr
    other = call("prune", f"folder:{image_folder}", *NETWORK, "--fraction", 0.2, "--out", image_run, check=3)
    assert "`budget`" in other.stderr
    seed = ("--seed", 5, "--overwrite")
    network = call("prune", f"folder:{image_folder}", *NETWORK, "--fraction", 0.4, "--out", image_run, *seed, check=3)
    assert "--retrain" in network.stderr
    late = call(
        "prune", f"folder:{image_folder}", *NETWORK, "--fraction", 0.4, "--out", image_run, "--retrain", check=3
    )
    assert "(--overwrite)" in late.stderr
    for path, said in ((image_run, "something else"), (image_run / "network", "`subset`")):
        rows = ("--subset", image_run / "kept.txt")
        done = call("train", f"folder:{image_folder}", *NETWORK, *rows, "--out", path, check=3)
        assert said in done.stderr
    assert (image_run / "certificate.json").is_file()


def test_the_help_names_every_network_and_every_method():
    words = call("prune", "--help-all", check=0).stdout.translate(str.maketrans(",.;()", "     ")).split()
    assert set(MODELS) | set(METHODS) <= set(words)


def test_features_refuse_the_options_of_a_network(toy_npz):
    done = call("prune", toy_npz, "--fraction", 0.4, "--model", "lenet", check=2)
    assert "without a network" in done.stderr
    assert "--no-flip does not apply" in call("prune", toy_npz, "--fraction", 0.4, "--no-flip", check=2).stderr
    assert "--retrain does not apply" in call("prune", toy_npz, "--fraction", 0.4, "--retrain", check=2).stderr
    assert "--on-bad-image skip" in call("prune", toy_npz, "--fraction", 0.4, "--on-bad-image", "skip", check=2).stderr
    assert "--weight-decay 0.1" in call("prune", toy_npz, "--fraction", 0.4, "--weight-decay", 0.1, check=2).stderr
    assert "trains networks on images" in call("train", toy_npz, "--model", "lenet", check=2).stderr


def test_dry_run_on_images_names_training_and_computes_nothing(image_folder, tmp_path):
    done = call("prune", f"folder:{image_folder}", *NETWORK, "--fraction", 0.4, "--dry-run", "--json", check=0)
    stages = json.loads(done.stdout)["stages"]
    assert any(stage.startswith("training lenet") for stage in stages)
    assert "capturing the head" in stages


@pytest.mark.parametrize("choice", ["stop", "skip"])
def test_a_broken_image_stops_the_run_or_is_left_out_as_the_user_chose(image_folder, tmp_path, choice):
    subprocess.run(["cp", "-r", image_folder / "train", tmp_path / "data"], check=True)
    victim = sorted((tmp_path / "data" / "period-1").iterdir())[3]
    victim.write_bytes(victim.read_bytes()[:60])
    out = tmp_path / "run"
    arguments = (*NETWORK, "--fraction", 0.4, "--no-frontier", "--out", out, "--on-bad-image", choice)
    done = call("prune", f"folder:{tmp_path / 'data'}", *arguments, check=2 if choice == "stop" else 0)
    assert victim.name in done.stderr
    if choice == "stop":
        assert not out.exists()
    else:
        result = leanset.load(out)
        assert sorted([*result.kept, *result.removed]) == np.delete(np.arange(96), 3).tolist()


def test_rows_that_are_not_in_the_source_are_refused(image_folder, tmp_path):
    (tmp_path / "rows.txt").write_text("1\n2\n500\n")
    done = call("train", f"folder:{image_folder}", *NETWORK, "--subset", tmp_path / "rows.txt", check=2)
    assert "1 of 3 rows are not in this source" in done.stderr


def test_two_processes_train_one_network(image_folder, tmp_path):
    """LeNet has no batch statistics, so two processes that average their gradients take the steps that one takes."""
    weights = []
    for devices in (1, 2):
        out = tmp_path / str(devices)
        script = tmp_path / "leanset_main.py"  # the launcher of the second process starts a script again, not `-c`
        script.write_text("from leanset.cli import main\nif __name__ == '__main__':\n    main()\n")
        plain = ("--no-flip", "--crop", 0)  # each process draws its own augmentation
        arguments = ("train", f"folder:{image_folder}", *NETWORK, *plain, "--devices", devices, "--out", out, "--json")
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [sys.executable, script, *map(str, arguments)], capture_output=True, text=True, timeout=300, env=environment
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["examples"] == 96  # one document, whatever the number of processes
        weights.append(torch.load(out / "model.pt", weights_only=True)["weights"])
        with np.load(out / "dynamics.npz") as dynamics:
            assert np.isfinite(dynamics["margin"]).all()  # each example was noted, whichever process saw it
    for name, weight in weights[0].items():
        torch.testing.assert_close(weights[1][name], weight, rtol=1e-3, atol=1e-4)


def test_kept_files_are_named_and_can_be_copied_out(image_run, image_folder, tmp_path):
    with (image_run / "kept.csv").open(newline="") as file:
        kept = list(csv.DictReader(file))
    root = Path(json.loads((image_run / "source.json").read_text())["root"])
    assert root.is_relative_to(image_folder)
    assert all((root / line["path"]).is_file() for line in kept)
    assert all(line["path"].split("/")[0] == line["label"] for line in kept)
    call("export", image_run, "--to", tmp_path / "kept", "--quiet", check=0)
    copied = sorted(path.relative_to(tmp_path / "kept").as_posix() for path in (tmp_path / "kept").rglob("*.png"))
    assert copied == sorted(line["path"] for line in kept)
