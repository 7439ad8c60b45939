"""The output folder of a comparison: finished work may be used again only under the same setup."""

import json
from pathlib import Path
from typing import Any

from leanset._errors import RunFolderError
from leanset._folder import Folder, in_words

SETUP = "setup.json"


def check_free(out: Path, table: str) -> None:
    """Raise if the folder has content, but not the sub-folder of finished work that this kind of comparison makes."""
    if out.is_dir() and any(out.iterdir()) and not (out / table).is_dir():
        raise folder_in_use(out)


def check_same_setup(files: Folder, identity: dict[str, Any]) -> None:
    """Raise if the finished work in a folder belongs to another setup; the message names what differs."""
    known, given = files.read_json(SETUP), json.loads(json.dumps(identity))
    changed = sorted(key for key in given.keys() | known.keys() if given.get(key) != known.get(key))
    if changed:
        raise RunFolderError(
            f"{files.path}: holds results with different {in_words(changed)}; choose another output folder."
        )


def folder_in_use(path: Path) -> RunFolderError:
    """Return the error for a folder that holds something else."""
    return RunFolderError(f"{path}: is in use for something else; choose an empty or new output folder.")
