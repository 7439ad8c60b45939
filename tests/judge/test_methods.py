import pytest

import leanset
from leanset import InputError
from leanset.judge import check_methods, choice_name, on_features, prune_options
from leanset.scores import METHODS

NAMES = on_features(["dynamics", "gradient_norm"])


def test_with_a_trainings_records_every_method_is_possible_and_without_those_that_need_none():
    assert set(METHODS) < set(NAMES)
    assert {"balanced", "forgetting", "grand", "aum", "ccs", "dual"} <= set(NAMES) - set(on_features())
    assert {"leanset", "leanset-weights", "paper", "random", "el2n", "herding", "k-center"} <= set(on_features())
    assert set(on_features(["dynamics"])) == set(NAMES) - {"grand"}


@pytest.mark.parametrize("method", NAMES)
def test_every_name_stands_for_options_of_prune(method):
    leanset.Settings(fraction=0.5, **prune_options(method))


@pytest.mark.parametrize("method", on_features())
def test_what_is_possible_on_features_runs_on_features(toy, method):
    features, labels, _ = toy
    result = leanset.prune(features, labels, fraction=0.5, frontier=False, random_draws=2, **prune_options(method))
    assert len(result.kept) == 120


def test_unknown_and_impossible_methods_are_told_apart():
    with pytest.raises(InputError, match=r"^`methods`: 'el3n' is unknown; choose from a, b\.$"):
        check_methods(["a", "el3n"], ["a", "b"])
    with pytest.raises(InputError, match=r"^`methods`: 'ccs' needs more; choose from a, b\.$"):
        check_methods(["ccs"], ["a", "b"], "needs more")


def test_fractions_that_differ_have_names_that_differ():
    assert choice_name("el2n", 1 / 3, 2) != choice_name("el2n", 0.333333, 2)
