"""How much memory this process may still take, so that what does not fit is refused before it is allocated."""

import contextlib
import os
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
