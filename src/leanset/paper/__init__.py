from leanset.paper.experiment import Experiment
from leanset.paper.findings import write_paper_report
from leanset.paper.registry import EXPERIMENTS, forecast_experiments, run_experiment
from leanset.paper.scale import scale_named

__all__ = ["EXPERIMENTS", "Experiment", "forecast_experiments", "run_experiment", "scale_named", "write_paper_report"]
