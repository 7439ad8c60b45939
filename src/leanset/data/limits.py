from leanset._errors import InputError
from leanset._files import too_large
from leanset._memory import free_memory


def refuse_beyond_memory(size: int, path: str, what: str) -> None:
    """Raise if content needs more bytes than are free; `what` says what needs them."""
    if excess := too_large(size):
        raise InputError(f"{path}: {what} {excess}.")


def refuse_too_large(size: int, what: str, memory: int | None) -> None:
    """Raise if an array that has to be made needs more bytes than allowed; None allows what is free."""
    allowed = free_memory() if memory is None else memory
    if allowed is not None and size > allowed:
        limit = "this machine has free" if memory is None else f"`memory={memory}` allows"
        raise InputError(
            f"{what} needs {size / 2**20:,.0f} MiB as an array of numbers, but {limit} {allowed / 2**20:,.0f} MiB. "
            "Reduce its columns first, or raise `memory`."
        )
