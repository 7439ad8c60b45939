from pathlib import Path

import numpy as np
import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def cifar_head():
    """Features of a trained ResNet-20 on CIFAR-10, where the shared data folder is there."""
    path = SHARED / "cifar10_resnet20_head.npz"
    if not path.is_file():
        pytest.skip("needs ../shared/data/cifar10_resnet20_head.npz")
    return path


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
