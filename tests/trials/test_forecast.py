import numpy as np
import pytest

import leanset
from leanset._progress import Silent
from leanset.inputs import opened
from leanset.settings import CompareSettings
from leanset.trials import compare_on, forecast_on

rng = np.random.default_rng(0)
LABELS = rng.integers(0, 3, 150)
FEATURES = rng.normal(size=(150, 4)) + np.eye(3, 4)[LABELS]
ASKED = {"methods": ["el2n"], "fractions": [0.3, 0.6], "seeds": 2}


def source(settings):
    return opened(FEATURES, LABELS, settings, Silent())


def test_every_cell_is_counted_and_what_is_finished_is_not_left(tmp_path):
    settings = CompareSettings(**ASKED, out=tmp_path / "study")
    before = forecast_on(source(settings), settings)
    assert not (tmp_path / "study").exists()
    on_all, *methods = before.shares
    assert (on_all.number, on_all.finished) == (2, 0)  # each seed holds out rows of its own
    assert [(share.work.partition(":")[0], share.number, share.finished) for share in methods] == [
        ("stratified-random", 4, 0),
        ("el2n", 4, 0),
    ]
    for share in before.shares:
        assert share.left == pytest.approx(share.each * share.number)
    compare_on(source(settings), settings, Silent())
    after = forecast_on(source(settings), settings)
    assert after.seconds == 0
    assert [share.finished for share in after.shares] == [share.number for share in after.shares]
    more = CompareSettings(**(ASKED | {"seeds": 3}), out=tmp_path / "study")
    left = forecast_on(source(more), more)
    assert [share.number - share.finished for share in left.shares] == [1, 2, 2]


def test_another_setup_in_the_folder_is_refused(tmp_path):
    settings = CompareSettings(**ASKED, out=tmp_path, l2=0.1)
    compare_on(source(settings), settings, Silent())
    other = CompareSettings(**ASKED, out=tmp_path, l2=0.2)
    with pytest.raises(leanset.RunFolderError, match="l2"):
        forecast_on(source(other), other)
