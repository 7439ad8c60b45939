"""An option is one line: everything else about it is made from that line."""

import dataclasses
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest
from typer.testing import CliRunner

import leanset
from leanset import InputError, Settings
from leanset._options import Option, documentation, options_of, settings_from, with_options
from leanset._rules import at_least
from leanset.cli.app import app
from leanset.cli.options import settings_from_text
from leanset.plan import plan_for
from leanset.select import BUDGETS

OPTIONS = options_of(Settings)
FIELDS = {item.name: item for item in dataclasses.fields(Settings)}


def flag(name):
    return f"--{name.replace('_', '-')}"


@pytest.fixture(scope="module")
def help_text():
    done = CliRunner().invoke(app, ["prune", "--help-all"], env={"COLUMNS": "300"})
    assert done.exit_code == 0
    return done.stdout


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_is_documented_everywhere(name, help_text):
    option = OPTIONS[name]
    assert option.help
    assert not option.help.endswith(".")
    assert option.panel
    for function in (leanset.prune, leanset.estimate):
        parameter = inspect.signature(function).parameters[name]
        assert parameter.default == FIELDS[name].default
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
        assert f"\n    {name} : " in function.__doc__
    if option.on_command_line:
        assert f"{flag(name)} " in help_text or f"{flag(name)}\n" in help_text
        first_words = " ".join(option.help.split()[:3])
        assert first_words[1:] in help_text


@pytest.mark.parametrize("name", [name for name, option in OPTIONS.items() if option.decides])
def test_what_decides_the_answer_is_in_the_settings_file(toy, tmp_path, name):
    leanset.prune(*toy[:2], count=10, method="random", frontier=False, out=tmp_path / "run")
    saved = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert name in (saved["budget"] if name == "count" else saved) or name in BUDGETS


def test_one_new_line_is_all_that_a_new_option_needs():
    """A settings class with one field more: documentation, keyword, command line and check follow from the field."""

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Longer(Settings):
        patience: Annotated[int, Option("rounds without gain before it stops", "Search", at_least(1))] = 3

    @with_options(Longer)
    def search(features, labels, settings):
        """Search.

        Parameters
        ----------
        {options}
        """
        return settings.patience

    assert search([[1.0]], patience=7) == 7
    assert search([[1.0]]) == 3
    assert "patience : rounds without gain before it stops" in search.__doc__
    assert "patience : rounds" in documentation(Longer)
    assert inspect.signature(search).parameters["patience"].annotation is int
    with pytest.raises(InputError, match="`patience=0` must be at least 1"):
        search([[1.0]], patience=0)
    assert settings_from_text(Longer, {"patience": 5}).patience == 5


@pytest.mark.parametrize("name", [name for name, option in OPTIONS.items() if option.rule is not None])
def test_every_rule_refuses_something_and_names_the_option(name):
    strange = object()
    with pytest.raises(InputError, match=rf"^`{name}=<object object at .*` must "):
        Settings(**{name: strange})


def test_a_settings_object_takes_the_place_of_options(toy):
    settings = Settings(fraction=0.4, seed=3, frontier=False)
    one, two = leanset.prune(*toy[:2], settings=settings), leanset.prune(*toy[:2], fraction=0.4, seed=3, frontier=False)
    np.testing.assert_array_equal(one.removed, two.removed)
    assert one.certificate == two.certificate
    with pytest.raises(InputError, match="give options or `settings`, not both; got `settings` and `seed`"):
        leanset.prune(*toy[:2], settings=settings, seed=4)
    with pytest.raises(InputError, match=r"must be a `leanset.Settings\(\.\.\.\)`, or None"):
        leanset.prune(*toy[:2], settings={"fraction": 0.4})


def test_an_unknown_option_is_a_type_error_that_lists_the_known_ones(toy):
    with pytest.raises(
        TypeError, match=r"unexpected keyword argument 'fracton'; the options are fraction, keep, count"
    ):
        leanset.prune(*toy[:2], fracton=0.4)
    assert settings_from(Settings, None, {"count": 3}).count == 3


def test_settings_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings(fraction=0.4).fraction = 0.5


def test_type_checkers_see_the_options(tmp_path):
    """The keywords of `prune` are typed: a wrong name or a wrong type is found before the program runs."""
    (tmp_path / "use.py").write_text(
        "import leanset\n"
        "result: leanset.PruneResult = leanset.prune([[1.0]], [0], fraction=0.4, seed=3)\n"
        "leanset.prune('cifar10:DIR', model='resnet20', fraction=0.4)\n"
        "leanset.prune([[1.0]], [0], fracton=0.4)\n"
        "leanset.prune([[1.0]], [0], fraction='x')\n"
    )
    root = Path(__file__).resolve().parents[1]
    known = ["--config-file", root / "pyproject.toml", "--cache-dir", root / ".mypy_cache"]  # `make check` filled it
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *known, "use.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    lines = [line for line in done.stdout.splitlines() if "error" in line and line.startswith("use.py")]
    assert [line.split(":")[1] for line in lines] == ["4", "5"], done.stdout
    assert 'did you mean "fraction"?' in lines[0]


def test_effort_reaches_the_solver_whichever_it_is(toy):
    from leanset.data import checked_examples
    from leanset.inputs import inputs_from

    def planned(**options):
        settings = Settings(fraction=0.4, **options)
        return plan_for(settings, inputs_from(checked_examples(*toy[:2]), settings).outline())

    assert planned(seconds=3.0).strategy.solver == leanset.AdaptiveAnnealing(seconds=3.0)
    assert planned(proposals=9, formulation="paper").strategy.solver == leanset.SimulatedAnnealing(proposals=9)
    given = leanset.AdaptiveAnnealing(chains=5)
    assert planned(solver=given, proposals=9).strategy.solver == leanset.AdaptiveAnnealing(chains=5, proposals=9)
    with pytest.raises(InputError, match=r"`seconds=3.0` does not apply to `solver=Exhaustive"):
        planned(solver=leanset.Exhaustive(), seconds=3.0)
    assert planned(method="el2n", remove="high").strategy.chooser.remove == "high"
    with pytest.raises(InputError, match="`remove='high'` does not apply to leanset, which does not rank by a score"):
        planned(remove="high")


def test_the_paper_can_be_given_less_effort_by_name(
    toy,
):  # "leanset" beside formulation="paper" is no method of its own
    result = leanset.prune(
        *toy[:2], fraction=0.4, method="leanset", formulation="paper", proposals=1000, frontier=False
    )
    assert result.certificate.formulation == "paper"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": 3}, "`model=3` must be a name"),
        ({"stem": "big"}, "`stem='big'` must be 'auto', 'small' or 'large'"),
        ({"preset": "slow"}, "`preset='slow'` must be 'fast', 'quick', 'quick-narrow', 'quick-wide' or 'published'"),
        ({"epochs": 0}, "`epochs=0` must be at least 1"),
        ({"lr": -1.0}, "`lr=-1.0` must be positive"),
        ({"mean": "abc"}, "`mean='abc'` must be a list of finite numbers"),
        ({"std": (0.0, 1.0)}, "must be larger than 0 in every channel"),
        ({"class_balance": 0}, "`class_balance=0` must be 'proportional' or 'none', or a whole number"),
        ({"fraction": 0.4, "count": 3}, "got `fraction=0.4` and `count=3`"),
    ],
)
def test_settings_are_checked_when_they_are_made(options, message):
    with pytest.raises(InputError, match=message):
        Settings(**options)


def test_the_words_of_the_settings_are_those_of_the_rooms():
    """Names that settings cannot import, because they need torch."""
    from leanset.training import MODELS, PRESETS

    for name in PRESETS:
        assert Settings(preset=name).preset == name
    assert all(name in OPTIONS["model"].help for name in MODELS)


def test_settings_with_arrays_can_be_compared():
    one = Settings(pinned=np.arange(3), fraction=0.4)
    assert one == one
    assert one != Settings(fraction=0.4)
    assert len({one, one}) == 1


def test_a_budget_is_checked_before_anything_is_read():
    with pytest.raises(InputError, match="give exactly one budget"):
        leanset.prune("npz:/nowhere/at/all.npz")
