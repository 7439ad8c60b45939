import json
import math
from collections import Counter

import pytest

from leanset import InputError, RunFolderError
from leanset._progress import Silent
from leanset.evaluate import study as study_module
from leanset.evaluate.bench import SELECTORS, STRATIFIED
from leanset.evaluate.compare import TABLE, Answer, Question, compare, parts_of
from leanset.evaluate.job import EQUAL_EPOCHS, EQUAL_STEPS, FULL
from leanset.evaluate.results import summary
from tests.evaluate.benches import tiny_bench

QUESTION = Question(methods=("el2n",), fractions=(0.25, 0.5), seeds=2)


def asked(**changes):
    return Question(**({"methods": ("el2n",), "fractions": (0.5,), "seeds": 1} | changes))


def test_every_kind_is_trained_once_for_each_seed_and_everything_once_a_protocol():
    question = asked(
        methods=("el2n", "ccs"), fractions=(0.25, 0.5), seeds=3, protocols=(EQUAL_EPOCHS, EQUAL_STEPS, "epochs=2")
    )
    jobs = question.jobs("lenet")
    assert len(set(jobs)) == len(jobs)
    counts = Counter(job.method for job in jobs)
    assert counts == {FULL: 3 * 2, STRATIFIED: 3 * 3 * 2, "el2n": 3 * 3 * 2, "ccs": 3 * 3 * 2}
    assert {job.protocol for job in jobs if job.method == FULL} == {EQUAL_EPOCHS, "epochs=2"}
    assert {job.model for job in jobs} == {"lenet"}
    assert {job.model for job in asked(models=("conv4", "resnet8")).jobs("lenet")} == {"conv4", "resnet8"}


def test_the_baseline_is_always_there_and_what_is_named_twice_is_done_once():
    assert asked(methods=()).methods == (STRATIFIED,)
    assert Counter(asked(methods=("el2n", STRATIFIED, "el2n")).methods) == {STRATIFIED: 1, "el2n": 1}
    twice = asked(fractions=(0.5, 0.5), models=("lenet", "lenet"), protocols=(EQUAL_STEPS, EQUAL_STEPS))
    assert len(twice.jobs("lenet")) == len(asked(protocols=(EQUAL_STEPS,)).jobs("lenet"))
    assert asked(methods=SELECTORS).methods[0] == STRATIFIED


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"methods": ("el3n",)}, r"'el3n'.*el2n"),
        ({"methods": (FULL,)}, "'full'"),
        ({"fractions": (0.5, 1.0)}, r"1\.0.*\(0, 1\)"),
        ({"fractions": (math.nan,)}, "nan"),
        ({"fractions": ()}, r"\(0, 1\)"),
        ({"seeds": 0}, "seeds=0"),
        ({"protocols": ("epochs=0",)}, "'epochs=0'"),
        ({"protocols": ()}, "protocol"),
    ],
)
def test_what_cannot_be_asked_is_named(changes, said):
    with pytest.raises(InputError, match=said):
        asked(**changes)


def outcomes_of(question):
    """Rows as trainings leave them, of a network that learns the more the more it sees."""
    return [job.to_dict() | {"accuracy": 0.9 - job.fraction / 2, "seconds": 1.0} for job in question.jobs("lenet")]


def test_each_part_has_its_protocol_and_the_training_on_everything():
    question = asked(protocols=(EQUAL_EPOCHS, EQUAL_STEPS, "epochs=2"), models=("lenet", "conv4"))
    parts = parts_of(summary(outcomes_of(question), STRATIFIED))
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
    rows = summary(outcomes_of(asked()), STRATIFIED)
    plain = json.loads(json.dumps(Answer(tuple(rows), ("a",)).to_dict(), allow_nan=False))
    assert plain["verdicts"] == ["a"]
    for row, given in zip(rows, plain["rows"], strict=True):
        for name, value in given.items():
            known = getattr(row, name)
            assert (value is None) if known != known else (value == known)


def test_a_foreign_folder_is_refused_and_left_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(study_module, "network_statistics", None)  # would fail if it came to training
    (tmp_path / "README.md").write_text("mine")
    with pytest.raises(RunFolderError, match="in use for something else"):
        compare(tiny_bench(), QUESTION, tmp_path, workers=1, reporter=Silent())
    assert [file.name for file in tmp_path.iterdir()] == ["README.md"]


def test_more_seeds_and_methods_add_to_what_is_there(tmp_path, monkeypatch):
    calls = []
    trained = study_module.trained_network
    monkeypatch.setattr(study_module, "trained_network", lambda *a, **o: (calls.append(a), trained(*a, **o))[1])
    bench, small = tiny_bench(), asked(protocols=(EQUAL_EPOCHS,))
    compare(bench, small, tmp_path, workers=1, reporter=Silent())
    assert len(calls) == len(small.jobs("lenet"))
    large = asked(methods=("el2n", "random"), seeds=2, protocols=(EQUAL_EPOCHS,))
    answer = compare(bench, large, tmp_path, workers=1, reporter=Silent())
    assert len(calls) == len(large.jobs("lenet"))
    assert len(list((tmp_path / TABLE / "jobs").iterdir())) == len(calls)
    assert {row.method: row.seeds for row in answer.rows} == dict.fromkeys((FULL, STRATIFIED, "el2n", "random"), 2)
    assert len(answer.verdicts) == 2
