"""Every method meets every check: joining the tuple is all that a new one needs."""

import numpy as np

from leanset.data import Dynamics
from leanset.scores import (
    AUM,
    CCS,
    D2,
    DUAL,
    EL2N,
    METHODS,
    DynUnc,
    Evidence,
    Forgetting,
    GraNd,
    InfluenceScore,
    LastLayerGraNd,
    Moderate,
    method_named,
)

ALL = (
    *(method_named(name) for name in METHODS),
    AUM(remove="low"),
    CCS(score=EL2N(), cut=0.2, strata=5),
    D2(score=AUM(), neighbours=3, gamma_reverse=0.1),
    DUAL(beta_sampling=False, window=3),
    EL2N(first=1, last=2),
)
SCORES = (
    AUM(),
    DUAL(beta_sampling=False),
    DynUnc(),
    EL2N(),
    Forgetting(),
    GraNd(),
    InfluenceScore(),
    LastLayerGraNd(),
    Moderate(),
)
WITHOUT_DRAWS = (*SCORES, method_named("herding"), method_named("k-center"), D2(score=EL2N(), neighbours=4))
ON_FEATURES = tuple(method for method in WITHOUT_DRAWS if "features" in method.needs)


def make_evidence(seed, rows=30, classes=3, columns=4, epochs=12, runs=2):
    rng = np.random.default_rng(seed)
    groups = np.arange(rows) % classes
    return Evidence(
        groups=groups,
        features=rng.normal(size=(rows, columns)),
        errors=rng.dirichlet(np.ones(classes), rows) - np.eye(classes)[groups],
        dynamics=tuple(make_dynamics(rng, rows, epochs + k) for k in range(runs)),
        gradient_norm=rng.exponential(size=rows),
        influence_norm=rng.exponential(size=rows),
    )


def make_dynamics(rng, rows, epochs):
    def numbers():
        return rng.random((epochs, rows), dtype=np.float32)

    return Dynamics(numbers() < rng.random(rows), numbers(), 4 * numbers() - 2, numbers())


def removed_set(method, evidence, count, seed=0):
    return set(method.preference(evidence, count, np.random.default_rng(seed))[:count].tolist())
