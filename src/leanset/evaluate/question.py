from collections.abc import Sequence
from dataclasses import dataclass

from leanset._errors import InputError
from leanset._rules import shares
from leanset.evaluate.job import Job
from leanset.evaluate.protocol import EQUAL_EPOCHS, EQUAL_STEPS, Protocol
from leanset.evaluate.setup import COMPARED
from leanset.judge import FULL, SHORTER, check_methods, with_baseline


@dataclass(frozen=True, kw_only=True)
class Question:
    """What to compare.

    Attributes
    ----------
    methods : names of methods, and "shorter"; class-stratified random, the baseline, is always added
    fractions : shares of the examples to remove
    seeds : trainings of each kind
    models : networks to train; the scorer if empty
    protocols : names of `Protocol`s

    Examples
    --------
    >>> Question(methods=("leanset",), fractions=(0.4,), seeds=3).methods
    ('stratified-random', 'leanset')
    """

    methods: tuple[str, ...]
    fractions: tuple[float, ...]
    seeds: int
    models: tuple[str, ...] = ()
    protocols: tuple[str, ...] = (EQUAL_EPOCHS, EQUAL_STEPS)

    def __post_init__(self) -> None:
        self._check()
        object.__setattr__(self, "methods", with_baseline(self.methods))
        for name in ("fractions", "models", "protocols"):  # drop repeats
            object.__setattr__(self, name, tuple(dict.fromkeys(getattr(self, name))))

    @classmethod
    def of(cls, jobs: Sequence[Job]) -> "Question":
        """Return the smallest question that some jobs are part of."""
        chosen = [job for job in jobs if job.method != FULL]
        return cls(
            methods=tuple(job.method for job in chosen),
            fractions=tuple(sorted({job.fraction for job in chosen})),
            seeds=1 + max(job.seed for job in chosen),
            models=tuple(job.model for job in chosen),
            protocols=tuple(job.protocol for job in chosen),
        )

    def _check(self) -> None:
        check_methods(self.methods, COMPARED, "is for features")
        if must := shares(self.fractions):
            raise InputError(f"`fractions={self.fractions}` must {must}.")
        if self.seeds < 1:
            raise InputError(f"`seeds={self.seeds}` must be at least 1; intervals need at least 2.")
        if not self.protocols:
            raise InputError("`protocols=()` must name at least one protocol.")
        if all(protocol.has_equal_steps for protocol in map(Protocol, self.protocols)) and SHORTER in self.methods:
            raise InputError(
                f"`methods`: with equal steps, {SHORTER!r} is all data itself; name another protocol, too."
            )

    def jobs(self, scorer: str) -> list[Job]:
        """Return the trainings that answer the question, seed by seed."""
        jobs = []
        for seed in range(self.seeds):
            for model in self.models or (scorer,):
                jobs += [Job(seed, 0.0, model, Protocol(protocol).on_all, FULL) for protocol in self.protocols]
                jobs += [
                    Job(seed, fraction, model, Protocol(protocol).shorter if method == SHORTER else protocol, method)
                    for protocol in self.protocols
                    for fraction in self.fractions
                    for method in self.methods
                    if method != SHORTER or not Protocol(protocol).has_equal_steps  # that is all data again
                ]
        return list(dict.fromkeys(jobs))
