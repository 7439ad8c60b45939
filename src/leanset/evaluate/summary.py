"""Finished jobs, summarised over seeds: means with intervals and paired differences."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from leanset.evaluate.protocol import Protocol
from leanset.judge import FULL, Comparison, Interval, holm, mean_interval, paired

Outcome = Mapping[str, Any]  # the row of a finished job
Kind = tuple[str, str, float, str]  # model, protocol, fraction, method

_LEAST_SEEDS = 3  # two that happen to agree make an interval of hardly any width


def training_seconds(outcomes: Iterable[Outcome]) -> float:
    """Add up the time of all trainings; one that several protocols share counts once."""
    return round(sum((float(row["seconds"]) for row in outcomes if not row.get("trained_under")), 0.0), 1)


@dataclass(frozen=True)
class SummaryRow:
    """One method at one fraction, with one network and protocol.

    Attributes
    ----------
    model, protocol, fraction, method, seeds : what was trained, and how often
    accuracy, low, high : mean held-out accuracy over the seeds, with its 95 % interval; here and below intervals need three
        seeds
    loss, scaled_loss : mean held-out loss, and that with one number that divides all logits (`leanset.training.Quality`)
    loss_seeds : number of their seeds: those that tell both losses, or if none does, those that tell the first
    loss_against_baseline, scaled_against_baseline : their mean differences to the baseline
    common_loss_seeds : number of the seeds of these differences, which are chosen alike
    against_baseline, against_low, against_high, p_value : mean difference to the baseline over the seeds that both have
    common_seeds : number of these seeds
    p_adjusted : p value after Holm's correction for all comparisons of the table
    against_full, against_full_low, against_full_high : mean difference to training on all examples with the same seed
    full_seeds : number of these seeds
    steps_share : steps of a training, as a share of those on all examples
    below_random : how many times smaller the measured change of the head is than after a random removal
    seconds : mean time of one training
    core_seconds : time of the quickest of the trainings, times its threads; others may have been stopped at times. NaN if one
        was not on a CPU
    pflop : arithmetic of one training, in 10¹⁵ operations
    choosing_seconds : least time of choosing one set, with the certificate and without the network that methods look at
    choosing_share : the same, as a share of the shortest training on all examples
    """

    model: str
    protocol: str
    fraction: float
    method: str
    seeds: int
    accuracy: float
    low: float
    high: float
    loss: float
    scaled_loss: float
    loss_seeds: int
    loss_against_baseline: float
    scaled_against_baseline: float
    common_loss_seeds: int
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
    core_seconds: float
    pflop: float
    choosing_seconds: float
    choosing_share: float

    @property
    def difference(self) -> Interval:
        """The difference to the baseline, with its interval."""
        return Interval(self.against_baseline, self.against_low, self.against_high, self.common_seeds)


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
    by_seed = by_kind(outcomes)
    rows = [_row(kind, by_seed, baseline) for kind in by_seed]
    adjusted = holm([row.p_value for row in rows])
    return [replace(row, p_adjusted=float(p)) for row, p in zip(rows, adjusted, strict=True)]


def by_kind(outcomes: Iterable[Outcome]) -> dict[Kind, dict[int, Outcome]]:
    """Return the outcomes by kind of job and by seed."""
    found: dict[Kind, dict[int, Outcome]] = {}
    for row in outcomes:
        found.setdefault((row["model"], row["protocol"], row["fraction"], row["method"]), {})[row["seed"]] = row
    return found


def _row(kind: Kind, by_seed: Mapping[Kind, Mapping[int, Outcome]], baseline: str) -> SummaryRow:
    model, protocol, fraction, method = kind
    mine = by_seed[kind]
    accuracy = _of_enough(mean_interval([job["accuracy"] for job in mine.values()]))
    base = by_seed.get((model, protocol, fraction, baseline), {})
    against = compared(mine, base)
    full = by_seed.get((model, Protocol(protocol).on_all, 0.0, FULL), {})
    against_full = compared(mine, full)
    choosing = _least(mine.values(), "selection_seconds")
    losses = _with_losses([(job,) for job in mine.values()])
    loss_pairs = _with_losses([(mine[seed], base[seed]) for seed in sorted(mine.keys() & base.keys())])
    return SummaryRow(
        model=model,
        protocol=protocol,
        fraction=fraction,
        method=method,
        seeds=len(mine),
        accuracy=accuracy.mean,
        low=accuracy.low,
        high=accuracy.high,
        loss=_mean([job for (job,) in losses], "loss"),
        scaled_loss=_mean([job for (job,) in losses], "scaled_loss"),
        loss_seeds=len(losses),
        loss_against_baseline=_mean_difference(loss_pairs, "loss"),
        scaled_against_baseline=_mean_difference(loss_pairs, "scaled_loss"),
        common_loss_seeds=len(loss_pairs),
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
        steps_share=_mean(mine.values(), "steps") / _mean(full.values(), "steps"),
        below_random=sum(map(_below_random, mine.values())) / len(mine),
        seconds=_mean(mine.values(), "seconds"),
        core_seconds=_least_core_seconds(mine.values()),
        pflop=_mean(mine.values(), "pflop"),
        choosing_seconds=choosing,
        choosing_share=choosing / _least(full.values(), "seconds"),
    )


def _mean(jobs: Iterable[Outcome], what: str) -> float:
    known = _known(jobs, what)
    return sum(known) / len(known) if known else math.nan


def _with_losses(groups: Sequence[tuple[Outcome, ...]]) -> Sequence[tuple[Outcome, ...]]:
    """Return the groups whose jobs all tell both losses, or if there is none, those whose jobs all tell the first.

    Early studies told one. Two losses that are shown side by side are of the same trainings.
    """
    both, first = (
        [jobs for jobs in groups if all(job.get(what) is not None for job in jobs for what in told)]
        for told in (("loss", "scaled_loss"), ("loss",))
    )
    return both or first


def _mean_difference(pairs: Sequence[tuple[Outcome, ...]], what: str) -> float:
    told = [(ours[what], theirs[what]) for ours, theirs in pairs if None not in (ours.get(what), theirs.get(what))]
    return sum(ours - theirs for ours, theirs in told) / len(told) if told else math.nan


def _least(jobs: Iterable[Outcome], what: str) -> float:
    return min(_known(jobs, what), default=math.nan)


def _known(jobs: Iterable[Outcome], what: str) -> list[float]:
    return [value for job in jobs if (value := job.get(what)) is not None]


def _least_core_seconds(jobs: Iterable[Outcome]) -> float:
    times = [float(job["seconds"] * job.get("threads", math.nan)) if _on_cpu(job) else math.nan for job in jobs]
    return math.nan if any(map(math.isnan, times)) else min(times)


def _on_cpu(job: Outcome) -> bool:
    return str(job.get("device", "cpu")) == "cpu"  # early studies did not say, and had none other


def _below_random(job: Outcome) -> float:
    change, random = job.get("refit_change"), job.get("random_refit_change_mean")
    return math.nan if not change or random is None else float(random / change)


def compared(ours: Mapping[int, Outcome], theirs: Mapping[int, Outcome]) -> Comparison:
    """Compare two methods over the seeds that both have finished. Fewer than three give no interval and no p value."""
    seeds = sorted(ours.keys() & theirs.keys())
    if not seeds:
        return Comparison(Interval(math.nan, math.nan, math.nan, 0), math.nan)
    found = paired([ours[s]["accuracy"] for s in seeds], [theirs[s]["accuracy"] for s in seeds])
    difference = _of_enough(found.difference)
    return Comparison(difference, math.nan if math.isnan(difference.low) else found.p_value)


def _of_enough(found: Interval) -> Interval:
    return found if found.n >= _LEAST_SEEDS else replace(found, low=math.nan, high=math.nan)


def parts_of(rows: Sequence[SummaryRow]) -> list[tuple[str, list[SummaryRow]]]:
    """Split a summary by network and protocol, each part with a title and with the training on all examples."""
    kinds = dict.fromkeys((row.model, row.protocol) for row in rows if row.method != FULL)
    return [(title(*kind), [row for row in rows if _is_part(row, *kind)]) for kind in kinds]


def _is_part(row: SummaryRow, model: str, protocol: str) -> bool:
    return row.model == model and row.protocol == (Protocol(protocol).on_all if row.method == FULL else protocol)


def title(model: str, protocol: str) -> str:
    """Return what a part of a summary is about."""
    return f"{model}, {Protocol(protocol).title}"


def methods_in(rows: Iterable[SummaryRow]) -> list[str]:
    """Return the methods of a summary in order, without the training on all examples."""
    return list(dict.fromkeys(row.method for row in rows if row.method != FULL))
