"""Table 1: an architecture search on a hundred images of each class, judged by one on the whole set."""

from dataclasses import replace
from typing import Any

from leanset.evaluate.job import FULL, Job
from leanset.evaluate.results import as_dicts
from leanset.evaluate.statistics import mean_interval
from leanset.paper.designs import sampled_designs
from leanset.paper.scale import Scale
from leanset.paper.search import SearchRow, search_rows
from leanset.paper.workshop import Findings, Workshop
from leanset.report import scatter_figure
from leanset.training.models.convnet import ConvNetDesign

_RATE = 0.01  # bearable for every member of the search space; the paper's
_PUBLISHED = (
    "The paper, 720 networks on 2 % of CIFAR-10: 85.7 % against 85.9 % for the best of the whole set, 3.7 % of the time, "
    "top-10 correlation 0.94."
)


def search_jobs(workshop: Workshop) -> list[Job]:
    """Return every design on every method's proxy set, and on the whole set."""
    scale, images = workshop.scale, workshop.images
    fraction = 1 - scale.search_per_class * len(images.classes) / len(images)
    designs = sampled_designs(
        scale.search_designs,
        most_multiply_adds=scale.search_multiply_adds,
        most_map_entries=scale.search_map_entries,
        channels=images.channels,
        image_size=max(images.size),
    )
    proxy, whole = f"epochs={scale.search_epochs}", f"epochs={scale.search_whole_epochs}"
    jobs = []
    for seed in range(scale.search_seeds if workshop.seeds is None else workshop.seeds):
        for design in designs:
            jobs.append(Job(seed, 0.0, design.name, whole, FULL))
            jobs += [Job(seed, round(fraction, 9), design.name, proxy, method) for method in scale.search_methods]
    return jobs


def nas(workshop: Workshop) -> Findings:
    """Run the experiment."""
    scale = workshop.scale
    recipe = replace(scale.recipe, lr=_RATE)
    jobs = search_jobs(workshop)
    study = workshop.study(recipe=recipe, name="search")
    outcomes = workshop.finished(study, jobs, divergence_is_chance=True)
    accuracies = {method: _means(outcomes, method, "accuracy") for method in (FULL, *scale.search_methods)}
    seconds = {method: sum(_means(outcomes, method, "seconds").values()) for method in accuracies}
    whole = accuracies.pop(FULL)
    rows = search_rows(
        accuracies,
        whole,
        proxy_seconds={method: seconds[method] for method in accuracies},
        whole_seconds=seconds[FULL],
        proxy_images=scale.search_per_class * len(workshop.images.classes),
        whole_images=len(workshop.images),
    )
    points = {
        method: ([100 * accuracies[method][name] for name in whole], [100 * whole[name] for name in whole])
        for method in accuracies
    }
    figure = scatter_figure(
        "Each network, on the proxy and on the whole set",
        "accuracy after the proxy set, %",
        "after all data, %",
        points,
    )
    return Findings(
        title="Architecture search on a proxy set (table 1 of the paper)",
        protocol=f"{len(whole)} ConvNets of the 720{_limits(scale, list(whole))}, {scale.search_epochs} epochs on "
        f"{scale.search_per_class} images of each class (`random`: on average), {scale.search_whole_epochs} epochs on all "
        f"{len(workshop.images):,}; learning rate {_RATE:g}, {scale.scorer} chooses. Intervals: bootstrap over the networks. "
        "Time is that of the trainings; choosing is not in it.",
        tables={"trainings": outcomes, "search": as_dicts(rows)},
        figures={"search": figure},
        lines=[*_table(rows), "", _PUBLISHED],
        outcomes=outcomes,
    )


def _limits(scale: Scale, designs: list[str]) -> str:
    """Say which of the networks were left out for their cost."""
    limits = {"multiply-adds": scale.search_multiply_adds, "activations": scale.search_map_entries}
    named = [f"{most:,} {what}" for what, most in limits.items() if most is not None]
    if not named:
        return ""
    widest = max(ConvNetDesign.named(design).width for design in designs)
    return f" (balanced over all choices among those of at most {' and '.join(named)} an image; none is wider than {widest})"


def _means(outcomes: list[dict[str, Any]], method: str, what: str) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for row in outcomes:
        if row["method"] == method:
            found.setdefault(row["model"], []).append(row[what])
    return {design: mean_interval(values).mean for design, values in found.items()}


def _table(rows: list[SearchRow]) -> list[str]:
    lines = [
        "| images chosen by | chosen network on all data, % | best network, % | top-10 correlation | correlation, all | "
        "training time | storage |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        low, high = row.interval
        top_low, top_high = row.top_interval
        lines.append(
            f"| {row.method} | {100 * row.accuracy_of_chosen:.2f} | {100 * row.best_accuracy:.2f} | {row.top_correlation:.2f} "
            f"({top_low:.2f} to {top_high:.2f}) | {row.correlation:.2f} ({low:.2f} to {high:.2f}) | "
            f"{100 * (row.time_share or 0):.1f} % | {100 * (row.storage_share or 0):.1f} % |"
        )
    return lines
