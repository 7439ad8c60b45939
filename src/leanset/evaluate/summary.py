"""Finished jobs, summarised over seeds: means with intervals, paired differences, and verdicts in words."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from leanset.evaluate.job import protocol_on_all
from leanset.judge import (
    FULL,
    POINTS,
    Comparison,
    Interval,
    holm,
    in_seeds,
    mean_interval,
    paired,
    shown_name,
    verdict,
    written,
)

Outcome = Mapping[str, Any]  # the row of a finished job
_Kind = tuple[str, str, float, str]  # model, protocol, fraction, method


@dataclass(frozen=True)
class SummaryRow:
    """One method at one fraction, with one network and protocol.

    Attributes
    ----------
    model, protocol, fraction, method, seeds : what was trained, and how often
    accuracy, low, high : mean held-out accuracy over the seeds, with its 95 % interval
    against_baseline, against_low, against_high, p_value : mean difference to the baseline over the seeds that both have
    common_seeds : number of these seeds
    p_adjusted : p value after Holm's correction for all comparisons of the table
    against_full, against_full_low, against_full_high : mean difference to training on all examples with the same seed
    full_seeds : number of these seeds
    steps_share : steps of a training, as a share of those on all examples
    below_random : how many times smaller the measured change of the head is than after a random removal
    seconds : mean time of one training
    choosing_seconds : mean time of choosing one set, with the certificate and without the network that methods look at
    choosing_share : the same, as a share of the time of training on all examples
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
    against_full_low: float
    against_full_high: float
    full_seeds: int
    steps_share: float
    below_random: float
    seconds: float
    choosing_seconds: float
    choosing_share: float


def summarise(outcomes: Sequence[Outcome], baseline: str) -> list[SummaryRow]:
    """Summarise finished jobs over their seeds.

    Parameters
    ----------
    outcomes : rows of the job table
    baseline : the method that the others are compared with, seed by seed

    Examples
    --------
    >>> row = {"model": "lenet", "protocol": "equal-epochs", "fraction": 0.4, "seconds": 1.0}
    >>> made = [row | {"method": m, "seed": s, "accuracy": a + 0.01 * s}
    ...         for m, a in (("random", 0.6), ("el2n", 0.5)) for s in range(3)]
    >>> [(r.method, r.seeds, round(r.against_baseline, 3)) for r in summarise(made, "random")]
    [('random', 3, 0.0), ('el2n', 3, -0.1)]
    """
    by_seed: dict[_Kind, dict[int, Outcome]] = {}
    for row in outcomes:
        by_seed.setdefault((row["model"], row["protocol"], row["fraction"], row["method"]), {})[row["seed"]] = row
    rows = [_row(kind, by_seed, baseline) for kind in by_seed]
    adjusted = holm([row.p_value for row in rows])
    return [replace(row, p_adjusted=float(p)) for row, p in zip(rows, adjusted, strict=True)]


def _row(kind: _Kind, by_seed: Mapping[_Kind, Mapping[int, Outcome]], baseline: str) -> SummaryRow:
    model, protocol, fraction, method = kind
    mine = by_seed[kind]
    accuracy = mean_interval([job["accuracy"] for job in mine.values()])
    against = compared(mine, by_seed.get((model, protocol, fraction, baseline), {}))
    full = by_seed.get((model, protocol_on_all(protocol), 0.0, FULL), {})
    against_full = compared(mine, full)
    choosing = _mean(mine, "selection_seconds")
    return SummaryRow(
        model=model,
        protocol=protocol,
        fraction=fraction,
        method=method,
        seeds=len(mine),
        accuracy=accuracy.mean,
        low=accuracy.low,
        high=accuracy.high,
        against_baseline=against.difference.mean,
        against_low=against.difference.low,
        against_high=against.difference.high,
        p_value=math.nan if method == baseline else against.p_value,
        common_seeds=against.difference.n,
        p_adjusted=math.nan,  # needs all rows
        against_full=against_full.difference.mean,
        against_full_low=against_full.difference.low,
        against_full_high=against_full.difference.high,
        full_seeds=against_full.difference.n,
        steps_share=_mean(mine, "steps") / _mean(full, "steps"),
        below_random=sum(map(_below_random, mine.values())) / len(mine),
        seconds=_mean(mine, "seconds"),
        choosing_seconds=choosing,
        choosing_share=choosing / _mean(full, "seconds"),
    )


def _mean(jobs: Mapping[int, Outcome], what: str) -> float:
    known = [value for job in jobs.values() if (value := job.get(what)) is not None]
    return sum(known) / len(known) if known else math.nan


def _below_random(job: Outcome) -> float:
    change, random = job.get("refit_change"), job.get("random_refit_change_mean")
    return math.nan if not change or random is None else float(random / change)


def compared(ours: Mapping[int, Outcome], theirs: Mapping[int, Outcome]) -> Comparison:
    """Compare two methods over the seeds that both have finished."""
    seeds = sorted(ours.keys() & theirs.keys())
    if not seeds:
        return Comparison(Interval(math.nan, math.nan, math.nan, 0), math.nan)
    return paired([ours[s]["accuracy"] for s in seeds], [theirs[s]["accuracy"] for s in seeds])


def verdicts(rows: Iterable[SummaryRow], baseline: str, shown: str) -> list[str]:
    """Say in words how each method compares with the baseline; `shown` is the baseline's name for readers."""
    said = []
    for row in rows:
        if row.method in (baseline, FULL) or math.isnan(row.against_baseline):
            continue
        difference = Interval(row.against_baseline, row.against_low, row.against_high, row.common_seeds)
        words = verdict(shown_name(row.method), shown, row.fraction, Comparison(difference, row.p_value))
        said.append(f"{_title(row.model, row.protocol)}: {words}")
    return said


def costs(rows: Iterable[SummaryRow], method: str) -> list[str]:
    """Say in words what a method costs beside training on all examples, and what it saves."""
    said = []
    for row in rows:
        if row.method != method or not row.full_seeds:
            continue
        difference = Interval(row.against_full, row.against_full_low, row.against_full_high, row.full_seeds)
        mean, low, high = written(difference, POINTS)
        interval = "no interval" if math.isnan(difference.low) else f"95 % interval {low} to {high}"
        steps = "" if math.isnan(row.steps_share) else f", with {100 * row.steps_share:.0f} % of the steps"
        said.append(
            f"{_title(row.model, row.protocol)}: {100 * row.fraction:g} % removed by {method}: {mean} points beside all data, "
            f"{interval} ({in_seeds(row.full_seeds)}){steps}."
        )
    return said


def parts_of(rows: Sequence[SummaryRow]) -> list[tuple[str, list[SummaryRow]]]:
    """Split a summary by network and protocol, each part with a title and with the training on all examples."""
    kinds = dict.fromkeys((row.model, row.protocol) for row in rows if row.method != FULL)
    return [(_title(*kind), [row for row in rows if _is_part(row, *kind)]) for kind in kinds]


def _is_part(row: SummaryRow, model: str, protocol: str) -> bool:
    return row.model == model and row.protocol == (protocol_on_all(protocol) if row.method == FULL else protocol)


def _title(model: str, protocol: str) -> str:
    return f"{model}, {protocol.replace('-', ' ')}"


def methods_in(rows: Iterable[SummaryRow]) -> list[str]:
    """Return the methods of a summary in order, without the training on all examples."""
    return list(dict.fromkeys(row.method for row in rows if row.method != FULL))
