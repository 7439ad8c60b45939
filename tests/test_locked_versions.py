"""The lock of the development set-up belongs to the requirements and the constraints beside it."""

import re
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from lock import differences, locked, plain  # noqa: E402


def wanted():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    left, found = [*project["dependencies"], *extras["dev"]], []
    while left:
        requirement = Requirement(left.pop())
        if requirement.name == "leanset":
            left += [line for extra in requirement.extras for line in extras[extra]]
        else:
            found.append(requirement)
    return found


def test_every_requirement_is_locked_in_a_version_that_will_do():
    known = locked((ROOT / "requirements.lock").read_text())
    for requirement in wanted():
        assert known[plain(requirement.name)][0] in requirement.specifier, requirement


def test_constraints_hold_in_the_lock():
    known = locked((ROOT / "requirements.lock").read_text())
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    pinned = dict(re.fullmatch(r"([\w.-]+)==(\S+)", line).groups() for line in lines)
    assert {name: known[plain(name)][0].partition("+")[0] for name in pinned} == pinned


def test_what_is_not_as_locked_is_named():
    known = locked((ROOT / "requirements.lock").read_text())
    changed = known | {"numpy": ("0.1", ""), "no-such-package": ("1.0", "")}
    del changed["rich"]
    said = "\n".join(differences(changed))
    assert "numpy 0.1 is locked; " in said
    assert "no-such-package 1.0 is locked; nothing is installed" in said
    assert re.search(r"^rich \S+ is installed, but not locked$", said, re.MULTILINE)
