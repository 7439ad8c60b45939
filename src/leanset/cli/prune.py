import shlex
from dataclasses import replace

from leanset.cli import options, show
from leanset.cli.folders import folder_for
from leanset.cli.guard import guarded
from leanset.settings import Settings

_OFTEN = (  # in the short help
    *("fraction", "keep", "same_model", "max_accuracy_drop"),
    *("loss", "C", "weights", "model", "label_column", "out"),
)


@guarded
@options.with_settings(Settings, often=_OFTEN)
def prune_command(
    source: options.Source,
    settings: Settings,
    dry_run: options.DryRun = False,
    report: options.Report = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Find examples to remove and certify the effect.

    Features are pruned directly. Images need a network: it is trained, or loaded from a checkpoint;
    then it is run over all images, and the inputs of its last layer are pruned.

    Example: leanset prune features.npz --fraction 0.4 --out run/
    """
    from leanset import estimate, prune  # here, because they import all that computes, and the help needs none of it
    from leanset.cli.report import write_report
    from leanset.report import check_page
    from leanset.runs import KEPT

    settings = replace(settings, progress=False if quiet or as_json else None)
    if dry_run:
        budget = settings.budget
        show.show_estimate(
            estimate(source, settings=settings), f"leanset prune {source}: {budget.name} {budget.value:g}", as_json
        )
        return
    if report is not None:
        check_page(report)
    with folder_for(source, settings.out) as out:
        result = prune(source, settings=replace(settings, out=out))
    if report is not None:
        write_report(report, result, out, source, None, settings, quiet=quiet or as_json)
    if as_json:
        show.show_json(result.to_dict() | {"folder": str(out)})
    elif quiet:
        if settings.out is None:
            show.show_folder(str(out))  # nobody else says where it is
    else:
        show.show_result(result, str(out))
        if result.certificate.for_a_network and settings.model is not None:
            kept = ("--subset", str(out / KEPT), "--decay", "total")
            show.show_next(shlex.join(("leanset", "train", source, "--model", settings.model, *kept)))
        if report is not None:
            show.show_saved(report)
