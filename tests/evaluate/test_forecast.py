import shutil
from dataclasses import replace

import pytest

from leanset import InputError, RunFolderError
from leanset._threads import thread_count
from leanset.capture import Network
from leanset.evaluate.forecast import forecast
from leanset.evaluate.job import Job
from leanset.evaluate.protocol import EQUAL_EPOCHS, EQUAL_STEPS
from leanset.evaluate.study import Study
from leanset.judge import FULL
from leanset.training import training_pflop
from tests.evaluate.setups import RECIPE, tiny_setup

JOBS = [
    Job(0, 0.0, "lenet", EQUAL_EPOCHS, FULL),
    *(
        Job(seed, 0.5, "lenet", protocol, "el2n")
        for seed in (0, 1)  # two choices, four trainings
        for protocol in (EQUAL_EPOCHS, EQUAL_STEPS)
    ),
]
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    study = Study(tiny_setup(), tmp_path_factory.mktemp("forecast") / "table")
    with thread_count(1):
        study.run(JOBS, workers=1)
    return study


def by_work(expected):
    return {share.work: share for share in expected.shares}


def test_before_anything_is_done_all_of_it_is_left_and_nothing_is_written(finished, tmp_path):
    study = Study(finished.setup, tmp_path / "table")
    found = by_work(forecast(study, JOBS, workers=1))
    counted = {work: (share.number, share.finished) for work, share in found.items()}
    assert counted == {"lenet, which methods look at": (1, 0), "choosing with el2n": (2, 0), "training lenet": (5, 0)}
    for share in found.values():
        assert share.left == pytest.approx(share.each * share.number)
    outcomes = finished.outcomes(JOBS)
    assert found["training lenet"].image_passes == sum(row["kept"] * row["epochs"] for row in outcomes)
    images = study.setup.images
    model = Network(images, study.setup.scorer_settings()).model
    arithmetic = [
        training_pflop(model, (3, *images.size), replace(RECIPE, epochs=row["epochs"]), row["kept"]) for row in outcomes
    ]
    assert found["training lenet"].pflop == pytest.approx(sum(arithmetic))
    assert found["lenet, which methods look at"].image_passes == RECIPE.epochs * len(images)
    assert not study.path.exists()


def test_what_is_finished_is_not_left(finished, tmp_path):
    done = forecast(finished, JOBS)
    assert done.seconds == 0
    assert all(share.finished == share.number for share in done.shares)
    shutil.copytree(finished.path, tmp_path / "table")
    begun = Study(finished.setup, tmp_path / "table")
    for job in JOBS[3:]:  # the second seed
        (begun.path / "jobs" / f"{job.key}.json").unlink()
    (begun.path / "selections" / f"{JOBS[3].selection}.json").unlink()
    found = by_work(forecast(begun, JOBS, workers=1))
    assert {work: share.finished for work, share in found.items()} == {
        "lenet, which methods look at": 1,
        "choosing with el2n": 1,
        "training lenet": 3,
    }
    assert found["choosing with el2n"].left == pytest.approx(found["choosing with el2n"].each)


def test_several_workers_share_the_time_and_not_the_work(finished, tmp_path):
    found = by_work(forecast(Study(finished.setup, tmp_path / "table"), JOBS, workers=5))
    training = found["training lenet"]
    assert training.left == pytest.approx(training.each * training.number / 5)
    assert forecast(finished, JOBS, workers=50).workers == len(JOBS)


@pytest.mark.parametrize("workers", [1, 2])
def test_shares_are_those_of_one_training_on_all_examples(finished, tmp_path, workers):
    found = by_work(forecast(Study(finished.setup, tmp_path / "table"), JOBS, workers=workers))
    full = [share.each / share.of_full_training for work, share in found.items() if "look at" not in work]
    assert full == pytest.approx([full[0]] * len(full))


def test_the_network_that_methods_look_at_is_told_by_its_arithmetic(finished, tmp_path):
    longer = replace(finished.setup, scorer_recipe=RECIPE.with_changes(epochs=3), runs=2)
    found = by_work(forecast(Study(longer, tmp_path / "table"), JOBS, workers=1))
    assert found["lenet, which methods look at"].of_full_training == pytest.approx(2 * 3 / RECIPE.epochs)


def test_many_networks_are_listed_together(tmp_path):
    models = [f"convnet-{depth}-32-relu-none-{pooling}" for depth in (1, 2) for pooling in ("none", "max", "average")]
    jobs = [Job(0, 0.0, model, EQUAL_EPOCHS, FULL) for model in models]
    [share] = forecast(Study(tiny_setup(), tmp_path / "table"), jobs, workers=1).shares
    assert (share.work, share.number) == ("training 6 networks", 6)
    few = forecast(Study(tiny_setup(), tmp_path / "table"), jobs[:4], workers=1)
    assert [share.work for share in few.shares] == [f"training {model}" for model in models[:4]]


def test_what_could_not_be_run_is_refused(finished, tmp_path):
    other = Study(replace(finished.setup, random_draws=9), finished.path)
    with pytest.raises(RunFolderError, match="random_draws"):
        forecast(other, JOBS)
    with pytest.raises(InputError, match="workers=0"):
        forecast(finished, JOBS, workers=0)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(RunFolderError, match="in use for something else"):
        forecast(Study(finished.setup, tmp_path), JOBS)
