import numpy as np
import pytest
import torch

from leanset.training.batches import ImageBatches, steps_of
from leanset.training.models import Whitening, build_model
from tests.training.networks import striped_images

CPU = torch.device("cpu")


def correlated_images(n=60, channels=3, size=12):
    """Images whose neighbouring pixels and channels are alike, as those of photographs are."""
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(n, channels, size + 2, size + 2, generator=generator)
    smooth = torch.nn.functional.avg_pool2d(noise, 3, stride=1)
    return smooth + smooth.mean(dim=1, keepdim=True)


def outputs(layer, images):
    """The outputs for every patch of the first half of the filters, one row for each patch."""
    with torch.inference_mode():
        maps = layer(images).double()[:, : layer.out_channels // 2]
    return maps.transpose(0, 1).flatten(1).T


@pytest.mark.parametrize("channels", [1, 3])
def test_outputs_on_the_training_patches_are_uncorrelated_and_of_variance_one(channels):
    images = correlated_images(channels=channels)
    layer = Whitening(channels, softening=0.0)
    layer.fit(images.split(13))
    covariance = torch.cov(outputs(layer, images).T, correction=0).numpy()
    np.testing.assert_allclose(covariance, np.eye(4 * channels), atol=1e-4)


def test_softening_takes_its_share_of_each_variance():
    images, layer = correlated_images(), Whitening(3, softening=0.1)
    layer.fit([images])
    patches = torch.nn.functional.unfold(images, 2).transpose(1, 2).flatten(0, 1).double()
    values = torch.linalg.eigvalsh(torch.cov(patches.T, correction=0))
    covariance = torch.cov(outputs(layer, images).T, correction=0)
    np.testing.assert_allclose(covariance.numpy(), torch.diag(values / (values + 0.1)).numpy(), atol=1e-4)


def test_every_filter_comes_with_both_signs_and_only_the_bias_can_learn():
    layer = Whitening(3)
    layer.fit([correlated_images()])
    assert layer.out_channels == 24
    assert torch.equal(layer.weight[:12], -layer.weight[12:])
    assert not layer.weight.requires_grad
    assert layer.learns_bias
    layer.learns_bias = False
    assert not layer.bias.requires_grad


def test_images_without_variance_give_finite_filters():
    layer = Whitening(3)
    layer.fit([torch.zeros(4, 3, 9, 9)])
    assert layer.weight.isfinite().all()


def test_real_images_are_whitened(cifar_images):
    layer, data = Whitening(3), ImageBatches(cifar_images)
    inputs = [batch.inputs for batch in data.plain(steps_of(np.arange(len(data)), 500), CPU)]
    layer.fit(inputs)
    covariance = torch.cov(outputs(layer, torch.cat(inputs)).T, correction=0).numpy()
    assert np.abs(covariance - np.diag(np.diag(covariance))).max() < 1e-3
    assert (np.diag(covariance) < 1.001).all()
    assert np.median(np.diag(covariance)) > 0.95
    assert np.diag(covariance).min() > 0.5  # softening takes its share of the weakest


@pytest.mark.parametrize("name", ["quick", "quick-narrow", "quick-wide"])
@pytest.mark.parametrize(("size", "classes"), [(9, 10), (32, 100), (64, 200)])
def test_the_head_on_the_features_gives_the_logits(name, size, classes):
    torch.manual_seed(0)
    model, seen = build_model(name, classes, image_size=size).eval(), []
    model.fc.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
    with torch.inference_mode():
        logits = model(torch.randn(3, 3, size, size))
        np.testing.assert_allclose(seen[0] @ model.fc.weight.T + model.fc.bias, logits, rtol=1e-5, atol=1e-6)
    assert logits.shape == (3, classes)
    assert model.fc.in_features == {"quick-narrow": 64, "quick": 128, "quick-wide": 256}[name]


def test_first_filters_of_a_convolution_pass_their_inputs_on():
    first = build_model("quick", 10).blocks[1][0]
    maps = torch.randn(2, 24, 7, 7)
    torch.testing.assert_close(first(maps)[:, :24], maps)


def test_logits_are_a_ninth_of_what_the_largest_features_say():
    model = build_model("quick", 3).eval()
    images = ImageBatches(striped_images(4, held_out=0))
    inputs = next(iter(images.plain([np.arange(4)], CPU))).inputs
    with torch.inference_mode():
        maps = model.blocks(model.whitening(inputs))
        largest = torch.nn.functional.max_pool2d(maps, maps.shape[2:]).flatten(1)
        torch.testing.assert_close(model(inputs), largest @ model.fc.weight.T / 9 + model.fc.bias)
