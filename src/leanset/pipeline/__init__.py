from leanset.pipeline.coverage import Coverage
from leanset.pipeline.frontier import Frontier, FrontierPoint
from leanset.pipeline.recheck import verify
from leanset.pipeline.result import PruneResult, load
from leanset.pipeline.run import prune, prune_inputs

__all__ = ["Coverage", "Frontier", "FrontierPoint", "PruneResult", "load", "prune", "prune_inputs", "verify"]
