"""What a result hands to other tools: the kept rows of a torch data set, of a Hugging Face dataset, and of a folder."""

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from leanset._arrays import AnyArray, Rows, Vector
from leanset._errors import InputError, RunFolderError, missing_extra
from leanset._folder import explained
from leanset.certify import Certificate
from leanset.data import Origin

if TYPE_CHECKING:
    from leanset.training import KeptSampler


class Handover:
    """The part of a result that other tools take: kept rows, their weights and their names."""

    kept: Rows
    rows: Rows
    labels: AnyArray
    names: AnyArray | None
    origin: Origin
    weight: Vector
    certificate: Certificate

    @property
    def weights(self) -> Vector:
        """The weights of the kept examples, in the order of `kept`; scikit-learn's `sample_weight`.

        Where the examples came with a `sample_weight`, these are the products of that and of what leanset gives them.
        """
        return self.weight[np.isin(self.rows, self.kept)]

    def subset(self, dataset: Any) -> Any:
        """Return the kept items of a torch data set as a `torch.utils.data.Subset`.

        Parameters
        ----------
        dataset : map-style, in the row order that was pruned

        Examples
        --------
        >>> import torch, leanset
        >>> from torch.utils.data import TensorDataset
        >>> labels = torch.arange(80) % 2
        >>> data = TensorDataset(torch.randn(80, 3, generator=torch.manual_seed(0)) + labels[:, None], labels)
        >>> result = leanset.prune(data.tensors[0].numpy(), labels.numpy(), count=20, frontier=False)
        >>> len(result.subset(data))
        60
        """
        try:
            from torch.utils.data import Subset
        except ImportError:
            raise missing_extra("A torch subset", "torch") from None
        self._check_rows(dataset)
        return Subset(dataset, self.kept.tolist())

    def sampler(self, dataset: Any, *, seed: int = 0, length: int | None = None) -> "KeptSampler":
        """Return a torch sampler over the kept rows of a data set that draws each as often as its weight says.

        In an epoch of m draws a row with weight w comes up m·w/Σw times on average, rounded up or down at random, in
        random order. So the mean loss of a batch is, on average, the weighted mean Σ w ℓ / Σ w: train with the plain loss,
        and do not weigh it again. Where all weights are equal, every kept row comes up once an epoch.

        Parameters
        ----------
        dataset : map-style, in the row order that was pruned
        seed : of the draws; each epoch has draws of its own
        length : draws in an epoch; as many as rows are kept if None

        Examples
        --------
        >>> import torch, leanset
        >>> from torch.utils.data import DataLoader, TensorDataset
        >>> labels = torch.arange(80) % 2
        >>> data = TensorDataset(torch.randn(80, 3, generator=torch.manual_seed(0)) + labels[:, None], labels)
        >>> result = leanset.prune(*(part.numpy() for part in data.tensors), keep=60, weights=True, frontier=False)
        >>> loader = DataLoader(data, batch_size=10, sampler=result.sampler(data))
        >>> sum(len(labels) for _, labels in loader)
        60
        """
        try:
            from leanset.training import KeptSampler
        except ImportError:
            raise missing_extra("A torch sampler", "torch") from None
        self._check_rows(dataset)
        return KeptSampler(self.kept, self.weights, seed=seed, length=length)

    def select(self, dataset: Any, *, weight_column: str = "weight") -> Any:
        """Return the kept rows of a Hugging Face dataset; if they have weights, with a column of weights.

        Parameters
        ----------
        dataset : a `datasets.Dataset` in the row order that was pruned
        weight_column : name of the column of weights

        Examples
        --------
        >>> import datasets, numpy as np, leanset
        >>> rng = np.random.default_rng(0)
        >>> labels = rng.integers(0, 2, 80)
        >>> data = datasets.Dataset.from_dict({"x": rng.normal(size=(80, 3)) + labels[:, None], "label": labels})
        >>> lean = leanset.prune(data, keep=30, weights=True, frontier=False).select(data)
        >>> lean.num_rows, lean.column_names
        (30, ['x', 'label', 'weight'])
        """
        if not hasattr(dataset, "select") or not hasattr(dataset, "add_column"):
            raise InputError(f"`select` takes a `datasets.Dataset`, one split of it; got {type(dataset).__name__}.")
        self._check_rows(dataset)
        chosen = dataset.select(self.kept)
        if not self.certificate.has_weights:
            return chosen
        if weight_column in dataset.column_names:
            raise InputError(f"this dataset has a column {weight_column!r} already; choose another `weight_column`.")
        return chosen.add_column(weight_column, self.weights)

    def export(
        self, path: str | os.PathLike[str], *, link: bool = False, source: str | os.PathLike[str] | None = None
    ) -> list[Path]:
        """Copy the kept image files into a new folder, in one sub-folder for each class; return the new files.

        Parameters
        ----------
        path : a new or empty folder
        link : make symbolic links instead of copies
        source : the folder that the files are in now; the one that was read if None

        Examples
        --------
        >>> import tempfile, leanset
        >>> from dataclasses import replace
        >>> labels = np.arange(40) % 2
        >>> result = leanset.prune(np.random.default_rng(0).normal(size=(40, 2)), labels, keep=10, frontier=False)
        >>> names = np.array([f"{label}/{row}.png" for row, label in enumerate(labels)])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for name in names:
        ...         Path(folder, "photos", name).parent.mkdir(parents=True, exist_ok=True)
        ...         _ = Path(folder, "photos", name).write_bytes(b"...")
        ...     read = replace(result, names=names, origin=Origin(root=f"{folder}/photos"))  # what a run on images has
        ...     sorted({path.parent.name for path in read.export(f"{folder}/kept")})
        ['0', '1']
        """
        root = Path(source or self.origin.root)
        if self.names is None or not self.origin.root:
            raise InputError("this run was not made from image files; its kept.csv lists the kept rows.")
        target, found = Path(path), self._kept_files()
        with explained(target, "create"):
            target.mkdir(parents=True, exist_ok=True)
            if any(target.iterdir()):
                raise RunFolderError(f"{target}: is not empty; choose a new folder.")
        missing = [name for name, _ in found if not (root / name).is_file()]
        if missing:
            raise InputError(
                f"{root / missing[0]}: is not there any more, like {len(missing) - 1:,} others; say where with `source`."
            )
        for name, inside in found:
            with explained(target / inside, "write"):
                (target / inside).parent.mkdir(parents=True, exist_ok=True)
                if link:
                    (target / inside).symlink_to((root / name).resolve())
                else:
                    shutil.copy2(root / name, target / inside)
        return [target / inside for _, inside in found]

    def _kept_files(self) -> list[tuple[str, Path]]:
        """Return the name of each kept file, and its place in a folder of classes."""
        assert self.names is not None  # the caller checks it
        places = self.rows.searchsorted(self.kept)
        pairs = zip(self.names[places].tolist(), self.labels[places].astype(str).tolist(), strict=True)
        return [(name, _in_class_folder(name, label)) for name, label in pairs]

    def _check_rows(self, dataset: Any) -> None:
        last = int(self.rows[-1])
        whole = len(self.rows) == last + 1  # else rows were left out, and more may follow the last one
        if len(dataset) <= last or (whole and len(dataset) != len(self.rows)):
            raise InputError(
                f"this data set has {len(dataset):,} items, but {len(self.rows):,} rows up to number {last:,} were pruned; "
                "pass the data set that was pruned."
            )


def _in_class_folder(name: str, label: str) -> Path:
    """Return where a file goes: below its class, with the folders that it is in, so that no two files meet.

    Examples
    --------
    >>> str(_in_class_folder("cat/old/1.png", "cat")), str(_in_class_folder("/photos/1.png", "a/b"))
    ('cat/old/1.png', 'a_b/photos/1.png')
    """
    folder = label.replace("/", "_").replace("\\", "_")
    folder = f"_{folder}" if folder in ("", ".", "..") else folder
    inside = [part for part in Path(name).parts if part not in ("..", Path(name).anchor)]
    return Path(folder, *(inside[1:] if inside[0] == label and len(inside) > 1 else inside))
