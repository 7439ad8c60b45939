import pytest


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Work in a folder of its own: without --out, commands write below the current one."""
    monkeypatch.chdir(tmp_path)
