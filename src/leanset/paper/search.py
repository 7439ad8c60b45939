"""How well an architecture search on few images stands for one on all: table 1 of the paper.

Every design is trained on the few images that a method chose (the proxy) and on the whole set. A method is good if the
proxy orders the designs as the whole set does, above all the best of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from leanset._arrays import Rows, Vector
from leanset._errors import InputError
from leanset.evaluate.statistics import bootstrap_interval, spearman, top_spearman


@dataclass(frozen=True)
class SearchRow:
    """One method's line of the table.

    Attributes
    ----------
    method : who chose the images
    designs : number of networks that were compared
    chosen : the design with the best accuracy after training on the proxy
    accuracy_of_chosen : of that design, after training on the whole set
    best_accuracy : of the best design on the whole set
    regret : what the search lost, `best_accuracy - accuracy_of_chosen`
    top_correlation : Spearman's, over the designs that are best on the whole set
    top_interval : 95 % bootstrap interval of it, designs drawn with replacement and their best taken anew
    correlation, interval : the same over all designs
    time_share, storage_share : seconds and images of the proxy as shares of the whole set's; None if not told
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
    time_share: float | None = None
    storage_share: float | None = None


def search_rows(
    proxy: Mapping[str, Mapping[str, float]],
    whole: Mapping[str, float],
    *,
    proxy_seconds: Mapping[str, float] | None = None,
    whole_seconds: float | None = None,
    proxy_images: int | None = None,
    whole_images: int | None = None,
    top: int = 10,
    draws: int = 2000,
    seed: int = 0,
) -> list[SearchRow]:
    """Judge methods by how far a search on their images is to be trusted.

    Parameters
    ----------
    proxy : of each method, the accuracy of each design trained on its images (the mean over seeds)
    whole : the accuracy of each design trained on the whole set; of equal ones, the first counts as the best
    proxy_seconds, whole_seconds : how long the training of all designs took, of each method and on the whole set
    proxy_images, whole_images : what a method keeps, and what there is
    top : designs, best by `whole`, over which the top correlation is taken; all where there are fewer
    draws, seed : of the bootstrap

    Returns
    -------
    A row for each method, in the order given.

    Examples
    --------
    >>> whole = {"deep": 0.9, "wide": 0.8, "plain": 0.6}
    >>> proxy = {"random": {"deep": 0.5, "wide": 0.55, "plain": 0.3}}
    >>> [row] = search_rows(proxy, whole, proxy_images=100, whole_images=5000)
    >>> row.chosen, round(row.regret, 3), round(row.correlation, 3), row.storage_share
    ('wide', 0.1, 0.5, 0.02)
    """
    if len(whole) < 2:
        raise InputError(f"`whole` must hold at least two designs; got {len(whole)}.")
    truth = _accuracies("whole", whole, list(whole))
    times = _time_shares(list(proxy), proxy_seconds, whole_seconds)
    storage = _share("proxy_images", proxy_images, "whole_images", whole_images)
    rows = []
    for method, accuracies in proxy.items():
        scores = _accuracies(f"proxy[{method!r}]", accuracies, list(whole))
        rows.append(_row(method, scores, truth, list(whole), times[method], storage, top, draws, seed))
    return rows


def _row(
    method: str,
    scores: Vector,
    truth: Vector,
    names: list[str],
    time: float | None,
    storage: float | None,
    top: int,
    draws: int,
    seed: int,
) -> SearchRow:
    def correlation(at: Rows) -> float:
        return spearman(scores[at], truth[at])

    def top_correlation(at: Rows) -> float:
        return top_spearman(scores[at], truth[at], top=top)

    everywhere = np.arange(len(names))
    chosen = int(np.argmax(scores))
    return SearchRow(
        method=method,
        designs=len(names),
        chosen=names[chosen],
        accuracy_of_chosen=float(truth[chosen]),
        best_accuracy=float(truth.max()),
        regret=float(truth.max() - truth[chosen]),
        top_correlation=top_correlation(everywhere),
        top_interval=bootstrap_interval(top_correlation, len(names), draws=draws, seed=seed),
        correlation=correlation(everywhere),
        interval=bootstrap_interval(correlation, len(names), draws=draws, seed=seed),
        time_share=time,
        storage_share=storage,
    )


def _accuracies(what: str, given: Mapping[str, float], names: list[str]) -> Vector:
    if set(given) != set(names):
        odd = sorted(set(given) ^ set(names))
        raise InputError(f"`{what}` must have the designs of `whole`; {len(odd)} are in one only, among them {odd[0]}.")
    bad = [name for name in names if not np.isfinite(given[name])]
    if bad:
        raise InputError(f"`{what}` must be finite; {bad[0]} has {given[bad[0]]}.")
    return np.array([given[name] for name in names], dtype=np.float64)


def _time_shares(methods: list[str], proxy: Mapping[str, float] | None, whole: float | None) -> dict[str, float | None]:
    missing = [] if proxy is None else [method for method in methods if method not in proxy]
    if missing:
        raise InputError(f"`proxy_seconds` must have every method; {missing[0]} is missing.")
    return {
        method: _share("proxy_seconds", None if proxy is None else proxy[method], "whole_seconds", whole)
        for method in methods
    }


def _share(name: str, part: float | None, other: str, whole: float | None) -> float | None:
    if (part is None) != (whole is None):
        raise InputError(f"give both `{name}` and `{other}`, or neither.")
    if part is None or whole is None:
        return None
    if not (np.isfinite(part) and np.isfinite(whole) and part >= 0 and whole > 0):
        raise InputError(f"`{name}={part}` must be at least 0 and `{other}={whole}` positive.")
    return part / whole
