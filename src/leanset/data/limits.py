import os

from leanset._errors import InputError


def refuse_beyond_memory(size: int, path: str, what: str) -> None:
    """Raise if content needs more bytes than this machine has memory."""
    memory = _machine_memory()
    if memory is not None and size > memory:
        raise InputError(f"{path}: {what} {size / 2**30:.0f} GiB, more than this machine's {memory / 2**30:.0f} GiB.")


def refuse_too_large(size: int, what: str, memory: int | None) -> None:
    """Raise if an array that has to be made needs more bytes than allowed; None allows what this machine has."""
    allowed = _machine_memory() if memory is None else memory
    if allowed is not None and size > allowed:
        limit = "this machine has" if memory is None else f"`memory={memory}` allows"
        raise InputError(
            f"{what} needs {size / 2**20:,.0f} MiB as an array of numbers, but {limit} {allowed / 2**20:,.0f} MiB. "
            "Reduce its columns first, or raise `memory`."
        )


def _machine_memory() -> int | None:
    ask = getattr(os, "sysconf", None)  # missing on some systems; reading then fails with MemoryError instead
    return ask("SC_PAGE_SIZE") * ask("SC_PHYS_PAGES") if ask else None
