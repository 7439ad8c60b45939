import pytest

from leanset import InputError
from leanset.training.recipe import PRESETS, Recipe, preset


def test_the_published_recipe_is_the_papers():
    published = preset("published")
    assert (published.epochs, published.batch_size, published.lr, published.momentum) == (200, 128, 0.01, 0.9)
    assert (published.weight_decay, published.decay, published.crop, published.flip) == (5e-4, "cosine", 4, True)


@pytest.mark.parametrize("recipe", PRESETS.values(), ids=list(PRESETS))
def test_the_rate_rises_to_its_top_and_falls_to_zero(recipe):
    rates = [recipe.rate_at(step, 1000) for step in range(1, 1001)]
    top = rates.index(max(rates))
    assert rates[top] == pytest.approx(recipe.lr, rel=0.01)
    assert rates[-1] == pytest.approx(0, abs=1e-12)
    assert rates[: top + 1] == sorted(rates[: top + 1])
    assert rates[top:] == sorted(rates[top:], reverse=True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"epochs": 0}, "epochs=0"),
        ({"batch_size": 2.5}, "batch_size=2.5"),
        ({"lr": -1.0}, "lr=-1.0"),
        ({"lr": float("nan")}, "lr=nan"),
        ({"weight_decay": 0.0}, "weight_decay=0.0"),
        ({"decay": "steps"}, "'cosine' or 'linear'"),
        ({"momentum": 1.0}, "momentum=1.0"),
        ({"crop": -1}, "crop=-1"),
    ],
)
def test_a_wrong_option_is_named(change, said):
    with pytest.raises(InputError, match=said):
        Recipe(**({"epochs": 1, "lr": 0.1} | change))


def test_an_unknown_preset_lists_the_known_ones():
    with pytest.raises(InputError, match="`preset='quick'` is unknown; choose from published, fast"):
        preset("quick")
