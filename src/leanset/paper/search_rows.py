"""How well a search on few images predicts a search on all of them: the arithmetic behind the paper's table 1.

Every design is trained on the few images that a method chose (the proxy set) and on the whole set. A method is good if
the proxy set ranks the designs, above all the best ones, as the whole set does. A search has one proxy set; where a method
was drawn several times, each draw is rated as a search of its own and the figures are means over them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leanset._arrays import Rows, Vector
from leanset._errors import InputError
from leanset.judge import bootstrap_interval, spearman, top_spearman


@dataclass(frozen=True)
class SearchRow:
    """One method's row of the table.

    Attributes
    ----------
    method : the method that chose the images
    designs : number of networks compared
    chosen : the design with the best accuracy after training on the proxy set; one for each draw, with commas
    accuracy_of_chosen : accuracy of that design after training on the whole set, mean over the draws
    best_accuracy : accuracy of the best design on the whole set
    regret : what the search lost, `best_accuracy - accuracy_of_chosen`
    top_correlation : Spearman's rank correlation over the designs that are best on the whole set, mean over the draws
    top_interval : its 95 % bootstrap interval; designs are drawn with replacement, then the best of them are taken
    correlation, interval : the same over all designs
    training_share : images that a training on the proxy set sees, all epochs together, as a share of one on the whole set; None
        if unknown. Unlike seconds, it is the same on every machine
    storage_share : images of the proxy set as a share of the whole set; None if unknown
    """

    method: str
    designs: int
    chosen: str
    accuracy_of_chosen: float
    best_accuracy: float
    regret: float
    top_correlation: float
    top_interval: tuple[float, float]
    correlation: float
    interval: tuple[float, float]
    training_share: float | None = None
    storage_share: float | None = None


def search_rows(
    proxy: Mapping[str, Sequence[Mapping[str, float]]],
    whole: Mapping[str, float],
    *,
    proxy_images: int | None = None,
    whole_images: int | None = None,
    proxy_epochs: int = 1,
    whole_epochs: int = 1,
    top: int = 10,
    draws: int = 2000,
    seed: int = 0,
) -> list[SearchRow]:
    """Rate methods by how well a search on their images predicts a search on all images.

    Parameters
    ----------
    proxy : for each method and each draw of its images, the accuracy of each design trained on them
    whole : the accuracy of each design trained on the whole set; among ties, the first counts as the best
    proxy_images, whole_images : number of images that a method keeps, and of all images
    proxy_epochs, whole_epochs : lengths of the trainings on them
    top : number of best designs by `whole` that the top correlation is over; all if there are fewer
    draws, seed : number of draws of the bootstrap, and their seed

    Returns
    -------
    A row for each method, in the given order.

    Examples
    --------
    >>> whole = {"deep": 0.9, "wide": 0.8, "plain": 0.6}
    >>> proxy = {"random": [{"deep": 0.5, "wide": 0.55, "plain": 0.3}]}
    >>> [row] = search_rows(proxy, whole, proxy_images=100, whole_images=5000)
    >>> row.chosen, round(row.regret, 3), round(row.correlation, 3), row.storage_share
    ('wide', 0.1, 0.5, 0.02)
    """
    if len(whole) < 2:
        raise InputError(f"`whole` must hold at least two designs; got {len(whole)}.")
    truth = _accuracies("whole", whole, list(whole))
    storage = _share(proxy_images, whole_images)
    training = None if storage is None else storage * proxy_epochs / whole_epochs
    rows = []
    for method, drawn in proxy.items():
        if not drawn:
            raise InputError(f"`proxy[{method!r}]` must hold at least one draw.")
        scores = [_accuracies(f"proxy[{method!r}][{at}]", each, list(whole)) for at, each in enumerate(drawn)]
        rows.append(_row(method, scores, truth, list(whole), training, storage, top, draws, seed))
    return rows


def _row(
    method: str,
    scores: Sequence[Vector],
    truth: Vector,
    names: list[str],
    training: float | None,
    storage: float | None,
    top: int,
    draws: int,
    seed: int,
) -> SearchRow:
    def correlation(at: Rows) -> float:
        return _mean(spearman(each[at], truth[at]) for each in scores)

    def top_correlation(at: Rows) -> float:
        return _mean(top_spearman(each[at], truth[at], top=top) for each in scores)

    everywhere = np.arange(len(names))
    chosen = [int(np.argmax(each)) for each in scores]
    accuracy = _mean(truth[at] for at in chosen)
    return SearchRow(
        method=method,
        designs=len(names),
        chosen=", ".join(names[at] for at in chosen),
        accuracy_of_chosen=accuracy,
        best_accuracy=float(truth.max()),
        regret=float(truth.max()) - accuracy,
        top_correlation=top_correlation(everywhere),
        top_interval=bootstrap_interval(top_correlation, len(names), draws=draws, seed=seed),
        correlation=correlation(everywhere),
        interval=bootstrap_interval(correlation, len(names), draws=draws, seed=seed),
        training_share=training,
        storage_share=storage,
    )


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def _accuracies(what: str, given: Mapping[str, float], names: list[str]) -> Vector:
    if set(given) != set(names):
        odd = sorted(set(given) ^ set(names))
        raise InputError(
            f"`{what}` must have the designs of `whole`; {len(odd)} are in one only, for example {odd[0]}."
        )
    bad = [name for name in names if not np.isfinite(given[name])]
    if bad:
        raise InputError(f"`{what}` must be finite; {bad[0]} has {given[bad[0]]}.")
    return np.array([given[name] for name in names], dtype=np.float64)


def _share(part: int | None, whole: int | None) -> float | None:
    if (part is None) != (whole is None):
        raise InputError("give both `proxy_images` and `whole_images`, or neither.")
    if part is None or whole is None:
        return None
    if not (part >= 0 and whole > 0):
        raise InputError(f"`proxy_images={part}` must be at least 0 and `whole_images={whole}` positive.")
    return part / whole
