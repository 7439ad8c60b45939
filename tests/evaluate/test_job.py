import itertools

import pytest

from leanset.evaluate.job import Job
from leanset.evaluate.protocol import EQUAL_EPOCHS, EQUAL_STEPS
from leanset.judge import FULL, SHORTER

FRACTIONS = (0.2, 0.25, 1e-5, 0.866666667, 0.8666666, 0.8666667)  # some of them alike to six digits


def test_distinct_jobs_have_distinct_keys_that_are_plain_file_names():
    parts = (
        range(12),
        FRACTIONS,
        ("lenet", "conv4"),
        (EQUAL_EPOCHS, EQUAL_STEPS, f"{EQUAL_STEPS}+total-decay", "epochs=11"),
    )
    jobs = [Job(*values, method) for values in itertools.product(*parts) for method in (FULL, "random", "ccs")]
    keys = {job.key for job in jobs}
    assert len(keys) == len(jobs)
    assert not set("".join(keys)) & set('/\\:*?"<>| ')


def test_jobs_share_a_selection_exactly_if_only_network_and_protocol_differ():
    one = Job(1, 0.4, "lenet", EQUAL_EPOCHS, "el2n")
    for other in (Job(1, 0.4, "conv4", EQUAL_EPOCHS, "el2n"), Job(1, 0.4, "lenet", "epochs=2", "el2n")):
        assert other.selection == one.selection
    for fraction, seed, method in ((0.4000001, 1, "el2n"), (0.4, 2, "el2n"), (0.4, 1, "ccs")):
        assert Job(seed, fraction, "lenet", EQUAL_EPOCHS, method).selection != one.selection


def test_a_job_is_known_again_from_its_plain_values():
    job = Job(3, 0.866666667, "lenet", EQUAL_STEPS, "ccs")
    assert Job(**job.to_dict()) == job


def test_jobs_are_sorted_by_seed_first():
    jobs = [Job(seed, f, "lenet", EQUAL_EPOCHS, m) for f in (0.8, 0.2) for seed in (1, 0) for m in ("random", "ccs")]
    assert [job.seed for job in sorted(jobs)] == [0] * 4 + [1] * 4


@pytest.mark.parametrize("fraction", [0.1, 0.4, 0.55, 0.9, 0.99])
@pytest.mark.parametrize("epochs", [1, 7, 20])
def test_a_shorter_training_on_all_data_takes_the_steps_of_the_share_left_up_to_one_pass(fraction, epochs):
    job = Job(0, fraction, "lenet", EQUAL_EPOCHS, SHORTER)
    assert (job.on_all, job.kept_of(1000)) == (True, 1000)
    apart = {passes: abs(passes - epochs * (1 - fraction)) for passes in range(1, epochs + 1)}
    assert apart[job.epochs(epochs, 1000, 1000)] == min(apart.values())
