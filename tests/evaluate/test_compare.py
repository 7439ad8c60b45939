import json
import math
from collections import Counter
from dataclasses import replace

import pytest

from leanset import InputError, RunFolderError
from leanset._progress import Silent
from leanset.evaluate import study as study_module
from leanset.evaluate.compare import TABLE, Answer, forecast_comparison, run_comparison
from leanset.evaluate.markdown import loss_table, seeds_table, work_table
from leanset.evaluate.protocol import EQUAL_EPOCHS, EQUAL_STEPS
from leanset.evaluate.question import Question
from leanset.evaluate.study import Study
from leanset.evaluate.summary import parts_of, summarise
from leanset.evaluate.words import beside_best, beside_shorter, costs, higher_losses
from leanset.judge import FULL, SHORTER, STRATIFIED
from leanset.runs import NETWORK
from leanset.training import build_model, training_pflop
from tests.evaluate.setups import RECIPE, tiny_setup
from tests.evaluate.test_question import asked

QUESTION = Question(methods=("el2n",), fractions=(0.25, 0.5), seeds=2)


def outcomes_of(question):
    """Rows as trainings leave them, of a network that learns the more the more it sees."""
    return [job.to_dict() | {"accuracy": 0.9 - job.fraction / 2, "seconds": 1.0} for job in question.jobs("lenet")]


def test_each_part_has_its_protocol_and_the_training_on_everything():
    question = asked(protocols=(EQUAL_EPOCHS, EQUAL_STEPS, "epochs=2"), models=("lenet", "conv4"))
    parts = parts_of(summarise(outcomes_of(question), STRATIFIED))
    assert [title for title, _ in parts] == [
        f"{model}, {protocol}"
        for model in ("lenet", "conv4")
        for protocol in ("equal epochs", "equal steps", "epochs=2")
    ]
    for title, part in parts:
        assert Counter(row.method for row in part) == {FULL: 1, STRATIFIED: 1, "el2n": 1}
        assert {row.model for row in part} == {title.split(",")[0]}
        assert {row.protocol.replace("-", " ") for row in part if row.method != FULL} == {title.split(", ")[1]}


def test_an_answer_is_json_without_numbers_that_json_has_not():
    rows = summarise(outcomes_of(asked()), STRATIFIED)
    plain = json.loads(json.dumps(Answer(tuple(rows), ("a",), "b").to_dict(), allow_nan=False))
    assert plain["verdicts"] == ["a"]
    for row, given in zip(rows, plain["rows"], strict=True):
        for name, value in given.items():
            known = getattr(row, name)
            assert (value is None) if known != known else (value == known)


def test_a_foreign_folder_is_refused_and_left_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(study_module, "network_statistics", None)  # would fail if it came to training
    (tmp_path / "README.md").write_text("mine")
    with pytest.raises(RunFolderError, match="in use for something else"):
        run_comparison(tiny_setup(), QUESTION, tmp_path, workers=1, reporter=Silent())
    assert [file.name for file in tmp_path.iterdir()] == ["README.md"]


def test_more_seeds_and_methods_add_to_what_is_there(tmp_path, monkeypatch):
    calls = []
    trained = study_module.trained_network
    monkeypatch.setattr(study_module, "trained_network", lambda *a, **o: (calls.append(a), trained(*a, **o))[1])
    setup, small = tiny_setup(), asked(protocols=(EQUAL_EPOCHS,))
    run_comparison(setup, small, tmp_path, workers=1, reporter=Silent())
    assert len(calls) == len(small.jobs("lenet"))
    large = asked(methods=("el2n", "random"), seeds=2, protocols=(EQUAL_EPOCHS,))
    answer = run_comparison(setup, large, tmp_path, workers=1, reporter=Silent())
    assert len(calls) == len(large.jobs("lenet"))
    assert len(list((tmp_path / TABLE / "jobs").iterdir())) == len(calls)
    assert {row.method: row.seeds for row in answer.rows} == dict.fromkeys((FULL, STRATIFIED, "el2n", "random"), 2)
    assert len(answer.verdicts) == 2


def test_a_network_joins_with_its_recipe_and_may_not_change_it(tmp_path, monkeypatch):
    question = asked(protocols=(EQUAL_EPOCHS,))
    run_comparison(tiny_setup(), question, tmp_path, workers=1, reporter=Silent())
    own, joined = RECIPE.with_changes(lr=0.03), asked(protocols=(EQUAL_EPOCHS,), models=("conv4",))
    setup = tiny_setup(other_recipes={"conv4": own})
    answer = run_comparison(setup, joined, tmp_path, workers=1, reporter=Silent())
    assert {row.model for row in answer.rows} == {"conv4"}
    record = json.loads((tmp_path / "record.json").read_text())
    assert {model: recipe["lr"] for model, recipe in record["recipes"].items()} == {"lenet": 0.02, "conv4": 0.03}
    monkeypatch.setattr(study_module, "trained_network", None)  # would fail if it came to training
    for changed in (tiny_setup(), tiny_setup(other_recipes={"conv4": RECIPE})):
        with pytest.raises(RunFolderError, match="conv4 has another recipe"):
            run_comparison(changed, joined, tmp_path, workers=1, reporter=Silent())
        with pytest.raises(RunFolderError, match="conv4 has another recipe"):
            forecast_comparison(changed, joined, tmp_path, workers=1)


def test_the_shared_network_costs_its_seconds_and_its_arithmetic(tmp_path):
    question = asked(protocols=(EQUAL_EPOCHS,))
    setup = tiny_setup(recipe=replace(RECIPE, epochs=2))
    answer = run_comparison(setup, question, tmp_path, workers=1, reporter=Silent())
    seconds = Study(setup, tmp_path / TABLE).table.scorer_cost()["seconds"]
    assert f", in {seconds:.3g} s on " in answer.choosing
    assert "the arithmetic of 50 % of one training of lenet on all data" in answer.choosing


def test_a_network_that_was_interrupted_has_no_known_cost(tmp_path):
    question = asked(protocols=(EQUAL_EPOCHS,))
    (tmp_path / TABLE / NETWORK).mkdir(parents=True)
    Study(tiny_setup(), tmp_path / TABLE).statistics()
    study = Study(tiny_setup(), tmp_path / TABLE)
    assert study.table.scorer_cost() is None
    study.table._files.write_json("setup.json", study.setup.identity())
    answer = run_comparison(tiny_setup(), question, tmp_path, workers=1, reporter=Silent())
    assert answer.choosing.endswith("its time is not among those of choosing.")


def test_tables_of_what_is_finished_need_no_training(tmp_path, monkeypatch):
    setup, narrow = tiny_setup(), asked(protocols=(EQUAL_EPOCHS,))
    with pytest.raises(InputError, match="no training on a chosen set is finished"):
        run_comparison(setup, narrow, tmp_path, workers=1, reporter=Silent(), only_finished=True)
    run_comparison(setup, narrow, tmp_path, workers=1, reporter=Silent())
    monkeypatch.setattr(study_module, "trained_network", None)  # would fail if it came to training
    wide = asked(methods=("ccs",), fractions=(0.25,), seeds=7, protocols=(EQUAL_STEPS,))
    answer = run_comparison(setup, wide, tmp_path, workers=1, reporter=Silent(), only_finished=True)
    found = {(row.method, row.fraction, row.protocol) for row in answer.rows}
    assert found == {(job.method, job.fraction, job.protocol) for job in narrow.jobs("lenet")}
    record = json.loads((tmp_path / "record.json").read_text())
    recorded = Question(**{name: v if name == "seeds" else tuple(v) for name, v in record["question"].items()})
    assert recorded.jobs("lenet") == narrow.jobs("lenet")  # and not the question that was asked
    assert record["precisions"] == {"float32": len(narrow.jobs("lenet"))}


def test_arithmetic_is_that_of_the_examples_and_epochs_of_each_training(tmp_path):
    """Also where the network joined with a recipe of its own, and is not among those of the question."""
    question = asked(protocols=(EQUAL_EPOCHS,), models=("lenet", "conv4"), fractions=(0.5,))
    longer = tiny_setup(other_recipes={"conv4": RECIPE.with_changes(epochs=3)})
    run_comparison(longer, question, tmp_path, workers=1, reporter=Silent())
    answer = run_comparison(tiny_setup(), QUESTION, tmp_path, workers=1, reporter=Silent(), only_finished=True)
    page = (tmp_path / "README.md").read_text()
    shape = (longer.images.channels, *longer.images.size)
    for model, recipe in {"lenet": RECIPE, "conv4": RECIPE.with_changes(epochs=3)}.items():
        network = build_model(model, len(longer.images.classes), channels=shape[0], image_size=max(shape[1:]))
        each = {kept: training_pflop(network, shape, recipe, kept) for kept in (24, 48)}
        rows = [row for row in answer.rows if row.model == model]
        assert [row.pflop for row in rows] == [pytest.approx(each[48 if row.method == FULL else 24]) for row in rows]
        table = page.partition(f"| {model}, equal epochs, PFLOP and core-seconds |")[2].splitlines()[2:4]
        assert [f"| {each[kept]:.3g}, " in line for kept, line in zip((48, 24), table, strict=True)] == [True, True]


def test_the_time_of_a_training_is_that_of_the_quickest_on_all_its_threads():
    rows = [row | {"pflop": 0.5, "threads": 2} for row in outcomes_of(QUESTION)]
    slower = [row | {"seconds": 4.0} if row["method"] == "el2n" or row["seed"] else row for row in rows]
    part = parts_of(summarise(slower, STRATIFIED))[0][1]
    kept = "| what is kept | 0.5, 2 s | 0.5, 2 s |"
    assert work_table(part, "lenet")[2:] == ["| all data | 0.5, 2 s |  |", kept]
    assert work_table(parts_of(summarise(outcomes_of(QUESTION), STRATIFIED))[0][1], "lenet") == []
    elsewhere = [row | {"device": "cuda"} for row in rows]  # whose time is not that of the processor's threads
    assert work_table(parts_of(summarise(elsewhere, STRATIFIED))[0][1], "lenet")[3] == "| what is kept | 0.5 | 0.5 |"
    for seed in (0, 1):  # of seeds, or methods, on several kinds of machines
        mixed = [row | ({"device": "cuda"} if row["seed"] == seed else {}) for row in rows]
        assert {math.isnan(row.core_seconds) for row in summarise(mixed, STRATIFIED)} == {True}
    for method in ("el2n", STRATIFIED):
        mixed = [row | ({"device": "cuda"} if row["method"] == method else {}) for row in rows]
        assert work_table(parts_of(summarise(mixed, STRATIFIED))[0][1], "lenet")[3] == kept


@pytest.mark.parametrize(("losses", "scaled", "words"), [
    ({}, {}, None),
    ({"leanset": 1.0}, {}, None),  # no higher
    ({"leanset": 1.12}, {}, "the loss is +0.120 beside"),
    ({"leanset": 1.12}, {STRATIFIED: 0.9, "leanset": 0.88}, "(3 seeds), though no fewer answers are right: probabilities"),
    ({"leanset": 1.12}, {STRATIFIED: 0.9, "leanset": 0.88}, "mends that: −0.020 once that is done."),
    ({"leanset": 1.12}, {STRATIFIED: 0.9, "leanset": 0.95}, "leaves +0.050."),
    ({"leanset": 1.12}, {STRATIFIED: 0.9, "leanset": 1.05}, "does not mend that: +0.150."),
    ({"ccs": 1.12}, {}, None),
])  # fmt: skip
def test_a_loss_that_is_higher_though_as_many_answers_are_right_is_told(losses, scaled, words):
    question = asked(methods=("leanset", "ccs"), fractions=(0.5,), seeds=3, protocols=(EQUAL_EPOCHS,))
    rows = [row | {"loss": losses.get(row["method"], 1.0)} for row in outcomes_of(question)]
    rows = [row | ({"scaled_loss": scaled[row["method"]]} if row["method"] in scaled else {}) for row in rows]
    summary = summarise(rows, STRATIFIED)
    said = higher_losses(summary, "leanset", "random")
    assert len(said) == (words is not None)
    assert all(words in line and line.startswith("lenet, equal epochs: at 50 % removed by leanset") for line in said)
    worse = [row | {"accuracy": 0.1} if row["method"] == "leanset" else row for row in rows]
    assert higher_losses(summarise(worse, STRATIFIED), "leanset", "random") == []
    [table] = [loss_table(part, "lenet") for _, part in parts_of(summary)]
    ours = f"{losses.get('leanset', 1.0):.3f}" + (f" ({scaled['leanset']:.3f})" if "leanset" in scaled else "")
    assert f"| leanset | {ours} |" in table


def test_cells_with_fewer_seeds_are_told():
    rows = outcomes_of(QUESTION)
    assert not seeds_table(parts_of(summarise(rows, STRATIFIED))[0][1])
    fewer = [row for row in rows if (row["method"], row["fraction"], row["seed"]) != ("el2n", 0.5, 1)]
    part = parts_of(summarise(fewer, STRATIFIED))[0][1]
    assert seeds_table(part)[-1] == "| el2n | 2 | 1 |"


def test_a_shorter_training_on_all_data_is_shown_in_words_and_chooses_nothing(tmp_path):
    question = asked(methods=("leanset", SHORTER), fractions=(0.5,), protocols=(EQUAL_EPOCHS,))
    answer = run_comparison(tiny_setup(), question, tmp_path, workers=1, reporter=Silent())
    page = (tmp_path / "README.md").read_text()
    assert (
        sum(line.startswith("| all data, shorter |") for line in page.splitlines()) == 3
    )  # accuracy, difference, loss
    [said] = [line for line in answer.about_leanset if "against a shorter training on all data" in line]
    accuracy = {row.method: row.accuracy for row in answer.rows}
    points = f"{100 * (accuracy['leanset'] - accuracy[SHORTER]):+.1f} points".replace("-", "−").replace("+0.0", "0.0")
    # One pass of three steps is the least that a training takes, beside the two steps of half of the images.
    assert f"a shorter training on all data (1.5 times the steps) at 50 % removed: {points}, one seed" in said
    assert said in page


def test_a_total_decay_is_a_part_of_its_own_beside_the_same_trainings_on_all_data():
    protocols = (EQUAL_EPOCHS, "equal-epochs+total-decay")
    question = asked(methods=("leanset", SHORTER), fractions=(0.5,), protocols=protocols)
    points = {("leanset", protocols[0]): 70, ("leanset", protocols[1]): 75, (SHORTER, EQUAL_EPOCHS): 71}
    rows = [
        job.to_dict() | {"accuracy": points.get((job.method, job.protocol), 60) / 100} for job in question.jobs("lenet")
    ]
    said = beside_shorter(rows, "leanset")
    assert [line.split(":")[0] for line in said] == ["lenet, equal epochs", "lenet, equal epochs, total decay"]
    assert ["−1.0 points" in said[0], "+4.0 points" in said[1]] == [True, True]
    summary = summarise([row | {"seconds": 1.0, "refit_change": None} for row in rows], STRATIFIED)
    assert {title: {row.method for row in part} for title, part in parts_of(summary)} == {
        "lenet, equal epochs": {FULL, STRATIFIED, "leanset", SHORTER},
        "lenet, equal epochs, total decay": {FULL, STRATIFIED, "leanset"},
    }


def test_the_best_of_the_others_is_the_best_of_those_that_chose_by_the_common_seeds():
    question = asked(methods=("leanset", "ccs", "el2n", SHORTER), fractions=(0.5,), seeds=3, protocols=(EQUAL_EPOCHS,))
    points = {"leanset": 70, "ccs": 69, "el2n": 60, STRATIFIED: 50, SHORTER: 99, FULL: 90}
    rows = [job.to_dict() | {"accuracy": (points[job.method] + job.seed % 2) / 100} for job in question.jobs("lenet")]
    [said] = beside_best(rows, "leanset")
    assert "leanset is better than ccs, the best of the others, at 50 % removed: +1.0 points" in said
    assert "(3 seeds)" in said
    fewer = [
        row | {"accuracy": 0.99} if row["method"] == "el2n" else row
        for row in rows
        if row["method"] != "el2n" or row["seed"]
    ]
    assert beside_best(fewer, "leanset") == [said]  # two seeds are no match for three
    ours = [row for row in fewer if row["method"] != "leanset" or row["seed"]]
    assert "leanset against el2n" in beside_best([row for row in ours if row["seed"] < 2], "leanset")[0]
    alone = [row for row in rows if row["method"] in ("leanset", FULL, SHORTER)]
    assert beside_best([*alone, *(row | {"method": "balanced"} for row in alone)], "leanset") == []


def test_the_cost_beside_all_data_is_the_mean_over_common_seeds():
    rows = outcomes_of(asked(methods=("leanset",), fractions=(0.5,), seeds=3, protocols=(EQUAL_EPOCHS,)))
    rows = [row | {"steps": round(100 * (1 - row["fraction"]))} for row in rows if row["method"] != FULL or row["seed"]]
    [said] = costs(summarise(rows, STRATIFIED), "leanset", {})
    assert "50 % removed by leanset: −25.0 points beside all data" in said
    assert said.endswith("no interval (2 seeds), with 50 % of the steps.")


@pytest.mark.parametrize(("chooser", "once", "often"), [(1.0, 160, 61), (0.2, 80, 53)])
def test_the_cost_of_choosing_is_shared_out_among_the_trainings(chooser, once, often):
    rows = outcomes_of(asked(methods=("leanset",), fractions=(0.5,), seeds=1, protocols=(EQUAL_EPOCHS,)))
    times = {"steps": 100, "seconds": 80.0, "threads": 1}
    rows = [
        row | times | ({} if row["method"] == FULL else {"steps": 50, "seconds": 40.0, "selection_seconds": 8.0})
        for row in rows
    ]
    [said] = costs(summarise(rows, STRATIFIED), "leanset", {("lenet", EQUAL_EPOCHS): chooser})
    assert said.endswith(f"50 % of the steps; choosing included, {once} % for one training and {often} % each for 10.")
