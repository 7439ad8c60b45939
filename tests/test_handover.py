"""What a result hands to torch, to Hugging Face and to a folder, and what it writes about each row."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

import leanset
from leanset import InputError
from leanset.data import Origin
from leanset.problem import Outcome
from tests.data.pictures import encoded, noise

RNG = np.random.default_rng(5)
LABELS = RNG.integers(0, 2, 80)
FEATURES = RNG.normal(size=(80, 3)) + LABELS[:, None]


@pytest.fixture(scope="module")
def weighted():
    return leanset.prune(FEATURES, LABELS, keep=30, weights=True, pinned=[3], frontier=False)


@pytest.fixture(scope="module")
def plain():
    return leanset.prune(FEATURES, LABELS, keep=30, frontier=False)


def drawn(sampler, epochs):
    return np.array([np.bincount(list(sampler), minlength=80) for _ in range(epochs)])


def test_a_sampler_draws_each_row_as_often_as_its_weight_says(weighted):
    pytest.importorskip("torch")
    sampler = weighted.sampler(FEATURES)
    expected = np.zeros(80)
    expected[weighted.kept] = 30 * weighted.weights / weighted.weights.sum()
    counts = drawn(sampler, 4000)
    assert len(sampler) == 30
    assert (counts.sum(axis=1) == 30).all()
    assert (np.abs(counts - expected) < 1).all()  # never a whole draw away
    deviation = np.sqrt(expected % 1 * (1 - expected % 1) / len(counts))
    assert (np.abs(counts.mean(axis=0) - expected) <= 5 * deviation + 1e-12).all()


def test_the_mean_loss_of_an_epoch_is_the_weighted_mean_on_average(weighted):
    torch = pytest.importorskip("torch")
    from torch.utils.data import DataLoader, TensorDataset

    losses = torch.tensor(RNG.normal(size=80))
    loader = DataLoader(TensorDataset(losses), batch_size=10, sampler=weighted.sampler(losses))
    means = [float(torch.cat([batch for (batch,) in loader]).mean()) for _ in range(500)]
    wanted = np.average(losses[weighted.kept], weights=weighted.weights)
    assert np.mean(means) == pytest.approx(wanted, abs=5 * np.std(means) / np.sqrt(500))


def test_without_weights_every_kept_row_comes_up_once(plain):
    pytest.importorskip("torch")
    sampler = plain.sampler(FEATURES)
    first, second = list(sampler), list(sampler)
    assert sorted(first) == sorted(second) == plain.kept.tolist()
    assert first != second
    sampler.set_epoch(0)
    assert list(sampler) == first
    assert list(plain.sampler(FEATURES, seed=1)) != first


def test_an_epoch_may_have_any_length(weighted):
    pytest.importorskip("torch")
    sampler = weighted.sampler(FEATURES, length=7)
    assert all(len(list(sampler)) == 7 for _ in range(200))
    with pytest.raises(InputError, match="`length=0`"):
        weighted.sampler(FEATURES, length=0)


def test_a_loader_of_kept_rows_keeps_everything_else_of_the_loader(weighted):
    torch = pytest.importorskip("torch")
    import leanset.torch as lt

    data = torch.utils.data.TensorDataset(torch.tensor(FEATURES), torch.tensor(LABELS))
    whole = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True, drop_last=True, collate_fn=list)
    lean = lt.lean_loader(whole, weighted)
    assert [len(batch) for batch in lean] == [8, 8, 8]
    assert lean.collate_fn is list
    assert lean.dataset is data


@pytest.mark.parametrize("call", ["subset", "sampler", "select"])
def test_another_data_set_is_refused(plain, call):
    torch = pytest.importorskip("torch")
    datasets = pytest.importorskip("datasets")
    few = datasets.Dataset.from_dict({"x": range(79)}) if call == "select" else torch.zeros(79)
    with pytest.raises(InputError, match="79 items, but 80 rows"):
        getattr(plain, call)(few)


def test_select_gives_the_kept_rows_of_a_dataset(plain, weighted):
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict({"row": range(80), "weight": [0.0] * 80})
    assert plain.select(data)["row"][:] == plain.kept.tolist()
    with pytest.raises(InputError, match="a column 'weight' already"):
        weighted.select(data)
    chosen = weighted.select(data, weight_column="w")
    np.testing.assert_array_equal(chosen["w"][:], weighted.weights)
    with pytest.raises(InputError, match=r"takes a `datasets\.Dataset`"):
        plain.select({"train": data})


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_row_is_listed_with_its_name_weight_and_reason(weighted, tmp_path):
    weighted.save(tmp_path / "run")
    kept, removed = read(tmp_path / "run" / "kept.csv"), read(tmp_path / "run" / "removed.csv")
    assert list(kept[0]) == ["row", "id", "label", "weight", "reason"]
    assert [int(line["row"]) for line in kept] == weighted.kept.tolist()
    assert [int(line["row"]) for line in removed] == weighted.removed.tolist()
    assert [float(line["weight"]) for line in kept] == weighted.weights.tolist()
    assert next(line for line in kept if line["row"] == "3")["reason"] == "pinned"
    again = leanset.load(tmp_path / "run")
    assert (again.reasons == weighted.reasons).all()


def test_reasons_say_where_a_row_stands(plain):
    upper = plain.influence_norm > np.median(plain.influence_norm)
    kept = np.isin(plain.rows, plain.kept)
    for reason, rows in {
        "much influence": upper & kept,
        "balance": ~upper & kept,
        "cancelled": upper & ~kept,
        "little influence": ~upper & ~kept,
    }.items():
        assert np.array_equal([str(each).split(" (")[0] == reason for each in plain.reasons], rows)


def test_reasons_of_other_choices():
    scored = leanset.prune(FEATURES, LABELS, keep=30, method="el2n", frontier=False)
    row = int(scored.kept[0])
    assert scored.reasons[row].startswith(f"el2n {scored.score[row]:.4g}")
    random = replace(scored, certificate=replace(scored.certificate, outcome=Outcome.random.value))
    doubted = replace(random, suspect=np.arange(80) == 5)
    assert doubted.reasons[5] == "random (label suspect)"
    assert doubted.reasons[6] == "random"


def test_ids_of_a_frame_and_of_a_dataset_are_names(tmp_path):
    pd = pytest.importorskip("pandas")
    datasets = pytest.importorskip("datasets")
    frame = pd.DataFrame(FEATURES, columns=list("abc")).assign(id=[f"r{k}" for k in range(80)], kind=LABELS)
    options = {"keep": 30, "frontier": False, "label_column": "kind"}
    ours = leanset.prune(frame, **options, out=tmp_path / "run")
    same = leanset.prune(FEATURES, LABELS, keep=30, frontier=False)
    assert ours.kept.tolist() == same.kept.tolist()
    assert ours.columns == ["a", "b", "c"]
    assert ours.names[ours.kept[0]] == f"r{ours.kept[0]}"
    again = leanset.load(tmp_path / "run")
    assert again.names.tolist() == ours.names.tolist()
    assert again.origin == ours.origin
    assert all(check.holds for check in leanset.verify(tmp_path / "run", frame))
    data = datasets.Dataset.from_pandas(frame).with_format("torch")
    assert leanset.prune(data, **options).kept.tolist() == same.kept.tolist()
    with pytest.raises(InputError, match="contains its own labels"):
        leanset.prune(data, LABELS, keep=30)
    with pytest.raises(InputError, match="read as a stream"):
        leanset.prune(data.to_iterable_dataset(), keep=30)


def test_splits_of_a_dataset_are_training_and_held_out_rows():
    datasets = pytest.importorskip("datasets")
    lists = {"embedding": FEATURES.tolist(), "text": ["words"] * 80, "label": LABELS.tolist()}
    parts = [
        datasets.Dataset.from_dict({name: values[k] for name, values in lists.items()})
        for k in (slice(60), slice(60, 80))
    ]
    splits = datasets.DatasetDict({"train": parts[0], "test": parts[1]})
    ours = leanset.prune(splits, keep=30, frontier=False)
    same = leanset.prune(FEATURES[:60], LABELS[:60], validation=(FEATURES[60:], LABELS[60:]), keep=30, frontier=False)
    assert ours.kept.tolist() == same.kept.tolist()
    assert ours.certificate.validation_loss == same.certificate.validation_loss


def test_grey_images_of_a_dataset_in_torch_format():
    pytest.importorskip("torch")
    datasets = pytest.importorskip("datasets")
    from PIL import Image

    from leanset.data import Reading, read_in_memory

    pictures = [Image.fromarray(image[0]) for image in noise(6)]
    data = datasets.Dataset.from_dict({"image": pictures, "label": [0, 1] * 3}).with_format("torch")
    images = read_in_memory(data, Reading())
    np.testing.assert_array_equal(images.pixels, np.repeat(noise(6)[:, :1], 3, axis=1))


def test_images_that_a_dataset_has_as_files(tmp_path):
    datasets = pytest.importorskip("datasets")
    from leanset.data import Reading, open_source, read_in_memory

    for row, image in enumerate(noise(4)):
        (tmp_path / f"{row}.png").write_bytes(encoded(image))
    paths = [str(tmp_path / f"{row}.png") for row in range(4)]
    data = datasets.Dataset.from_dict({"image": paths, "label": [0, 1] * 2}).cast_column("image", datasets.Image())
    images = read_in_memory(data, Reading())
    np.testing.assert_array_equal(images.pixels, noise(4))
    assert list(images.files) == paths
    data.save_to_disk(tmp_path / "saved")
    saved = open_source(f"hf:{tmp_path / 'saved'}")  # which has the bytes themselves
    np.testing.assert_array_equal(saved.pixels, noise(4))


def test_texts_from_a_file_to_a_checked_run(tmp_path):
    pytest.importorskip("sklearn")
    words = (["cat", "purr", "milk", "sofa"], ["dog", "bark", "bone", "park"])
    lines = [" ".join(RNG.choice([*words[label], "the", "very"], 8)) for label in LABELS]
    with (tmp_path / "texts.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([("text", "kind"), *zip(lines, LABELS.tolist(), strict=True)])
    run = tmp_path / "run"
    source = tmp_path / "texts.csv"
    result = leanset.prune(source, text_column="text", label_column="kind", keep=40, frontier=False, out=run)
    assert result.origin.sentence() == "Texts: text. Label: kind."
    assert all(check.holds for check in leanset.verify(run))  # it knows its source, and how it was read
    assert json.loads((run / "source.json").read_text())["reading"] == {"label_column": "kind", "text_column": "text"}


def test_export_puts_kept_files_into_class_folders(plain, tmp_path):
    names = np.array([f"{label}/{'deep/' * (row % 2)}{row}.png" for row, label in enumerate(LABELS)])
    for name in names:
        (tmp_path / "photos" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "photos" / name).write_text(name)
    result = replace(plain, names=names, origin=Origin(root=str(tmp_path / "photos")))
    written = result.export(tmp_path / "kept")
    assert sorted(path.relative_to(tmp_path / "kept").as_posix() for path in written) == sorted(names[plain.kept])
    assert sorted(path.read_text() for path in written) == sorted(names[plain.kept])
    links = result.export(tmp_path / "links", link=True)
    assert all(path.is_symlink() for path in links)
    assert sorted(path.read_text() for path in links) == sorted(names[plain.kept])
    with pytest.raises(leanset.RunFolderError, match="is not empty"):
        result.export(tmp_path / "kept")
    (tmp_path / "photos").rename(tmp_path / "moved")
    with pytest.raises(InputError, match="is not there any more"):
        result.export(tmp_path / "again")
    assert len(result.export(tmp_path / "again", source=tmp_path / "moved")) == 30
    with pytest.raises(InputError, match="was not made from image files"):
        plain.export(tmp_path / "none")
