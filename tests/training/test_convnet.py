import itertools

import pytest
import torch
from torch import nn

from leanset import InputError
from leanset.training.models import MODELS, build_model, has_stems, is_normalised
from leanset.training.models.convnet import CONVNETS, POOLINGS, Conv4, ConvNet, ConvNetDesign

# Every value of every choice, in designs that are small enough to run.
SPREAD = (
    ConvNetDesign(1, 32, "relu", "none", "none"),
    ConvNetDesign(1, 64, "leaky", "layer", "max"),
    ConvNetDesign(2, 32, "sigmoid", "batch", "average"),
    ConvNetDesign(3, 128, "relu", "instance", "average"),
    ConvNetDesign(4, 256, "leaky", "group", "max"),
    ConvNetDesign(4, 32, "sigmoid", "none", "none"),
)
IMAGES = ((3, 32), (1, 28))


def side_after(design, size):
    return size if design.pooling == "none" else size // 2**design.depth


def test_the_720_names_are_distinct_designs_and_can_be_read_back():
    assert len(CONVNETS) == len(set(CONVNETS.values())) == 4 * 4 * 3 * 5 * 3
    assert all(ConvNetDesign.named(design.name) == design for design in CONVNETS.values())
    assert set(SPREAD) <= set(CONVNETS.values())


@pytest.mark.parametrize("name", ["convnet-3-128", "convnet-5-128-relu-none-max", "convnet-3-128-gelu-none-max", ""])
def test_other_names_are_refused_with_the_choices(name):
    with pytest.raises(InputError, match=r"sigmoid, relu, leaky; none, batch, .*; none, max, average"):
        ConvNetDesign.named(name)


def test_the_zoo_builds_convnets_by_name_and_refuses_near_misses():
    model = build_model("convnet-2-32-relu-batch-max", 5, channels=1, image_size=28)
    assert isinstance(model, ConvNet)
    with pytest.raises(InputError, match="`model='convnet-2-33-relu-batch-max'` is unknown"):
        build_model("convnet-2-33-relu-batch-max", 5)


@pytest.mark.parametrize("design", SPREAD, ids=lambda design: design.name)
@pytest.mark.parametrize(("channels", "size"), IMAGES)
def test_parameters_follow_the_formula(design, channels, size):
    width, classes = design.width, 7
    convolutions = 9 * width * (channels + (design.depth - 1) * width) + design.depth * width
    norms = 0 if design.normalisation == "none" else 2 * design.depth * width
    head = (width * side_after(design, size) ** 2 + 1) * classes
    model = ConvNet(design, classes, channels, size)
    assert sum(weights.numel() for weights in model.parameters()) == convolutions + norms + head


@pytest.mark.parametrize("design", SPREAD, ids=lambda design: design.name)
@pytest.mark.parametrize(("channels", "size"), IMAGES)
def test_logits_have_their_shape_and_multiplications_are_those_that_happen(design, channels, size):
    counted, entries = [], []

    def count(layer, inputs, output):
        _, outputs, height, width = output.shape
        entries.append(output[0].numel())
        counted.append(layer.in_channels * outputs * layer.kernel_size[0] * layer.kernel_size[1] * height * width)

    model = ConvNet(design, 7, channels, size).eval()
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            module.register_forward_hook(count)
    with torch.inference_mode():
        assert model(torch.zeros(2, channels, size, size)).shape == (2, 7)
    assert sum(counted) == design.multiply_adds(channels, size)
    assert sum(entries) == design.map_entries(size)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_maps_of_one_pixel_are_not_pooled_further(pooling):
    design = ConvNetDesign(4, 32, "relu", "none", pooling)
    assert build_model(design.name, 3, image_size=4)(torch.zeros(1, 3, 4, 4)).shape == (1, 3)


# The axes of (image, group of channels, channel in the group, row, column) that share a mean, and the number of groups.
SHARED = {
    "batch": (lambda width: width, (0, 2, 3, 4)),
    "layer": (lambda width: 1, (2, 3, 4)),
    "instance": (lambda width: width, (2, 3, 4)),
    "group": (lambda width: 4, (2, 3, 4)),
}


@pytest.mark.parametrize("kind", SHARED)
def test_normalisations_do_what_their_name_says(kind):
    groups, axes = SHARED[kind]
    model = build_model(f"convnet-1-32-relu-{kind}-none", 3)
    convolution, normalisation = model.maps[0], model.maps[1]
    maps = convolution(torch.randn(5, 3, 32, 32, generator=torch.Generator().manual_seed(0))).detach().double()
    grouped = maps.reshape(5, groups(32), -1, 32, 32)
    centred = grouped - grouped.mean(axes, keepdim=True)
    expected = centred / (centred.square().mean(axes, keepdim=True) + 1e-5).sqrt()
    torch.testing.assert_close(normalisation.double()(maps), expected.reshape(maps.shape))
    assert is_normalised(model)


def test_without_normalisation_there_is_none():
    assert not is_normalised(build_model("convnet-4-32-relu-none-none", 3))


def test_activations_and_poolings_are_those_named():
    kinds = {"sigmoid": nn.Sigmoid, "relu": nn.ReLU, "leaky": nn.LeakyReLU}
    pools = {"max": nn.MaxPool2d, "average": nn.AvgPool2d}
    for (name, kind), (word, pool) in itertools.product(kinds.items(), pools.items()):
        model = build_model(f"convnet-2-32-{name}-none-{word}", 3)
        assert [type(layer) for layer in model.maps] == [nn.Conv2d, kind, pool] * 2


@pytest.mark.parametrize("channels", [1, 3])
def test_conv4_is_in_the_zoo_with_the_parameters_of_its_widths(channels):
    assert "conv4" in MODELS
    widths, classes = (channels, 16, 32, 64, 64), 7
    kernels = sum(9 * a * b for a, b in itertools.pairwise(widths))
    model = build_model("conv4", classes, channels=channels)
    assert isinstance(model, Conv4)
    norms, head = 2 * sum(widths[1:]), (widths[-1] + 1) * classes
    assert sum(weights.numel() for weights in model.parameters()) == kernels + norms + head


def test_plain_networks_have_one_stem():
    assert {name for name in MODELS if not has_stems(name)} == {"conv4", "lenet", "quick", "quick-narrow", "quick-wide"}
    assert not any(map(has_stems, CONVNETS))
