import numpy as np
import pytest

from leanset.data import Dynamics, checked_examples
from leanset.head import HeadStatistics
from leanset.trials.split import Splits


@pytest.fixture
def numbered():
    """Examples whose only feature is their number, in three classes of 30, 12 and 1."""
    labels = np.repeat([0, 1, 2], [30, 12, 1])
    return checked_examples(np.arange(43.0)[:, None], labels)


def test_own_validation_rows_are_the_same_for_every_seed(toy):
    examples = checked_examples(*toy)
    splits = Splits(examples, 0.2)
    assert not splits.redrawn
    assert splits.data(0) is splits.data(4) is examples
    assert [splits.nth(seed) for seed in range(3)] == [0, 0, 0]
    np.testing.assert_array_equal(splits.rows(3), np.arange(120))


def test_each_seed_holds_out_other_rows_of_each_class(numbered):
    splits = Splits(numbered, 0.25)
    drawn = [splits.rows(seed).tolist() for seed in range(4)]
    assert len({tuple(rows) for rows in drawn}) == 4
    assert [splits.nth(seed) for seed in range(3)] == [0, 1, 2]
    for seed, rows in enumerate(drawn):
        part = splits.data(seed)
        np.testing.assert_array_equal(part.validation.features[:, 0], rows)
        np.testing.assert_array_equal(np.sort(np.r_[part.features[:, 0], rows]), np.arange(43))
        for data in (part, part.validation):
            np.testing.assert_array_equal(data.labels, numbered.labels[data.features[:, 0].astype(int)])
            np.testing.assert_array_equal(data.source_rows, data.features[:, 0])
        assert np.bincount(part.labels).tolist() == [22, 9, 1]  # a class of one is never held out


def test_the_records_of_a_training_follow_their_rows():
    rng = np.random.default_rng(0)
    labels, numbers = np.arange(20) % 2, np.arange(20)
    margins = np.tile(numbers.astype(np.float32), (3, 1))
    records = Dynamics(margins > 0, margins, margins, margins)
    statistics = HeadStatistics(
        features=np.c_[numbers, rng.normal(size=20)],
        labels=labels,
        classes=("a", "b"),
        logits=np.c_[numbers, -numbers].astype(float),
        rows=numbers + 100,
        gradient_norm=numbers.astype(float),
        dynamics=(records,),
    )
    part = Splits(statistics, 0.3).data(1)
    held_out = part.validation[0][:, 0]
    assert len(held_out) == 6
    stay = part.features[:, 0]
    np.testing.assert_array_equal(np.sort(np.r_[stay, held_out]), numbers)
    for array in (part.logits[:, 0], part.rows - 100, part.gradient_norm, part.dynamics[0].margin[0]):
        np.testing.assert_array_equal(array, stay)
    np.testing.assert_array_equal(part.validation[1], labels[held_out.astype(int)])
