import os
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  loads a BLAS of its own, which is to be limited too
from threadpoolctl import threadpool_limits

from leanset.data import Images, open_source

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def pytest_configure():
    # A shell lets processes in the background ignore Ctrl-C, and they hand that on; the tests of interrupts need it.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    _take_one_core(os.environ.get("PYTEST_XDIST_WORKER"))


def _take_one_core(worker):
    """Give each process of pytest-xdist a core of its own: the threads of several would wait for one another, and spin."""
    if worker is not None and hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[int(worker.removeprefix("gw")) % len(cores)]})
        threadpool_limits(1, user_api="blas")  # its threads were counted when there were more cores


@pytest.fixture(scope="session")
def cifar_head():
    """Features of a trained ResNet-20 on CIFAR-10, where the shared data folder is there."""
    path = SHARED / "cifar10_resnet20_head.npz"
    if not path.is_file():
        pytest.skip("needs ../shared/data/cifar10_resnet20_head.npz")
    return path


@pytest.fixture(scope="session")
def cifar_images():
    """The first 2,000 images of CIFAR-10 with the last 500 of them held out, where the shared data folder is there."""
    path = SHARED / "cifar-10-batches-py"
    if not path.is_dir():
        pytest.skip("needs ../shared/data/cifar-10-batches-py")
    images = open_source(f"cifar10:{path}")
    rows = np.arange(2000)
    held_out = Images(images.pixels[rows[1500:]], images.labels[rows[1500:]], images.classes)
    return Images(images.pixels[rows[:1500]], images.labels[rows[:1500]], images.classes, held_out=held_out)


@pytest.fixture(scope="module")
def browser():
    """A real browser, where there is one."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    if CHROMIUM is None:
        pytest.skip("needs chromium, e.g. `apt install chromium`")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def toy():
    """Three overlapping classes, 240 training and 120 validation examples."""
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, 360)
    features = rng.normal(size=(360, 5)) + 1.2 * np.eye(3, 5)[labels]
    return features[:240], labels[:240], (features[240:], labels[240:])


@pytest.fixture
def toy_npz(toy, tmp_path):
    features, labels, (val_features, val_labels) = toy
    path = tmp_path / "toy.npz"
    np.savez(path, features=features, labels=labels, val_features=val_features, val_labels=val_labels)
    return path
