import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from leanset._threads import thread_count
from leanset.training import convolutions, torch_threads
from leanset.training.convolutions import FastConvolutions, fast_convolutions

SHAPES = [(5, 3, 4, 7, 7), (70, 2, 3, 4, 5), (3, 4, 2, 3, 3), (2, 3, 5, 9, 6), (1, 1, 1, 1, 1), (2, 2, 2, 16, 13)]


@pytest.fixture
def tiles_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ("_WITH_AVX512", "_ELSEWHERE"):
        monkeypatch.setattr(convolutions, kind, convolutions._Least(channels=0, filters=0, products=0))


def plain(images: Tensor, filters: Tensor) -> Tensor:
    """The definition, in float64: a sum over the nine shifts of the padded images."""
    around, (height, width) = pad(images.double(), (1, 1, 1, 1)), images.shape[2:]
    shifted = torch.stack([around[:, :, i : i + height, j : j + width] for i in range(3) for j in range(3)])
    return torch.einsum("kncyx,dck->ndyx", shifted, filters.double().flatten(2))


def drawn(n: int, c: int, d: int, height: int, width: int) -> tuple[Tensor, Tensor, Tensor]:
    rng = torch.Generator().manual_seed(n + 10 * c)
    images = torch.randn(n, c, height, width, generator=rng).contiguous(memory_format=torch.channels_last)
    filters = torch.randn(d, c, 3, 3, generator=rng)
    return images.requires_grad_(), filters.requires_grad_(), torch.randn(n, d, height, width, generator=rng)


def results(images: Tensor, filters: Tensor, gradients: Tensor, work) -> list[Tensor]:
    outputs = work(images, filters)
    return [outputs.detach(), *torch.autograd.grad(outputs, (images, filters), gradients.to(outputs.dtype))]


def by_tiles(images: Tensor, filters: Tensor) -> Tensor:
    with FastConvolutions():
        return torch.conv2d(images, filters, None, (1, 1), (1, 1), (1, 1), 1)


@pytest.mark.usefixtures("tiles_everywhere")
@pytest.mark.parametrize("shape", SHAPES)
def test_outputs_and_gradients_are_those_of_the_definition(shape):
    case = drawn(*shape)
    for fast, exact in zip(results(*case, by_tiles), results(*case, plain), strict=True):
        assert fast.dtype == torch.float32
        np.testing.assert_allclose(fast, exact, atol=3e-5 * exact.abs().max().item())


@pytest.mark.usefixtures("tiles_everywhere")
def test_the_bias_is_added_and_learns():
    layer, images = nn.Conv2d(3, 4, 3, padding=1), torch.randn(2, 3, 5, 5)
    with FastConvolutions():
        outputs = layer(images)
    torch.testing.assert_close(outputs, layer(images), atol=1e-4, rtol=1e-4)
    (learnt,) = torch.autograd.grad(outputs.sum(), layer.bias)
    torch.testing.assert_close(learnt, torch.full((4,), 50.0))


@pytest.mark.usefixtures("tiles_everywhere")
def test_sums_do_not_depend_on_threads():
    case, found = drawn(200, 3, 4, 6, 6), []
    for threads in (1, 2):
        with thread_count(threads), torch_threads():
            found.append(results(*case, by_tiles))
    for one, two in zip(*found, strict=True):
        assert torch.equal(one, two)


@pytest.mark.usefixtures("tiles_everywhere")
@pytest.mark.parametrize(
    "layer",
    [
        nn.Conv2d(4, 4, 3, padding=1, stride=2),
        nn.Conv2d(4, 4, 3),
        nn.Conv2d(4, 4, 3, padding=2, dilation=2),
        nn.Conv2d(4, 4, 3, padding=1, groups=2),
        nn.Conv2d(4, 4, 5, padding=1),
        nn.Conv2d(4, 4, 3, padding="same"),
        nn.Conv2d(4, 4, 3, padding=1).double(),
    ],
)
def test_other_convolutions_stay_torchs(layer):
    images = torch.randn(3, 4, 8, 8, dtype=layer.weight.dtype)
    with FastConvolutions():
        inside = layer(images)
    assert torch.equal(inside, layer(images))


@pytest.mark.usefixtures("tiles_everywhere")
def test_mixed_precision_stays_torchs():
    layer, images = nn.Conv2d(4, 4, 3, padding=1), torch.randn(3, 4, 8, 8)
    with torch.autocast("cpu", torch.float16), FastConvolutions():
        assert layer(images).dtype == torch.float16


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")  # of the compiler itself
def test_networks_on_a_gpu_and_those_that_torch_compiles_are_left_alone():
    cpu, layer = torch.device("cpu"), nn.Conv2d(3, 8, 3)
    assert isinstance(fast_convolutions(nn.Sequential(layer), cpu), FastConvolutions)
    assert not isinstance(fast_convolutions(layer, torch.device("cuda")), FastConvolutions)
    assert not isinstance(fast_convolutions(nn.Sequential(torch.compile(layer)), cpu), FastConvolutions)
    layer.compile()
    assert not isinstance(fast_convolutions(nn.Sequential(layer), cpu), FastConvolutions)


def test_small_convolutions_stay_torchs():
    layer, images = nn.Conv2d(64, 64, 3, padding=1), torch.randn(3, 64, 8, 8)
    with FastConvolutions():
        inside = layer(images)
    assert torch.equal(inside, layer(images))
