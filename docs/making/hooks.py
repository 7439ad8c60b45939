"""What MkDocs is told besides mkdocs.yml: the pages that are made from the code, and links to files of the repository."""

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # MkDocs loads hooks by their path, which does not find what they import

from docs.making import gallery, reference, results  # noqa: E402

_FROM_THE_ROOT = {
    "README.md": "index.md",
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security-policy.md",
}
_LINK = re.compile(r"(\]\()(?!https?:|#)([^)#\s]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made: from the docstrings, the records of results, the examples and the files at the root."""
    pages = reference.pages() | results.pages() | gallery.pages()
    pages |= {page: _from_the_root((ROOT / name).read_text()) for name, page in _FROM_THE_ROOT.items()}
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    for path in results.files():
        files.append(File(path, str(ROOT), config.site_dir, config.use_directory_urls))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Turn links that lead out of the docs folder, which work in the repository, into links within the site."""
    if page.file.generated_by:
        return markdown
    return _LINK.sub(lambda found: found[1] + _inside(found[2].removeprefix("../")), markdown)


def _from_the_root(text: str) -> str:
    return _LINK.sub(lambda found: found[1] + _inside(found[2].removeprefix("docs/")), text)


def _inside(target: str) -> str:
    """Return where a file or a folder of the repository is in the site.

    Examples
    --------
    >>> _inside("CHANGELOG.md"), _inside("examples"), _inside("results/paper/nas"), _inside("faq.md")
    ('changes.md', 'gallery/index.md', 'results/paper/nas/README.md', 'faq.md')
    """
    if target.rstrip("/") == "examples":
        return "gallery/index.md"
    if target in _FROM_THE_ROOT:
        return _FROM_THE_ROOT[target]
    if target.startswith("results") and (ROOT / target).is_dir():
        return results.page_of(target)
    return target
