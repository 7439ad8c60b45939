from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from leanset import estimate, prune
from leanset.cli import options, show
from leanset.cli.guard import guarded
from leanset.cli.report import write_report
from leanset.report import check_page
from leanset.settings import Settings

DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the estimated cost and stop.")]
_OFTEN = (  # in the short help
    *("fraction", "keep", "same_model", "max_accuracy_drop"),
    *("loss", "C", "weights", "model", "label_column", "out"),
)


@guarded
@options.with_settings(Settings, often=_OFTEN)
def prune_command(
    source: options.Source,
    settings: Settings,
    dry_run: DryRun = False,
    report: options.Report = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Find examples to remove and certify the effect.

    Features are pruned directly. Images need a network: it is trained, or loaded from a checkpoint;
    then it is run over all images, and the inputs of its last layer are pruned.

    Example: leanset prune features.npz --fraction 0.4 --out run/
    """
    settings = replace(settings, progress=False if quiet or as_json else None)
    if dry_run:
        budget = settings.budget
        show.show_estimate(
            estimate(source, settings=settings), f"leanset prune {source}: {budget.name} {budget.value:g}", as_json
        )
        return
    if report is not None:
        check_page(report)
    result = prune(source, settings=settings)
    if report is not None:
        run = None if settings.out is None else Path(settings.out)
        write_report(report, result, run, source, None, settings, quiet=quiet or as_json)
    if as_json:
        show.show_json(result.certificate.to_dict())
    elif not quiet:
        show.show_result(result, None if settings.out is None else str(settings.out))
        if report is not None:
            show.show_saved(report)
