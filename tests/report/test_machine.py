import getpass
import importlib.metadata
import json
import os
import platform
import sys
from pathlib import Path

import numpy as np

import leanset
from leanset._threads import available_threads, thread_count
from leanset.report import load, machine


def test_the_record_holds_no_host_name_and_no_path(tmp_path, monkeypatch):
    home = tmp_path / "home-of-somebody"
    (home / "work-of-somebody").mkdir(parents=True)
    private = {platform.node(), str(Path.home()), os.getcwd(), sys.prefix, os.path.dirname(leanset.__file__)}
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home / "work-of-somebody")
    monkeypatch.setattr(platform, "node", lambda: "host-of-somebody")
    monkeypatch.setenv("HOSTNAME", "host-of-somebody")
    text = json.dumps(machine() | {"load": load()})
    assert "of-somebody" not in text
    assert [word for word in private if len(word) > 1 and word in text] == []


def test_the_record_does_not_name_the_user(monkeypatch):
    monkeypatch.setenv("USER", "user-of-somebody")
    monkeypatch.setenv("LOGNAME", "user-of-somebody")
    assert getpass.getuser() == "user-of-somebody"
    assert "user-of-somebody" not in json.dumps(machine())


def test_the_record_says_what_a_reader_needs():
    record = machine()
    assert record["cores"] == available_threads()
    assert record["leanset"] == leanset.__version__
    assert record["numpy"] == np.__version__
    assert record["python"] == ".".join(map(str, sys.version_info[:3]))
    assert record["system"].split() == [platform.system(), platform.machine()]
    assert record["cpu"]
    with thread_count(3):
        assert machine()["cores"] == 3


def test_a_package_that_is_not_installed_is_left_out(monkeypatch):
    real = importlib.metadata.version

    def without_torch(name):
        if name == "torch":
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib.metadata, "version", without_torch)
    assert "torch" not in machine()
    assert "numpy" in machine()


def test_a_copy_that_is_no_checkout_has_no_commit(tmp_path, monkeypatch):
    place = tmp_path / "site-packages" / "leanset" / "report" / "machine.py"
    monkeypatch.setitem(machine.__globals__, "__file__", str(place))
    assert machine()["commit"] is None
