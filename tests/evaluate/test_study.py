import contextlib
import shutil
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from leanset import InputError
from leanset._errors import DivergenceError, LeansetError
from leanset._progress import Silent
from leanset._threads import thread_count
from leanset.capture import NetworkSettings, trained_network
from leanset.evaluate import study as study_module
from leanset.evaluate.job import Job
from leanset.evaluate.protocol import EQUAL_EPOCHS, EQUAL_STEPS
from leanset.evaluate.study import Study
from leanset.evaluate.summary import training_seconds
from leanset.judge import FULL, SHORTER
from leanset.training import Quality
from tests.evaluate.setups import RECIPE, tiny_setup

METHODS = ("stratified-random", "el2n")
WHOLE = [Job(seed, 0.0, "lenet", EQUAL_EPOCHS, FULL) for seed in range(4)]
JOBS = [
    *WHOLE[:2],
    *(Job(seed, 0.5, "lenet", EQUAL_EPOCHS, method) for seed in (0, 1) for method in METHODS),
    Job(0, 0.5, "lenet", EQUAL_STEPS, "el2n"),
    Job(0, 0.5, "lenet", "epochs=4", SHORTER),
]
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A study that was run without interruption."""
    study = Study(tiny_setup(), tmp_path_factory.mktemp("study") / "table")
    with thread_count(1):
        study.run(JOBS, workers=1)
    return study


@pytest.fixture
def begun(finished, tmp_path):
    """A study whose scorer is trained, and nothing else."""
    shutil.copytree(finished.path, tmp_path / "table", ignore=shutil.ignore_patterns("jobs", "selections", "locks"))
    return Study(finished.setup, tmp_path / "table")


def rows(study, jobs=JOBS):
    """What was found, apart from how long it took."""
    assert [job for job in jobs if not study.table.is_finished(job)] == []
    return [{k: v for k, v in row.items() if "seconds" not in k} for row in study.outcomes(jobs)]


def instead(monkeypatch, stand_in):
    monkeypatch.setattr(study_module, "trained_network", stand_in)


def nothing(images, settings, **options):
    """A training that takes no time."""
    return None, Quality(0.5, 1.0, 1.0, 1.0)


@pytest.mark.parametrize("job", [JOBS[0], JOBS[2], *JOBS[-2:]], ids=lambda job: job.key)
def test_an_outcome_is_that_of_a_training_by_hand(finished, job):
    kept = np.arange(48) if job.on_all else finished.kept(job)
    assert len(np.unique(kept)) == (48 if job.on_all else round((1 - job.fraction) * 48))
    epochs = 1 if job.protocol == EQUAL_EPOCHS else 2  # half of four for the shorter one
    settings = NetworkSettings(model="lenet", recipe=replace(RECIPE, epochs=epochs), seed=job.seed, device="cpu")
    _, quality = trained_network(finished.setup.images, settings, places=kept, reporter=Silent())
    [row] = finished.outcomes([job])
    assert (row["accuracy"], row["loss"]) == (quality.accuracy, quality.loss)
    assert (row["kept"], row["epochs"], row["steps"]) == (len(kept), epochs, epochs * -(-len(kept) // 16))
    assert (row["refit_change"] is None) == job.on_all


def test_stratified_choices_keep_the_share_of_each_class_and_depend_on_the_seed(finished):
    zero, one = (finished.kept(Job(seed, 0.5, "lenet", EQUAL_EPOCHS, "stratified-random")) for seed in (0, 1))
    for kept in (zero, one):
        np.testing.assert_array_equal(np.bincount(finished.setup.images.labels[kept]), [8, 8, 8])
    assert zero.tolist() != one.tolist()


def test_run_again_nothing_is_done(finished, monkeypatch):
    before = rows(finished)
    instead(monkeypatch, None)
    monkeypatch.setattr(study_module, "network_statistics", None)
    finished.run(JOBS, workers=1)
    assert rows(finished) == before


@pytest.mark.parametrize("finishes", [0, 3])
def test_an_interrupted_study_goes_on_to_the_same_rows(begun, finished, monkeypatch, finishes):
    done = []

    def interrupted(*arguments, **options):
        if len(done) == finishes:
            raise KeyboardInterrupt
        done.append(arguments)
        return trained_network(*arguments, **options)

    instead(monkeypatch, interrupted)
    with pytest.raises(KeyboardInterrupt):
        begun.run(JOBS, workers=1)
    assert len(begun.outcomes(JOBS)) == finishes
    later = []
    instead(monkeypatch, lambda *a, **o: (later.append(a), trained_network(*a, **o))[1])
    begun.run(JOBS, workers=1)
    assert len(later) == len(JOBS) - finishes
    assert rows(begun) == rows(finished)


def test_what_is_chosen_needs_no_network_to_look_at(finished, tmp_path, monkeypatch):
    """Selections are small, so a study that goes on elsewhere takes them along, and not the network."""
    shutil.copytree(finished.path, tmp_path / "table", ignore=shutil.ignore_patterns("jobs", "network", "locks"))
    moved, known = Study(finished.setup, tmp_path / "table"), {job: finished.kept(job) for job in JOBS}
    trained_on = {}

    def noted(images, settings, *, places, **options):
        trained_on[len(trained_on)] = places
        return nothing(images, settings)

    instead(monkeypatch, noted)
    moved.run(JOBS, workers=1)
    assert not (tmp_path / "table" / "network").exists()
    assert len(trained_on) == len(JOBS)
    for job in JOBS:
        np.testing.assert_array_equal(moved.kept(job), known[job])


def test_jobs_of_one_selection_train_on_the_same_places(begun, monkeypatch):
    seen, selected = [], []
    select = type(begun.setup).select

    def noted(images, settings, *, places, reporter):
        seen.append((settings.model, settings.recipe.epochs, places.tolist()))
        return nothing(images, settings)

    def counted(setup, statistics, job, threads):
        selected.append(job.selection)
        return select(setup, statistics, job, threads)

    instead(monkeypatch, noted)
    monkeypatch.setattr(type(begun.setup), "select", counted)
    kinds = (("lenet", EQUAL_EPOCHS), ("lenet", "epochs=3"), ("conv4", EQUAL_EPOCHS))
    begun.run([Job(0, 0.5, model, protocol, "random") for model, protocol in kinds], workers=1)
    assert sorted((model, epochs) for model, epochs, _ in seen) == [("conv4", 1), ("lenet", 1), ("lenet", 3)]
    assert seen[0][2] == seen[1][2] == seen[2][2]
    assert selected == [Job(0, 0.5, "lenet", EQUAL_EPOCHS, "random").selection]


def test_a_job_that_is_named_twice_is_done_once(begun, monkeypatch):
    calls = []
    instead(monkeypatch, lambda *a, **o: (calls.append(a), nothing(*a))[1])
    begun.run([WHOLE[0], WHOLE[1], WHOLE[0]], workers=1)
    assert len(calls) == 2


def test_a_training_that_two_protocols_share_is_done_once(finished, begun, monkeypatch):
    """Half of the examples under equal steps get two epochs: that is `epochs=2`, and no other job of the study."""
    drawn, other = JOBS[-2], Job(1, 0.5, "lenet", "epochs=2", "el2n")
    twin, decayed = replace(drawn, protocol="epochs=2"), replace(drawn, protocol="epochs=2+total-decay")
    shutil.copytree(finished.path / "jobs", begun.path / "jobs")
    shutil.copytree(finished.path / "selections", begun.path / "selections")
    trained = []
    instead(monkeypatch, lambda *a, **o: (trained.append((a[1].seed, a[1].recipe)), nothing(*a))[1])
    begun.run([twin, decayed, other], workers=1)
    half = replace(RECIPE, epochs=2)
    assert trained == [(0, replace(half, weight_decay=2 * RECIPE.weight_decay)), (1, half)]
    [first], [again] = begun.outcomes([drawn]), begun.outcomes([twin])
    assert again == first | {"protocol": "epochs=2", "trained_under": EQUAL_STEPS}
    assert training_seconds([row | {"seconds": 2.5} for row in (first, again)]) == 2.5


def test_all_examples_for_as_long_are_one_training_whatever_its_name(begun, monkeypatch):
    calls = []
    instead(monkeypatch, lambda *a, **o: (calls.append(a), nothing(*a))[1])
    shorter, whole = JOBS[-1], Job(0, 0.0, "lenet", "epochs=2", FULL)
    begun.run([whole], workers=1)
    begun.run([shorter, WHOLE[0]], workers=1)
    assert len(calls) == 2  # one epoch is another training
    assert begun.outcomes([shorter])[0]["trained_under"] == "epochs=2"


def test_two_who_share_a_folder_never_do_a_job_twice(begun, monkeypatch):
    both, calls = threading.Barrier(2), []

    def counted(images, settings, **options):
        calls.append(settings.seed)
        if len(calls) <= 2:
            both.wait(30)  # so that two do work at once, on two jobs
        return nothing(images, settings)

    instead(monkeypatch, counted)
    monkeypatch.setattr(study_module, "_LOOK", 0.01)
    threads = [
        threading.Thread(target=Study(begun.setup, begun.path).run, args=(WHOLE,), kwargs={"workers": 1})
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(calls) == [0, 1, 2, 3]
    assert len(rows(begun, WHOLE)) == 4


def test_a_job_that_another_holds_is_waited_for_and_taken_over_if_the_other_gives_up(begun, monkeypatch):
    instead(monkeypatch, nothing)
    monkeypatch.setattr(study_module, "_LOOK", 0.01)
    run = threading.Thread(target=begun.run, args=(WHOLE,), kwargs={"workers": 1})
    with begun.table.lock(WHOLE[1].key, wait=False):
        run.start()
        deadline = time.monotonic() + 60
        while begun.table.open_jobs(WHOLE) != [WHOLE[1]] and time.monotonic() < deadline:
            time.sleep(0.01)
        run.join(0.1)
        assert run.is_alive()
    run.join(60)
    assert len(rows(begun, WHOLE)) == 4


@pytest.mark.parametrize("error", [ValueError("no such luck"), LeansetError("no such luck")])
def test_a_failure_leaves_the_others_done_names_the_job_and_is_tried_again(begun, monkeypatch, error):
    def unlucky(images, settings, **options):
        if settings.seed == 2:
            raise error
        return nothing(images, settings)

    instead(monkeypatch, unlucky)
    with pytest.raises(LeansetError) as caught:
        begun.run(WHOLE, workers=1)
    assert str(caught.value).startswith("1 of 4 trainings failed")
    assert WHOLE[2].key in str(caught.value)
    assert str(caught.value).endswith("no such luck")
    assert begun.table.pending(WHOLE) == [WHOLE[2]]
    retried = []
    instead(monkeypatch, lambda images, settings, **o: (retried.append(settings.seed), nothing(images, settings))[1])
    begun.run(WHOLE, workers=1)
    assert retried == [2]
    assert begun.table.failure(WHOLE[2]) is None


def test_divergence_is_a_failure_or_counted_as_chance(begun, monkeypatch):
    def diverging(*arguments, **options):
        raise DivergenceError("the loss is nan")

    instead(monkeypatch, diverging)
    with pytest.raises(LeansetError, match="the loss is nan"):
        begun.run(WHOLE[:1], workers=1)
    begun.run(WHOLE[:1], workers=1, divergence_is_chance=True)
    [row] = begun.outcomes(WHOLE[:1])
    assert row["accuracy"] == 1 / len(begun.setup.images.classes)
    assert row["loss"] is None


@pytest.mark.parametrize(
    ("jobs", "workers", "said"),
    [
        (WHOLE, 0, "workers=0"),
        (WHOLE, -2, "workers=-2"),
        ([replace(WHOLE[0], model="lenett")], 1, "'lenett'"),
        ([replace(WHOLE[0], protocol="equal")], 1, "'equal'"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_written(tmp_path, jobs, workers, said):
    study = Study(tiny_setup(), tmp_path / "table")
    with pytest.raises(InputError, match=said):
        study.run(jobs, workers=workers)
    assert not study.path.exists()


def test_progress_goes_from_nothing_to_all_in_steps_of_the_work_done(begun, monkeypatch):
    shares = []

    class Noting(Silent):
        def stage(self, title, *, units=1.0, unit=""):
            return contextlib.nullcontext(shares.append)

    instead(monkeypatch, nothing)
    jobs = [WHOLE[0], replace(WHOLE[1], protocol="epochs=3")]
    begun.run(jobs, workers=1, reporter=Noting())
    np.testing.assert_allclose(shares, [1 / 4, 1])
