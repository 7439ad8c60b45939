"""Every example script runs."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_example_scripts_run(script):
    pytest.importorskip("sklearn")
    assert subprocess.run([sys.executable, str(script)], timeout=120).returncode == 0


def test_there_is_something_to_run():
    assert len(SCRIPTS) >= 3
