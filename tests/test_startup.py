"""What starting up imports. Seconds depend on the machine; modules do not."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import leanset

SLOW = ("numba", "llvmlite", "torch", "pyarrow", "scipy", "sklearn", "matplotlib", "pandas", "jinja2", "datasets")
RUN = "import sys; sys.argv = ['leanset', *{}]\nfrom leanset.cli import main\ntry: main()\nexcept SystemExit: pass"


def modules_after(code):
    code += "\nimport json, sys; print('\\n' + json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_leanset_imports_no_package_but_itself():
    found = modules_after("import leanset")
    assert not found & {*SLOW, "numpy", "rich", "typer"}
    assert len([name for name in found if name.startswith("leanset.")]) <= 3


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["--show-completion", "bash"]])
def test_the_first_screen_imports_no_command(words):
    found = modules_after(RUN.format(words))
    assert not found & {*SLOW, "numpy"}
    assert "leanset.cli.prune" not in found


def test_the_package_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "leanset", "--version"], capture_output=True, text=True, check=True)
    assert leanset.__version__ in done.stdout


def test_the_help_of_a_command_imports_nothing_that_computes():
    found = modules_after(RUN.format(["prune", "--help"]))
    assert not found & {*SLOW, "leanset.pruning", "leanset.report", "leanset.recheck", "leanset.trials"}


@pytest.mark.parametrize(
    "name", ["typer", "leanset.cli.lazy", "leanset.cli.prune", "numpy", "leanset.solve", "leanset.pruning"]
)
def test_an_interruption_while_starting_is_one_line(name):
    stop = f"""
import sys
class Stop:
    def find_spec(self, name, *rest):
        if name == {name!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Stop())
sys.argv = ["leanset", "prune", "nothing.npz", "--fraction", "0.5"]
from leanset.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", stop], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (130, "", 1)
    assert done.stderr.startswith("leanset: interrupted.")


def test_an_interruption_of_executed_text_has_the_same_exit_code(tmp_path):
    # Python itself would end with -2, by the signal, because the command line is a module here.
    stop = """
import sys
class Stop:
    def find_spec(self, name, *rest):
        if name == "typer":
            exec("raise KeyboardInterrupt")
sys.meta_path.insert(0, Stop())
"""
    (tmp_path / "sitecustomize.py").write_text(stop)
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    done = subprocess.run([sys.executable, "-m", "leanset"], env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "leanset: interrupted.\n")


def test_numba_is_imported_by_the_first_search():
    code = "import leanset\nleanset.prune([[0.1], [1], [2], [3.1]], [0, 1, 0, 1], method='random', count=1, l2=1)"
    assert "numba" not in modules_after(code)
    assert "numba" in modules_after(code.replace("method='random', ", ""))


def test_every_public_name_is_found_where_type_checkers_see_it():
    tree = ast.parse(Path(leanset.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        (line.module, alias.name) for line in block.body if isinstance(line, ast.ImportFrom) for alias in line.names
    }
    rooms = {("leanset", name) for name in leanset._ROOMS}
    assert seen == rooms | {(f"leanset.{home}", name) for home, names in leanset._HOMES.items() for name in names}
    assert set(leanset.__all__) <= set(dir(leanset))
    assert all(getattr(leanset, name) is not None for name in (*leanset.__all__, *leanset._ROOMS))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'purne'"):
        leanset.purne  # noqa: B018
    assert not hasattr(leanset, "_nothing")
