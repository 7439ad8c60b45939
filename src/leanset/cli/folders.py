import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from leanset.data import kind_of

RUNS = Path("leanset-runs")


@contextlib.contextmanager
def folder_for(source: str, given: str | os.PathLike[str] | None, purpose: str = "") -> Iterator[Path]:
    """Give the folder that an answer goes to: the given one, or a new one below `leanset-runs`.

    An interruption is passed on with the folder, which says how to resume; if the call fails, no empty folder stays.

    Examples
    --------
    >>> with folder_for("data/toy.npz", "run") as given, folder_for("data/my toy.npz", None) as new:
    ...     print(given, new.parent)
    run leanset-runs
    """
    name = "-".join(filter(None, (_short_name(source), purpose)))
    folder = _new_folder(name) if given is None else Path(given)
    try:
        yield folder
    except KeyboardInterrupt:
        raise KeyboardInterrupt(str(folder)) from None
    finally:
        if given is None:
            with contextlib.suppress(OSError):  # which comes where anything is in them
                folder.rmdir()
            with contextlib.suppress(OSError):
                RUNS.rmdir()


def _new_folder(name: str) -> Path:
    """Create the first folder of a name that is free, so that no other run can take it, too."""
    nth = 1
    while True:
        folder = RUNS / f"{name}-{nth}"
        with contextlib.suppress(FileExistsError):
            folder.mkdir(parents=True)
            return folder
        nth += 1


def _short_name(source: str) -> str:
    """Return what to call a source in a file name.

    Examples
    --------
    >>> _short_name("csv:data/my texts.csv"), _short_name("cifar10:data/cifar-10-batches-py/"), _short_name("head:.")
    ('my-texts', 'cifar10-cifar-10-batches-py', 'run')
    """
    kind = kind_of(source)
    path = Path(source.removeprefix(f"{kind}:").removeprefix("head:"))
    stem = path.stem if path.suffix else f"{kind}-{path.name}" if kind else path.name
    return re.sub(r"[^\w.-]+", "-", stem).strip("-.") or "run"
