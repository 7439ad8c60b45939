"""Figure 3: the examples are chosen by a small network, and other networks that it never saw are trained on them."""

from leanset.evaluate.bench import STRATIFIED
from leanset.evaluate.compare import parts_of
from leanset.evaluate.display import STRATIFIED_SHOWN, accuracy_panel, accuracy_table
from leanset.evaluate.job import EQUAL_EPOCHS, FULL, Job
from leanset.evaluate.results import as_dicts, summary, verdicts
from leanset.paper.workshop import ONE_BY_ONE, Findings, Workshop
from leanset.report import curves_figure


def transfer_jobs(workshop: Workshop) -> list[Job]:
    """Return every unseen network on the sets of every method, and on everything."""
    scale = workshop.scale
    jobs = []
    for seed in workshop.seed_range:
        for model in scale.transfer_models:
            jobs.append(Job(seed, 0.0, model, EQUAL_EPOCHS, FULL))
            jobs += [
                Job(seed, fraction, model, EQUAL_EPOCHS, method)
                for method in scale.transfer_methods
                for fraction in scale.transfer_fractions
            ]
    return jobs


def transfer(workshop: Workshop) -> Findings:
    """Run the experiment."""
    scale = workshop.scale
    outcomes = workshop.finished(workshop.study(scale.transfer_scorer), transfer_jobs(workshop))
    rows = summary(outcomes, STRATIFIED)
    lines = []
    for title, part in parts_of(rows):
        lines += [*accuracy_table(part, title), ""]
    lines += [*(f"- {line}" for line in verdicts(rows, STRATIFIED, STRATIFIED_SHOWN)), "", ONE_BY_ONE]
    return Findings(
        title="Transfer to unseen networks (figure 3 of the paper)",
        protocol=f"{scale.transfer_scorer} chooses, {' and '.join(scale.transfer_models)} are trained; "
        f"{len(workshop.images):,} training images, {scale.recipe.epochs} epochs, {len(workshop.seed_range)} seeds, held-out "
        "accuracy with 95 % intervals.",
        tables={"trainings": outcomes, "summary": as_dicts(rows)},
        figures={"accuracy": curves_figure([accuracy_panel(title, part) for title, part in parts_of(rows)])},
        lines=lines,
        outcomes=outcomes,
    )
