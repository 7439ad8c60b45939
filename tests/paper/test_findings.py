"""The paper's experiments, each on a few small images."""

import csv
import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from scipy import stats

import leanset
from leanset.evaluate import Job, Study
from leanset.judge import FULL
from leanset.paper import EXPERIMENTS, run_experiment
from leanset.paper.gap_rows import RETRAINING
from leanset.select import Coverage
from tests.paper.tiny import NOISY, SOURCE, TINY, TINY_SETTINGS, tiny_experiment

FILES = {
    "pruning": {"trainings", "summary", "accuracy"},
    "theory": {"trainings", "sets", "gaps", "agreement", "gap-40"},
    "transfer": {"trainings", "summary", "accuracy"},
    "speed": {"trainings", "summary", "time"},
    "nas": {"trainings", "search"},
    "noise": {"trainings", "summary", "kept"},
}


@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
    return tiny_experiment(tmp_path_factory.mktemp("paper"))


@pytest.fixture(scope="module")
def trained(experiment):
    """Run every experiment once; the trainings that each of them did, as (folder, job)."""
    done, doing = {}, []
    plain = Study._train

    def noted(study, job, divergence_is_chance):
        doing.append((study.path.name, job.key))
        return plain(study, job, divergence_is_chance)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Study, "_train", noted)
        for name in FILES:
            assert run_experiment(name, experiment, TINY_SETTINGS[name]) == experiment.out / name
            done[name] = list(doing)
            doing.clear()
    return done


@pytest.fixture(scope="module")
def tables(experiment, trained):
    """Every table as written, numbers as numbers."""

    def number(text):
        try:
            return float(text)
        except ValueError:
            return text

    def rows(path):
        with path.open() as file:
            return [{key: number(value) for key, value in row.items()} for row in csv.DictReader(file)]

    return {name: {path.stem: rows(path) for path in (experiment.out / name).glob("*.csv")} for name in FILES}


def picked(rows, column, **values):
    return np.array([row[column] for row in rows if all(row[key] == value for key, value in values.items())])


def t_interval(values):
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return np.mean(values) - half, np.mean(values) + half


@pytest.mark.parametrize("name", FILES)
def test_tables_figures_words_and_record_are_there(experiment, trained, name):
    found = {path.name for path in (experiment.out / name).iterdir()}
    assert {stem for stem, dot, _ in (file.partition(".") for file in found)} == FILES[name] | {"README", "record"}
    for file in found:
        stem, _, ending = file.rpartition(".")
        twin = {"csv": "parquet", "parquet": "csv", "svg": "png", "png": "svg"}.get(ending)
        assert twin is None or f"{stem}.{twin}" in found


@pytest.mark.parametrize("name", FILES)
def test_there_is_a_row_for_every_job(experiment, tables, name):
    keys = [
        Job(int(row["seed"]), row["fraction"], row["model"], row["protocol"], row["method"]).key
        for row in tables[name]["trainings"]
    ]
    assert keys == [job.key for job in TINY_SETTINGS[name].jobs(experiment)]
    assert len(set(keys)) == len(keys)


def test_trainings_that_experiments_share_are_done_once(experiment, trained):
    everything = [training for done in trained.values() for training in done]
    assert len(set(everything)) == len(everything)
    before = set()
    for name, folder in (("pruning", "lenet"), ("theory", "lenet"), ("transfer", "lenet"), ("speed", "lenet")):
        wanted = {(folder, job.key) for job in TINY_SETTINGS[name].jobs(experiment)}
        assert set(trained[name]) == wanted - before
        before |= wanted
    assert (
        0 < len(trained["theory"]) < len(TINY_SETTINGS["theory"].jobs(experiment))
    )  # the case above is one where they overlap
    assert {folder for folder, _ in trained["noise"]} == {"lenet-worse"}
    assert {folder for folder, _ in trained["nas"]} == {"lenet-search"}


@pytest.mark.parametrize("name", FILES)
def test_the_record_says_how_it_was_made_and_holds_no_path(experiment, tables, name):
    text = (experiment.out / name / "record.json").read_text()
    record, rows = json.loads(text), tables[name]["trainings"]
    for path in (experiment.out, experiment.out.parent):
        assert str(path) not in text
    assert record["command"] == experiment.command
    assert record["seeds"] == ([0] if name == "nas" else [0, 1])
    assert record["examples"] == 60
    assert record["trainings"] == len(rows)
    assert record["machine"]["cores"] >= 1
    assert record["scale"]["recipe"] == TINY.recipe.to_dict()
    assert record["scale"] == {
        "name": "cpu",
        "per_class": 20,
        "scorer": "lenet",
        "recipe": TINY.recipe.to_dict(),
        "other_recipes": {},
        "seeds": 2,
    }
    assert record["settings"] == json.loads(json.dumps(asdict(TINY_SETTINGS[name])))
    assert record["training_seconds"] == pytest.approx(sum(row["seconds"] for row in rows), abs=0.06)
    each_once = {(row["method"], row["fraction"], row["seed"]): row["selection_seconds"] or 0.0 for row in rows}
    assert record["selection_seconds"] == pytest.approx(sum(each_once.values()), abs=0.06)


@pytest.mark.parametrize("name", ["pruning", "transfer", "speed", "noise"])
def test_summaries_are_means_over_the_seeds(tables, name):
    trainings, summary = tables[name]["trainings"], tables[name]["summary"]
    cells = {(row["model"], row["protocol"], row["fraction"], row["method"]) for row in trainings}
    assert {(row["model"], row["protocol"], row["fraction"], row["method"]) for row in summary} == cells
    for row in summary:
        same = {key: row[key] for key in ("model", "protocol", "fraction")}
        accuracy = picked(trainings, "accuracy", **same, method=row["method"])
        assert row["seeds"] == len(accuracy) == 2
        assert row["accuracy"] == pytest.approx(accuracy.mean())
        assert np.isnan([row["low"], row["high"]]).all()  # two seeds are too few
        full_protocol = "equal-epochs" if row["protocol"] == "equal-steps" else row["protocol"]
        full = picked(trainings, "accuracy", model=row["model"], protocol=full_protocol, method=FULL)
        assert row["against_full"] == pytest.approx((accuracy - full).mean(), abs=1e-12)
        baseline = picked(trainings, "accuracy", **same, method="stratified-random")
        if name != "speed" and len(baseline):
            assert row["against_baseline"] == pytest.approx((accuracy - baseline).mean(), abs=1e-12)
        seconds = picked(trainings, "seconds", **same, method=row["method"])
        assert row["seconds"] == pytest.approx(seconds.mean())


def test_a_retrained_gap_is_the_difference_of_two_losses(tables):
    trainings, sets = tables["theory"]["trainings"], tables["theory"]["sets"]
    retrained = [row for row in sets if row["rule"] == RETRAINING]
    assert len(retrained) == len(trainings) - 2  # every set of both seeds
    for row in retrained:
        [pruned] = picked(trainings, "loss", method=row["method"], fraction=row["fraction"], seed=row["seed"])
        [full] = picked(trainings, "loss", method=FULL, seed=row["seed"])
        assert row["gap"] == pytest.approx(pruned - full, abs=1e-12)


def test_the_refit_of_the_theory_is_that_of_the_certificate(tables):
    trainings, sets = tables["theory"]["trainings"], tables["theory"]["sets"]
    for row in (row for row in sets if row["rule"] == "refit"):
        [certified] = picked(trainings, "refit_change", method=row["method"], fraction=0.4, seed=row["seed"])
        assert row["change"] == pytest.approx(certified, rel=1e-4)


def test_gaps_and_agreement_recompute_from_the_sets(tables):
    sets, gaps, found = (tables["theory"][name] for name in ("sets", "gaps", "agreement"))
    for row in gaps:
        values = picked(sets, "gap", method=row["method"], fraction=row["fraction"], rule=row["rule"])
        np.testing.assert_allclose([row["mean"], row["low"], row["high"]], [values.mean(), *t_interval(values)])
    for row in found:
        predicted, observed = (picked(sets, "gap", rule=rule, fraction=0.4) for rule in (row["rule"], row["reference"]))
        assert row["sets"] == len(predicted) == 8
        assert row["spearman"] == pytest.approx(stats.spearmanr(predicted, observed).statistic)
        assert row["slope"] == pytest.approx(np.polyfit(predicted, observed, 1)[0], rel=1e-6)


def test_the_search_is_judged_by_the_whole_set(experiment, tables):
    trainings, rows = tables["nas"]["trainings"], tables["nas"]["search"]
    assert [row["method"] for row in rows] == ["random", "leanset"]
    whole = {row["model"]: row["accuracy"] for row in trainings if row["method"] == FULL}
    assert len(whole) == 3
    for row in rows:
        proxy = {one["model"]: one["accuracy"] for one in trainings if one["method"] == row["method"]}
        chosen = max(whole, key=proxy.get)  # of equal ones the first
        assert (row["chosen"], row["accuracy_of_chosen"]) == (chosen, whole[chosen])
        assert row["regret"] == pytest.approx(max(whole.values()) - whole[chosen], abs=1e-12)
        assert row["training_share"] == pytest.approx(3 * 5 * 2 / (60 * 1))  # images of each class, epochs
        assert row["storage_share"] == pytest.approx(3 * 5 / 60)
    assert set(picked(trainings, "kept", method="leanset")) == {15}
    assert set(picked(trainings, "epochs", method="leanset")) == {2}
    assert set(picked(trainings, "epochs", method=FULL)) == {1}
    widest = max(int(name.split("-")[2]) for name in whole)
    assert f"300,000 multiply-adds and 9,000 activations an image; none is wider than {widest}" in readme(
        experiment, "nas"
    )


def test_wrong_labels_are_counted_among_the_kept(experiment, tables):
    part = experiment.images
    wrong = NOISY[part.rows] != part.labels
    study = experiment.study(images=SOURCE.with_labels(NOISY).take(part.rows), name="worse")
    rows = tables["noise"]["kept"]
    jobs = [job for job in TINY_SETTINGS["noise"].jobs(experiment) if job.method != FULL]
    assert len(rows) == len(jobs)
    for job in jobs:
        [share] = picked(rows, "wrong_among_kept", method=job.method, fraction=job.fraction, seed=job.seed)
        assert share == np.mean([wrong[place] for place in study.kept(job)])
    mean = 100 * picked(rows, "wrong_among_kept", method="leanset").mean()
    assert f"| leanset | {mean:.1f} |" in readme(experiment, "noise")
    assert f"## worse: {100 * wrong.mean():.1f} % of the labels are wrong" in readme(experiment, "noise")


def test_one_of_two_leansets_is_told_that_labels_may_be_wrong(experiment):
    settings = TINY_SETTINGS["noise"]
    [study] = settings.studies(experiment)
    told = {
        job.method: study.setup.selection_settings(job, None).coverage
        for job in settings.jobs(experiment)
        if job.method.startswith("leanset")
    }
    assert told["leanset-suspects"] == Coverage(suspects=True)
    assert told["leanset"] == leanset.Settings().coverage


def test_time_is_told_as_a_share_of_training_on_everything(experiment, tables):
    rows = [row for row in tables["speed"]["trainings"] if row["protocol"] == "equal-epochs"]
    full, ours = ([row for row in rows if row["method"] == method] for method in (FULL, "leanset"))
    shares = [100 * one["seconds"] / two["seconds"] for one, two in zip(ours, full, strict=True)]
    gained = np.mean([100 * (one["accuracy"] - two["accuracy"]) for one, two in zip(ours, full, strict=True)])
    assert f"| 40 % | {gained:+.2f} |" in readme(experiment, "speed")
    assert f" | {np.mean(shares):.0f} % (" in readme(experiment, "speed")


def readme(experiment, name):
    return (experiment.out / name / "README.md").read_text()


@pytest.mark.parametrize("name", FILES)
def test_the_words_open_with_the_command_and_are_whole_tables(experiment, trained, name):
    lines = readme(experiment, name).splitlines()
    assert lines[0].startswith("# ")
    assert lines[2] == f"`{experiment.command}`"
    tables = "\n".join(line if line.startswith("|") else "" for line in lines).split("\n\n")
    tables = [table.strip("\n").splitlines() for table in tables if table.strip("\n")]
    assert tables
    for table in tables:
        assert len({line.count("|") for line in table}) == 1
        assert set(table[1]) == set("|-")


def test_one_seed_has_no_interval_and_repeats_nothing(experiment, trained, tmp_path):
    alone = replace(experiment, seeds=1, out=tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Study, "_train", None)  # all of it is there
        for name in ("pruning", "theory", "speed", "nas"):
            run_experiment(name, alone, TINY_SETTINGS[name])
            assert json.loads((tmp_path / name / "record.json").read_text())["seeds"] == [0]
            assert "nan to" not in readme(alone, name).partition("| images chosen by")[0]  # few networks may tie
    with (tmp_path / "pruning" / "summary.csv").open() as file:
        assert {row["seeds"] for row in csv.DictReader(file)} == {"1"}


def test_without_settings_those_of_the_scale_are_taken(experiment, trained, tmp_path, monkeypatch):
    monkeypatch.setitem(EXPERIMENTS["speed"], "cpu", TINY_SETTINGS["speed"])
    folder = run_experiment("speed", replace(experiment, out=tmp_path))
    assert json.loads((folder / "record.json").read_text())["settings"] == {"epochs": [2], "fractions": [0.4]}


@pytest.mark.parametrize("name", ["pruning", "transfer", "noise"])
def test_losses_are_told_beside_accuracies(experiment, tables, name):
    page = readme(experiment, name)
    on_all = [row for row in tables[name]["summary"] if row["method"] == FULL]
    assert on_all
    for row in on_all:
        assert f"| all data | {row['loss']:.3f} ({row['scaled_loss']:.3f}) |" in page
