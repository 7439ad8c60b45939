import ast
import subprocess
import sys
from pathlib import Path

import numpy as np

import leanset
from leanset.head import LOSSES
from leanset.influence import INVERSES
from leanset.scores import METHODS
from leanset.select import FORMULATIONS
from leanset.solve import SOLVERS

PACKAGE = Path(leanset.__file__).parent
# Data moves one way. Files at the top of the package stand between the rooms that they join.
ORDER = (
    *("rows", "data", "training", "head", "influence", "scores", "problem", "solve", "certify", "select", "recheck"),
    *(
        "report",
        "parsing",
        "settings",
        "plan",
        "inputs",
        "fitting",
        "capture",
        "checking",
        "reporting",
        "handover",
        "result",
        "cost",
    ),
    *("pruning", "estimators", "judge", "trials", "evaluate", "paper", "cli"),
)
ROOMS = {name for name in ORDER if (PACKAGE / name).is_dir()}
BARRED = {
    ("certify", "solve"),  # the checker may not lean on what it checks
    *(("recheck", room) for room in ORDER if room != "data"),
    ("report", "select"),
}
FRONT_DOORS = {"__init__", "__main__", "sklearn", "torch"}  # re-export the rooms to users; no room may import them
FOUNDATIONS = {path.stem for path in PACKAGE.glob("*.py")} - FRONT_DOORS - set(ORDER)
NEED_TORCH = {"training", "capture", "evaluate", "paper", "torch"}


def imported_modules(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def wrong_way_imports(package):
    rank = {room: k for k, room in enumerate(ORDER)}
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
            elif (
                here in rank
                and there in rank
                and (rank[there] > rank[here] or (here, there) in BARRED - {(here, here)})
            ):
                found.append(f"{path.relative_to(package)} -> {there}")
    return found


def test_rooms_look_upstream_only():
    assert wrong_way_imports(PACKAGE) == []


def test_every_folder_is_a_known_room():
    assert {path.parent.name for path in PACKAGE.glob("*/__init__.py")} == ROOMS
    assert {path.stem for path in PACKAGE.glob("*.py")} == FOUNDATIONS | FRONT_DOORS | (set(ORDER) - ROOMS)


def imports_past_a_door(package):
    """Names that a room takes from another room's inner files instead of from its door."""
    found = []
    for path in sorted(package.rglob("*.py")):
        here = path.relative_to(package).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text())):
            parts = node.module.split(".") if isinstance(node, ast.ImportFrom) and node.module else []
            inner = parts[:1] == ["leanset"] and len(parts) > 2 and parts[1] in ROOMS and parts[1] != here
            if inner and here != "__init__":  # which has a reason where it does so
                found.append(f"{path.relative_to(package)}: {node.module}")
    return found


def test_rooms_are_entered_by_their_doors():
    assert imports_past_a_door(PACKAGE) == []


def test_public_functions_are_not_shadowed_by_modules():
    functions = {name for name in leanset.__all__ if callable(getattr(leanset, name))}
    assert not functions & {path.stem for path in PACKAGE.iterdir()}


def readers_of_tables(package):
    """Places outside `rows/` that read a table of rows, or walk over chunks by themselves."""
    found = []
    for path in sorted(package.rglob("*.py")):
        room = path.relative_to(package).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text())):
            read = isinstance(node, ast.Attribute) and node.attr in ("_read_rows", "_array")
            walks = isinstance(node, ast.ImportFrom) and node.module == "leanset._threads"
            chunks = walks and {alias.name for alias in node.names} & {"in_order", "row_chunks"}
            # Scores compare rows with rows, which is no pass; they hold the features of one class at a time. Training
            # shares out the images of a batch.
            if (read and room != "rows") or (chunks and room not in ("rows", "scores", "data", "training")):
                found.append(f"{path.relative_to(package)}:{node.lineno}")
    return found


def test_only_the_rows_room_reads_the_design():
    assert readers_of_tables(PACKAGE) == []


def test_a_reader_of_the_design_elsewhere_would_be_seen(tmp_path):
    (tmp_path / "head").mkdir()
    (tmp_path / "head" / "bad.py").write_text("def f(design):\n    return design.rows._array[3]\n")
    (tmp_path / "select").mkdir()
    (tmp_path / "select" / "bad.py").write_text("from leanset._threads import row_chunks\n")
    assert len(readers_of_tables(tmp_path)) == 2


VARIANTS = {*LOSSES, *METHODS, *INVERSES, *SOLVERS, *FORMULATIONS, "leanset"} - {"random"}  # also a word of its own
CLASSES = {kind.__name__ for table in (LOSSES, INVERSES, SOLVERS, FORMULATIONS) for kind in table.values()}


def comparisons_with_variants(package):
    """Places that recognise a variant by its name or its class instead of asking it."""
    found = []
    for path in sorted(package.rglob("*.py")):
        inside = str(path.relative_to(package))
        for node in ast.walk(ast.parse(path.read_text())):
            texts = [item.value for item in ast.walk(node) if isinstance(item, ast.Constant)]
            compared = isinstance(node, ast.Compare | ast.MatchValue)
            if compared and VARIANTS & {text for text in texts if isinstance(text, str)}:
                found.append(f"{inside}:{node.lineno}")
            called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance"
            names = {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
            if called and names & CLASSES:
                found.append(f"{inside}:{node.lineno}")
    return found


def test_a_comparison_with_a_variant_would_be_seen(tmp_path):
    (tmp_path / "bad.py").write_text(
        "def f(a, b, c):\n"
        "    if a.name == 'lissa' or b in ('ccs', 'el2n') or isinstance(c, Kronecker):\n"
        "        return 1\n"
        "    match b:\n"
        "        case 'paper':\n"
        "            return 2\n"
    )
    assert len(comparisons_with_variants(tmp_path)) == 4


def test_variants_answer_for_themselves():
    registries = ("select/names.py", "recheck/")  # names become strategies there; the re-check shares no code
    assert [place for place in comparisons_with_variants(PACKAGE) if not place.startswith(registries)] == []


def test_a_wrong_way_import_would_be_seen(tmp_path):
    (tmp_path / "certify").mkdir()
    (tmp_path / "certify" / "bad.py").write_text("from leanset.solve import solve\n")
    (tmp_path / "head").mkdir()
    (tmp_path / "head" / "bad.py").write_text("import leanset.certify\n")
    assert len(wrong_way_imports(tmp_path)) >= 2


def test_the_core_imports_without_optional_packages():
    blocked = {
        *(
            "torch",
            "lightning_fabric",
            "PIL",
            "matplotlib",
            "sklearn",
            "imblearn",
            "pandas",
            "polars",
            "dask",
            "distributed",
            "zarr",
            "datasets",
        ),
        *("transformers", "jinja2", "vl_convert", "umap", "cryptography"),
    }
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


def test_without_scikit_learn_the_door_names_the_extra_and_imbalanced_learn_is_not_needed():
    code = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "{}":
            raise ModuleNotFoundError(name, name="{}")
sys.meta_path.insert(0, Absent())
import leanset.sklearn
"""
    without = [
        subprocess.run([sys.executable, "-c", code.format(name, name)], capture_output=True, text=True)
        for name in ("sklearn", "imblearn")
    ]
    assert "leanset[sklearn]" in without[0].stderr
    assert without[1].returncode == 0


def test_every_public_name_has_a_docstring_with_an_example():
    documented = [getattr(leanset, name) for name in leanset.__all__ if name != "__version__"]
    without = [item.__name__ for item in documented if not item.__doc__]
    assert without == []
    called = (leanset.prune, leanset.load, leanset.verify, leanset.AdaptiveAnnealing, leanset.Cholesky, leanset.LiSSA)
    assert [item.__name__ for item in called if ">>>" not in item.__doc__] == []
