"""The independent re-check of a saved run. It imports the data room and nothing of what it checks."""

from leanset.recheck.check import Check
from leanset.recheck.claims import Claim
from leanset.recheck.run import check_run, targets_of_run, unchecked_of

__all__ = ["Check", "Claim", "check_run", "targets_of_run", "unchecked_of"]
