import pytest

from leanset import InputError
from leanset.paper import EXPERIMENTS, run_experiment, scale_named
from leanset.paper.scale import SCALES
from tests.paper.tiny import TINY_SETTINGS, tiny_experiment


def test_every_experiment_has_settings_for_every_scale():
    assert set(EXPERIMENTS) == set(TINY_SETTINGS)
    for sizes in EXPERIMENTS.values():
        assert set(sizes) == set(SCALES)
    assert [scale_named(name).name for name in SCALES] == list(SCALES)


def test_an_unknown_experiment_is_named_with_the_known_ones(tmp_path):
    with pytest.raises(InputError, match=r"`name='figure-7'` is unknown; choose from theory, pruning"):
        run_experiment("figure-7", tiny_experiment(tmp_path))
