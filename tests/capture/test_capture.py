import errno
import os

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from torch import nn
from torch.utils.data import TensorDataset

import leanset
import leanset.torch as lt
from leanset import InputError, RunFolderError
from leanset.capture import capture_head, find_head, recording, weights_of
from leanset.training import ImageBatches
from tests.training.networks import striped_images, tiny

CPU = torch.device("cpu")


@pytest.mark.parametrize("stored", [False, True])
def test_features_times_head_are_the_logits_of_the_network(tmp_path, stored):
    images, model = striped_images(50), tiny().train()
    seen = capture_head(model, ImageBatches(images), CPU, batch_size=7, store=tmp_path if stored else None)
    assert model.training
    assert not model.fc._forward_pre_hooks
    head = weights_of(model.fc)
    np.testing.assert_allclose(seen.features @ head[:, :-1].T + head[:, -1], seen.logits, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(seen.labels, images.labels)
    batch = next(iter(ImageBatches(images).plain([np.arange(50)], CPU)))
    with torch.inference_mode():
        np.testing.assert_allclose(seen.logits, model.eval()(batch.inputs).numpy(), rtol=1e-4, atol=1e-5)
    if stored:
        np.testing.assert_array_equal(np.load(tmp_path / "features.npy"), seen.features)


def test_a_head_without_bias_gets_a_zero_one():
    assert (weights_of(nn.Linear(3, 2, bias=False))[:, -1] == 0).all()


class Wrapped(nn.Module):
    def __init__(self, after):
        super().__init__()
        self.inner, self.after = tiny(), after

    def forward(self, x):
        return self.after(self.inner(x))


def test_a_layer_that_is_not_the_head_is_refused():
    data = ImageBatches(striped_images(8, held_out=0))
    with pytest.raises(InputError, match=r"has outputs that differ from those of the network.*`inner\.fc`"):
        capture_head(Wrapped(lambda z: z.softmax(1)), data, CPU)
    with pytest.raises(InputError, match=r"has outputs that differ from those of the network.*`inner\.fc`"):
        capture_head(Wrapped(nn.Linear(3, 3)), data, CPU, head="inner.fc")


def test_a_head_that_runs_twice_or_sees_maps_is_refused():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 3)

        def forward(self, x):
            return self.fc(self.fc(x.mean(dim=(2, 3))))

    class OnMaps(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 3)

        def forward(self, x):
            return self.fc(x.permute(0, 2, 3, 1)).mean(dim=(1, 2))

    data = ImageBatches(striped_images(8, held_out=0))
    with pytest.raises(InputError, match="runs 2 times"):
        capture_head(Twice(), data, CPU)
    with pytest.raises(InputError, match="one vector per example"):
        capture_head(OnMaps(), data, CPU)


def test_the_last_linear_layer_is_found_and_a_wrong_name_is_answered_with_the_right_ones():
    assert find_head(Wrapped(nn.Identity()))[0] == "inner.fc"
    with pytest.raises(InputError, match=r"is a Conv2d.*`inner\.fc` \(6 → 3\)"):
        find_head(Wrapped(nn.Identity()), "inner.conv")
    with pytest.raises(InputError, match=r"is not a module.*`inner\.fc`"):
        find_head(Wrapped(nn.Identity()), "classifier")
    with pytest.raises(InputError, match="no linear layer"):
        find_head(nn.Conv2d(1, 1, 1))


@pytest.mark.parametrize("squeezed", [False, True])
def test_a_head_with_one_logit_is_the_same_head_of_two_classes(squeezed):
    class Binary(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(4, 1)

        def forward(self, inputs):
            return self.head(inputs).squeeze(1) if squeezed else self.head(inputs)

    torch.manual_seed(0)
    labels = torch.arange(120) % 2
    inputs = torch.randn(120, 4) + labels[:, None]
    targets = labels.float() if squeezed else labels.float()[:, None]
    model = Binary()
    stats = lt.capture(model, TensorDataset(inputs, targets), weight_decay=0.01)
    odds = model.head(inputs)[:, 0].detach().numpy()
    np.testing.assert_allclose(stats.logits[:, 1] - stats.logits[:, 0], odds, rtol=1e-5)
    assert stats.classes == ("0", "1")
    # The minimum of the problem with two classes is, halved, that of the one logit with its own weight decay.
    result = leanset.prune(stats, fraction=0.25, frontier=False)
    fitted = minimize(
        lambda w: np.logaddexp(0, -(2 * labels.numpy() - 1) * (inputs.numpy() @ w[:4] + w[4])).mean() + 0.005 * w @ w,
        np.zeros(5),
        tol=1e-12,
    ).x
    assert result.certificate.l2 == 0.02
    assert result.certificate.head_norm == pytest.approx(np.linalg.norm(fitted) / np.sqrt(2), rel=1e-4)


def test_a_full_disk_is_an_error_before_the_capture_and_no_signal(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(RunFolderError, match=r"features\.npy: cannot write: No space left"):
        recording._in_folder(tmp_path, "")("features", (4, 3))


def test_the_room_of_captured_arrays_is_taken_at_once(tmp_path):
    array = recording._in_folder(tmp_path, "")("features", (4096, 64))
    taken = (tmp_path / "features.npy").stat()
    assert taken.st_blocks * 512 >= taken.st_size > array.nbytes
