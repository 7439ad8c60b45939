"""The table of jobs on disk, which several processes can work on at the same time.

Each finished job is a file, so no job is done twice. A process that works on a job holds the lock with the job's name.
The operating system releases the lock when the process ends, even if it is killed.
"""

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from leanset._arrays import Rows
from leanset._errors import RunFolderError, missing_extra
from leanset._folder import Folder, explained
from leanset.evaluate.job import Job
from leanset.judge import FULL, LEANSET, SETUP, STRATIFIED, check_same_setup, folder_in_use

try:
    from filelock import FileLock, Timeout
except ImportError:
    raise missing_extra("A comparison of networks", "torch") from None

_JOBS, _SELECTIONS, _FAILED, _LOCKS = "jobs", "selections", "failed", "locks"
_SCORER, _RECIPES = "scorer.json", "recipes.json"
_FIRST = (FULL, STRATIFIED, LEANSET)  # in tables; the others follow by name
_OPENING = "setup"  # the lock for writing `setup.json`


class JobTable:
    """Finished jobs, selections and locks in one folder.

    Parameters
    ----------
    path : folder of the study
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._files = Folder(path)

    def open(self, identity: dict[str, Any]) -> None:
        """Claim the folder for a setup, or raise if it belongs to another one."""
        self.check(identity)
        if not self._files.has(SETUP):
            with self.lock(_OPENING, wait=True):
                if not self._files.has(SETUP):
                    self._files.write_json(SETUP, identity)
        check_same_setup(self._files, identity)
        self._files.sweep(_JOBS, _SELECTIONS, _FAILED)

    def check(self, identity: dict[str, Any]) -> None:
        """Raise if the folder belongs to another setup, or to something else."""
        # Look for foreign files first: another process may write `setup.json`, and then more, at any moment.
        foreign = self.path.is_dir() and any(map(_is_foreign, self.path.iterdir()))
        if self._files.has(SETUP):
            check_same_setup(self._files, identity)
        elif foreign:
            raise folder_in_use(self.path)

    def recipes(self) -> dict[str, Any]:
        """Return the recipe of each network that was trained here or is to be."""
        if self._files.has(_RECIPES):
            return self._files.read_json(_RECIPES)
        recipe = self._files.read_json(SETUP).get("recipe") if self._files.has(SETUP) else None
        return {job.model: recipe for job in self.finished()}  # of an earlier version, which had one for all

    def check_recipes(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Raise if a network has another recipe here; return the recipes that are known."""
        known, given = self.recipes(), json.loads(json.dumps(given))
        changed = [model for model, recipe in given.items() if known.get(model, recipe) != recipe]
        if changed:
            raise RunFolderError(f"{self.path}: {changed[0]} has another recipe there; choose another output folder.")
        return known

    def keep_recipes(self, given: Mapping[str, Any]) -> None:
        """Save the recipes of networks that are new here, or raise if one has another recipe."""
        if not given.keys() <= self.check_recipes(given).keys():
            with self.lock(_OPENING, wait=True):
                self._files.write_json(_RECIPES, self.check_recipes(given) | dict(given))

    @contextlib.contextmanager
    def lock(self, name: str, *, wait: bool) -> Iterator[bool]:
        """Hold the lock with this name. Yields False if another process holds it and `wait` is False."""
        path = self.path / _LOCKS / f"{name}.lock"
        with explained(path, "create"):
            path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path, timeout=-1 if wait else 0)
        try:
            lock.acquire()
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()

    def is_finished(self, job: Job) -> bool:
        """Whether the job has an outcome."""
        return self._files.has(f"{_JOBS}/{job.key}.json")

    def pending(self, jobs: Iterable[Job]) -> list[Job]:
        """Return the jobs that are not finished."""
        return [job for job in jobs if not self.is_finished(job)]

    def finish(self, job: Job, outcome: dict[str, Any]) -> None:
        """Save the outcome of a job."""
        self._files.write_json(f"{_JOBS}/{job.key}.json", job.to_dict() | outcome)
        with contextlib.suppress(FileNotFoundError):
            (self.path / _FAILED / f"{job.key}.txt").unlink()

    def fail(self, job: Job, reason: str) -> None:
        """Save why a job failed. The next run of the study tries it again."""
        self._files.write_text(f"{_FAILED}/{job.key}.txt", reason)

    def failure(self, job: Job) -> str | None:
        """Return why the job failed, or None."""
        with contextlib.suppress(FileNotFoundError):  # another process may delete it at any moment
            return (self.path / _FAILED / f"{job.key}.txt").read_text(encoding="utf-8")
        return None

    def open_jobs(self, jobs: Iterable[Job]) -> list[Job]:
        """Return the jobs that are neither finished nor failed."""
        return [job for job in self.pending(jobs) if self.failure(job) is None]

    def forget_failures(self) -> None:
        """Forget which jobs failed, so that they are tried again."""
        for file in (self.path / _FAILED).glob("*.txt"):
            file.unlink(missing_ok=True)

    def outcome(self, job: Job) -> dict[str, Any]:
        """Return the row of a finished job."""
        return self._files.read_json(f"{_JOBS}/{job.key}.json")

    def finished(self) -> list[Job]:
        """Return all finished jobs, whatever question they belong to."""
        return sorted(
            self._read("*"), key=lambda job: (job.seed, job.model, job.protocol, job.fraction, _rank(job.method))
        )

    def finished_beside(self, job: Job) -> list[Job]:
        """Return the finished jobs that train the same network with the same seed on the same examples."""
        found = self._read(f"*-s{job.seed}-{job.model}-*")
        return [
            other
            for other in found
            if (other.seed, other.model) == (job.seed, job.model)
            and (other.selection == job.selection or (other.on_all and job.on_all))
        ]

    def _read(self, names: str) -> list[Job]:
        columns = [item.name for item in fields(Job)]
        files = sorted(path.name for path in (self.path / _JOBS).glob(f"[!.]{names}.json"))
        known = [self._files.read_json(f"{_JOBS}/{file}", columns) for file in files]
        return [Job(**{name: row[name] for name in columns}) for row in known]

    def keep_scorer_cost(self, seconds: float, threads: int) -> None:
        """Save how long the network that methods look at took to train and to capture."""
        self._files.write_json(_SCORER, {"seconds": seconds, "threads": threads})

    def scorer_cost(self) -> dict[str, Any] | None:
        """Return how long that took, on how many threads; None if it is not known."""
        return self._files.read_json(_SCORER) if self._files.has(_SCORER) else None

    def has_selection(self, job: Job) -> bool:
        """Whether the examples that a job trains on are chosen."""
        return self._files.has(f"{_SELECTIONS}/{job.selection}.json")

    def selection(self, job: Job) -> tuple[Rows, dict[str, Any]] | None:
        """Return the places that a job's selection keeps and its certificate, or None if it is not there."""
        if not self.has_selection(job):
            return None
        name = f"{_SELECTIONS}/{job.selection}"
        kept = np.flatnonzero(np.unpackbits(self._files.read_arrays(f"{name}.npz")["kept"]))
        return kept, self._files.read_json(f"{name}.json")

    def keep_selection(self, job: Job, kept: Rows, certificate: dict[str, Any]) -> None:
        """Save a selection: ascending places, as one bit for each example. The certificate is last: it marks it as complete."""
        name = f"{_SELECTIONS}/{job.selection}"
        self._files.write_arrays(f"{name}.npz", kept=np.packbits(np.isin(np.arange(kept.max() + 1), kept)))
        self._files.write_json(f"{name}.json", certificate)


def _is_foreign(file: Path) -> bool:
    """Whether a file is none of those that may be there before `setup.json`."""
    return file.name not in (SETUP, _LOCKS) and not file.name.startswith(f".{SETUP}.")


def _rank(method: str) -> tuple[int, str]:
    return (_FIRST.index(method) if method in _FIRST else len(_FIRST)), method
