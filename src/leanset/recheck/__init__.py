"""The independent re-check of a saved run. It imports the data room and nothing of what it checks."""

from leanset.recheck.check import Check
from leanset.recheck.run import check_run, targets_of_run

__all__ = ["Check", "check_run", "targets_of_run"]
