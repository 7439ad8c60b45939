"""How much memory this process may still take, and how the memory of a run is shared out."""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

# Limit and use of the control group that a container runs in, by version; "max" means that there is no limit.
_GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "inactive_file"),
    (
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        "total_inactive_file",
    ),
)


def free_memory() -> int | None:
    """Return the bytes that are free for this process: by the machine, its container and its own limit; None if unknown.

    Examples
    --------
    >>> free = free_memory()
    >>> free is None or free > 0
    True
    """
    known = [free for free in (_of_machine(), _of_container(), _of_process()) if free is not None]
    return max(0, min(known)) if known else None


def _of_machine() -> int | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    ask = getattr(os, "sysconf", None)  # missing on some systems; reading then fails with MemoryError instead
    return ask("SC_PAGE_SIZE") * ask("SC_PHYS_PAGES") if ask else None


def _of_container() -> int | None:
    for limit, use, cached in _GROUPS:
        with contextlib.suppress(OSError, ValueError):
            free = int(Path(limit).read_text()) - int(Path(use).read_text())
            for line in (Path(limit).parent / "memory.stat").read_text().splitlines():
                if line.startswith(f"{cached} "):
                    free += int(line.split()[1])  # files that the system would drop to make room
            return free
    return None


def _of_process() -> int | None:
    try:
        import resource
    except ImportError:
        return None  # a system without such limits
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    with contextlib.suppress(OSError, ValueError, IndexError):
        return limit - int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    return limit


OF_A_RUN = 2**32  # bytes that a run may take, if nobody says; what does not fit its share is computed anew in each pass
BYTES_OF_A_ROW = 160  # labels, weights, norms, losses and the like: some twenty numbers for each example, in any case
FOR_FEATURES = 8  # features of at most this part of the memory are read as a whole


@dataclass(frozen=True)
class Shares:
    """What may be stored at most, in bytes, so that all that is there at once takes about the `memory` of a run.

    Attributes
    ----------
    copies_rows : whether a scaled copy of the features in float64 is stored, a quarter of the memory at most; the features
        that it is made of take half as much beside it
    column : one column of outputs, larger where no such copy is. Two are there at once: predictions of the head, and of a
        head that was moved, of a refit, or of those that look for wrong labels
    kept : a copy of the rows that a refit passes over
    vectors : influence vectors that are exchanged, or the matrices of an exact inverse

    Examples
    --------
    >>> Shares.of(2**30, 100_000, 65)
    Shares(copies_rows=True, column=105774182, kept=105774182, vectors=264435456)
    >>> Shares.of(2**30, 1_000_000, 65)
    Shares(copies_rows=False, column=205591910, kept=91374182, vectors=228435456)
    """

    copies_rows: bool
    column: int
    kept: int
    vectors: int

    @classmethod
    def of(cls, memory: int, rows: int, width: int) -> "Shares":
        """Return the shares of a run on some rows of `width` columns, less what every row takes anyway."""
        left = max(memory // 4, memory - BYTES_OF_A_ROW * rows)
        copies_rows = 8 * rows * width <= left // 4
        return cls(
            copies_rows=copies_rows,
            column=left // 10 + (0 if copies_rows else left // 8),
            kept=left // 10,
            vectors=left // 4,
        )

    def stores(self, rows: int, outputs: int) -> bool:
        """Return whether a column of outputs fits into its share."""
        return 8 * rows * outputs <= self.column
