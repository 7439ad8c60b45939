"""The table of jobs on disk, which several processes may work through together.

Each finished job is a file, so nothing that was finished is done twice. A process that works on a job holds the lock of
that job's name; the system releases it when the process ends, however it ends.
"""

import contextlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from leanset._arrays import Rows
from leanset._errors import RunFolderError
from leanset.evaluate.job import Job
from leanset.runs import Folder, explained, in_words

BENCH = "bench.json"
_JOBS, _SELECTIONS, _FAILED, _LOCKS = "jobs", "selections", "failed", "locks"
_OPENING = "bench"  # name of a lock


class JobTable:
    """Finished jobs, selections and locks in one folder.

    Parameters
    ----------
    path : the study's folder
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._files = Folder(path)

    def open(self, identity: dict[str, Any]) -> None:
        """Take the folder for a bench, or raise if it belongs to another one."""
        # Looked through before `bench.json` is looked for: what others write here, they write after that.
        foreign = self.path.is_dir() and any(map(_is_foreign, self.path.iterdir()))
        if not self._files.has(BENCH):
            if foreign:
                raise RunFolderError(
                    f"{self.path}: is in use for something else; choose an empty or new output folder."
                )
            with self.lock(_OPENING, wait=True):
                if not self._files.has(BENCH):
                    self._files.write_json(BENCH, identity)
        known = self._files.read_json(BENCH)
        given = json.loads(json.dumps(identity))
        changed = sorted(key for key in given.keys() | known.keys() if given.get(key) != known.get(key))
        if changed:
            raise RunFolderError(
                f"{self.path}: holds jobs with other {in_words(changed)}; choose another output folder."
            )

    @contextlib.contextmanager
    def lock(self, name: str, *, wait: bool) -> Iterator[bool]:
        """Hold the lock of a name; yields False if another process has it and `wait` is False."""
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
        """Whether a job's outcome is there."""
        return self._files.has(f"{_JOBS}/{job.key}.json")

    def pending(self, jobs: Iterable[Job]) -> list[Job]:
        """Return the jobs that are not finished."""
        return [job for job in jobs if not self.is_finished(job)]

    def finish(self, job: Job, outcome: dict[str, Any]) -> None:
        """Keep a job's outcome."""
        self._files.write_json(f"{_JOBS}/{job.key}.json", job.to_dict() | outcome)
        with contextlib.suppress(FileNotFoundError):
            (self.path / _FAILED / f"{job.key}.txt").unlink()

    def fail(self, job: Job, reason: str) -> None:
        """Note why a job failed; it is tried again when the study is run again."""
        self._files.write_text(f"{_FAILED}/{job.key}.txt", reason)

    def failure(self, job: Job) -> str | None:
        """Return why a job failed, if it did."""
        with contextlib.suppress(FileNotFoundError):  # as it may become while we look: others forget failures
            return (self.path / _FAILED / f"{job.key}.txt").read_text(encoding="utf-8")
        return None

    def open_jobs(self, jobs: Iterable[Job]) -> list[Job]:
        """Return the jobs that are neither finished nor failed."""
        return [job for job in self.pending(jobs) if self.failure(job) is None]

    def forget_failures(self) -> None:
        """Let failed jobs be tried again."""
        for file in (self.path / _FAILED).glob("*.txt"):
            file.unlink(missing_ok=True)

    def outcome(self, job: Job) -> dict[str, Any]:
        """Return a finished job's row of the table."""
        return self._files.read_json(f"{_JOBS}/{job.key}.json")

    def selection(self, job: Job) -> tuple[Rows, dict[str, Any]] | None:
        """Return the kept places of a job's selection and its certificate, if they are there."""
        name = f"{_SELECTIONS}/{job.selection}"
        if not self._files.has(f"{name}.json"):
            return None
        return self._files.read_arrays(f"{name}.npz")["kept"], self._files.read_json(f"{name}.json")

    def keep_selection(self, job: Job, kept: Rows, certificate: dict[str, Any]) -> None:
        """Keep a selection; its certificate last, as the mark of a complete one."""
        name = f"{_SELECTIONS}/{job.selection}"
        self._files.write_arrays(f"{name}.npz", kept=kept)
        self._files.write_json(f"{name}.json", certificate)


def _is_foreign(file: Path) -> bool:
    """Whether a file is none of those that are there before `bench.json` is."""
    return file.name not in (BENCH, _LOCKS) and not file.name.startswith(f".{BENCH}.")
