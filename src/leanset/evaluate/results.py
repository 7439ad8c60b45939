"""From finished jobs to tables: means with intervals, paired differences and words."""

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from leanset.evaluate.job import EQUAL_EPOCHS, EQUAL_STEPS, FULL
from leanset.evaluate.statistics import Comparison, Interval, holm, mean_interval, paired
from leanset.evaluate.verdict import verdict
from leanset.runs import Folder

Outcome = Mapping[str, Any]  # a finished job's row


@dataclass(frozen=True)
class SummaryRow:
    """One method at one fraction, with one network and protocol.

    Attributes
    ----------
    model, protocol, fraction, method, seeds : what
    accuracy, low, high : held-out accuracy, mean over seeds with its 95 % interval
    against_baseline, against_low, against_high, p_value : mean difference to the baseline over the seeds both have
    common_seeds : how many these are
    p_adjusted : Holm's correction for all comparisons of the table
    against_full : mean difference to training on everything with the same seed
    below_random : how many times smaller the measured change of the head is than a random removal's
    seconds : of one training
    """

    model: str
    protocol: str
    fraction: float
    method: str
    seeds: int
    accuracy: float
    low: float
    high: float
    against_baseline: float
    against_low: float
    against_high: float
    p_value: float
    common_seeds: int
    p_adjusted: float
    against_full: float
    below_random: float
    seconds: float


def summary(outcomes: Sequence[Outcome], baseline: str) -> list[SummaryRow]:
    """Summarise finished jobs over their seeds.

    Parameters
    ----------
    outcomes : rows of the table of jobs
    baseline : the method that all others are held against, seed by seed

    Examples
    --------
    >>> row = {"model": "lenet", "protocol": "equal-epochs", "fraction": 0.4, "seconds": 1.0}
    >>> made = [row | {"method": m, "seed": s, "accuracy": a + 0.01 * s}
    ...         for m, a in (("random", 0.6), ("el2n", 0.5)) for s in range(3)]
    >>> [(r.method, r.seeds, round(r.against_baseline, 3)) for r in summary(made, "random")]
    [('random', 3, 0.0), ('el2n', 3, -0.1)]
    """
    cells: dict[tuple[str, str, float, str], dict[int, Outcome]] = {}
    for row in outcomes:
        cells.setdefault((row["model"], row["protocol"], row["fraction"], row["method"]), {})[row["seed"]] = row
    rows = []
    for (model, protocol, fraction, method), jobs in cells.items():
        interval = mean_interval([job["accuracy"] for job in jobs.values()])
        against = compared(jobs, cells.get((model, protocol, fraction, baseline), {}))
        # On everything, equal steps are equal epochs.
        whole_protocol = EQUAL_EPOCHS if protocol == EQUAL_STEPS else protocol
        whole = compared(jobs, cells.get((model, whole_protocol, 0.0, FULL), {}))
        ratios = [_ratio(job) for job in jobs.values()]
        rows.append(
            SummaryRow(
                model=model,
                protocol=protocol,
                fraction=fraction,
                method=method,
                seeds=len(jobs),
                accuracy=interval.mean,
                low=interval.low,
                high=interval.high,
                against_baseline=against.difference.mean,
                against_low=against.difference.low,
                against_high=against.difference.high,
                p_value=math.nan if method == baseline else against.p_value,
                common_seeds=against.difference.n,
                p_adjusted=math.nan,
                against_full=whole.difference.mean,
                below_random=sum(ratios) / len(ratios),
                seconds=sum(job["seconds"] for job in jobs.values()) / len(jobs),
            )
        )
    if not rows:
        return []
    adjusted = holm([row.p_value for row in rows])
    return [replace(row, p_adjusted=float(p)) for row, p in zip(rows, adjusted, strict=True)]


def compared(ours: Mapping[int, Outcome], theirs: Mapping[int, Outcome]) -> Comparison:
    """Compare two methods over the seeds that both have finished."""
    seeds = sorted(ours.keys() & theirs.keys())
    if not seeds:
        return Comparison(Interval(math.nan, math.nan, math.nan, 0), math.nan)
    return paired([ours[s]["accuracy"] for s in seeds], [theirs[s]["accuracy"] for s in seeds])


def verdicts(rows: Iterable[SummaryRow], baseline: str, shown: str) -> list[str]:
    """Say in words how each method does against the baseline; `shown` is what readers call the latter."""
    said = []
    for row in rows:
        if row.method in (baseline, FULL) or math.isnan(row.against_baseline):
            continue
        difference = Interval(row.against_baseline, row.against_low, row.against_high, row.common_seeds)
        words = verdict(row.method, shown, row.fraction, Comparison(difference, row.p_value))
        said.append(f"{row.model}, {row.protocol.replace('-', ' ')}: {words}")
    return said


def write_rows(folder: Path, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as name.csv and name.parquet; a column is there if any row has it."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    files = Folder(folder)
    files.write_text(f"{name}.csv", text.getvalue())
    files.write_table(f"{name}.parquet", {key: [row.get(key) for row in rows] for key in columns})


def as_dicts(rows: Iterable[Any]) -> list[dict[str, Any]]:
    """Return dataclass rows as dicts, for `write_rows`."""
    return [asdict(row) for row in rows]


def _ratio(job: Outcome) -> float:
    change, random = job.get("refit_change"), job.get("random_refit_change_mean")
    return math.nan if not change or random is None else float(random / change)
