from pathlib import Path
from typing import Annotated

import typer

from leanset import PruneResult, load
from leanset._progress import reporter_for
from leanset.cli import options, show
from leanset.cli.guard import guarded
from leanset.inputs import STATISTICS, recorded_source
from leanset.parsing import bytes_in
from leanset.report import MOST_BYTES, write_run_page
from leanset.reporting import material_for
from leanset.runs import NETWORK, REPORT
from leanset.settings import ReadingOptions

Data = Annotated[
    str | None,
    typer.Option(
        help="Data of the run: its features, or its images. Adds a map, neighbours and examples.", show_default=False
    ),
]
Images = Annotated[
    str | None,
    typer.Option(
        help="Images of the same rows, if the run was made on features, e.g. cifar10:DIR.", show_default=False
    ),
]
Out = Annotated[
    Path | None, typer.Option(help="File to write; report.html in the run folder if not given.", show_default=False)
]
MaxSize = Annotated[
    str, typer.Option(help="Largest size of the file; pictures that do not fit are left out, and the page says so.")
]


@guarded
@options.with_settings(ReadingOptions)
def report(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    settings: ReadingOptions,
    data: Data = None,
    images: Images = None,
    out: Out = None,
    max_size: MaxSize = "10MB",
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a page about a saved run: one HTML file that opens from disk and needs no network.

    Example: leanset report run/ --data features.npz
    """
    most_bytes = bytes_in(max_size, "max_size")
    target = out or run / REPORT
    reading = settings if settings.given() else recorded_source(run)[1]
    write_report(target, load(run), run, data, images, reading, most_bytes, quiet=quiet or as_json)
    if as_json:
        show.show_json({"report": str(target), "bytes": target.stat().st_size})
    elif not quiet:
        show.show_saved(target)


def write_report(
    target: Path,
    result: PruneResult,
    run: Path | None,
    data: str | None,
    images: str | None,
    reading: ReadingOptions,
    most_bytes: int = MOST_BYTES,
    *,
    quiet: bool,
) -> None:
    """Write the page of a run; the features of a run on images are those in its folder."""
    captured = None if run is None else run / NETWORK / "head"
    with reporter_for(False if quiet else None) as reporter:
        features = data
        if captured is not None and captured.is_dir():
            features, images = f"{STATISTICS}{captured}", images or data
        material = material_for(
            result.rows, result.labels, result.settings, features, images, reading=reading, reporter=reporter
        )
        with reporter.stage("Writing the report"):
            write_run_page(target, result.facts(), material, most_bytes=most_bytes)
