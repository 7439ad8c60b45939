import dataclasses
from collections import Counter

from leanset._errors import InputError
from leanset._rng import stream
from leanset.training import CONVNETS, ConvNetDesign

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
    """Draw networks of the search space so that each depth, width, activation and so on occurs about equally often.

    Designs are added one by one. Each is drawn among those whose choices have occurred least, that is, those that
    minimise the sum of squared deviations of all counts from equal counts. So with the same seed, a small sample is the
    beginning of a larger one. Counts differ by one, or by a little more if the design that would balance them is already
    in the sample. If costly designs are left out, choices that are rare among the others (a large width, no pooling) can
    stay rarer.

    Parameters
    ----------
    count : number of designs; all, in the order of the search space, if None or more than there are
    most_multiply_adds, most_map_entries : leave out designs whose convolutions need more multiplications or produce more
        numbers for one image (methods of `ConvNetDesign`). The multiplications differ by a factor of two thousand, too
        much for a processor, and its time depends on the numbers produced
    channels, image_size : channels and side length of the images, on which both limits depend
    seed : seed of the draw

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
    affordable = [
        design
        for design in CONVNETS.values()
        if (most_multiply_adds is None or design.multiply_adds(channels, image_size) <= most_multiply_adds)
        and (most_map_entries is None or design.map_entries(image_size) <= most_map_entries)
    ]
    if not affordable:
        cheapest = next(iter(CONVNETS.values()))  # the first has the smallest value of every choice
        raise InputError(
            f"`most_multiply_adds={most_multiply_adds}` and `most_map_entries={most_map_entries}` leave no design; the "
            f"cheapest needs {cheapest.multiply_adds(channels, image_size):,} and {cheapest.map_entries(image_size):,}."
        )
    if count is None or count >= len(affordable):
        return tuple(affordable)
    return tuple(_balanced_draw(affordable, count, seed))


def _balanced_draw(designs: list[ConvNetDesign], count: int, seed: int) -> list[ConvNetDesign]:
    rng, left = stream(seed, "designs"), list(designs)
    seen: Counter[tuple[str, object]] = Counter()
    drawn = []
    for _ in range(count):
        # A choice that occurred c times adds (c + 1)² - c² = 2c + 1 to the sum of squares, and the equal counts are the
        # same for every candidate, so the smallest sum of counts gives the smallest sum of squared deviations.
        costs = [sum(seen[choice] for choice in _choices(design)) for design in left]
        fewest = min(costs)
        least = [place for place, cost in enumerate(costs) if cost == fewest]
        drawn.append(left.pop(least[rng.integers(len(least))]))
        seen.update(_choices(drawn[-1]))
    return drawn


def _choices(design: ConvNetDesign) -> list[tuple[str, object]]:
    return [(axis, getattr(design, axis)) for axis in _AXES]
