"""What reaches the terminal, and with which exit code."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import typer

from leanset import Check
from leanset.cli import guard, screen, show
from tests.cli.calling import LEANSET, call

HOSTILE = "none[/red]\n  holds  [bold]everything[/bold]\x1b[2J\x9b31m\u202e"


@pytest.fixture
def printed(monkeypatch):
    """Return what is shown, as a terminal would get it."""

    def after(work):
        out = screen.Screen(force_terminal=True, width=100, legacy_windows=False)
        monkeypatch.setattr(show, "OUT", out)
        with out.capture() as seen:
            work()
        return seen.get()

    return after


def test_an_unexpected_error_asks_for_a_report_and_is_no_failed_check(capsys):
    @guard.guarded
    def command():
        raise ZeroDivisionError("float division by zero")

    with pytest.raises(typer.Exit) as ended:
        command()
    told = capsys.readouterr().err
    assert ended.value.exit_code == guard.UNEXPECTED != 1
    assert "unexpected error: ZeroDivisionError: float division by zero" in told
    assert "report it" in told
    assert "Traceback" not in told
    assert len(told.strip().splitlines()) == 1


def test_a_command_that_cannot_be_imported_is_an_unexpected_error():
    done = run_with("sys.modules['leanset.cli.saved'] = None", ("verify", "x"))
    assert done.returncode == guard.UNEXPECTED
    assert "unexpected error" in done.stderr
    assert "Traceback" not in done.stderr


def test_texts_from_files_are_neither_markup_nor_steer_the_terminal(printed):
    shown = printed(lambda: show.show_check(Check("class balance", False, HOSTILE)))
    assert shown.count("\n") == 1
    assert "[bold]everything[/bold]" in shown
    assert r"\u001b[2J\u009b31m\u202e" in shown
    assert not {mark for mark in ("\x9b", "\u202e", "\x1b[2J") if mark in shown}


def test_json_output_has_nothing_that_steers_the_terminal(printed):
    shown = printed(lambda: show.show_json({"name": HOSTILE}))
    assert json.loads(shown) == {"name": HOSTILE}
    assert not {mark for mark in ("\x9b", "\u202e", "\x1b") if mark in shown}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 60)
    np.savez(folder / "data.npz", features=rng.normal(size=(60, 2)) + labels[:, None], labels=labels)
    options = ("--fraction", 0.3, "--l2", 0.1, "--proposals", 1000, "--no-frontier", "--quiet")
    call("prune", folder / "data.npz", *options, "--out", folder / "run", check=0)
    return folder / "run"


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_any_encoding_of_the_terminal_will_do(run, encoding):
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    done = subprocess.run([*LEANSET, "verify", str(run)], capture_output=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert b"All checks hold." in done.stdout
    done = subprocess.run([*LEANSET, "verify", str(run), "--json"], capture_output=True, env=environment)
    assert done.returncode == 0
    assert json.loads(done.stdout.decode(encoding))["holds"]


def test_a_crafted_setting_prints_no_line_of_its_own(run, tmp_path):
    other = shutil.copytree(run, tmp_path / "other")
    settings = json.loads((other / "settings.json").read_text())
    lie = "none\n  holds  measured change: claimed 0, re-measured 0 exactly\x1b[8m"
    (other / "settings.json").write_text(json.dumps(settings | {"class_balance": lie}))
    done = call("verify", other, check=1)
    assert "\x1b" not in done.stdout
    assert "\n  holds  measured change: claimed 0, re-measured 0 exactly" not in done.stdout


def run_with(before, arguments=("--version",)):
    """Run the command line after some lines of Python."""
    code = f"import sys\n{before}\nsys.argv = {['leanset', *arguments]!r}\n{LEANSET[-1]}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_ctrl_c_while_starting_prints_no_traceback():
    done = run_with(
        """
class Find:
    def find_spec(self, name, *_):
        if name == "typer": raise KeyboardInterrupt
sys.meta_path.insert(0, Find())"""
    )
    assert (done.returncode, done.stderr) == (130, "leanset: interrupted.\n")


@pytest.mark.parametrize("missing", ["torch", "lightning_fabric", "filelock"])
def test_a_missing_package_is_named_with_its_extra(missing, tmp_path):
    np.savez(tmp_path / "images.npz", images=np.zeros((4, 8, 8), np.uint8), labels=[0, 1, 0, 1])
    arguments = ("compare", f"npz:{tmp_path}/images.npz", "--out", f"{tmp_path}/out")
    done = run_with(f"sys.modules[{missing!r}] = None", arguments)
    assert done.returncode == 3, done.stderr
    assert 'pip install "leanset[torch]"' in done.stderr


def test_a_comparison_without_matplotlib_says_so_before_it_trains(tmp_path):
    pytest.importorskip("torch")
    images = np.random.default_rng(0).integers(0, 255, (40, 8, 8), np.uint8)
    np.savez(tmp_path / "images.npz", images=images, labels=np.arange(40) % 2)
    done = run_with(
        """
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "matplotlib" else found(name, *rest)""",
        ("compare", f"npz:{tmp_path}/images.npz", "--model", "lenet", "--epochs", "1", "--out", f"{tmp_path}/out"),
    )
    assert done.returncode == 3, done.stderr
    assert 'pip install "leanset[report]"' in done.stderr
    assert not (tmp_path / "out").exists()


def test_workers_end_with_the_comparison(tmp_path):
    pytest.importorskip("torch")
    psutil = pytest.importorskip("psutil")
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "images.npz", images=rng.integers(0, 255, (400, 16, 16), np.uint8), labels=np.arange(400) % 2)
    options = ["--model", "lenet", "--methods", "random", "--choose-epochs", "1", "--epochs", "2000", "--workers", "2"]
    process = subprocess.Popen(
        [*LEANSET, "compare", f"npz:{tmp_path}/images.npz", *options, "--quiet", "--out", f"{tmp_path}/out"],
        stderr=subprocess.DEVNULL,
    )
    table = tmp_path / "out" / "table" / "locks"
    until = time.monotonic() + 240
    while not any("random" in path.name for path in table.glob("*.lock")) and time.monotonic() < until:
        time.sleep(0.1)
    workers = [child for child in psutil.Process(process.pid).children() if "spawn_main" in " ".join(child.cmdline())]
    assert len(workers) == 2
    process.send_signal(signal.SIGTERM)
    process.wait(60)
    _, alive = psutil.wait_procs(workers, timeout=60)  # they would train for far longer
    for worker in alive:
        worker.kill()
    assert not alive
