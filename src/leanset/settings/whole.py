"""All options of the two calls that take them."""

import os
from dataclasses import dataclass
from typing import Annotated

from leanset._options import Option
from leanset.settings.compare import CompareOptions
from leanset.settings.head import HeadOptions
from leanset.settings.network import NetworkOptions
from leanset.settings.panels import COMPARISON, RUN
from leanset.settings.prune import PruneOptions
from leanset.settings.reading import ReadingOptions
from leanset.settings.work import ClusterOptions, RunOptions, WorkOptions


@dataclass(frozen=True, kw_only=True, eq=False)
class CompareSettings(WorkOptions, ReadingOptions, HeadOptions, CompareOptions):
    """All options of `leanset.compare`, checked; pass an instance as `settings=`, or the options as keywords.

    Examples
    --------
    >>> import leanset
    >>> leanset.CompareSettings(methods=["el2n"], fractions=[0.4]).fractions
    [0.4]
    """

    out: Annotated[
        str | os.PathLike[str] | None,
        Option("folder for the tables; work that is finished there is not repeated", COMPARISON, decides=False),
    ] = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Settings(ClusterOptions, RunOptions, ReadingOptions, NetworkOptions, PruneOptions):
    """All options of `leanset.prune`, checked; pass an instance as `settings=`, or the options as keywords.

    Examples
    --------
    >>> import leanset
    >>> leanset.Settings(fraction=0.4, seed=3).budget
    Fraction(value=0.4)
    """

    sign: Annotated[
        str | os.PathLike[str] | None,
        Option(
            "PEM file of an Ed25519 private key to sign the run's manifest with (needs the sign extra; docs/verify.md)",
            RUN,
            decides=False,
        ),
    ] = None
