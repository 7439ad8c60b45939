"""The command line, called by tests."""

import sys

from typer.testing import CliRunner

from leanset.cli.app import app

LEANSET = [sys.executable, "-c", "from leanset.cli import main; main()"]  # in a process of its own


def call(*arguments, check):
    """Run the command line in this process, which has loaded everything already."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "200"})
    assert done.exit_code == check, done.output
    return done
