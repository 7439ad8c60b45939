import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from leanset import runs
from leanset._arrays import AnyArray, Rows, Vector
from leanset.certify import Certificate
from leanset.pipeline.frontier import Frontier


@dataclass(frozen=True)
class PruneResult:
    """The answer of a run.

    Attributes
    ----------
    kept, removed : sorted row numbers of the input
    certificate : what removing them does to the head
    frontier : size against certified change; empty if it was not asked for
    labels : the labels as class names, row by row
    influence_norm : length of every row's influence vector, (1/n) H⁻¹ (g_i + l2·θ̂); without l2·θ̂ in the paper's formulation
    label_probability : what the head of all examples gives each row's own label
    settings : the run's settings and data fingerprint, as saved in `settings.json`
    """

    kept: Rows
    removed: Rows
    certificate: Certificate
    frontier: Frontier
    labels: AnyArray = field(repr=False)
    influence_norm: Vector = field(repr=False)
    label_probability: Vector = field(repr=False)
    settings: dict[str, Any] = field(repr=False)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the run folder: row numbers, selection table, certificate, settings and frontier.

        Parameters
        ----------
        path : a new or empty folder, or one that holds this very run
        overwrite : replace another leanset run that lies there
        """
        folder = runs.RunFolder(path)
        folder.open(self.settings, overwrite=overwrite)
        self.write_to(folder)

    def write_to(self, folder: runs.RunFolder) -> None:
        """Write the final files into an opened folder; the certificate last, as the mark of a complete run."""
        folder.start_final()
        folder.write_json(runs.SETTINGS, self.settings)
        folder.write_rows(runs.KEPT, self.kept)
        folder.write_rows(runs.REMOVED, self.removed)
        folder.write_table(
            runs.SELECTION,
            {
                "row": np.arange(len(self.labels)),
                "label": self.labels,
                "kept": np.isin(np.arange(len(self.labels)), self.kept),
                "pinned": np.isin(np.arange(len(self.labels)), self.settings["pinned"]),
                "influence_norm": self.influence_norm,
                "label_probability": self.label_probability,
            },
        )
        folder.write_text(runs.FRONTIER, self.frontier.to_csv())
        folder.write_json(runs.CERTIFICATE, self.certificate.to_dict())
        folder.close()


def load(path: str | os.PathLike[str]) -> PruneResult:
    """Load a finished run.

    Parameters
    ----------
    path : a run folder written by `PruneResult.save`, `prune(out=...)` or the command line

    Examples
    --------
    >>> import tempfile, numpy as np, leanset
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 60)
    >>> result = leanset.prune(rng.normal(size=(60, 3)) + labels[:, None], labels, count=20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result.save(folder)
    ...     again = leanset.load(folder)
    >>> bool((again.kept == result.kept).all()), again.certificate == result.certificate
    (True, True)
    """
    folder = runs.RunFolder(path)
    table = folder.read_table(runs.SELECTION)
    return PruneResult(
        kept=folder.read_rows(runs.KEPT),
        removed=folder.read_rows(runs.REMOVED),
        certificate=Certificate.from_dict(folder.read_json(runs.CERTIFICATE, Certificate.keys())),
        frontier=Frontier.from_csv(folder.read_text(runs.FRONTIER)),
        labels=table["label"],
        influence_norm=table["influence_norm"],
        label_probability=table["label_probability"],
        settings=folder.read_json(runs.SETTINGS),
    )
