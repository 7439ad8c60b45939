"""What is in the wheel is all of leanset, and works away from the checkout. `make package` tries it in clean environments."""

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
BUILD = "import sys, hatchling.build; hatchling.build.build_wheel(sys.argv[1])"
PAGE = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np, leanset
assert leanset.__file__.startswith(sys.argv[1])
result = leanset.prune(np.arange(20.0)[:, None] % 7, np.arange(20) % 2, count=4, l2=0.1, frontier=False)
result.report(sys.argv[1] + "/page.html")
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-c", BUILD, str(folder)], cwd=ROOT, check=True)
    return next(folder.glob("*.whl"))


def test_every_file_of_the_package_is_inside_and_nothing_else(wheel):
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = [path for path in SOURCE.glob("leanset/**/*") if path.is_file() and "__pycache__" not in path.parts]
    expected = {path.relative_to(SOURCE).as_posix() for path in files}
    assert inside == expected
    assert "leanset/report/page/templates/run.html" in inside
    assert "leanset/py.typed" in inside


def test_no_compiler_is_needed(wheel):
    assert wheel.name.endswith("-py3-none-any.whl")


def test_the_metadata_names_the_versions_of_python(wheel):
    name = next(name for name in zipfile.ZipFile(wheel).namelist() if name.endswith("METADATA"))
    lines = zipfile.ZipFile(wheel).read(name).decode().splitlines()
    assert "Requires-Python: >=3.11" in lines
    assert {f"Classifier: Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13)} <= set(lines)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {line.removeprefix("Provides-Extra: ") for line in lines if line.startswith("Provides-Extra")} == set(extras)


def test_it_prunes_and_reports_away_from_the_checkout(wheel, tmp_path):
    pytest.importorskip("vl_convert")
    zipfile.ZipFile(wheel).extractall(tmp_path)  # which is all that installing a pure wheel does
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([sys.executable, "-c", PAGE, str(tmp_path)], cwd=tmp_path, env=bare, check=True)
    assert "<html" in (tmp_path / "page.html").read_text()
