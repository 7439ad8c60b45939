import numpy as np
import pytest
import torch

from leanset import InputError
from leanset.data import Images
from leanset.training.augmentation import augmented
from leanset.training.batches import ImageBatches, PixelScale, steps_of
from leanset.training.recipe import Recipe
from tests.training.networks import striped_images

CPU = torch.device("cpu")


class OnDemand:
    """Pixels that are read on demand, as for a data set too large for memory."""

    def __init__(self, pixels):
        self.pixels, self.asked = pixels, 0

    @property
    def shape(self):
        return self.pixels.shape

    def __getitem__(self, rows):
        self.asked += 1
        return self.pixels[rows]


def plainly_shifted(image, down, across, mirrored, edge, padding):
    """The obvious twin: pad one image, mirror it, cut a window out."""
    height, width, _ = image.shape
    padded = np.pad(image, ((edge, edge), (edge, edge), (0, 0)), mode={"black": "constant"}.get(padding, padding))
    window = padded[down : down + height, across : across + width]
    return window[:, ::-1] if mirrored else window


@pytest.mark.parametrize("padding", ["black", "reflect"])
@pytest.mark.parametrize(("edge", "flip"), [(0, False), (0, True), (2, False), (3, True)])
def test_every_augmented_image_is_a_shifted_and_perhaps_mirrored_original(edge, flip, padding):
    pixels = np.random.default_rng(0).integers(1, 255, (300, 6, 5, 3)).astype(np.uint8)
    recipe = Recipe(epochs=1, lr=0.1, crop=edge, flip=flip, padding=padding)
    made = augmented(torch.from_numpy(pixels), recipe, torch.Generator().manual_seed(0)).numpy()
    ways = [
        (d, a, m)
        for d in range(2 * edge + 1)
        for a in range(2 * edge + 1)
        for m in ((False, True) if flip else (False,))
    ]
    used = []
    for before, after in zip(pixels, made, strict=True):
        used += [way for way in ways if np.array_equal(plainly_shifted(before, *way, edge, padding), after)]
    assert len(used) >= len(pixels)  # each image is one of the ways
    if len(ways) > 1:
        assert len(set(used)) > len(ways) // 3  # and they differ


def test_images_are_mirrored_as_told():
    pixels = torch.from_numpy(np.random.default_rng(0).integers(0, 255, (40, 4, 5, 3)).astype(np.uint8))
    told = torch.arange(40) % 3 == 0
    made = augmented(pixels, Recipe(epochs=1, lr=0.1, crop=0), torch.Generator(), mirrored=told)
    assert torch.equal(made[told], pixels[told].flip(2))
    assert torch.equal(made[~told], pixels[~told])


def test_places_choose_who_is_told():
    images = striped_images(12, held_out=0)
    data, recipe = ImageBatches(images), Recipe(epochs=1, lr=0.1, crop=0)
    told, step = np.arange(12) % 4 == 0, np.array([7, 0, 8, 2])
    made = next(iter(data.training([step], recipe, CPU, 0, told))).inputs
    plain = next(iter(data.plain([step], CPU))).inputs
    torch.testing.assert_close(made, torch.where(torch.tensor(told[step])[:, None, None, None], plain.flip(3), plain))


def test_a_reflecting_crop_wider_than_the_images_is_refused():
    recipe = Recipe(epochs=1, lr=0.1, crop=4, padding="reflect")
    with pytest.raises(InputError, match="`crop=4` must be smaller than the images, which have 4 pixels a side"):
        augmented(torch.zeros(2, 4, 5, 3), recipe, torch.Generator())


def test_augmentation_follows_its_seed():
    images = striped_images(32, held_out=0)
    data, recipe = ImageBatches(images), Recipe(epochs=1, lr=0.1)

    def inputs(seed):
        return next(iter(data.training([np.arange(32)], recipe, CPU, seed))).inputs

    assert torch.equal(inputs(1), inputs(1))
    assert not torch.equal(inputs(1), inputs(2))


def test_plain_batches_are_the_scaled_pixels_in_channels_last_layout():
    images = striped_images(20, held_out=0)
    scale = PixelScale((0.4, 0.5, 0.6), (0.2, 0.3, 0.1))
    batch = next(iter(ImageBatches(images, scale).plain([np.array([3, 17])], CPU)))
    mean, deviation = (np.array(v)[:, None, None] for v in (scale.mean, scale.deviation))
    wanted = (images.pixels[[3, 17]] / 255 - mean) / deviation
    np.testing.assert_allclose(batch.inputs.numpy(), wanted, rtol=1e-5, atol=1e-5)
    assert batch.inputs.is_contiguous(memory_format=torch.channels_last)
    assert batch.labels.tolist() == images.labels[[3, 17]].tolist()
    assert batch.places.tolist() == [3, 17]


def test_measured_scale_makes_each_channel_standard():
    images = striped_images(60, held_out=0)
    inputs = torch.cat([batch.inputs for batch in ImageBatches(images).plain(steps_of(np.arange(60), 16), CPU)])
    np.testing.assert_allclose(inputs.mean(dim=(0, 2, 3)).numpy(), 0, atol=1e-4)
    np.testing.assert_allclose(inputs.std(dim=(0, 2, 3)).numpy(), 1, atol=1e-2)


def test_images_read_on_demand_give_the_same_batches():
    images = striped_images(30, held_out=0)
    lazy = OnDemand(images.pixels)
    other = Images(lazy, images.labels, images.classes, identity="on demand")
    steps, scale = steps_of(np.random.default_rng(0).permutation(30), 7), PixelScale.of(images)
    one, two = (list(ImageBatches(part, scale).plain(steps, CPU)) for part in (images, other))
    assert lazy.asked == len(steps)
    assert all(
        torch.equal(a.inputs, b.inputs) and torch.equal(a.labels, b.labels) for a, b in zip(one, two, strict=True)
    )


def test_an_error_while_reading_ahead_reaches_the_caller():
    class Broken(OnDemand):
        def __getitem__(self, rows):
            if 7 in rows:
                raise OSError("image 7 is gone")
            return super().__getitem__(rows)

    images = striped_images(12, held_out=0)
    data = ImageBatches(
        Images(Broken(images.pixels), images.labels, images.classes, identity="broken"),
        PixelScale((0.0,) * 3, (1.0,) * 3),
    )
    with pytest.raises(OSError, match="image 7"):
        list(data.plain(steps_of(np.arange(12), 2), CPU))


@pytest.mark.parametrize(("n", "size"), [(1, 5), (10, 3), (129, 128), (256, 128)])
def test_steps_cover_everything_once_in_batches_of_nearly_one_size(n, size):
    steps = steps_of(np.arange(n), size)
    assert np.concatenate(steps).tolist() == list(range(n))
    lengths = [len(step) for step in steps]
    assert max(lengths) <= size
    assert max(lengths) - min(lengths) <= 1


@pytest.mark.parametrize(
    ("mean", "deviation", "said"),
    [
        ((0.5,), (0.5, 0.5), r"`PixelScale\(mean=\(0.5,\), .*one finite number"),
        ((0.5,), (0.0,), r"`PixelScale\(deviation=\(0.0,\)\)` must be positive"),
        ((float("nan"),), (1.0,), "finite"),
    ],
)
def test_an_impossible_scale_is_refused(mean, deviation, said):
    with pytest.raises(InputError, match=said):
        PixelScale(mean, deviation)


def test_a_scale_for_other_channels_is_refused():
    with pytest.raises(
        InputError, match=r"`scale=PixelScale\(mean=\(0\.5,\), .*one number per channel; the images have 3 channels"
    ):
        ImageBatches(striped_images(4, held_out=0), PixelScale((0.5,), (0.5,)))
