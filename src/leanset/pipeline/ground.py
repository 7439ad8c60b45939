from dataclasses import dataclass

import numpy as np

from leanset._arrays import Matrix
from leanset._linalg import Operator
from leanset.certify import preconditioner
from leanset.data import Examples
from leanset.head import Design, HeadFit, design_of, fit_head, softmax
from leanset.influence import (
    Cholesky,
    ConjugateGradients,
    HeadState,
    Inverse,
    InverseHessian,
    Kronecker,
    choose_inverse,
)
from leanset.pipeline.inputs import Inputs
from leanset.pipeline.settings import PruneSettings
from leanset.problem import Constraints


@dataclass(frozen=True)
class Ground:
    """Everything that is computed once and that every search and measurement of a run stands on."""

    inputs: Inputs
    settings: PruneSettings
    constraints: Constraints
    validation: Design | None
    state: HeadState
    fit: HeadFit
    start_head_distance: float | None
    inverse: Inverse
    for_sums: InverseHessian
    precondition: Operator

    @property
    def examples(self) -> Examples:
        """The examples."""
        return self.inputs.examples

    @property
    def theta(self) -> Matrix:
        """The head of all examples."""
        return self.fit.theta

    @property
    def probability(self) -> Matrix:
        """The network's own probabilities where they were captured, else those of the fitted head."""
        logits = self.inputs.logits
        return self.state.probability if logits is None else softmax(logits)

    @property
    def head_norm(self) -> float:
        """Its norm."""
        return float(np.linalg.norm(self.theta))


def prepare_ground(inputs: Inputs, settings: PruneSettings, constraints: Constraints, known: HeadFit | None) -> Ground:
    """Fit the head (unless it is known from an earlier run) and make the inverses ready."""
    design, validation, scaling = design_of(inputs.examples, standardize=settings.standardize)
    start = None if inputs.start is None else scaling.head_from_raw(inputs.start)
    fit = known or fit_head(design, settings.l2, start=start)
    state = HeadState.at(design, fit.theta, settings.l2)
    inverse = settings.inverse or choose_inverse(design.shape, settings.memory)
    if settings.inverse is None and isinstance(inverse, Kronecker):
        # Only one sum enters the certificate, so there the inverse can be exact however large the head is.
        for_sums = ConjugateGradients().prepare(state.curvature())
    else:
        for_sums = inverse.prepare(state.curvature())
    if isinstance(inverse, Cholesky):
        precondition: Operator = lambda stack: for_sums.solve(stack).solution  # noqa: E731
    else:
        precondition = preconditioner(state, settings.memory)
    distance = None if start is None else float(np.linalg.norm(fit.theta - start))
    return Ground(
        inputs=inputs,
        settings=settings,
        constraints=constraints,
        validation=validation,
        state=state,
        fit=fit,
        start_head_distance=distance,
        inverse=inverse,
        for_sums=for_sums,
        precondition=precondition,
    )
