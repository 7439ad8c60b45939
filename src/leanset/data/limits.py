import os

from leanset._errors import InputError


def refuse_beyond_memory(size: int, path: str, what: str) -> None:
    """Raise if content needs more bytes than this machine has memory."""
    ask = getattr(os, "sysconf", None)  # missing on some systems; reading then fails with MemoryError instead
    memory = ask("SC_PAGE_SIZE") * ask("SC_PHYS_PAGES") if ask else size
    if size > memory:
        raise InputError(f"{path}: {what} {size / 2**30:.0f} GiB, more than this machine's {memory / 2**30:.0f} GiB.")
