from collections.abc import Sequence
from dataclasses import dataclass

from leanset._errors import InputError
from leanset._rules import shares
from leanset.evaluate.job import EQUAL_EPOCHS, EQUAL_STEPS, Job, checked_protocol, protocol_on_all
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
    protocols : "equal-epochs", "equal-steps" or "epochs=K"

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
        for protocol in self.protocols:
            checked_protocol(protocol)
        if SHORTER in self.methods and set(self.protocols) == {EQUAL_STEPS}:
            raise InputError(
                f"`methods`: with equal steps, {SHORTER!r} is all data itself; name another protocol, too."
            )

    def jobs(self, scorer: str) -> list[Job]:
        """Return the trainings that answer the question, seed by seed."""
        on_all = dict.fromkeys(map(protocol_on_all, self.protocols))
        jobs = []
        for seed in range(self.seeds):
            for model in self.models or (scorer,):
                jobs += [Job(seed, 0.0, model, protocol, FULL) for protocol in on_all]
                jobs += [
                    Job(seed, fraction, model, protocol, method)
                    for protocol in self.protocols
                    for fraction in self.fractions
                    for method in self.methods
                    if (method, protocol) != (SHORTER, EQUAL_STEPS)  # that is all data again
                ]
        return jobs
