"""Working through the jobs of a study, alone or beside other processes."""

import math
import multiprocessing
import signal
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import numpy as np

from leanset._arrays import Rows, places_among
from leanset._errors import DivergenceError, InputError, LeansetError
from leanset._progress import Advance, Reporter, Silent
from leanset._threads import available_threads, thread_count
from leanset.evaluate.bench import SELECTORS, Bench
from leanset.evaluate.job import FULL, Job, epochs_of
from leanset.evaluate.store import JobTable
from leanset.head.statistics import HeadStatistics
from leanset.pipeline.network import network_statistics, trained_network
from leanset.runs import NETWORK
from leanset.scores import METHODS
from leanset.training.batches import steps_of
from leanset.training.devices import torch_threads
from leanset.training.folder import HEAD
from leanset.training.loop import Quality

_LOOK = 1.0  # seconds between two looks at the table
_CERTIFIED = ("refit_change", "random_refit_change_mean", "newton_change", "influence_change", "head_norm")


@dataclass(frozen=True)
class Study:
    """Jobs on a bench, and where they are kept.

    Attributes
    ----------
    bench : what the jobs have in common
    path : folder of the table, the scorer and the selections
    """

    bench: Bench
    path: Path

    @property
    def table(self) -> JobTable:
        """The table of jobs."""
        return JobTable(self.path)

    def run(
        self,
        jobs: Sequence[Job],
        *,
        workers: int | None = None,
        reporter: Reporter | None = None,
        divergence_is_chance: bool = False,
    ) -> None:
        """Finish the jobs that are not finished; those that another process works on are waited for.

        Parameters
        ----------
        jobs : what to do; one seed after the other, so that early results mean something
        workers : processes to share the work between; as many as there are cores if None and there is no GPU
        reporter : told of progress
        divergence_is_chance : count a training that diverges as one that learnt nothing, instead of stopping there; for
            searches over networks that one recipe cannot suit all of
        """
        reporter = reporter or Silent()
        if workers is not None and workers < 1:
            raise InputError(f"`workers={workers}` must be at least 1, or None for as many as there are cores.")
        pending = sorted(self.table.pending(set(jobs)))
        self.bench.check(pending)
        self.table.open(self.bench.identity())
        self.table.forget_failures()
        if any(job.method in SELECTORS for job in pending):
            gradients = any(
                "gradient_norm" in METHODS[job.method]().all_needs() for job in pending if job.method in METHODS
            )
            self.statistics(gradients=gradients, reporter=reporter)
        if not pending:
            return
        workers = min(workers or _default_workers(self.bench.device), len(pending))
        cost = {job: self._image_passes(job) for job in pending}
        title = f"{len(pending):,} trainings, {workers} at a time"
        with reporter.stage(title, units=len(pending), unit="trainings") as advance:
            if workers == 1:
                self._work(pending, divergence_is_chance, lambda: self._report(pending, cost, advance))
            else:
                self._share(pending, workers, divergence_is_chance, lambda: self._report(pending, cost, advance))
        self._explain_failures(pending)

    def statistics(self, *, gradients: bool = False, reporter: Reporter | None = None) -> HeadStatistics:
        """Return what methods see of the scorer; trains it if it is not there."""
        with self.table.lock("scorer", wait=True):
            return network_statistics(
                self.bench.images,
                self.bench.scorer_settings(),
                gradients=gradients,
                out=self.path,
                reporter=reporter or Silent(),
            )

    def kept(self, job: Job) -> Rows:
        """Return the places that a job trains on, chosen now if they were not before."""
        return self._selection(job)[0]

    def outcomes(self, jobs: Sequence[Job]) -> list[dict[str, Any]]:
        """Return the rows of the finished jobs."""
        return [self.table.outcome(job) for job in jobs if self.table.is_finished(job)]

    def _work(
        self, jobs: Sequence[Job], divergence_is_chance: bool, after_each: Callable[[], None] = lambda: None
    ) -> None:
        """Do every job that nobody else does, until all are finished or have failed.

        One that another process holds is looked at again, because that process may be killed before it is done.
        """
        while left := self.table.open_jobs(jobs):
            idle = True
            for job in left:
                with self.table.lock(job.key, wait=False) as mine:
                    if mine and self.table.open_jobs([job]):
                        idle = False
                        self._attempt(job, divergence_is_chance)
                after_each()
            if idle:
                time.sleep(_LOOK)

    def _attempt(self, job: Job, divergence_is_chance: bool) -> None:
        try:
            self.table.finish(job, self._done(job, divergence_is_chance))
        except LeansetError as error:
            self.table.fail(job, str(error))
        except Exception:
            self.table.fail(job, traceback.format_exc())

    def _share(self, jobs: Sequence[Job], workers: int, divergence_is_chance: bool, look: Callable[[], None]) -> None:
        # Fresh interpreters: a forked one would inherit torch's and numba's threads in an unusable state.
        context = multiprocessing.get_context("spawn")
        threads = max(1, available_threads() // workers)
        processes = [
            context.Process(target=_worker, args=(self, list(jobs), divergence_is_chance, threads), daemon=True)
            for _ in range(workers)
        ]
        started = []
        try:
            for process in processes:
                process.start()
                started.append(process)
            while alive := [process.sentinel for process in started if process.is_alive()]:
                wait(alive, _LOOK)
                look()
        finally:
            for process in started:
                process.terminate()
                process.join()
        left = self.table.open_jobs(jobs)
        if left:
            codes = ", ".join(str(process.exitcode) for process in started if process.exitcode)
            raise LeansetError(
                f"{len(left)} of {len(jobs)} trainings are not done, because worker processes ended early (exit codes "
                f"{codes}; -9 is mostly a want of memory, which fewer workers need less of). The same command goes on "
                f"from here. First: {left[0].key}"
            )

    def _done(self, job: Job, divergence_is_chance: bool) -> dict[str, Any]:
        kept, certificate = self._selection(job)
        settings = self.bench.network(job, len(kept))
        began = time.perf_counter()
        places = None if job.method == FULL else kept
        try:
            _, quality = trained_network(self.bench.images, settings, places=places, reporter=Silent())
        except DivergenceError:
            if not divergence_is_chance:
                raise
            quality = Quality(1 / len(self.bench.images.classes), math.inf)
        assert quality is not None  # a bench has held-out images
        recipe = settings.recipe
        return {
            "kept": len(kept),
            "epochs": recipe.epochs,
            "steps": recipe.epochs * len(steps_of(kept, recipe.batch_size)),
            "accuracy": quality.accuracy,
            "loss": quality.loss,
            "seconds": time.perf_counter() - began,
            "threads": available_threads(),
        } | {name: certificate.get(name) for name in (*_CERTIFIED, "selection_seconds")}

    def _selection(self, job: Job) -> tuple[Rows, dict[str, Any]]:
        if job.method == FULL:
            return np.arange(len(self.bench.images)), {}
        with self.table.lock(job.selection, wait=True):
            known = self.table.selection(job)
            if known is not None:
                return known
            statistics = HeadStatistics.load(self.path / NETWORK / HEAD)
            began = time.perf_counter()
            result = self.bench.select(statistics, job, available_threads())
            seconds = {"selection_seconds": time.perf_counter() - began}
            kept = places_among(result.rows, result.kept)
            self.table.keep_selection(job, kept, result.certificate.to_dict() | seconds)
            return kept, result.certificate.to_dict() | seconds

    def _image_passes(self, job: Job) -> float:
        n = len(self.bench.images)
        kept = max(1, round((1 - job.fraction) * n))
        return kept * epochs_of(job.protocol, self.bench.recipe.epochs, kept, n)

    def _report(self, jobs: Sequence[Job], cost: dict[Job, float], advance: Advance) -> None:
        done = sum(cost[job] for job in jobs if self.table.is_finished(job))
        advance(done / sum(cost.values()))

    def _explain_failures(self, jobs: Sequence[Job]) -> None:
        failed = {job: reason for job in jobs if (reason := self.table.failure(job)) is not None}
        if failed:
            job, reason = next(iter(failed.items()))
            raise LeansetError(
                f"{len(failed)} of {len(jobs)} trainings failed; the others are kept, and the same command tries these "
                f"again. First: {job.key}: {reason.strip().splitlines()[-1]}"
            )


def _default_workers(device: str) -> int:
    import torch

    has_gpu = torch.cuda.is_available() or torch.backends.mps.is_available()
    return 1 if device in ("cuda", "mps") or (device == "auto" and has_gpu) else available_threads()


def _worker(study: Study, jobs: list[Job], divergence_is_chance: bool, threads: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends Ctrl-C to all; the parent ends its workers
    with thread_count(threads), torch_threads():
        study._work(jobs, divergence_is_chance, _stop_if_orphaned)


def _stop_if_orphaned() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None and not parent.is_alive():
        raise SystemExit(1)
