"""Every example script and every Python block of the README and the docs runs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    pytest.param(block, id=f"{page.name}-{nth}")
    for page in PAGES
    for nth, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), flags=re.DOTALL))
]

# What the pages take for granted: a user's own arrays, and a folder to write into.
PRELUDE = """
import numpy as np
rng = np.random.default_rng(0)
labels = rng.integers(0, 3, 300)
features = rng.normal(size=(300, 5)) + np.eye(3, 5)[labels]
val_labels = rng.integers(0, 3, 100)
val_features = rng.normal(size=(100, 5)) + np.eye(3, 5)[val_labels]
"""


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_example_scripts_run(script):
    pytest.importorskip("sklearn")
    assert subprocess.run([sys.executable, str(script)], timeout=120).returncode == 0


@pytest.mark.parametrize("block", BLOCKS)
def test_code_on_the_pages_runs(block, tmp_path):
    assert subprocess.run([sys.executable, "-c", PRELUDE + block], timeout=120, cwd=tmp_path).returncode == 0


def test_there_is_something_to_run():
    assert len(SCRIPTS) >= 3
    assert len(BLOCKS) >= 2


def test_links_between_pages_lead_somewhere():
    broken = [
        f"{page.name}: {target}"
        for page in [*PAGES, ROOT / "CONTRIBUTING.md"]
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text())
        if not (page.parent / target).exists()
    ]
    assert broken == []
