import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import leanset

LEANSET = [sys.executable, "-c", "from leanset.cli import main; main()"]


def call(*arguments, check=None):
    done = subprocess.run([*LEANSET, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    if check is not None:
        assert done.returncode == check, done.stdout + done.stderr
    return done


def test_prune_verify_and_tampering(toy_npz, tmp_path):
    out = tmp_path / "run"
    done = call("prune", toy_npz, "--fraction", 0.4, "--l2", 0.01, "--out", out, check=0)
    assert "96 of 240 (40.0 %)" in done.stdout
    assert "random sets" in done.stdout
    assert "validation loss" in done.stdout
    held = call("verify", out, "--data", toy_npz, check=0)
    assert "FAILS" not in held.stdout
    certificate = json.loads((out / "certificate.json").read_text())
    (out / "certificate.json").write_text(json.dumps(certificate | {"refit_change": 1e-6}))
    failed = call("verify", out, "--data", toy_npz, check=1)
    assert "Does not hold: measured change." in failed.stdout


def test_show_prints_a_saved_run_and_draws_it(toy_npz, tmp_path):
    pytest.importorskip("matplotlib")
    call("prune", toy_npz, "--fraction", 0.4, "--l2", 0.01, "--out", tmp_path / "run", "--quiet", check=0)
    done = call("show", tmp_path / "run", "--figures", tmp_path, check=0)
    assert "96 of 240 (40.0 %)" in done.stdout
    assert re.search(r"\b216\s+90\.0 %", done.stdout)
    assert (tmp_path / "frontier.svg").is_file()
    call("show", tmp_path / "run", "--figures", tmp_path / "absent", check=2)
    call("show", tmp_path / "absent", check=3)


def test_report_writes_a_page_into_the_run_folder_or_where_it_is_told(toy_npz, tmp_path):
    pytest.importorskip("vl_convert")
    run, page = tmp_path / "run", tmp_path / "page.html"
    done = call("prune", toy_npz, "--count", 50, "--no-frontier", "--out", run, "--report", page, check=0)
    assert f"Report: {page}" in done.stdout
    assert 'id="map"' in page.read_text()
    assert f"Report: {run / 'report.html'}" in call("report", run, check=0).stdout
    assert 'id="map"' not in (run / "report.html").read_text()
    done = call("report", run, "--data", toy_npz, "--out", page, "--quiet", check=0)
    assert done.stdout == done.stderr == ""
    assert "--max-size 1000 is too small" in call("report", run, "--max-size", 1000, check=2).stderr
    assert "--max-size little must be a size" in call("report", run, "--max-size", "little", check=2).stderr
    assert "contains no finished run" in call("report", tmp_path / "absent", check=3).stderr


def test_a_report_that_cannot_be_written_is_refused_before_the_work(toy_npz, tmp_path):
    pytest.importorskip("vl_convert")
    done = call("prune", toy_npz, "--count", 50, "--out", tmp_path / "run", "--report", tmp_path, check=2)
    assert "is a folder; give the name of the file to write" in done.stderr
    assert not (tmp_path / "run").exists()


def test_json_is_the_certificate_and_nothing_else(toy_npz, toy):
    done = call("prune", toy_npz, "--count", 50, "--json", "--no-frontier", check=0)
    expected = leanset.prune(*toy[:2], validation=toy[2], count=50, frontier=False).certificate
    assert json.loads(done.stdout) == expected.to_dict()
    assert done.stderr == ""


def test_quiet_says_nothing(toy_npz, tmp_path):
    done = call("prune", toy_npz, "--count", 50, "--quiet", "--no-frontier", "--out", tmp_path / "run", check=0)
    assert done.stdout == done.stderr == ""
    assert (tmp_path / "run" / "kept.txt").is_file()


def test_dry_run_estimates_and_writes_nothing(toy_npz, tmp_path):
    done = call("prune", toy_npz, "--epsilon", 0.5, "--dry-run", "--out", tmp_path / "run", check=0)
    assert "peak memory" in done.stdout
    assert "total" in done.stdout
    assert not (tmp_path / "run").exists()


def test_dry_run_knows_the_solvers_budget_and_speaks_json(toy_npz):
    arguments = ("prune", toy_npz, "--fraction", 0.4, "--dry-run", "--json", "--no-frontier")
    default = json.loads(call(*arguments, check=0).stdout)
    timed = json.loads(call(*arguments, "--seconds", 1000, check=0).stdout)
    assert default["memory_bytes"] == timed["memory_bytes"]
    assert default["seconds"] < 100 < 1000 <= timed["stages"]["searching"] < 1100


def test_options_reach_the_settings(toy_npz, tmp_path):
    (tmp_path / "pins.txt").write_text("3\n14\n")
    call(
        "prune", toy_npz, "--epsilon", 0.5, "--out", tmp_path / "run", "--no-frontier", "--quiet", "--no-standardize",
        "--class-balance", 12, "--pinned", tmp_path / "pins.txt", "--inverse", "cg", "--solver", "adaptive",
        "--proposals", 20000, "--seed", 9, "--memory", "64MiB", "--l2", 0.02, "--random-draws", 3,
        check=0,
    )  # fmt: skip
    settings = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert settings["budget"] == {"epsilon": 0.5}
    assert settings["standardize"] is False
    assert (settings["class_balance"], settings["pinned"], settings["seed"]) == (12, [3, 14], 9)
    assert settings["inverse"]["name"] == "ConjugateGradients"
    assert settings["solver"]["proposals"] == 20000
    assert (settings["memory"], settings["l2"], settings["random_draws"]) == (64 * 2**20, 0.02, 3)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--fraction", "1.5"], 2, "--fraction 1.5 must lie in (0, 1)"),
        ([], 2, "give exactly one budget"),
        (["--fraction", "0.4", "--count", "3"], 2, "got --fraction 0.4 and --count 3"),
        (["--fraction", "0.4", "--inverse", "magic"], 2, "choose from cg, cholesky, kronecker, lissa"),
        (["--fraction", "0.4", "--solver", "magic"], 2, "choose from adaptive, annealing, exhaustive"),
        (["--fraction", "0.4", "--memory", "lots"], 2, "--memory lots must be a size"),
        (["--fraction", "0.4", "--pinned", "/nowhere/pins"], 2, "--pinned /nowhere/pins: cannot be read"),
        (["--fraction", "0.4", "--out", "/proc/leanset"], 3, "/proc/leanset: cannot create"),
        (["--fraction", "0.4", "--solver", "exhaustive"], 2, "would visit"),
    ],
)
def test_failures_are_one_line_and_an_exit_code(toy_npz, arguments, code, message):
    done = call("prune", toy_npz, *arguments, check=code)
    assert message in done.stderr
    assert done.stderr.startswith("leanset: ")
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_a_foreign_file_is_refused(tmp_path):
    (tmp_path / "foreign.npz").write_bytes(b"PK\x03\x04 not really")
    done = call("prune", tmp_path / "foreign.npz", "--fraction", 0.4, "--out", tmp_path / "run", check=2)
    assert "foreign.npz" in done.stderr
    assert not (tmp_path / "run").exists()


def test_interrupting_keeps_finished_stages_and_resumes(tmp_path):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5, 6000)
    data = tmp_path / "big.npz"
    np.savez(data, features=rng.normal(size=(6000, 30)) + np.eye(5, 30)[labels], labels=labels)
    out = tmp_path / "run"
    command = [*LEANSET, "prune", str(data), "--fraction", "0.4", "--out", str(out), "--quiet"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    deadline = time.time() + 120
    while not list((out / "stages").glob("removal-*")) and time.time() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    try:
        _, error = process.communicate(timeout=5)
    except subprocess.TimeoutExpired:  # Python drops an interrupt that arrives inside a finaliser; people press again
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in error
    assert "Traceback" not in error
    assert not (out / "certificate.json").exists()
    assert not list(out.rglob(".*"))
    kept = {path.name: path.stat().st_mtime_ns for path in (out / "stages").iterdir()}
    assert kept
    call("prune", data, "--fraction", 0.4, "--out", out, "--quiet", check=0)
    assert (out / "certificate.json").is_file()


def test_a_file_size_limit_is_reported_like_a_full_disk(toy_npz, tmp_path):
    out = tmp_path / "run"
    limited = ["bash", "-c", 'ulimit -f 0; trap "" XFSZ; exec "$@"', "limited"]
    command = [
        *limited,
        *LEANSET,
        "prune",
        str(toy_npz),
        "--count",
        "20",
        "--no-frontier",
        "--quiet",
        "--out",
        str(out),
    ]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 3, done.stderr
    assert "cannot write: File too large" in done.stderr
    assert [path for path in out.rglob("*") if path.is_file()] == []


def test_demo_tells_the_story_and_leaves_figures(tmp_path):
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    done = call("demo", "--out", tmp_path / "demo", check=0)
    assert "FAILS" not in done.stdout
    kept, n = map(int, re.search(r"(\d+) of (\d+) are enough", done.stdout).groups())
    assert n == 398
    assert kept < 0.2 * n
    lean, random = map(float, re.search(r"coefficients apart, at the minimum +(\S+) +(\S+)", done.stdout).groups())
    assert lean < 1e-6 < 0.1 < random  # scikit-learn's own fits
    assert "better than random" in done.stdout
    for name in ("frontier.png", "frontier.svg", "influence.png", "influence.svg", "certificate.json"):
        assert (tmp_path / "demo" / "breast-cancer" / name).stat().st_size > 500
    for name in ("influence.png", "influence.svg", "certificate.json"):
        assert (tmp_path / "demo" / "digits" / name).stat().st_size > 500


def test_version_and_help():
    assert leanset.__version__ in call("--version", check=0).stdout
    assert "verify" in call("--help", check=0).stdout


def test_entry_point_is_installed():
    assert Path(sys.executable).with_name("leanset").exists()
