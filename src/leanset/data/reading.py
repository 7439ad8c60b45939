from dataclasses import dataclass

from leanset._errors import InputError
from leanset._progress import Advance

DEFAULT_MEMORY = 4 * 2**30
HELD_OUT_NAMES = ("validation", "valid", "val", "test")  # the first that exists is used; test sets often have no labels


def _nobody(share: float) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a source is read; see `open_source` for the meaning of each field."""

    on_bad: str = "stop"
    image_size: int | None = None
    label_column: str | None = None
    image_column: str | None = None
    targets: str = "classes"
    memory: int = DEFAULT_MEMORY
    advance: Advance = _nobody

    def __post_init__(self) -> None:
        if self.on_bad not in ("stop", "skip"):
            raise InputError(f'`on_bad={self.on_bad!r}` must be "stop" or "skip".')
        if self.image_size is not None and not 1 <= self.image_size <= 4096:
            raise InputError(f"`image_size={self.image_size}` must lie in 1..4096 pixels, or be None.")
        if self.memory < 0:
            raise InputError(f"`memory={self.memory}` must be a number of bytes, 0 or more.")
