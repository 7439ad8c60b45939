"""How time and memory grow with the size of the head, to a million weights.

Gaussian mixtures as in the growth benchmark, 5,000 examples, 40 % removed, `leanset.prune(frontier=False, random_draws=2)`,
otherwise default settings (l2 is chosen, suspects are looked for). Each point is a process of its own; its seconds are those of
the `prune` call, its peak memory the process's largest resident set. The exponents are slopes of straight lines fitted to the
logarithms: 1 is linear. `head_growth.png` and `.svg` show the points.
"""

from benchmarks import _growth_point
from benchmarks._growth_plot import head_drawing
from benchmarks._record import Findings, Request, at_most
from benchmarks.growth import exponents, point

ROWS = 5_000
HEADS = ((10, 64), (10, 256), (50, 64), (100, 128), (200, 256), (500, 512), (1000, 1000))


def run(request: Request) -> Findings:
    heads = HEADS[:2] if request.small else HEADS
    rows = [point("head", 1_000 if request.small else ROWS, width, classes) for classes, width in heads]
    slopes = list(exponents(rows, "head_size"))
    claims = [
        at_most(f"{slope['inverse']}: exponent of {slope['of']} in C·D", slope["exponent"], 1.05)
        for slope in slopes
        if slope["inverse"] == "cg"
    ]
    return Findings([*rows, *slopes], [_growth_point.SEED], claims, head_drawing(rows, slopes))
