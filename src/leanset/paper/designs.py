import dataclasses

from leanset._errors import InputError
from leanset._rng import stream
from leanset.training.models.convnet import CONVNETS, ConvNetDesign

_AXES = tuple(axis.name for axis in dataclasses.fields(ConvNetDesign))


def sampled_designs(
    count: int | None = None,
    *,
    most_multiply_adds: int | None = None,
    most_map_entries: int | None = None,
    channels: int = 3,
    image_size: int = 32,
    seed: int = 0,
) -> tuple[ConvNetDesign, ...]:
    """Draw networks of the search space so that each depth, width, activation, ... occurs about equally often.

    One design is added after another, drawn among those whose choices have occurred least: those that leave the least
    sum of squared deviations of all choices' counts from equal ones. So a smaller sample is the beginning of a larger
    one with the same seed. Counts differ by one, or a little more where the design that would even them out is taken.
    Where costly designs are left out, choices that few of the others have (a great width, no pooling) can remain rarer.

    Parameters
    ----------
    count : how many; all, in the order of the search space, if None or more than there are
    most_multiply_adds, most_map_entries : leave out designs whose convolutions take more multiplications or put out more
        numbers for one image (methods of `ConvNetDesign`); the multiplications differ by a factor of two thousand, more
        than a processor can afford, and its time goes with the numbers put out
    channels, image_size : of the images, which both depend on
    seed : of the draw

    Examples
    --------
    >>> from collections import Counter
    >>> sample = sampled_designs(60)
    >>> sorted(Counter(design.depth for design in sample).items())
    [(1, 15), (2, 15), (3, 15), (4, 15)]
    >>> len(sampled_designs()), len(sampled_designs(most_multiply_adds=15_000_000)) < 720
    (720, True)
    """
    if count is not None and count < 1:
        raise InputError(f"`sampled_designs(count={count})` must be at least 1, or None for all.")
    left = [
        design
        for design in CONVNETS.values()
        if (most_multiply_adds is None or design.multiply_adds(channels, image_size) <= most_multiply_adds)
        and (most_map_entries is None or design.map_entries(image_size) <= most_map_entries)
    ]
    if not left:
        cheapest = next(iter(CONVNETS.values()))  # the first has the least of every choice
        raise InputError(
            f"`most_multiply_adds={most_multiply_adds}` and `most_map_entries={most_map_entries}` leave no design: the "
            f"cheapest takes {cheapest.multiply_adds(channels, image_size):,} and {cheapest.map_entries(image_size):,}."
        )
    if count is None or count >= len(left):
        return tuple(left)
    rng = stream(seed, "designs")
    seen: dict[tuple[str, object], int] = {}
    drawn: list[ConvNetDesign] = []
    for _ in range(count):
        # A choice met c times adds (c + 1)² - c² = 2c + 1 to the sum of squares, and the equal shares are the same for
        # every candidate: the least sum of counts is the least sum of squared deviations.
        costs = [sum(seen.get(choice, 0) for choice in _choices(design)) for design in left]
        least = [place for place, cost in enumerate(costs) if cost == min(costs)]
        design = left.pop(least[rng.integers(len(least))])
        drawn.append(design)
        for choice in _choices(design):
            seen[choice] = seen.get(choice, 0) + 1
    return tuple(drawn)


def _choices(design: ConvNetDesign) -> list[tuple[str, object]]:
    return [(axis, getattr(design, axis)) for axis in _AXES]
