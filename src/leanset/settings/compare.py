"""What a comparison asks."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar

from leanset._options import Checked, Option
from leanset._rules import a_share, at_least, names, shares
from leanset.parsing import numbers_in, words_in
from leanset.settings.panels import COMPARISON


@dataclass(frozen=True, kw_only=True, eq=False)
class CompareOptions(Checked):
    """What a comparison asks."""

    panel: ClassVar[str] = COMPARISON

    methods: Annotated[
        Sequence[str] | None,
        Option(
            "methods to compare, on the command line e.g. leanset,el2n: leanset, leanset-weights (for features; leanset "
            "with weights on what it keeps), balanced (for images; leanset without coverage), shorter (for images; all "
            "data for as few steps), paper, or methods of the literature (docs/scores.md). stratified-random is always "
            "included; a few others if not given",
            rule=names,
            read=words_in,
        ),
    ] = None
    fractions: Annotated[
        Sequence[float] | None,
        Option(
            "shares of the examples to remove; if not given, 0.4,0.7,0.9 of features and 0.2,0.4,0.6 of images",
            rule=shares,
            read=partial(numbers_in, option="fractions"),
        ),
    ] = None
    seeds: Annotated[
        int | None,
        Option(
            "number of repetitions, each with its own draws; if not given, 5 for features and 3 for images",
            rule=at_least(1),
        ),
    ] = None
    held_out_share: Annotated[
        float | None,
        Option("share of each class to hold out if the data have no held-out part; 0.2 if not given", rule=a_share),
    ] = None
