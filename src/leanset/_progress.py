import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

Advance = Callable[[float], None]  # called with the completed share of the stage, from 0 to 1
Stage = contextlib.AbstractContextManager[Advance]


class Reporter(Protocol):
    """Shows the progress of a run."""

    def stage(self, title: str, *, units: float = 1.0, unit: str = "") -> Stage:
        """Start a stage of `units` (images, steps, ...); `unit` is their name.

        A stage without a unit has no known length and only shows that it is running.
        """


class Silent:
    """Shows nothing."""

    def stage(self, title: str, *, units: float = 1.0, unit: str = "") -> Stage:
        """Do nothing."""
        return contextlib.nullcontext(lambda share: None)


class Bars:
    """Progress bars on a terminal, with rate and remaining time. Use it in a `with` block."""

    def __init__(self, console: Console | None = None) -> None:
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TaskProgressColumn(),
            TextColumn("[cyan]{task.fields[rate]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(compact=True),
            console=console or Console(stderr=True),
            transient=False,
        )
        self._lock = threading.Lock()

    def __enter__(self) -> "Bars":
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    @contextlib.contextmanager
    def stage(self, title: str, *, units: float = 1.0, unit: str = "") -> Iterator[Advance]:
        """Show one bar for a stage."""
        task = self._bars.add_task(title, total=1.0 if unit else None, rate="")

        def advance(share: float) -> None:
            with self._lock:  # solver chains report from their own threads
                if share == 0:  # a bar may be used again, for the next pass
                    self._bars.reset(task)
                elapsed = self._bars.tasks[task].elapsed or 0.0
                rate = f"{_short(share * units / elapsed)} {unit}/s" if elapsed > 0.2 else ""
                self._bars.update(task, completed=share, rate=rate)

        yield advance
        self._bars.update(task, total=1.0, completed=1.0)


@contextlib.contextmanager
def reporter_for(progress: bool | None) -> Iterator[Reporter]:
    """Return progress bars if `progress` is True, or if it is None and a terminal is attached; else a silent reporter."""
    if progress is None:
        progress = sys.stderr.isatty()
    if not progress:
        yield Silent()
        return
    with Bars() as bars:
        yield bars


@contextlib.contextmanager
def passes_shown(reporter: Reporter) -> Iterator[Callable[[int, int], None]]:
    """Show passes over rows, one bar for all passes over the same number of rows; call with rows done and all rows."""
    with contextlib.ExitStack() as shown:
        bars: dict[int, Advance] = {}

        def watch(done: int, rows: int) -> None:
            if rows not in bars:
                bars[rows] = shown.enter_context(
                    reporter.stage(f"Pass over {rows:,} rows", units=float(rows), unit="rows")
                )
            bars[rows](done / rows)

        yield watch


def part_of(advance: Advance, nth: int, parts: int) -> Advance:
    """Return the progress function for the nth of several equal parts of a stage."""
    return lambda share: advance((nth + share) / parts)


def _short(value: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.1f}{letter}"
    return f"{value:.1f}"
