import time
from collections.abc import Mapping, Sequence
from dataclasses import Field, asdict
from pathlib import Path
from typing import Any, ClassVar, Protocol

from leanset._errors import InputError
from leanset.evaluate import Job, Study, forecast
from leanset.judge import Forecast, joined
from leanset.paper import nas, noise, pruning, speed, theory, transfer
from leanset.paper.experiment import Experiment
from leanset.paper.findings import Findings, write_findings


class Settings(Protocol):
    """The settings of one experiment, a dataclass that can run it."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def jobs(self, experiment: Experiment) -> list[Job]:
        """Return the trainings that the experiment needs."""

    def studies(self, experiment: Experiment) -> list[Study]:
        """Return the studies that do all these trainings, each in its own folder."""

    def run(self, experiment: Experiment) -> Findings:
        """Run the experiment."""


EXPERIMENTS: dict[str, Mapping[str, Settings]] = {  # settings by experiment and by the name of the scale
    "theory": theory.SIZES,
    "pruning": pruning.SIZES,
    "transfer": transfer.SIZES,
    "speed": speed.SIZES,
    "nas": nas.SIZES,
    "noise": noise.SIZES,
}


def run_experiment(name: str, experiment: Experiment, settings: Settings | None = None) -> Path:
    """Run one experiment of the paper, and return the folder that its results are written to.

    Parameters
    ----------
    name : "theory", "pruning", "transfer", "speed", "nas" or "noise"
    experiment : data, scale and folders
    settings : the experiment's own settings; those that belong to the scale if None
    """
    if name not in EXPERIMENTS:
        raise InputError(f"`name={name!r}` is unknown; choose from {', '.join(EXPERIMENTS)}.")
    began = time.perf_counter()
    settings = settings or EXPERIMENTS[name][experiment.scale.name]
    return write_findings(name, experiment, asdict(settings), settings.run(experiment), began)


def forecast_experiments(names: Sequence[str], experiment: Experiment) -> Forecast:
    """Estimate what some experiments would take; a training that several of them share is counted once.

    Parameters
    ----------
    names : of the experiments
    experiment : data, scale and folders; what is finished there is not counted again
    """
    studies: dict[Path, Study] = {}
    jobs: dict[Path, list[Job]] = {}
    for name in names:
        settings = EXPERIMENTS[name][experiment.scale.name]
        for study in settings.studies(experiment):
            studies[study.path] = study
            jobs.setdefault(study.path, []).extend(settings.jobs(experiment))
    return joined({path.name: forecast(study, jobs[path], experiment.workers) for path, study in studies.items()})
