import pytest
import torch

from leanset import InputError
from leanset.capture import find_head
from leanset.training.models import MODELS, build_model, has_stems


def weights(model):
    return sum(weight.numel() for weight in model.parameters())


@pytest.mark.parametrize(("name", "millions"), [("resnet18", 11.69), ("resnet50", 25.56), ("squeezenet", 1.25)])
def test_published_parameter_counts_at_1000_classes(name, millions):
    assert round(weights(build_model(name, 1000, stem="large")) / 1e6, 2) == millions


def test_the_cifar_resnets_have_the_published_sizes():
    assert round(weights(build_model("resnet20", 10, image_size=32)) / 1e6, 2) == 0.27
    assert weights(build_model("resnet8", 10, image_size=32)) < 0.1e6


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("channels", "size"), [(3, 32), (1, 28), (3, 96)])
def test_every_network_takes_small_and_large_grey_and_colour_images(name, channels, size):
    model = build_model(name, 7, channels=channels, image_size=size).eval()
    with torch.inference_mode():
        assert model(torch.zeros(2, channels, size, size)).shape == (2, 7)
    assert find_head(model)[0] == "fc"


@pytest.mark.parametrize("name", sorted(filter(has_stems, MODELS)))
def test_the_small_stem_keeps_the_resolution(name):
    small, large = (build_model(name, 3, stem=stem) for stem in ("small", "large"))
    first = [
        next(module for module in model.modules() if isinstance(module, torch.nn.Conv2d)) for model in (small, large)
    ]
    assert (first[0].stride, first[1].stride) == ((1, 1), (2, 2))


def test_the_stem_follows_the_image_size():
    assert build_model("resnet18", 2, image_size=64).conv1.kernel_size == (3, 3)
    assert build_model("resnet18", 2, image_size=65).conv1.kernel_size == (7, 7)


def test_resnets_name_their_layers_as_torchvision_does():
    names = build_model("resnet50", 1000, stem="large").state_dict().keys()
    # A handful of names that occur in torchvision's published ResNet-50 weights, from every part of the network.
    assert {
        "conv1.weight",
        "bn1.running_var",
        "layer1.0.downsample.0.weight",
        "layer1.2.conv3.weight",
        "layer3.5.bn2.bias",
        "layer4.0.downsample.1.num_batches_tracked",
        "fc.bias",
    } <= names


def test_squeeze_and_excitation_gates_change_the_answer_but_not_the_shape():
    plain, gated = build_model("resnet20", 4), build_model("se-resnet20", 4)
    extra = set(gated.state_dict()) - set(plain.state_dict())
    assert extra
    assert all(".gate." in name for name in extra)


def test_unknown_names_list_the_known_ones():
    with pytest.raises(InputError, match=r"`model='resnet19'` is unknown.*resnet20"):
        build_model("resnet19", 10)
    with pytest.raises(InputError, match="stem='tiny'"):
        build_model("resnet20", 10, stem="tiny")
