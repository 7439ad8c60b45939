"""Beyond the paper: labels that people got wrong. What each method keeps, and what it trains to on clean test labels."""

from typing import Any

from leanset._arrays import Rows
from leanset._errors import InputError
from leanset.data import Images
from leanset.evaluate.bench import LEANSET, STRATIFIED
from leanset.evaluate.display import STRATIFIED_SHOWN, accuracy_table
from leanset.evaluate.job import EQUAL_EPOCHS, FULL, Job
from leanset.evaluate.results import as_dicts, summary, verdicts
from leanset.evaluate.statistics import mean_interval
from leanset.paper.workshop import ONE_BY_ONE, Findings, Workshop
from leanset.report import Bars, bars_figure


def noise_jobs(workshop: Workshop) -> list[Job]:
    """Return every method on the wrong labels, and training on all of them."""
    scale = workshop.scale
    jobs = []
    for seed in workshop.seed_range:
        jobs.append(Job(seed, 0.0, scale.scorer, EQUAL_EPOCHS, FULL))
        jobs += [
            Job(seed, fraction, scale.scorer, EQUAL_EPOCHS, method)
            for method in scale.noise_methods
            for fraction in scale.noise_fractions
        ]
    return jobs


def noise(workshop: Workshop, labels: dict[str, Rows]) -> Findings:
    """Run the experiment.

    Parameters
    ----------
    workshop : data with its own, right labels
    labels : noisy labels of all examples of the source, by name
    """
    scale, source, jobs = workshop.scale, workshop.source, noise_jobs(workshop)
    places = workshop.places
    outcomes: list[dict[str, Any]] = []
    kept_wrong: list[dict[str, Any]] = []
    lines, bars = [], []
    for name, noisy in labels.items():
        _check(name, noisy, source)
    for name, noisy in labels.items():
        study = workshop.study(images=source.with_labels(noisy).take(places), name=name, suspects=True)
        found = workshop.finished(study, jobs)
        outcomes += [{"labels": name} | row for row in found]
        wrong = noisy[places] != source.labels[places]
        rows = summary(found, STRATIFIED)
        lines += [f"## {name}: {100 * wrong.mean():.1f} % of the labels are wrong", "", *accuracy_table(rows), ""]
        lines += [f"- {line}" for line in verdicts(rows, STRATIFIED, STRATIFIED_SHOWN)] + ["", ONE_BY_ONE, ""]
        shares = [
            {
                "labels": name,
                "method": job.method,
                "fraction": job.fraction,
                "seed": job.seed,
                "wrong_among_kept": float(wrong[study.kept(job)].mean()),
            }
            for job in jobs
            if job.method != FULL
        ]
        kept_wrong += shares
        lines += [*_kept_table(shares, float(wrong.mean())), ""]
        first = [row for row in shares if row["fraction"] == scale.noise_fractions[0]]
        bars.append(Bars(name, [100 * _share(first, method) for method in scale.noise_methods]))
    figure = bars_figure(
        f"Wrong labels that stay, {100 * scale.noise_fractions[0]:g} % removed",
        "wrong labels among the kept, %",
        list(scale.noise_methods),
        bars,
        ours=(LEANSET,),
    )
    return Findings(
        title="Wrong labels",
        protocol=f"{scale.scorer} trained on the wrong labels chooses and is trained; {len(places):,} images, "
        f"{scale.recipe.epochs} epochs, {len(workshop.seed_range)} seeds; tested on right labels. "
        "leanset is told that labels may be wrong (`Coverage(suspects=True)`).",
        tables={"trainings": outcomes, "summary": _summaries(outcomes), "kept": kept_wrong},
        figures={"kept": figure},
        lines=lines,
        outcomes=outcomes,
    )


def _check(name: str, noisy: Rows, source: Images) -> None:
    if noisy.shape != source.labels.shape:
        raise InputError(f"labels {name!r} are {len(noisy):,}, but there are {len(source):,} training images.")
    if not ((noisy >= 0) & (noisy < len(source.classes))).all():
        raise InputError(f"labels {name!r} must be whole numbers in 0..{len(source.classes) - 1}.")


def _summaries(outcomes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"labels": name} | row
        for name in dict.fromkeys(row["labels"] for row in outcomes)
        for row in as_dicts(summary([row for row in outcomes if row["labels"] == name], STRATIFIED))
    ]


def _share(rows: list[dict[str, Any]], method: str) -> float:
    return mean_interval([row["wrong_among_kept"] for row in rows if row["method"] == method]).mean


def _kept_table(rows: list[dict[str, Any]], wrong: float) -> list[str]:
    fractions = sorted({row["fraction"] for row in rows})
    lines = [
        f"| wrong among the kept ({100 * wrong:.1f} % of all), % | "
        + " | ".join(f"{100 * f:g} % removed" for f in fractions)
        + " |",
        "|---|" + "---|" * len(fractions),
    ]
    for method in dict.fromkeys(row["method"] for row in rows):
        cells = [f"{100 * _share([row for row in rows if row['fraction'] == f], method):.1f}" for f in fractions]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return lines
