import time
from collections.abc import Callable, Mapping
from pathlib import Path

from leanset._arrays import Rows
from leanset._errors import InputError
from leanset.paper.nas import nas
from leanset.paper.noise import noise
from leanset.paper.pruning import pruning
from leanset.paper.speed import speed
from leanset.paper.transfer import transfer
from leanset.paper.verification import theory
from leanset.paper.workshop import Findings, Workshop, write_findings

_EXPERIMENTS: dict[str, Callable[[Workshop], Findings]] = {
    "theory": theory,
    "pruning": pruning,
    "transfer": transfer,
    "speed": speed,
    "nas": nas,
}


def run_experiment(name: str, workshop: Workshop, noisy_labels: Mapping[str, Rows]) -> Path:
    """Run one experiment and write what it found; return its folder.

    Parameters
    ----------
    name : "theory", "pruning", "transfer", "speed", "nas" or "noise"
    workshop : data, size and place
    noisy_labels : of all examples of the source, by name; for "noise"
    """
    began = time.perf_counter()
    if name == "noise":
        if not noisy_labels:
            raise InputError("the experiment with wrong labels needs some.")
        findings = noise(workshop, dict(noisy_labels))
    else:
        findings = _EXPERIMENTS[name](workshop)
    return write_findings(workshop, name, findings, began)
