"""What a study would take: trainings, arithmetic and time, less what is finished."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property

from leanset._threads import available_threads, thread_count
from leanset.capture import ExampleSeconds, Network, example_seconds, network_seconds
from leanset.cost import estimate_plan
from leanset.evaluate.job import Job
from leanset.evaluate.protocol import EQUAL_EPOCHS
from leanset.evaluate.study import Study
from leanset.head import is_stored
from leanset.judge import FULL, Forecast, Share
from leanset.plan import plan_for
from leanset.runs import NETWORK
from leanset.training import HEAD, step_flops

_MANY = 4  # networks that are listed one by one
_TIMED = 12  # networks whose steps are timed


def forecast(study: Study, jobs: Sequence[Job], workers: int | None = None) -> Forecast:
    """Estimate what the jobs of a study would take, from a few timed steps of each network; nothing is written.

    Parameters
    ----------
    study : setup and folder; what is finished there is not counted again
    jobs : what to train
    workers : trainings at the same time; one per core, or one on a GPU, if None
    """
    study.table.check(study.setup.identity())
    study.table.check_recipes(study.setup.recipes(jobs))
    study.setup.check(jobs)
    known = list(dict.fromkeys(jobs))
    pending = [job for job in study.table.pending(known) if study.known_training(job) is None]
    together = study.workers_for(pending or known, workers)
    look = _Look(study, known, pending, together)
    return Forecast((*look.scorer(), *look.choices(), *look.trainings()), together)


@dataclass(frozen=True)
class _Look:
    study: Study
    jobs: Sequence[Job]
    pending: Sequence[Job]
    workers: int

    def scorer(self) -> list[Share]:
        """Return the cost of the network that methods look at; it is trained with all cores."""
        if all(job.on_all for job in self.jobs):
            return []
        network, path = Network(self.study.setup.images, self.study.setup.scorer_settings()), self.study.path / NETWORK
        is_finished = is_stored(path / HEAD) or not self.study.unchosen(self.pending)
        each = sum(seconds for _, seconds in network_seconds(network, gradients=self.study.needs_gradients(self.jobs)))
        settings = network.settings
        recipe, images = settings.recipe, len(network.images)
        return [
            Share(
                work=f"{settings.model}, which methods look at",
                number=1,
                finished=int(is_finished),
                each=each,
                left=0.0 if is_finished else each,
                image_passes=0 if is_finished else settings.runs * recipe.epochs * images,
                pflop=0.0 if is_finished else settings.runs * self.study.setup.pflop(settings, images),
                # By arithmetic: seconds on all cores and seconds of one worker's cores cannot be compared on a busy machine.
                of_full_training=self.study.setup.choosing_cost(self.jobs[0].model),
            )
        ]

    def choices(self) -> list[Share]:
        """Return the cost of choosing, by method."""
        chosen = {job.selection: job for job in self.jobs if not job.on_all}
        needed = {job.selection for job in self.pending}
        shares = []
        for method in dict.fromkeys(job.method for job in chosen.values()):
            mine = [job for job in chosen.values() if job.method == method]
            left = [job for job in self.study.unchosen(mine) if job.selection in needed]
            seconds = {fraction: self._choosing(job) for fraction, job in {job.fraction: job for job in mine}.items()}
            each = _mean(seconds[job.fraction] for job in mine)
            shares.append(
                Share(
                    work=f"choosing with {method}",
                    number=len(mine),
                    finished=len(mine) - len(left),
                    each=each,
                    left=sum(seconds[job.fraction] for job in left) / self.workers,
                    of_full_training=each / self._full,
                )
            )
        return shares

    def trainings(self) -> list[Share]:
        """Return the cost of training and testing, by network, or of many networks together."""
        kinds = {model: {model} for model in self._models}
        if len(kinds) > _MANY:
            kinds = {f"{len(kinds)} networks": set(kinds)}
        shares = []
        for name, models in kinds.items():
            mine = [job for job in self.jobs if job.model in models]
            left = [job for job in self.pending if job.model in models]
            each = _mean(map(self._training, mine))
            shares.append(
                Share(
                    work=f"training {name}",
                    number=len(mine),
                    finished=len(mine) - len(left),
                    each=each,
                    left=sum(map(self._training, left)) / self.workers,
                    image_passes=sum(map(self.study.image_passes, left)),
                    pflop=sum(self.study.pflop(job, self.study.kept_by(job)) for job in left),
                    of_full_training=each / self._full,
                )
            )
        return shares

    @property
    def _models(self) -> list[str]:
        return list(dict.fromkeys(job.model for job in self.jobs))

    @cached_property
    def _networks(self) -> dict[str, Network]:
        setup = self.study.setup
        on_all = {model: Job(0, 0.0, model, EQUAL_EPOCHS, FULL) for model in self._models}
        return {model: Network(setup.images, setup.network(job, len(setup.images))) for model, job in on_all.items()}

    @cached_property
    def _seconds(self) -> dict[str, ExampleSeconds]:
        """Seconds on one worker's share of the cores: measured, or for most of many networks by their arithmetic."""
        timed = self._models[:: -(-len(self._models) // _TIMED)]
        with thread_count(self._threads):
            known = {model: example_seconds(self._networks[model]) for model in timed}
        if len(timed) == len(self._models):
            return known
        flops = {model: step_flops(network.model, _shape(network)) for model, network in self._networks.items()}
        one = sum(flops[model] for model in timed)
        rate = {item.name: sum(getattr(known[m], item.name) for m in timed) / one for item in fields(ExampleSeconds)}
        by_flops = {m: ExampleSeconds(**{name: r * flops[m] for name, r in rate.items()}) for m in self._models}
        return by_flops | known

    @property
    def _threads(self) -> int:
        return max(1, available_threads() // self.workers)

    @cached_property
    def _full(self) -> float:
        """Seconds of training the first network on all examples."""
        return self._training(Job(0, 0.0, self.jobs[0].model, EQUAL_EPOCHS, FULL))

    def _training(self, job: Job) -> float:
        seconds, held_out = self._seconds[job.model], self.study.setup.images.held_out
        assert held_out is not None  # a setup has held-out images
        return self.study.image_passes(job) * seconds.trained + len(held_out) * seconds.tested

    def _choosing(self, job: Job) -> float:
        setup = self.study.setup
        outline = Network(setup.images, setup.scorer_settings()).outline()
        return estimate_plan(plan_for(setup.selection_settings(job, self._threads), outline), outline).seconds


def _shape(network: Network) -> tuple[int, ...]:
    return (network.images.channels, *network.images.size)


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / len(known)
