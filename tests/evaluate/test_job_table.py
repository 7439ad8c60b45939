import json
import subprocess
import sys
import threading

import numpy as np
import pytest

from leanset import RunFolderError
from leanset.evaluate.job import Job
from leanset.evaluate.job_table import SETUP, JobTable
from leanset.evaluate.protocol import EQUAL_EPOCHS
from leanset.judge import FULL

JOB = Job(0, 0.4, "lenet", EQUAL_EPOCHS, "el2n")
OTHER = Job(1, 0.4, "lenet", EQUAL_EPOCHS, "el2n")


@pytest.fixture
def table(tmp_path):
    return JobTable(tmp_path / "table")


def test_a_finished_job_is_remembered(table):
    assert table.pending([JOB, OTHER]) == table.open_jobs([JOB, OTHER]) == [JOB, OTHER]
    table.finish(JOB, {"accuracy": 0.5})
    again = JobTable(table.path)
    assert again.is_finished(JOB)
    assert again.pending([JOB, OTHER]) == again.open_jobs([JOB, OTHER]) == [OTHER]
    assert again.outcome(JOB) == JOB.to_dict() | {"accuracy": 0.5}


def test_the_same_setup_is_taken_up_and_another_is_refused_naming_what_differs(table):
    identity = {"data": "abc", "recipe": {"epochs": 3, "crop": (1, 2)}, "runs": 1}
    table.open(identity)
    written = (table.path / SETUP).read_bytes()
    table.finish(JOB, {})
    table.open(identity)  # tuples are lists in JSON, and the same
    for change, said in (
        ({"data": "abd"}, ["`data`"]),
        ({"recipe": {"epochs": 4, "crop": (1, 2)}, "runs": 2}, ["`recipe`", "`runs`"]),
        ({"more": 1}, ["`more`"]),
    ):
        with pytest.raises(RunFolderError) as caught:
            table.open(identity | change)
        named = {word for word in ("`data`", "`recipe`", "`runs`", "`more`") if word in str(caught.value)}
        assert named == set(said)
    assert (table.path / SETUP).read_bytes() == written


def test_networks_may_join_with_recipes_of_their_own_and_none_may_change_its(table):
    usual, own, other = ({"epochs": epochs, "crop": (1, 2)} for epochs in (2, 3, 4))
    table.open({"data": "abc", "recipe": usual})
    table.finish(JOB, {})  # an earlier version saved no recipes
    table.check_recipes({JOB.model: usual, "resnet8": own})
    assert "resnet8" not in table.recipes()
    table.keep_recipes({JOB.model: usual, "resnet8": own})
    JobTable(table.path).keep_recipes({"resnet8": own, "resnet20": other})
    assert json.loads(json.dumps({JOB.model: usual, "resnet8": own, "resnet20": other})) == table.recipes()
    for changed in ({JOB.model: own}, {"resnet8": other}, {"resnet20": usual}, {"conv4": usual, "resnet8": other}):
        for tried in (table.keep_recipes, table.check_recipes):
            with pytest.raises(RunFolderError, match=r"(lenet|resnet8|resnet20) has another recipe there"):
                tried(changed)
    assert "conv4" not in table.recipes()


def test_a_foreign_folder_is_refused_and_left_as_it_is(table):
    table.path.mkdir()
    (table.path / "thesis.txt").write_text("mine")
    with pytest.raises(RunFolderError, match="in use for something else"):
        table.open({"data": "abc"})
    assert [file.name for file in table.path.iterdir()] == ["thesis.txt"]
    file = JobTable(table.path / "thesis.txt")
    with pytest.raises(RunFolderError, match=r"thesis\.txt"):
        file.open({"data": "abc"})


def test_what_a_process_killed_while_opening_leaves_is_no_foreign_folder(table):
    (table.path / "locks").mkdir(parents=True)
    (table.path / f".{SETUP}.x1y2").write_text("{")
    table.open({"data": "abc"})
    assert json.loads((table.path / SETUP).read_text()) == {"data": "abc"}


def test_of_many_who_open_at_once_one_setup_wins_and_all_of_it_go_on(tmp_path):
    for attempt in range(10):
        path, start, answers = tmp_path / str(attempt), threading.Barrier(6), {}

        def open_one(nth, path=path, start=start, answers=answers):
            start.wait()
            try:
                JobTable(path).open({"data": nth % 2})
                answers[nth] = True
            except RunFolderError as error:
                answers[nth] = str(error)

        threads = [threading.Thread(target=open_one, args=(nth,)) for nth in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        winner = json.loads((path / SETUP).read_text())["data"]
        assert {nth for nth, answer in answers.items() if answer is True} == {n for n in range(6) if n % 2 == winner}
        assert all("`data`" in answer for answer in answers.values() if answer is not True)


def test_two_cannot_hold_one_lock_and_a_released_one_is_free(table):
    other = JobTable(table.path)
    with table.lock("a", wait=False) as mine, other.lock("a", wait=False) as theirs, other.lock("b", wait=False) as b:
        assert (mine, theirs, b) == (True, False, True)
    with other.lock("a", wait=False) as theirs:
        assert theirs
    with pytest.raises(KeyError), table.lock("a", wait=False):
        raise KeyError  # released however the block ends
    with other.lock("a", wait=False) as theirs:
        assert theirs


def test_who_waits_for_a_lock_gets_it_when_it_is_released(table):
    held = threading.Event()

    def wait_for_it():
        with JobTable(table.path).lock("a", wait=True) as mine:
            assert mine
            held.set()

    waiting = threading.Thread(target=wait_for_it)
    with table.lock("a", wait=False):
        waiting.start()
        assert not held.wait(0.2)
    waiting.join(30)
    assert held.is_set()


def test_the_lock_of_a_killed_process_is_free_again(table):
    code = f"""
import pathlib, sys, time
from leanset.evaluate.job_table import JobTable
with JobTable(pathlib.Path({str(table.path)!r})).lock("a", wait=False) as mine:
    print(mine, flush=True)
    time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "True\n"
            with table.lock("a", wait=False) as mine:
                assert not mine
        finally:
            process.kill()  # SIGKILL: no clean-up of its own
    with table.lock("a", wait=False) as mine:
        assert mine


def test_a_selection_comes_back_as_it_was_and_half_of_one_does_not(table):
    kept, certificate = np.array([0, 3, 4]), {"refit_change": 0.25, "notes": ["a"]}
    assert table.selection(JOB) is None
    table.keep_selection(JOB, kept, certificate)
    found, said = table.selection(Job(JOB.seed, JOB.fraction, "conv4", "epochs=2", JOB.method))
    np.testing.assert_array_equal(found, kept)
    assert found.dtype == kept.dtype
    assert said == certificate
    assert table.selection(OTHER) is None
    (table.path / "selections" / f"{JOB.selection}.json").unlink()  # as if killed before the certificate was written
    assert table.selection(JOB) is None


def test_failures_are_noted_and_forgotten(table):
    table.forget_failures()  # there is none, and no folder
    table.fail(JOB, "no luck – ∞")
    assert table.failure(JOB) == "no luck – ∞"
    assert table.failure(OTHER) is None
    assert table.pending([JOB]) == [JOB]
    assert table.open_jobs([JOB, OTHER]) == [OTHER]
    table.forget_failures()
    assert table.failure(JOB) is None
    table.fail(JOB, "again")
    table.finish(JOB, {})
    assert table.failure(JOB) is None


def test_what_has_no_json_number_is_null(table):
    whole = Job(0, 0.0, "lenet", EQUAL_EPOCHS, FULL)
    table.finish(whole, {"loss": float("inf"), "accuracy": 0.25})
    assert table.outcome(whole) == whole.to_dict() | {"loss": None, "accuracy": 0.25}
