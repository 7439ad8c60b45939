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
from tests.cli.calling import LEANSET, call


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
    assert re.search(r"Does not hold: manifest, .*measured\s+change", failed.stdout, re.DOTALL)


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


def test_json_is_the_result_and_nothing_else(toy_npz, toy, tmp_path):
    out = tmp_path / "run"
    done = call("prune", toy_npz, "--count", 50, "--json", "--no-frontier", "--out", out, check=0)
    expected = leanset.prune(*toy[:2], validation=toy[2], count=50, frontier=False)
    shown = json.loads(done.stdout)
    assert shown.pop("origin")["source"] == f"npz:{toy_npz.resolve()}"
    assert shown == {key: value for key, value in expected.to_dict().items() if key != "origin"} | {"folder": str(out)}
    assert json.loads(done.stdout)["removed"] == expected.removed.tolist()
    assert done.stderr == ""
    assert json.loads(call("show", out, "--json", check=0).stdout) == json.loads(done.stdout)
    checked = json.loads(call("verify", out, "--json", check=0).stdout)
    assert checked["holds"]
    assert {check["name"] for check in checked["checks"]} >= {"partition", "measured change"}


def test_without_out_the_answer_goes_to_a_new_folder_that_is_named(toy_npz, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = ("prune", toy_npz, "--count", 50, "--no-frontier")
    done = call(*arguments, check=0)
    assert "Saved in leanset-runs/toy-1\n" in done.stdout
    assert call(*arguments, "--quiet", check=0).stdout == "Saved in leanset-runs/toy-2\n"
    assert json.loads(call(*arguments, "--json", check=0).stdout)["folder"] == "leanset-runs/toy-3"
    assert len(leanset.load("leanset-runs/toy-3").removed) == 50
    call(*arguments, "--dry-run", check=0)
    call("prune", toy_npz, "--count", 5000, check=2)
    assert not Path("leanset-runs/toy-4").exists()


def test_the_summary_lists_the_columns_and_leaves_the_paper_s_scale_out(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"r{row},{rng.normal() + row % 2:.6f},{rng.normal():.6f},2020-01-01,{row % 2}" for row in range(80)]
    (tmp_path / "a.csv").write_text("id,x,z,day,kind\n" + "\n".join(lines))
    reading = ("--label-column", "kind", "--drop", "day")
    arguments = ("prune", tmp_path / "a.csv", "--keep", 40, "--no-frontier", "--out", tmp_path / "run")
    done = call(*arguments, *reading, check=0)
    used = "Features: x, z. Label: kind. Names of the rows: id. Left out: day."
    assert used in done.stdout
    assert used in leanset.load(tmp_path / "run").summary()
    shown = json.loads(call("show", tmp_path / "run", "--json", check=0).stdout)
    assert (shown["origin"]["features"], shown["origin"]["left_out"]) == (["x", "z"], ["day"])
    call("report", tmp_path / "run", check=0)
    assert used in (tmp_path / "run" / "report.html").read_text()
    asked = ("--methods", "el2n", "--fractions", 0.5, "--seeds", 1, "--quiet", "--out", tmp_path / "study")
    call("compare", tmp_path / "a.csv", *reading, *asked, check=0)
    assert used in (tmp_path / "study" / "README.md").read_text()
    assert "Theorem" not in done.stdout
    assert "All checks hold" in call("verify", tmp_path / "run", check=0).stdout
    assert "All checks hold" in call("verify", tmp_path / "run", "--data", tmp_path / "a.csv", check=0).stdout
    assert "Does not hold: data" in call("verify", tmp_path / "run", *reading[:3], "day,z", check=1).stdout
    refused = call(*arguments, "--label-column", "kind", check=2)
    assert "column `day` is date32" in refused.stderr
    assert "--drop day" in refused.stderr


def test_a_head_near_chance_is_said_before_the_numbers(tmp_path):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "noise.npz", X=rng.normal(size=(200, 2)), y=np.arange(200) % 2)
    done = call("prune", tmp_path / "noise.npz", "--count", 20, "--no-frontier", "--out", tmp_path / "run", check=0)
    assert done.stdout.index("The head is near chance: it answers") < done.stdout.index("random sets")


def test_export_copies_kept_files(tmp_path):
    from dataclasses import replace

    rng = np.random.default_rng(0)
    names = np.array([f"{'ab'[row % 2]}/{row}.png" for row in range(60)])
    for name in names:
        (tmp_path / "photos" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "photos" / name).write_bytes(b"pixels")
    result = leanset.prune(rng.normal(size=(60, 2)), [name[0] for name in names], keep=20, frontier=False)
    replace(result, names=names, origin=leanset.data.Origin(root=str(tmp_path / "photos"))).save(tmp_path / "run")
    assert (tmp_path / "run" / "kept.csv").read_text().startswith("row,path,label,weight,reason\n")
    done = call("export", tmp_path / "run", "--to", tmp_path / "kept", check=0)
    assert done.stdout == f"20 files copied to {tmp_path / 'kept'}\n"
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["a", "b"]
    linked = json.loads(
        call("export", tmp_path / "run", "--to", tmp_path / "links", "--link", "--json", check=0).stdout
    )
    assert len(linked["files"]) == 20
    assert all(Path(file).is_symlink() for file in linked["files"])
    (tmp_path / "photos").rename(tmp_path / "moved")
    assert "say where with --from" in call("export", tmp_path / "run", "--to", tmp_path / "x", check=2).stderr
    call("export", tmp_path / "run", "--to", tmp_path / "y", "--from", tmp_path / "moved", "--quiet", check=0)


def test_every_command_speaks_json():
    from leanset.cli.app import commands

    assert [
        name for name, command in commands().items() if "--json" not in {o for p in command.params for o in p.opts}
    ] == []


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
    assert default["seconds"] < 100
    assert 500 < timed["stages"]["searching"] < 1100  # a search may stop before its limit, but not before half of it


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
        _, error = process.communicate(timeout=60)
    finally:
        process.kill()
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
    assert "Better than random" in " ".join(done.stdout.split())
    for name in ("frontier.png", "frontier.svg", "influence.png", "influence.svg", "certificate.json"):
        assert (tmp_path / "demo" / "breast-cancer" / name).stat().st_size > 500
    for name in ("influence.png", "influence.svg", "certificate.json"):
        assert (tmp_path / "demo" / "digits" / name).stat().st_size > 500


def test_what_a_result_advises_is_said_in_options(tmp_path):
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 3
    features = rng.normal(size=(300, 4)) + 6 * np.eye(3, 4)[labels]
    np.savez(tmp_path / "wrong.npz", features=features, labels=np.where(np.arange(300) % 20, labels, (labels + 1) % 3))
    said = call("prune", tmp_path / "wrong.npz", "--fraction", 0.3, "--no-frontier", check=0).stdout
    assert "--suspects drop" in " ".join(said.split())
    assert "suspects=" not in said


def test_version_and_help():
    assert leanset.__version__ in call("--version", check=0).stdout
    assert "verify" in call("--help", check=0).stdout


def test_entry_point_is_installed():
    assert Path(sys.executable).with_name("leanset").exists()
