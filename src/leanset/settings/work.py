"""How and where the work is done."""

import os
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from leanset._options import Checked, Option
from leanset._rules import at_least, yes_or_no
from leanset.rows import LOCAL
from leanset.settings.panels import RUN


@dataclass(frozen=True, kw_only=True, eq=False)
class WorkOptions(Checked):
    """How the work is done; no result depends on these, except that of training a network, which depends on `threads`."""

    panel: ClassVar[str] = RUN
    decides: ClassVar[bool] = False

    threads: Annotated[
        int | None,
        Option("number of worker threads; all cores if not given", rule=at_least(1, ", or None for all cores")),
    ] = None
    progress: Annotated[
        bool | None,
        Option("show progress bars; None shows them if stderr is a terminal", rule=yes_or_no, on_command_line=False),
    ] = None


@dataclass(frozen=True, kw_only=True, eq=False)
class WorkerOptions(Checked):
    """How many networks are trained at the same time."""

    panel: ClassVar[str] = RUN
    decides: ClassVar[bool] = False

    workers: Annotated[
        int | None,
        Option("trainings in parallel; if not given, as many as cores, or one on a GPU", rule=at_least(1)),
    ] = None


@dataclass(frozen=True, kw_only=True, eq=False)
class RunOptions(WorkOptions):
    """Where a run is saved, and how the work is done."""

    out: Annotated[str | os.PathLike[str] | None, Option("run folder to write to and to resume from")] = None
    overwrite: Annotated[bool, Option("replace a different run in the output folder", rule=yes_or_no)] = False
    wait: Annotated[
        bool,
        Option("if another run works in the output folder, wait for it; if not given, refuse to start", rule=yes_or_no),
    ] = False


def _a_cluster(value: Any) -> str | None:
    if isinstance(value, str) and value.startswith(LOCAL):
        workers = value.removeprefix(LOCAL)
        fine = workers.isdecimal() and int(workers) >= 1
    else:  # a client is known by what it can do: Dask may not be installed
        fine = "://" in value if isinstance(value, str) else hasattr(value, "submit")
    return None if fine else "be a client, the address of a scheduler such as tcp://10.0.0.5:8786, or local:4"


@dataclass(frozen=True, kw_only=True, eq=False)
class ClusterOptions(Checked):
    """Who computes the passes over the rows; no result depends on it."""

    panel: ClassVar[str] = RUN
    decides: ClassVar[bool] = False

    dask: Annotated[
        Any,
        Option(
            "Dask cluster that computes the passes over the rows: the address of a scheduler, e.g. tcp://10.0.0.5:8786, or "
            "local:4 for 4 workers on this machine; in Python also a `dask.distributed.Client`. The answer is the same",
            rule=_a_cluster,
            read=str,
        ),
    ] = None
