from pathlib import Path
from typing import Annotated

import typer

from leanset import load
from leanset.cli import options, show
from leanset.cli.guard import guarded

To = Annotated[Path, typer.Option("--to", help="New folder for the files.", show_default=False)]
Link = Annotated[bool, typer.Option("--link", help="Make symbolic links instead of copies.")]
From = Annotated[
    Path | None, typer.Option("--from", help="Folder of the images, if it was moved since.", show_default=False)
]


@guarded
def export(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    to: To,
    link: Link = False,
    source: From = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Copy the kept image files of a run into a new folder, one sub-folder for each class.

    Example: leanset export run/ --to kept/
    """
    files = load(run).export(to, link=link, source=source)
    if as_json:
        show.show_json({"folder": str(to), "files": list(map(str, files))})
    elif not quiet:
        show.OUT.print(f"{len(files):,} files {'linked' if link else 'copied'} to {to}", soft_wrap=True)
