import os
from collections.abc import Sequence
from pathlib import Path

from leanset._errors import InputError
from leanset._progress import reporter_for
from leanset.data import Images, open_source
from leanset.evaluate import compare as comparison
from leanset.evaluate.bench import Bench, with_held_out
from leanset.evaluate.compare import Answer, Question
from leanset.evaluate.job import EQUAL_EPOCHS, EQUAL_STEPS
from leanset.training.recipe import Recipe, preset


def compare(
    images: Images | str,
    *,
    model: str,
    methods: Sequence[str] = ("leanset", "ccs", "el2n", "forgetting", "random"),
    fractions: Sequence[float] = (0.2, 0.4, 0.6),
    seeds: int = 3,
    out: str | os.PathLike[str],
    models: Sequence[str] = (),
    protocols: Sequence[str] = (EQUAL_EPOCHS, EQUAL_STEPS),
    recipe: Recipe | str = "fast",
    runs: int = 1,
    held_out_share: float = 0.2,
    device: str = "auto",
    workers: int | None = 1,
    progress: bool | None = None,
) -> Answer:
    """Train networks on what each method keeps, and say how the methods do against class-stratified random.

    Parameters
    ----------
    images : as `leanset.data.open_source` gives them, or what it takes, e.g. "cifar10:DIR"
    model : network that methods look at
    methods : "leanset", "balanced" (leanset without coverage), "paper", or names of `leanset.scores`
    fractions : shares to remove
    seeds : trainings of each kind; jobs of one seed are compared in pairs
    out : folder of the study; what was finished there is not done again
    models : networks to train on the chosen sets; `model` if empty
    protocols : "equal-epochs", "equal-steps" or "epochs=K"
    recipe : how networks are trained, or the name of a preset
    runs : trainings of `model` that scores are averaged over
    held_out_share : of each class, set aside for testing if there are no held-out images
    device : "auto", "cpu", "cuda" or "mps"
    workers : trainings side by side, each a process of its own: a script that asks for more than one must have its calls
        under `if __name__ == "__main__":`; None for as many as cores, or one on a GPU
    progress : show progress bars; None shows them if a person is watching

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> import leanset.torch as lt
    >>> rng = np.random.default_rng(0)
    >>> labels = np.arange(60) % 2
    >>> pixels = rng.integers(0, 100, (60, 1, 12, 12)) + 100 * labels[:, None, None, None]
    >>> images = lt.Images(pixels.astype(np.uint8), labels, ("dark", "bright"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     answer = lt.compare(images, model="lenet", methods=["el2n"], fractions=[0.5], seeds=1, out=folder,
    ...                         recipe=lt.Recipe(epochs=1, lr=0.01, flip=False), protocols=["equal-epochs"])
    >>> [row.method for row in answer.rows]
    ['full', 'stratified-random', 'el2n']
    """
    if isinstance(images, str):
        opened = open_source(images)
        if not isinstance(opened, Images):
            raise InputError(f"{images}: holds features; networks are trained on images.")
        images = opened
    question = Question(
        methods=tuple(methods),
        fractions=tuple(fractions),
        seeds=seeds,
        models=tuple(models),
        protocols=tuple(protocols),
    )
    how = preset(recipe) if isinstance(recipe, str) else recipe
    bench = Bench(
        images=with_held_out(images, held_out_share),
        scorer=model,
        scorer_recipe=how,
        recipe=how,
        runs=runs,
        device=device,
    )
    with reporter_for(progress) as reporter:
        return comparison.compare(bench, question, Path(out), workers=workers, reporter=reporter)
