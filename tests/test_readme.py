"""What the README and the docs say can be done, can be done: code runs, commands and files exist, links lead somewhere.

A Python block that cannot run by itself has a comment directly above it: `<!-- not run: reason -->`.
"""

import re
import shlex
import tomllib
from pathlib import Path

import pytest
import typer

from leanset.cli.app import app, commands
from tests.test_rooms import FOUNDATIONS, FRONT_DOORS, ORDER

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ALL_PAGES = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "SECURITY.md"]
COMMANDS = commands()
BY_ITSELF = typer.main.get_command(app)  # `leanset` without a command
SHELL = ("", "sh", "bash", "console")
FENCE = re.compile(r"^(<!-- not run: [^\n]+ -->\n)?```(\w*)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)

# What the pages take for granted: a user's own arrays, and a folder to write into.
PRELUDE = """
import numpy as np
rng = np.random.default_rng(0)
labels = rng.integers(0, 3, 300)
features = rng.normal(size=(300, 5)) + np.eye(3, 5)[labels]
val_labels = rng.integers(0, 3, 100)
val_features = rng.normal(size=(100, 5)) + np.eye(3, 5)[val_labels]
"""


def python_blocks(text):
    return [block for excused, language, block in FENCE.findall(text) if language == "python" and not excused]


def shell_lines(text):
    """Return the words of every line in the blocks of shell commands, comments left out."""
    shell = "\n".join(block for _, language, block in FENCE.findall(text) if language in SHELL)
    lines = (line.removeprefix("$ ") for line in shell.replace("\\\n", " ").splitlines())
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def command_lines(text):
    """Return the arguments of every `leanset ...` line in a block of shell commands."""
    return [arguments for name, *arguments in shell_lines(text) if name == "leanset"]


BLOCKS = [
    pytest.param(block, id=f"{page.name}-{nth}")
    for page in PAGES
    for nth, block in enumerate(python_blocks(page.read_text()))
]
LINES = [
    pytest.param(line, id=f"{page.name}: {' '.join(line)}")
    for page in PAGES
    for line in command_lines(page.read_text())
]


@pytest.mark.parametrize("block", BLOCKS)
def test_code_on_the_pages_runs(block, tmp_path, monkeypatch):
    if "sklearn" in block:
        pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    exec(PRELUDE + block, {"__name__": "__main__"})


@pytest.mark.parametrize("line", LINES)
def test_commands_on_the_pages_are_understood(line):
    command, *arguments = line
    if command.startswith("-"):
        assert command in flags_of(BY_ITSELF)
        return
    COMMANDS[command].make_context(command, arguments)  # reads them as the command line would, and runs nothing


def flags_of(command):
    return {flag for item in command.params for flag in (*item.opts, *item.secondary_opts)} | {"--help"}


def test_every_block_is_run_or_read():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for page in ALL_PAGES:
        text = page.read_text()
        assert {language for _, language, _ in FENCE.findall(text)} <= {"python", *SHELL}, page.name
        for name, *words in shell_lines(text):
            if name == "make":
                assert set(words) <= targets, page.name
            elif name == "pip":
                assert set(re.findall(r"\[(\w+)\]", " ".join(words))) <= set(extras), page.name
            else:
                assert name in ("leanset", "python"), f"{page.name}: {name}"


def test_there_is_something_to_run():
    assert len(BLOCKS) >= 29
    assert len(LINES) >= 45


def test_blocks_and_lines_are_found():
    text = "```python\na\n```\n<!-- not run: needs a GPU -->\n```python\nb\n```\n"
    assert python_blocks(text) == ["a\n"]
    text = "```sh\nleanset prune x.npz \\\n  --count 3   # some\nmake\n```\n```json\nleanset no\n```\n"
    assert command_lines(text) == [["prune", "x.npz", "--count", "3"]]


@pytest.mark.parametrize("line", [["prune", "x.npz", "--cuont", "3"], ["prune", "--count", "3"], ["show", "a", "b"]])
def test_a_wrong_command_would_be_seen(line):
    with pytest.raises(Exception, match=r"cuont|source|unexpected"):
        COMMANDS[line[0]].make_context(line[0], line[1:])


def test_options_in_the_text_exist():
    known = set().union(*map(flags_of, (BY_ITSELF, *COMMANDS.values())))
    unknown = [
        f"{page.name}: {flag}"
        for page in [*PAGES, ROOT / "CHANGELOG.md"]
        for code in re.findall(r"`([^`\n]*--[^`\n]*)`", page.read_text())
        for flag in re.findall(r"--[a-z][a-z0-9-]*", code)
        if flag not in known
    ]
    assert unknown == []


def test_files_in_the_text_exist():
    roots = (ROOT, ROOT / "src", ROOT / "src" / "leanset")
    missing = [
        f"{page.name}: {name}"
        for page in ALL_PAGES
        for name in re.findall(r"`((?:[\w.-]+/)+(?:[\w.-]+\.(?:py|md))?)`", page.read_text())
        if name.split("/")[0] not in ("run", "run-1", "study", "table", "network")  # of a user's own folders
        if not any((root / name).exists() for root in roots)
    ]
    assert missing == []


def test_contributors_are_shown_every_room_in_order_and_every_other_file():
    text = (ROOT / "CONTRIBUTING.md").read_text().split("## Adding")[0]
    rows = [re.findall(r"`([\w.]+)/?`", line.split("|")[1]) for line in text.splitlines() if line.startswith("| `")]
    names = [name.removesuffix(".py") for row in rows for name in row]
    assert tuple(names[: len(ORDER)]) == ORDER
    assert sorted(names[len(ORDER) :]) == sorted(FOUNDATIONS | FRONT_DOORS)


def test_links_between_pages_lead_somewhere():
    broken = [
        f"{page.name}: {target}"
        for page in ALL_PAGES
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text())
        if not (page.parent / target).exists()
    ]
    assert broken == []
