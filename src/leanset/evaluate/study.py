"""Running the jobs of a study, alone or together with other processes."""

import math
import multiprocessing
import os
import threading
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
from leanset._interrupts import held_interrupts
from leanset._progress import Advance, Reporter, Silent
from leanset._threads import available_threads, thread_count
from leanset.capture import network_statistics, trained_network
from leanset.evaluate.job import Job
from leanset.evaluate.job_table import JobTable
from leanset.evaluate.setup import Setup
from leanset.head import HeadStatistics
from leanset.runs import NETWORK
from leanset.scores import METHODS
from leanset.training import HEAD, Quality, fabric_for, number_type, steps_of, torch_threads

_LOOK = 1.0  # seconds between two looks at the table
_CERTIFIED = ("refit_change", "random_refit_change_mean", "newton_change", "influence_change", "head_norm")


@dataclass(frozen=True)
class Study:
    """Jobs that share a setup, and the folder that holds them.

    Attributes
    ----------
    setup : what the jobs share
    path : folder of the job table, the scorer and the selections
    """

    setup: Setup
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
        """Finish the jobs that are not finished, and wait for those that another process works on.

        Parameters
        ----------
        jobs : what to train; one seed after the other, so that early results already say something
        workers : number of processes; if None, one per core, or one if there is a GPU
        reporter : receives the progress
        divergence_is_chance : give a training that diverges the accuracy of a guess, instead of counting it as failed;
            for searches over networks that no single recipe suits
        """
        reporter = reporter or Silent()
        self.workers_for(jobs, workers)  # raises, before anything is trained
        pending = sorted(self.table.pending(set(jobs)))
        self.setup.check(pending)
        self.table.open(self.setup.identity())
        self.table.keep_recipes(self.setup.recipes(jobs))
        self.table.forget_failures()
        self._train_scorer(pending, reporter)
        if pending:
            self._train_all(pending, self.workers_for(pending, workers), divergence_is_chance, reporter)
            self._raise_failures(pending)

    def statistics(self, *, gradients: bool = False, reporter: Reporter | None = None) -> HeadStatistics:
        """Return what the methods see of the scorer, which is trained first if necessary."""
        with self.table.lock("scorer", wait=True):
            is_new, began = not (self.path / NETWORK).exists(), time.perf_counter()
            found = network_statistics(
                self.setup.images,
                self.setup.scorer_settings(),
                gradients=gradients,
                out=self.path,
                reporter=reporter or Silent(),
            )
            if is_new:  # nobody knows how long it took before an interruption
                self.table.keep_scorer_cost(time.perf_counter() - began, available_threads())
            return found

    def kept(self, job: Job) -> Rows:
        """Return the places of the examples that a job trains on, which are chosen first if necessary."""
        return self._selection(job)[0]

    def outcomes(self, jobs: Sequence[Job]) -> list[dict[str, Any]]:
        """Return the rows of the finished jobs."""
        return [row for _, row in self.finished(jobs)]

    def finished(self, jobs: Sequence[Job]) -> list[tuple[Job, dict[str, Any]]]:
        """Return the finished jobs with their rows."""
        return [(job, self.table.outcome(job)) for job in jobs if self.table.is_finished(job)]

    def workers_for(self, jobs: Sequence[Job], asked: int | None) -> int:
        """Return how many jobs are trained at the same time; one per core, or one on a GPU, if that was not asked for."""
        if asked is not None and asked < 1:
            raise InputError(f"`workers={asked}` must be at least 1, or None for one per core.")
        return min(asked or _default_workers(self.setup.device), len(jobs))

    def needs_gradients(self, jobs: Sequence[Job]) -> bool:
        """Whether a method of the jobs looks at the gradient of every example."""
        scores = [METHODS[method]() for method in {job.method for job in jobs} if method in METHODS]
        return any("gradient_norm" in score.all_needs() for score in scores)

    def unchosen(self, jobs: Sequence[Job]) -> list[Job]:
        """Return the jobs whose examples are still to be chosen; the network that methods look at is needed for them only."""
        return [job for job in jobs if not (job.on_all or self.table.has_selection(job))]

    def kept_by(self, job: Job) -> int:
        """Return how many examples a job trains on."""
        return job.kept_of(len(self.setup.images))

    def known_training(self, job: Job) -> dict[str, Any] | None:
        """Return what a finished job found whose training is that of this one, e.g. under equal steps and "epochs=17".

        It says in `trained_under` which protocol that was, so that its time is counted once.
        """
        kept = self.kept_by(job)
        for other in self.table.finished_beside(job):
            if self.setup.network(other, kept) == self.setup.network(job, kept):
                found = self.table.outcome(other)
                return {"trained_under": other.protocol} | {k: v for k, v in found.items() if k not in job.to_dict()}
        return None

    def image_passes(self, job: Job) -> int:
        """Return the number of examples that a job trains on, times its epochs."""
        kept = self.kept_by(job)
        return kept * self.setup.network(job, kept).recipe.epochs

    def pflop(self, job: Job, kept: int) -> float:
        """Return the arithmetic of a job's training if so many examples are kept, in 10¹⁵ operations."""
        return self.setup.pflop(self.setup.network(job, kept), kept)

    def _train_scorer(self, jobs: Sequence[Job], reporter: Reporter) -> None:
        if unchosen := self.unchosen(jobs):
            self.statistics(gradients=self.needs_gradients(unchosen), reporter=reporter)

    def _train_all(self, jobs: Sequence[Job], workers: int, divergence_is_chance: bool, reporter: Reporter) -> None:
        cost = {job: self.image_passes(job) for job in jobs}
        title = f"{len(jobs):,} trainings, {workers} at a time"
        with reporter.stage(title, units=len(jobs), unit="trainings") as advance:
            if workers == 1:
                self._work(jobs, divergence_is_chance, lambda: self._report(cost, advance))
            else:
                self._share(jobs, workers, divergence_is_chance, lambda: self._report(cost, advance))

    def _work(self, jobs: Sequence[Job], divergence_is_chance: bool, after_each: Callable[[], None]) -> None:
        """Train every job that no other process works on, until all are finished or have failed.

        Jobs of other processes are looked at again and again, because a process may be killed before it finishes.
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
            self.table.finish(job, self.known_training(job) or self._train(job, divergence_is_chance))
        except LeansetError as error:
            self.table.fail(job, str(error))
        except Exception:
            self.table.fail(job, traceback.format_exc())

    def _share(self, jobs: Sequence[Job], workers: int, divergence_is_chance: bool, look: Callable[[], None]) -> None:
        # Spawned, not forked: a forked process inherits torch's and numba's threads in an unusable state.
        context = multiprocessing.get_context("spawn")
        threads = max(1, available_threads() // workers)
        started = []
        try:
            for _ in range(workers):
                arguments = (self, list(jobs), divergence_is_chance, threads)
                process = context.Process(target=_worker, args=arguments, daemon=True)
                with held_interrupts():  # workers never get Ctrl-C: this process ends them
                    process.start()
                    started.append(process)
            while alive := [process.sentinel for process in started if process.is_alive()]:
                wait(alive, _LOOK)
                look()
        finally:
            for process in started:
                process.terminate()
                process.join()
        self._raise_missing(jobs, [process.exitcode for process in started])

    def _raise_missing(self, jobs: Sequence[Job], exit_codes: Sequence[int | None]) -> None:
        left = self.table.open_jobs(jobs)
        if left:
            raise LeansetError(
                f"{len(left)} of {len(jobs)} trainings are not done, because worker processes ended early (exit codes "
                f"{', '.join(str(code) for code in exit_codes if code)}; -9 usually means too little memory, and fewer "
                f"workers need less). Run it again to continue. First training missing: {left[0].key}"
            )

    def _train(self, job: Job, divergence_is_chance: bool) -> dict[str, Any]:
        kept, certificate = self._selection(job)
        settings = self.setup.network(job, len(kept))
        began = time.perf_counter()
        places = None if job.on_all else kept
        try:
            _, quality = trained_network(self.setup.images, settings, places=places, reporter=Silent())
        except DivergenceError:
            if not divergence_is_chance:
                raise
            quality = Quality(1 / len(self.setup.images.classes), math.inf, math.inf, math.nan)
        assert quality is not None  # a setup has held-out images
        recipe, fabric = settings.recipe, fabric_for(settings.device)
        return {
            "kept": len(kept),
            "epochs": recipe.epochs,
            "steps": recipe.epochs * len(steps_of(kept, recipe.batch_size)),
            "accuracy": quality.accuracy,
            "loss": quality.loss,
            "scaled_loss": quality.scaled_loss,
            "seconds": time.perf_counter() - began,
            "threads": available_threads(),
            "device": fabric.device.type,
            "precision": number_type(recipe.precision, fabric),
        } | {name: certificate.get(name) for name in (*_CERTIFIED, "selection_seconds")}

    def _selection(self, job: Job) -> tuple[Rows, dict[str, Any]]:
        if job.on_all:
            return np.arange(len(self.setup.images)), {}
        with self.table.lock(job.selection, wait=True):
            known = self.table.selection(job)
            if known is not None:
                return known
            statistics = HeadStatistics.load(self.path / NETWORK / HEAD)
            began = time.perf_counter()
            result = self.setup.select(statistics, job, available_threads())
            seconds = {"selection_seconds": time.perf_counter() - began}
            kept = places_among(result.rows, result.kept)
            self.table.keep_selection(job, kept, result.certificate.to_dict() | seconds)
            return kept, result.certificate.to_dict() | seconds

    def _report(self, cost: dict[Job, int], advance: Advance) -> None:
        done = sum(passes for job, passes in cost.items() if self.table.is_finished(job))
        advance(done / sum(cost.values()))

    def _raise_failures(self, jobs: Sequence[Job]) -> None:
        failed = {job: reason for job in jobs if (reason := self.table.failure(job)) is not None}
        if failed:
            job, reason = next(iter(failed.items()))
            raise LeansetError(
                f"{len(failed)} of {len(jobs)} trainings failed. The others are kept; run it again to retry these. "
                f"First failure: {job.key}: {reason.strip().splitlines()[-1]}"
            )


def _default_workers(device: str) -> int:
    import torch

    has_gpu = torch.cuda.is_available() or torch.backends.mps.is_available()
    return 1 if device in ("cuda", "mps") or (device == "auto" and has_gpu) else available_threads()


def _worker(study: Study, jobs: list[Job], divergence_is_chance: bool, threads: int) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with thread_count(threads), torch_threads():
        study._work(jobs, divergence_is_chance, lambda: None)


def _end_with_parent() -> None:
    """End this worker as soon as its parent is gone, however that ended: nobody would stop it otherwise."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
