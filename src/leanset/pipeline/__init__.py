from leanset.pipeline.frontier import Frontier, FrontierPoint
from leanset.pipeline.prune import prune, prune_examples
from leanset.pipeline.result import PruneResult, load

__all__ = ["Frontier", "FrontierPoint", "PruneResult", "load", "prune", "prune_examples"]
