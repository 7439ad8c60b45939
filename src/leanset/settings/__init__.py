"""Every option, defined once: its name, type, default, help and rule.

The arguments and documentation of `leanset.prune`, the command-line options, `settings.json` and the table on the API
page are generated from these lines. To add an option, add a line to the class that it belongs to, and use it.
"""

from leanset.settings.budget import BudgetOptions
from leanset.settings.compare import CompareOptions
from leanset.settings.head import HeadOptions
from leanset.settings.network import NetworkOptions, RetrainingOptions
from leanset.settings.prune import PruneOptions
from leanset.settings.reading import ReadingOptions
from leanset.settings.whole import CompareSettings, Settings
from leanset.settings.work import ClusterOptions, RunOptions, WorkerOptions, WorkOptions

__all__ = [
    "BudgetOptions",
    "ClusterOptions",
    "CompareOptions",
    "CompareSettings",
    "HeadOptions",
    "NetworkOptions",
    "PruneOptions",
    "ReadingOptions",
    "RetrainingOptions",
    "RunOptions",
    "Settings",
    "WorkOptions",
    "WorkerOptions",
]
