"""A setup whose trainings take a moment."""

from dataclasses import replace

from leanset.evaluate.setup import Setup
from leanset.training.recipe import Recipe
from tests.training.networks import striped_images

RECIPE = Recipe(epochs=1, lr=0.02, batch_size=16, crop=1)


def tiny_setup(images=None, **options):
    """Forty-eight striped images and LeNet, for one epoch on the processor."""
    images = images or striped_images(48, held_out=24)
    known = Setup(images=images, scorer="lenet", scorer_recipe=RECIPE, recipe=RECIPE, random_draws=2, device="cpu")
    return replace(known, **options)
