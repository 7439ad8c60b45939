from leanset.paper.experiment import Experiment
from leanset.paper.registry import EXPERIMENTS, run_experiment
from leanset.paper.scale import scale_named

__all__ = ["EXPERIMENTS", "Experiment", "run_experiment", "scale_named"]
