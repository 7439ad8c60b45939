import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from leanset import InputError
from leanset.training.batches import ImageBatches
from leanset.training.quality import predicted, quality
from leanset.training.views import mean_logits
from tests.training.networks import striped_images, tiny

CPU = torch.device("cpu")


def shifted(images, down, across):
    """The obvious twin: shift by one pixel; a mirror on the edge's pixels shows what comes in."""
    padded = np.pad(images.numpy(), ((0, 0), (0, 0), (1, 1), (1, 1)), mode="reflect")
    height, width = images.shape[2:]
    return torch.from_numpy(padded[:, :, 1 + down : 1 + down + height, 1 + across : 1 + across + width].copy())


def test_logits_are_the_weighted_mean_over_the_copies():
    model, images = tiny().eval(), torch.randn(5, 3, 8, 8)
    with torch.inference_mode():
        pair = {
            shift: (model(view) + model(torch.from_numpy(view.numpy()[..., ::-1].copy()))) / 2
            for shift in ((0, 0), (-1, -1), (1, 1))
            for view in [shifted(images, *shift)]
        }
        torch.testing.assert_close(mean_logits(model, images), model(images))
        torch.testing.assert_close(mean_logits(model, images, "mirrored"), pair[0, 0])
        wanted = pair[0, 0] / 2 + pair[-1, -1] / 4 + pair[1, 1] / 4
        torch.testing.assert_close(mean_logits(model, images, "mirrored-shifted"), wanted)


def test_an_image_and_its_mirror_image_get_the_same_answer():
    model, images = tiny().eval(), torch.randn(5, 3, 8, 8)
    with torch.inference_mode():
        one, two = (mean_logits(model, view, "mirrored") for view in (images, images.flip(3)))
    torch.testing.assert_close(one, two)


def test_quality_and_predictions_can_average_copies():
    images, model = striped_images(30, held_out=0), tiny().eval()
    data = ImageBatches(images)
    [(batch, logits)] = predicted(model, data.plain([np.arange(30)], CPU), "mirrored")
    with torch.inference_mode():
        torch.testing.assert_close(logits, (model(batch.inputs) + model(batch.inputs.flip(3))) / 2)
    seen = quality(model, data, CPU, batch_size=7, copies="mirrored")
    assert seen.accuracy == pytest.approx((logits.argmax(1) == batch.labels).float().mean().item())
    assert seen.loss == pytest.approx(cross_entropy(logits, batch.labels).item(), rel=1e-5)


def test_unknown_copies_are_named():
    with pytest.raises(InputError, match=r"`copies='turned'` must be 'none' or 'mirrored'"):
        mean_logits(tiny(), torch.zeros(1, 3, 8, 8), "turned")
