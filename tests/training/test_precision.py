import dataclasses
import os

import pytest
import torch

from leanset import InputError, LeansetWarning
from leanset.training import precision
from leanset.training.batches import ImageBatches
from leanset.training.devices import fabric_for
from leanset.training.loop import train
from leanset.training.precision import check_precision, mixed_precision, number_type
from leanset.training.recipe import Recipe
from tests.training.networks import striped_images, tiny

RECIPE = Recipe(epochs=1, lr=0.1, lr_end=1.0, batch_size=96, crop=0, flip=False)  # one step, at the full rate
pytestmark = pytest.mark.filterwarnings("ignore:.*has no instructions for it")
IN_BFLOAT16 = dataclasses.replace(RECIPE, precision="bfloat16")


@pytest.fixture
def forgotten():
    """A trial that is made anew, before the test and after it."""
    for known in (precision._end_of_trial, precision._warn_if_slow):
        known.cache_clear()
    yield
    for known in (precision._end_of_trial, precision._warn_if_slow):
        known.cache_clear()


@pytest.fixture
def cpu():
    """A CPU that can compute in bfloat16."""
    fabric = fabric_for("cpu")
    try:
        check_precision("bfloat16", fabric)
    except InputError as error:
        pytest.skip(str(error))
    return fabric


def trained(recipe):
    model = tiny()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    train(model, ImageBatches(striped_images(96)), recipe, fabric_for("cpu"), record=False)
    return before, model.state_dict()


@pytest.mark.parametrize(
    ("trial", "end"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGILL)", "SIGILL"),
        ("raise SystemExit(3)", "exit code 3"),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="signals end processes on other systems only")
def test_a_machine_that_dies_of_bfloat16_gets_an_error_instead(forgotten, monkeypatch, trial, end):
    monkeypatch.setattr(precision, "_TRIAL", trial)
    with pytest.raises(InputError, match=f"`precision='bfloat16'` does not work on this CPU.* ended with {end}"):
        trained(IN_BFLOAT16)
    trained(RECIPE)


def test_the_trial_is_made_once_and_only_if_it_is_needed(forgotten, monkeypatch, tmp_path):
    marks = tmp_path / "marks"
    monkeypatch.setattr(precision, "_TRIAL", f"open({str(marks)!r}, 'a').write('tried ')")
    check_precision("default", fabric_for("cpu"))
    assert not marks.exists()
    for _ in range(3):
        check_precision("bfloat16", fabric_for("cpu"))
    assert marks.read_text() == "tried "


def test_products_are_in_bfloat16_where_the_recipe_says_so(cpu):
    square = torch.ones(8, 8)
    for name, kind in (("default", torch.float32), ("bfloat16", torch.bfloat16)):
        with mixed_precision(name, cpu):
            assert (square @ square).dtype == kind


def test_a_step_in_bfloat16_is_that_in_float32_up_to_rounding(cpu):
    before, exact = trained(RECIPE)
    _, rounded = trained(IN_BFLOAT16)
    moved, off = (
        torch.cat([(after[name] - other[name]).flatten() for name in ("conv.weight", "fc.weight", "fc.bias")])
        for after, other in ((exact, before), (rounded, exact))
    )
    # Inputs, weights, outputs and their gradients are each rounded by at most half of eps, some of them twice.
    assert 0 < off.norm() < 4 * torch.finfo(torch.bfloat16).eps * moved.norm()
    assert all(value.dtype == exact[name].dtype for name, value in rounded.items())


@pytest.mark.parametrize("has_instructions", [True, False])
@pytest.mark.parametrize("trial", ["", "raise SystemExit(3)"])
def test_the_fastest_precision_is_bfloat16_only_where_a_cpu_has_it_and_survives_it(
    forgotten, monkeypatch, has_instructions, trial
):
    monkeypatch.setattr(precision, "_has_instructions", lambda: has_instructions)
    monkeypatch.setattr(precision, "_TRIAL", trial)
    fabric = fabric_for("cpu")
    check_precision("fastest", fabric)
    expected = "bfloat16" if has_instructions and not trial else "float32"
    assert number_type("fastest", fabric) == expected
    with mixed_precision("fastest", fabric):
        assert torch.is_autocast_enabled("cpu") == (expected == "bfloat16")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("has_instructions", [True, False])
def test_bfloat16_without_instructions_is_a_warning_once(forgotten, monkeypatch, has_instructions):
    monkeypatch.setattr(precision, "_has_instructions", lambda: has_instructions)
    monkeypatch.setattr(precision, "_TRIAL", "")
    if not has_instructions:
        with pytest.warns(LeansetWarning, match="slower than float32"):
            check_precision("bfloat16", fabric_for("cpu"))
    check_precision("bfloat16", fabric_for("cpu"))
