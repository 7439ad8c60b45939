"""Every example script runs."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_example_scripts_run_and_draw_small_pictures(script, tmp_path):
    pytest.importorskip("sklearn")
    picture = [str(tmp_path / "picture.png")] if "savefig" in script.read_text() else []
    assert subprocess.run([sys.executable, str(script), *picture], timeout=600).returncode == 0
    assert all(Path(path).stat().st_size < 100_000 for path in picture)


def test_there_is_something_to_run():
    assert len(SCRIPTS) >= 10
