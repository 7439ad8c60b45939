import math
from collections import Counter

import pytest

from leanset import InputError
from leanset.evaluate.protocol import EQUAL_EPOCHS, EQUAL_STEPS
from leanset.evaluate.question import Question
from leanset.evaluate.setup import SELECTORS
from leanset.judge import FULL, ON_ALL, SHORTER, STRATIFIED


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


def test_a_shorter_training_on_all_data_is_not_asked_for_with_equal_steps_where_it_is_no_shorter():
    jobs = asked(methods=(SHORTER,), fractions=(0.25, 0.5)).jobs("lenet")
    assert {(job.protocol, job.fraction) for job in jobs if job.method == SHORTER} == {
        (EQUAL_EPOCHS, 0.25),
        (EQUAL_EPOCHS, 0.5),
    }


def test_trainings_on_all_data_are_the_same_with_every_decay():
    plain, total = (EQUAL_EPOCHS, EQUAL_STEPS), ("equal-epochs+total-decay", "equal-steps+total-decay")
    jobs = asked(methods=("el2n", SHORTER), protocols=(*plain, *total)).jobs("lenet")
    assert len(set(jobs)) == len(jobs)
    assert [job.protocol for job in jobs if job.method in ON_ALL] == [EQUAL_EPOCHS, EQUAL_EPOCHS]
    assert [job.protocol for job in jobs if job.method == "el2n"] == [*plain, *total]
    on_all = [job for job in asked(methods=(SHORTER,), protocols=total).jobs("lenet") if job.on_all]
    assert on_all == [job for job in jobs if job.on_all]


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
        ({"protocols": ("equal-epochs+decay",)}, r"'equal-epochs\+decay'.*\+total-decay"),
        ({"protocols": ()}, "protocol"),
        (
            {"methods": (SHORTER,), "protocols": (EQUAL_STEPS, "equal-steps+total-decay")},
            "'shorter' is all data itself",
        ),
    ],
)
def test_what_cannot_be_asked_is_named(changes, said):
    with pytest.raises(InputError, match=said):
        asked(**changes)
