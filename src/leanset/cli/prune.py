from dataclasses import replace
from typing import Annotated

import typer

from leanset import estimate, prune
from leanset.cli import options, show
from leanset.cli.guard import guarded
from leanset.settings import Settings

DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the estimated cost and stop.")]


@guarded
@options.with_settings(Settings)
def prune_command(
    source: options.Source,
    settings: Settings,
    dry_run: DryRun = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Find examples to remove and certify the effect.

    Features are pruned directly. Images need a network: it is trained, or loaded from a checkpoint;
    then it is run over all images, and the inputs of its last layer are pruned.
    """
    settings = replace(settings, progress=False if quiet or as_json else None)
    if dry_run:
        budget = settings.budget
        show.show_estimate(
            estimate(source, settings=settings), f"leanset prune {source}: {budget.name} {budget.value:g}", as_json
        )
        return
    result = prune(source, settings=settings)
    if as_json:
        show.show_json(result.certificate.to_dict())
    elif not quiet:
        show.show_result(result, None if settings.out is None else str(settings.out))
