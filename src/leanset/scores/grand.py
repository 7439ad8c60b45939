from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leanset._arrays import Vector
from leanset.scores._head_error import error_norms
from leanset.scores.contract import End, Evidence, Needs, Score, checked_end


@dataclass(frozen=True)
class GraNd(Score):
    """The norm of the whole network's gradient on an example (Paul et al. 2021).

    Low (removed by default): examples that hardly move the network. High: hard or mislabelled examples.

    Examples
    --------
    >>> evidence = Evidence(groups=np.zeros(3, dtype=int), gradient_norm=np.array([2.0, 1.0, 3.0]))
    >>> GraNd().preference(evidence, 1, np.random.default_rng(0)).tolist()
    [1, 0, 2]

    References
    ----------
    Paul, Ganguli and Dziugaite, *Deep learning on a data diet*, NeurIPS 2021.
    """

    name: ClassVar[str] = "grand"
    needs: ClassVar[Needs] = ("gradient_norm",)
    hard: ClassVar[End | None] = "high"

    remove: End = "low"

    def __post_init__(self) -> None:
        checked_end("GraNd", self.remove)

    def _values(self, evidence: Evidence) -> Vector:
        assert evidence.gradient_norm is not None  # checked by `scores`
        return evidence.gradient_norm


@dataclass(frozen=True)
class LastLayerGraNd(Score):
    """The norm of the head's gradient on an example, bias included: ‖error‖·‖(h, 1)‖.

    The gradient error·(h, 1)ᵀ has rank one, so its norm is exactly this product. The error is p − y for a softmax head.
    Low (removed by default): examples that hardly move the head. High: examples that it gets wrong, or with large
    features.

    Examples
    --------
    >>> evidence = Evidence(
    ...     groups=np.array([0, 0]), features=np.array([[0.0], [0.0]]), errors=np.array([[0.0, 0.0], [-0.5, 0.5]])
    ... )
    >>> LastLayerGraNd().scores(evidence).round(3).tolist()
    [0.0, 0.707]

    References
    ----------
    Paul, Ganguli and Dziugaite, *Deep learning on a data diet*, NeurIPS 2021.
    """

    name: ClassVar[str] = "grand-last"
    needs: ClassVar[Needs] = ("features", "errors")
    hard: ClassVar[End | None] = "high"

    remove: End = "low"

    def __post_init__(self) -> None:
        checked_end("LastLayerGraNd", self.remove)

    def _values(self, evidence: Evidence) -> Vector:
        assert evidence.features is not None  # checked by `scores`
        squares = np.einsum("ij,ij->i", evidence.features, evidence.features, dtype=np.float64)
        return np.asarray(error_norms(evidence) * np.sqrt(squares + 1.0))
