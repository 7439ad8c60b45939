import json
import re
import shlex

import pytest
from typer.testing import CliRunner

from leanset import _installation
from leanset._installation import Package
from leanset.cli import doctor
from leanset.cli.app import ENTRIES, app, commands

COMMANDS = commands()


def printed(*words, code=0):
    done = CliRunner().invoke(app, words, prog_name="leanset", env={"COLUMNS": "100"})
    assert done.exit_code == code, done.output
    return done.stdout


def options_in(text):
    return set(re.findall(r"(?<=[│ ])--[a-zA-Z][\w-]*", text))


@pytest.mark.parametrize("name", ENTRIES)
def test_the_list_shows_the_first_line_of_each_command(name):
    assert COMMANDS[name].help.splitlines()[0] == ENTRIES[name].line


@pytest.mark.parametrize("name", ENTRIES)
def test_every_help_has_an_example_that_is_understood(name):
    examples = re.findall(rf"^Example: leanset {name}\b(.*)$", COMMANDS[name].help, flags=re.MULTILINE)
    assert len(examples) == 1
    COMMANDS[name].make_context(name, shlex.split(examples[0]))
    assert f"Example: leanset {name}{examples[0]}" in " ".join(printed(name, "--help").split())


def test_the_short_help_shows_a_few_options_and_the_long_one_all():
    short, long = printed("prune", "--help"), printed("prune", "--help-all")
    every = {flag for item in COMMANDS["prune"].params for flag in (*item.opts, *item.secondary_opts) if flag[0] == "-"}
    assert len(options_in(short) - {"--help-all"}) <= 16
    assert {"--fraction", "--same-model", "--out", "--dry-run", "--help"} <= options_in(short)
    assert every <= options_in(long)
    assert "leanset prune --help-all" in short
    assert "--help-all" not in printed("verify", "--help")


def test_a_seldom_option_works_all_the_same():
    context = COMMANDS["prune"].make_context("prune", ["x.npz", "--fraction", "0.4", "--seed", "3"])
    assert context.params["seed"] == 3


def test_completion_knows_the_options_of_a_command():
    words = {"_LEANSET_COMPLETE": "complete_bash", "COMP_WORDS": "leanset prune --same", "COMP_CWORD": "2"}
    done = CliRunner().invoke(app, [], prog_name="leanset", env=words)
    assert done.stdout.split() == ["--same-model"]


def test_the_doctor_says_what_is_there_and_what_works():
    said = json.loads(printed("doctor", "--json"))
    assert said["self_test"]["works"]
    assert {"numpy", "numba", "scipy"} <= {item["name"] for item in said["packages"] if item["fits"]}
    assert said["threads"] >= 1


def test_the_doctor_names_what_is_missing_and_how_to_get_it(monkeypatch):
    found = [Package("numpy", "", ">=1.26", "2.4"), Package("torch", "torch", ">=2.6", None)]
    monkeypatch.setattr(doctor, "packages", lambda: found)
    assert 'pip install "leanset[torch]"' in printed("doctor")
    found[0] = Package("numpy", "", ">=1.26", "1.20")
    assert "too old" in printed("doctor", code=1)
    monkeypatch.setattr(doctor, "packages", list)
    assert "is not installed" in printed("doctor")


def test_the_doctor_tells_of_a_broken_installation(monkeypatch):
    def broken(*_, **__):
        raise OSError("libsomething.so is missing")

    monkeypatch.setattr(doctor, "prune", broken)
    assert "libsomething.so is missing" in printed("doctor", code=1)


def test_requirements_are_read_as_installers_write_them(monkeypatch):
    lines = [
        "numpy>=1.26",
        'leanset[torch]; extra == "all"',
        "torch>=2.6 ; extra == 'torch'",
        "nothing-such; extra == 'x'",
    ]
    monkeypatch.setattr(_installation.importlib.metadata, "requires", lambda name: lines)
    numpy, torch, absent = _installation.packages()
    assert (numpy.extra, numpy.needs, torch.extra, torch.needs) == ("", ">=1.26", "torch", ">=2.6")
    assert (absent.installed, absent.fits) == (None, False)
