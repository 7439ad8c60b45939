import itertools
import os
from collections.abc import Iterator
from pathlib import Path

from numpy.typing import ArrayLike

from leanset._errors import InputError
from leanset._kinds import TEXT, kinds_of
from leanset._progress import Silent
from leanset.certify import Certificate
from leanset.data import Examples, HasExamples, Images, examples_from
from leanset.head import HeadStatistics
from leanset.inputs import STATISTICS, inputs_from, is_table, read_source, read_table, recorded_source, statistics_in
from leanset.recheck import Check, check_run, targets_of_run
from leanset.runs import CERTIFICATE, NETWORK, RunFolder
from leanset.scores import Needs
from leanset.settings import ReadingOptions, Settings

Data = str | os.PathLike[str] | ArrayLike | Examples | HasExamples


def verify(
    path: str | os.PathLike[str],
    features: Data | None = None,
    labels: ArrayLike | None = None,
    *,
    validation: tuple[ArrayLike, ...] | None = None,
    sample_weight: ArrayLike | None = None,
    key: str | os.PathLike[str] | None = None,
) -> list[Check]:
    """Re-check a saved run against its data with code that shares nothing with the search.

    Parameters
    ----------
    path : the run folder
    features, labels, validation, sample_weight : the arrays that the run was made from; or, in place of all, a network's
        statistics or the source of features, e.g. "features.npz". A run on images needs none: its network's features are in
        its folder. Nor does a run on a file that is still where it was.
    key : PEM file of the Ed25519 public key that the run has to be signed by (needs the sign extra)

    Returns
    -------
    One `Check` for each statement, with `name`, `holds`, `detail`, and `checked`, which is False for what is only said.

    Examples
    --------
    >>> import tempfile, numpy as np, leanset
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 2, 80)
    >>> features = rng.normal(size=(80, 3)) + labels[:, None]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = leanset.prune(features, labels, count=20, out=folder, frontier=False)
    ...     all(check.holds for check in leanset.verify(folder, features, labels))
    True
    """
    return list(checks_of(path, features, labels, validation=validation, sample_weight=sample_weight, key=key))


def checks_of(
    path: str | os.PathLike[str],
    features: Data | None = None,
    labels: ArrayLike | None = None,
    *,
    validation: tuple[ArrayLike, ...] | None = None,
    sample_weight: ArrayLike | None = None,
    reading: ReadingOptions | None = None,
    key: str | os.PathLike[str] | None = None,
) -> Iterator[Check]:
    """Do what `verify` does, one check at a time; `reading` says how to read the source, as the run did if None."""
    _check_words(RunFolder(path))
    targets, run = targets_of_run(path), Path(path)
    source, how = recorded_source(run)
    store = run / NETWORK / "head"
    data: Examples | HeadStatistics
    if features is None and store.is_dir():
        data = HeadStatistics.load(store)
    elif features is None or isinstance(features, str | os.PathLike):
        if features is None and not source:
            raise InputError(
                f"{run}: was made from data in memory, so give the data that it was made from (`--data` on the command line)."
            )
        data = _read(os.fspath(features or source), targets, run, reading or how)
    elif isinstance(features, HeadStatistics):
        data = features
    elif is_table(features, labels):
        data = _features_only(read_table(features, reading or how, targets), "these data", run)
    else:
        data = examples_from(features, labels, validation, targets, weight=sample_weight)
    if isinstance(data, HeadStatistics):
        yield from check_run(path, data.examples(), key, _records_of(data))
    else:
        yield from check_run(path, data, key)


def _records_of(statistics: HeadStatistics) -> dict[str, set[str | None]]:
    """Return the digests that a run on a network's statistics may have recorded of its head and of its training."""
    inputs = inputs_from(statistics, Settings())
    needs: Needs = ("errors", "gradient_norm", "dynamics")
    # Which of its records a run used, its strategy decided.
    found = [inputs.digests(used) for count in range(len(needs) + 1) for used in itertools.combinations(needs, count)]
    known = {"recorded_digest": {each["recorded_digest"] for each in found}}
    # Without a head of the network, the run may have been given any other.
    return known if statistics.head is None else known | {"head_digest": {found[0]["head_digest"]}}


def _check_words(folder: RunFolder) -> None:
    """Raise if the settings, or the words of the certificate, are not of their kind; its numbers are a check of their own."""
    folder.read_settings()
    words = {name: kind for name, kind in kinds_of(Certificate).items() if kind is TEXT or name == "seed"}
    folder.read_json(CERTIFICATE, words)


def _read(source: str, targets: str, run: Path, reading: ReadingOptions) -> Examples | HeadStatistics:
    if source.startswith(STATISTICS):
        return statistics_in(source)
    return _features_only(read_source(source, reading, Silent(), targets), source, run)


def _features_only(data: Images | Examples, what: str, run: Path) -> Examples:
    if isinstance(data, Images):
        raise InputError(
            f"{what}: a run on images is checked against the features of its network, which are in its folder; give "
            f"nothing, or {STATISTICS}{run / NETWORK / 'head'}."
        )
    return data
