from leanset.recheck.checks import Check
from leanset.recheck.run import targets_of_run, verify, verify_run

__all__ = ["Check", "targets_of_run", "verify", "verify_run"]
