"""Whatever the data come in, the same spine prunes them to the same answer."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import leanset
from leanset import InputError, LeansetWarning
from leanset.cli.app import app
from leanset.data import Images, checked_examples
from leanset.head import HeadStatistics
from tests.training.networks import striped_images

QUICK = {"model": "lenet", "epochs": 1, "batch_size": 32, "device": "cpu", "threads": 1, "frontier": False}


def called(*arguments):
    done = CliRunner().invoke(app, [str(word) for word in arguments], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["certificate"]


def test_arrays_files_examples_and_the_command_line_agree(toy, toy_npz):
    options = {"fraction": 0.4, "l2": 1e-2, "frontier": False}
    features, labels, validation = toy
    answers = [
        leanset.prune(features, labels, validation=validation, **options),
        leanset.prune(features=features, labels=labels, validation=validation, **options),
        leanset.prune(str(toy_npz), **options),
        leanset.prune(f"npz:{toy_npz}", **options),
        leanset.prune(checked_examples(features, labels, validation), **options),
    ]
    assert len({answer.removed.tobytes() for answer in answers}) == 1
    assert len({answer.certificate for answer in answers}) == 1
    shown = called("prune", toy_npz, "--fraction", 0.4, "--l2", 0.01, "--no-frontier", "--json")
    assert shown == answers[0].certificate.to_dict()


def test_images_are_pruned_in_one_call_as_on_the_command_line(tmp_path):
    images = striped_images()
    path = tmp_path / "images.npz"
    held_out = {"val_images": images.held_out.pixels, "val_labels": images.held_out.labels}
    np.savez(path, images=images.pixels, labels=images.labels, **held_out)
    one = leanset.prune(f"npz:{path}", fraction=0.4, **QUICK, out=tmp_path / "one")
    shown = called(
        "prune", f"npz:{path}", "--model", "lenet", "--epochs", 1, "--batch-size", 32, "--device", "cpu", "--threads", 1,
        "--no-frontier", "--fraction", 0.4, "--json", "--out", tmp_path / "two",
    )  # fmt: skip
    assert shown == one.certificate.to_dict()
    in_memory = leanset.prune(images, fraction=0.4, **QUICK)
    np.testing.assert_array_equal(in_memory.removed, one.removed)
    statistics = HeadStatistics.load(tmp_path / "one" / "network" / "head")
    np.testing.assert_array_equal(leanset.prune(statistics, fraction=0.4, frontier=False).removed, one.removed)
    from_store = leanset.prune(f"head:{tmp_path / 'one' / 'network' / 'head'}", fraction=0.4, frontier=False)
    np.testing.assert_array_equal(from_store.removed, one.removed)


def test_the_estimate_takes_what_prune_takes(toy, toy_npz):
    by_array = leanset.estimate(*toy[:2], fraction=0.4)
    by_file = leanset.estimate(str(toy_npz), fraction=0.4)
    assert [stage for stage, _ in by_array.stages] == [stage for stage, _ in by_file.stages]
    assert by_array.memory == by_file.memory
    with_network = leanset.estimate(striped_images(), fraction=0.4, method="grand", **QUICK)
    stages = [stage for stage, _ in with_network.stages]
    assert stages[0].startswith("training lenet")
    assert "gradient of every example" in stages
    with pytest.raises(InputError, match="must lie in"):
        leanset.estimate(*toy[:2], fraction=4.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "images need a network: give `model`"),
        ({"model": "resnet19"}, "`model='resnet19'` is unknown"),
        ({"model": "lenet", "stem": "large"}, "`stem='large'` does not apply to lenet"),
        ({"model": "lenet", "mean": (0.5,)}, "give both `mean` and `std`"),
        ({"model": "lenet", "retrain": True}, "`retrain=True` does not apply to a run without `out`"),
        ({"model": "lenet", "image_size": 8}, "`image_size=8` does not apply to data in memory"),
        ({"model": "lenet", "method": "el3n"}, "`method='el3n'` is unknown"),
        ({"model": "lenet", "pinned": [999]}, "`pinned` has 1 rows outside"),
        ({"model": "lenet", "head": np.zeros((3, 3))}, r"`head=` must be a finite \(3, 85\) array"),
    ],
)
def test_what_is_wrong_with_images_is_said_before_training(monkeypatch, options, message):
    monkeypatch.setattr("leanset.capture.network.train", None)  # would fail if it came to training
    with pytest.raises(InputError, match=message):
        leanset.prune(striped_images(), fraction=0.4, **options)


def test_options_of_a_network_have_no_meaning_for_features(toy, toy_npz):
    for data in ((toy[0], toy[1]), (str(toy_npz),)):
        with pytest.raises(
            InputError, match="`epochs=3` does not apply to features, which are pruned without a network"
        ):
            leanset.prune(*data, fraction=0.4, epochs=3)


def test_data_that_bring_their_labels_take_no_others(toy, toy_npz):
    with pytest.raises(InputError, match="contains its own labels"):
        leanset.prune(str(toy_npz), toy[1], fraction=0.4)
    with pytest.raises(InputError, match="`Images` contains its own labels"):
        leanset.prune(striped_images(), validation=toy[2], fraction=0.4)
    with pytest.raises(InputError, match="`labels` are missing"):
        leanset.prune(toy[0], fraction=0.4)


def test_an_unreadable_image_is_a_warning_in_python(tmp_path):
    pillow = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    for name in ("a", "b"):
        (tmp_path / "images" / name).mkdir(parents=True)
        for nth in range(12):
            pixels = rng.integers(0, 255, (16, 16, 3), dtype=np.uint8)
            pillow.fromarray(pixels).save(tmp_path / "images" / name / f"{nth}.png")
    (tmp_path / "images" / "a" / "3.png").write_bytes(b"no image")
    source = f"folder:{tmp_path / 'images'}"
    with pytest.warns(LeansetWarning, match=r"left out row \d+: .*3\.png"):
        result = leanset.prune(source, fraction=0.4, on_bad_image="skip", **QUICK)
    assert len(result.rows) == 23
    with pytest.raises(InputError, match=r"3\.png"):
        leanset.prune(source, fraction=0.4, **QUICK)


def test_images_have_classes_only():
    images = Images(np.zeros((4, 3, 12, 12), np.uint8), np.array([0, 1, 0, 1]), ("a", "b"))
    with pytest.raises(InputError, match="`loss='squared'` needs other targets"):
        leanset.prune(images, fraction=0.5, loss="squared", **QUICK)


def test_paths_are_sources_too(toy_npz, tmp_path):
    result = leanset.prune(toy_npz, fraction=0.4, l2=1e-2, frontier=False, out=tmp_path / "run")
    assert len(result.removed) == 96
    for data in (toy_npz, str(toy_npz), f"npz:{toy_npz}"):
        assert all(check.holds for check in leanset.verify(tmp_path / "run", data))


def test_effort_beside_a_method_that_does_not_search_is_named_as_given(toy):
    with pytest.raises(InputError, match="`method='el2n'` does not search, so `proposals=10` does not apply"):
        leanset.prune(*toy[:2], fraction=0.4, method="el2n", proposals=10)


def test_a_folder_without_a_run_says_so(tmp_path):
    with pytest.raises(leanset.RunFolderError, match=r"nothing: contains no finished run \(no certificate\.json\)"):
        leanset.load(tmp_path / "nothing")


def test_a_run_on_images_is_re_checked_from_its_own_folder(tmp_path):
    leanset.prune(striped_images(), fraction=0.4, **QUICK, out=tmp_path / "run")
    store = f"head:{tmp_path / 'run' / 'network' / 'head'}"
    for data in ((), (store,), (HeadStatistics.load(store.removeprefix("head:")),)):
        assert all(check.holds for check in leanset.verify(tmp_path / "run", *data))
