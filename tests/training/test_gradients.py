import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from leanset.training.batches import ImageBatches
from leanset.training.gradients import gradient_norms
from leanset.training.models import build_model
from tests.training.networks import striped_images, tiny

CPU = torch.device("cpu")


def one_backward_each(model, data):
    """The obvious twin: one backward pass an example."""
    model.eval()
    norms = []
    for place in range(len(data)):
        batch = next(iter(data.plain([np.array([place])], CPU)))
        model.zero_grad()
        cross_entropy(model(batch.inputs), batch.labels).backward()
        norms.append(sum(float(weight.grad.double().square().sum()) for weight in model.parameters()) ** 0.5)
    return np.array(norms)


@pytest.mark.parametrize(
    "model", [tiny(), build_model("lenet", 3), build_model("resnet8", 3)], ids=["tiny", "lenet", "resnet8"]
)
def test_norms_are_those_of_one_backward_an_example(model):
    data = ImageBatches(striped_images(11, held_out=0))
    model.train()
    found = gradient_norms(model, data, CPU, batch_size=4)
    assert model.training
    np.testing.assert_allclose(found, one_backward_each(model, data), rtol=1e-4)


def test_frozen_weights_do_not_count():
    data, model = ImageBatches(striped_images(5, held_out=0)), tiny()
    whole = gradient_norms(model, data, CPU)
    model.conv.requires_grad_(False)
    part = gradient_norms(model, data, CPU)
    assert (part < whole).all()
