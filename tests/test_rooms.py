import ast
import subprocess
import sys
from pathlib import Path

import numpy as np

import leanset

PACKAGE = Path(leanset.__file__).parent
ROOMS = (
    "data",
    "training",
    "head",
    "influence",
    "scores",
    "problem",
    "solve",
    "certify",
    "report",
    "pipeline",
    "evaluate",
    "paper",
    "cli",
)
BARRED = {
    ("certify", "solve"),  # the checker may not lean on what it checks
    ("report", "pipeline"),
}
FRONT_DOORS = {"__init__", "torch"}  # re-export the rooms to users; no room may import them
FOUNDATIONS = {path.stem for path in PACKAGE.glob("*.py")} - FRONT_DOORS


def imported_modules(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def wrong_way_imports(package):
    rank = {room: k for k, room in enumerate(ROOMS)}
    found = []
    for path in sorted(package.rglob("*.py")):
        here = path.relative_to(package).parts[0].removesuffix(".py")
        for name in imported_modules(path):
            parts = name.split(".")
            if parts[0] != "leanset" or len(parts) < 2:
                continue
            there = parts[1]
            if here in FOUNDATIONS and there in rank:
                found.append(f"foundation {here} -> {there}")
            elif here in rank and there in rank and (rank[there] > rank[here] or (here, there) in BARRED):
                found.append(f"{path.relative_to(package)} -> {there}")
    return found


def test_rooms_look_upstream_only():
    assert wrong_way_imports(PACKAGE) == []


def test_every_folder_is_a_known_room():
    assert {path.parent.name for path in PACKAGE.glob("*/__init__.py")} == set(ROOMS)


def test_a_wrong_way_import_would_be_seen(tmp_path):
    (tmp_path / "certify").mkdir()
    (tmp_path / "certify" / "bad.py").write_text("from leanset.solve import solve\n")
    (tmp_path / "head").mkdir()
    (tmp_path / "head" / "bad.py").write_text("import leanset.certify\n")
    assert len(wrong_way_imports(tmp_path)) >= 2


def test_the_core_imports_without_optional_packages():
    blocked = {"torch", "lightning_fabric", "PIL", "matplotlib", "sklearn", "dask", "datasets", "transformers"}
    code = f"""
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {blocked}:
            raise ImportError(name)
sys.meta_path.insert(0, Blocked())
import leanset, leanset.cli
assert not {blocked} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_torch_images_are_answered_with_the_extra_to_install(tmp_path):
    np.savez(tmp_path / "images.npz", images=np.zeros((4, 8, 8), np.uint8), labels=[0, 1, 0, 1])
    code = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError(name, name="torch")
sys.meta_path.insert(0, Absent())
from leanset.cli import main
sys.argv = ["leanset", "prune", r"{tmp_path / "images.npz"}", "--model", "lenet", "--fraction", "0.5"]
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 3
    assert 'pip install "leanset[torch]"' in done.stderr
    alone = code.split("from leanset.cli")[0] + "import leanset.torch"
    assert "leanset[torch]" in subprocess.run([sys.executable, "-c", alone], capture_output=True, text=True).stderr


def test_every_public_name_has_a_docstring_with_an_example():
    documented = [getattr(leanset, name) for name in leanset.__all__ if name != "__version__"]
    without = [item.__name__ for item in documented if not item.__doc__]
    assert without == []
    called = (leanset.prune, leanset.load, leanset.verify, leanset.AdaptiveAnnealing, leanset.Cholesky, leanset.LiSSA)
    assert [item.__name__ for item in called if ">>>" not in item.__doc__] == []
