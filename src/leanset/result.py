import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

import numpy as np

from leanset import runs
from leanset._arrays import AnyArray, Mask, Rows, Vector
from leanset._folder import json_safe
from leanset._lock import locked
from leanset.certify import Certificate
from leanset.data import Origin
from leanset.handover import Handover
from leanset.report import MOST_BYTES, RunFacts, Size, reasons, summary_text, verdict, write_run_page
from leanset.reporting import Features, Pictures, command_for, material_for
from leanset.select import Frontier


@dataclass(frozen=True, repr=False)
class PruneResult(Handover):
    """The result of a run.

    Attributes
    ----------
    kept, removed : sorted row numbers in the input, or in the source if unreadable rows were left out
    dropped : row numbers of examples left out before, with `suspects="drop"`; neither kept nor removed
    certificate : what removing them does to the head
    frontier : size against certified change; empty if not requested
    rows : (n,) row number of each example; the arrays below are in this order
    labels : as people read them: class names, labels with | between, or numbers
    influence_norm : length of each row's influence vector, (1/n) H⁻¹ (g_i + l2·θ̂); without l2·θ̂ in the paper's formulation
    label_probability : probability of each row's own label under the head fitted on all examples; NaN for numbers
    weight : (n,) weight to train each example with: 0 for removed ones, 1 for kept ones unless weights were asked for, both
        times the `sample_weight` that the examples came with, if any
    suspect : (n,) True for examples whose label is probably wrong
    score : score of each example, NaN if the method has none
    settings : the run's settings and data fingerprint, as saved in `settings.json`
    names : (n,) what the examples are called: files in a folder, ids in a table; None if they have no names
    origin : where the examples come from, and which columns were used for what

    Examples
    --------
    >>> import leanset
    >>> result = leanset.prune([[0.1], [1], [2], [3.1]], [0, 1, 0, 1], count=1, l2=1, frontier=False)
    >>> len(result.kept), len(result.removed), result.settings["l2"]
    (3, 1, 1.0)
    """

    kept: Rows
    removed: Rows
    dropped: Rows
    certificate: Certificate
    frontier: Frontier
    rows: Rows
    labels: AnyArray
    influence_norm: Vector
    label_probability: Vector
    weight: Vector
    suspect: Mask
    score: Vector
    settings: dict[str, Any]
    names: AnyArray | None = None
    origin: Origin = Origin()  # noqa: RUF009  # frozen

    def __repr__(self) -> str:
        return f"<PruneResult: {len(self.kept):,} of {len(self.rows):,} kept. {verdict(self.certificate).headline}>"

    @property
    def columns(self) -> list[str] | None:
        """The names of the features, where they come from a data frame."""
        return self.settings.get("columns")

    @property
    def reasons(self) -> AnyArray:
        """Why each example was kept or removed, in a few words ([docs/api.md](docs/api.md#reasons))."""
        kept, pinned = np.isin(self.rows, self.kept), np.isin(self.rows, self.settings["pinned"])
        return reasons(self.certificate, kept, pinned, self.influence_norm, self.score, self.suspect)

    @property
    def train_l2(self) -> float:
        """The l2 to train with where the loss is averaged, Σ w ℓ / Σ w + (l2/2)‖θ‖²."""
        return self.certificate.train_l2

    def summary(self) -> str:
        """Return what people need to know about the result, as text of some ten lines.

        Examples
        --------
        >>> import numpy as np, leanset
        >>> rng = np.random.default_rng(0)
        >>> labels = np.where(rng.random(80) < 0.5, -1, 1)
        >>> result = leanset.prune(rng.normal(size=(80, 3)) + labels[:, None], labels, keep=60, frontier=False)
        >>> " ".join(result.summary().splitlines()[3].split())
        'removed 20 of 80 (25.0 %) 20'
        """
        return summary_text(self.certificate, self._kept_by_label(), self.columns, self.origin.sentence())

    def _kept_by_label(self) -> dict[str, tuple[int, int]]:
        """Return how many examples of each label are kept, and how many there are; empty where labels are numbers."""
        if self.labels.dtype.kind == "f":
            return {}
        names, codes = np.unique(self.labels.astype(str), return_inverse=True)
        kept, of = np.bincount(codes[np.isin(self.rows, self.kept)], minlength=len(names)), np.bincount(codes)
        return {str(name): (int(k), int(n)) for name, k, n in zip(names, kept, of, strict=True)}

    def save(
        self, path: str | os.PathLike[str], *, overwrite: bool = False, sign: str | os.PathLike[str] | None = None
    ) -> None:
        """Write the run folder: row numbers, selection table, certificate, settings and frontier.

        Parameters
        ----------
        path : a new or empty folder, or one that contains this same run
        overwrite : replace another leanset run in that folder
        sign : PEM file of an Ed25519 private key to sign the manifest with
        """
        folder = runs.RunFolder(path)
        with locked(path):
            folder.open(self.settings, overwrite=overwrite)
            self.write_to(folder, sign)

    def report(
        self,
        path: str | os.PathLike[str],
        features: Features | None = None,
        images: Pictures | None = None,
        *,
        columns: Sequence[str] | None = None,
        names: Sequence[str] | None = None,
        texts: Sequence[str] | None = None,
        max_bytes: int = MOST_BYTES,
    ) -> None:
        """Write a page about the run: one HTML file that opens from disk and needs no network.

        The page shows what it is given: the run alone; with its features also a map, neighbours and near-duplicates;
        with images or texts also what the rows are.

        Parameters
        ----------
        path : file to write, such as "report.html"
        features : the data of the run: an array or frame, a source such as "features.npz", or a network's statistics
        images : uint8 array, `leanset.data.Images`, or a source such as "cifar10:DIR", in the order of the rows
        columns : names of the features
        names, texts : a name and a text for each row
        max_bytes : largest size of the file; pictures that do not fit are left out, and the page says so

        Examples
        --------
        >>> import pathlib, tempfile, numpy as np, leanset
        >>> rng = np.random.default_rng(0)
        >>> labels = rng.integers(0, 2, 60)
        >>> features = rng.normal(size=(60, 3)) + labels[:, None]
        >>> result = leanset.prune(features, labels, count=20)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.report(pathlib.Path(folder, "report.html"), features)
        ...     [path.name for path in pathlib.Path(folder).iterdir()]
        ['report.html']
        """
        material = material_for(
            self.rows,
            self.labels,
            self.settings,
            features,
            images,
            columns=columns,
            names=self.names if names is None else names,
            texts=texts,
        )
        write_run_page(path, self.facts(), material, most_bytes=max_bytes)

    def facts(self) -> RunFacts:
        """Return the run as plain values, for its page."""
        return RunFacts(
            certificate=self.certificate,
            frontier=[Size(**asdict(point)) for point in self.frontier],
            settings=self.settings,
            rows=self.rows,
            labels=self.labels,
            kept=np.isin(self.rows, self.kept),
            weight=self.weight,
            influence_norm=self.influence_norm,
            label_probability=self.label_probability,
            suspect=self.suspect,
            score=self.score,
            dropped=len(self.dropped),
            command=command_for(self.settings),
            used=self.origin.sentence(),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return rows, weights, columns, certificate and frontier as plain values, ready for JSON.

        Examples
        --------
        >>> import numpy as np, leanset
        >>> labels = np.arange(40) % 2
        >>> result = leanset.prune(np.random.default_rng(0).normal(size=(40, 2)), labels, keep=10, frontier=False)
        >>> sorted(result.to_dict())
        ['certificate', 'columns', 'dropped', 'frontier', 'kept', 'kept_names', 'origin', 'removed', 'weights']
        """
        kept = np.isin(self.rows, self.kept)
        values = {
            "kept": self.kept.tolist(),
            "kept_names": None if self.names is None else self.names[kept].tolist(),
            "weights": self.weights.tolist(),
            "removed": self.removed.tolist(),
            "dropped": self.dropped.tolist(),
            "columns": self.columns,
            "origin": self.origin.to_dict(),
            "certificate": self.certificate.to_dict(),
            "frontier": [asdict(point) for point in self.frontier],
        }
        return cast(dict[str, Any], json_safe(values))

    def write_to(self, folder: runs.RunFolder, sign: str | os.PathLike[str] | None = None) -> None:
        """Write the final files into an opened folder; the certificate comes last and marks a complete run."""
        folder.start_final()
        folder.write_json(runs.SETTINGS, self.settings)
        folder.write_rows(runs.KEPT, self.kept)
        folder.write_rows(runs.REMOVED, self.removed)
        if self.settings["suspects"] == "drop":
            folder.write_rows(runs.DROPPED, self.dropped)
        kept = np.isin(self.rows, self.kept)
        table = {
            "row": self.rows,
            "label": self.labels,
            "kept": kept,
            "pinned": np.isin(self.rows, self.settings["pinned"]),
            "influence_norm": self.influence_norm,
            "label_probability": self.label_probability,
            "weight": self.weight,
            "suspect": self.suspect,
            "score": self.score,
            "reason": self.reasons,
        }
        folder.write_table(runs.SELECTION, table if self.names is None else table | {"name": self.names})
        folder.write_json(runs.SOURCE, self.origin.to_dict())
        header = ("row", "path" if self.origin.root else "id", "label", "weight", "reason")
        names = self.rows if self.names is None else self.names
        for name, chosen in ((runs.KEPT_CSV, kept), (runs.REMOVED_CSV, ~kept)):
            columns = (self.rows, names, self.labels, self.weight, table["reason"])
            folder.write_csv(name, header, zip(*(column[chosen].tolist() for column in columns), strict=True))
        folder.write_text(runs.FRONTIER, self.frontier.to_csv())
        folder.finish(self.certificate.to_dict(), sign)


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
    folder.check_finished()
    table = folder.read_selection()
    return PruneResult(
        kept=folder.read_rows(runs.KEPT),
        removed=folder.read_rows(runs.REMOVED),
        dropped=folder.read_rows(runs.DROPPED) if folder.has(runs.DROPPED) else np.zeros(0, dtype=np.int64),
        certificate=Certificate.from_dict(folder.read_json(runs.CERTIFICATE, Certificate.keys())),
        frontier=Frontier.from_csv(folder.read_text(runs.FRONTIER)),
        rows=table["row"],
        labels=table["label"],
        influence_norm=table["influence_norm"],
        label_probability=table["label_probability"],
        weight=table["weight"],
        suspect=table["suspect"],
        score=table["score"],
        settings=folder.read_settings(),
        names=table.get("name"),
        origin=Origin.from_dict(folder.read_json(runs.SOURCE)) if folder.has(runs.SOURCE) else Origin(),
    )
