"""What of leanset's requirements is installed, read from the metadata of the packages; nothing is imported for it."""

import importlib.metadata
import re
from collections.abc import Iterable
from dataclasses import dataclass

_REQUIREMENT = re.compile(
    r"""(?P<name>[\w.-]+)(?:\[[^\]]*\])?\s*(?P<needs>[^;]*)(?:;.*\bextra\s*==\s*['"](?P<extra>[\w-]+)['"])?"""
)
_NOT_FOR_USERS = ("all", "dev", "docs")  # extras that collect others, or that only contributors need


@dataclass(frozen=True)
class Package:
    """A package that leanset needs, for itself or for an extra.

    Attributes
    ----------
    extra : the extra that needs it; empty for what is always needed
    needs : the versions that will do, e.g. ">=2.6"; empty if all will
    installed : the version that is installed; None if it is not
    """

    name: str
    extra: str
    needs: str
    installed: str | None

    @property
    def fits(self) -> bool:
        """Whether it is installed in a version that will do.

        Examples
        --------
        >>> Package("torch", "torch", ">=2.6", "2.13.0+cpu").fits, Package("torch", "torch", ">=2.6", "2.5").fits
        (True, False)
        """
        return self.installed is not None and _release(self.installed) >= _release(self.needs)


def packages() -> list[Package]:
    """Return every package that leanset or one of its extras needs; an empty list if leanset itself is not installed.

    Examples
    --------
    >>> [package.name for package in packages() if package.extra == "sklearn"]
    ['scikit-learn']
    """
    try:
        return list(_required(importlib.metadata.requires("leanset") or ()))
    except importlib.metadata.PackageNotFoundError:
        return []


def _required(lines: Iterable[str]) -> Iterable[Package]:
    for line in lines:
        found = _REQUIREMENT.match(line)
        assert found is not None  # installers check this
        extra = found["extra"] or ""
        if extra not in _NOT_FOR_USERS:
            yield Package(found["name"], extra, found["needs"].strip(), _version(found["name"]))


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _release(text: str) -> tuple[int, ...]:
    """Return the numbers of a version, or of the least version that a requirement asks for."""
    first = re.search(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in first[0].split(".")) if first else ()
