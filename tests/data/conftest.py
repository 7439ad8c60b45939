import pytest

from tests.conftest import SHARED


def shared_folder(name):
    path = SHARED / name
    if not path.is_dir():
        pytest.skip(f"needs ../shared/data/{name}")
    return path


@pytest.fixture(scope="session")
def cifar_folder():
    return shared_folder("cifar-10-batches-py")


@pytest.fixture(scope="session")
def tiny_folder():
    return shared_folder("tiny-imagenet-20")
