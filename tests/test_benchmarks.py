"""Benchmarks run rarely and by hand, so what they import must be looked at more often than they run."""

import importlib
import pkgutil

import pytest

benchmarks = pytest.importorskip("benchmarks", reason="run from the repository, where the benchmarks are")


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(benchmarks.__path__)])
def test_a_benchmark_finds_what_it_imports(name):
    if name in ("__main__", "influence"):
        pytest.skip(
            "starts when imported" if name == "__main__" else "needs pyDVL, which has an environment of its own"
        )
    importlib.import_module(f"benchmarks.{name}")
