"""The comparison of methods on features: a head is fitted on what each one keeps."""

from pathlib import Path

from numpy.typing import ArrayLike

from leanset._errors import InputError
from leanset._options import with_options
from leanset._progress import Reporter, reporter_for
from leanset._threads import thread_count, working_threads
from leanset.data import Examples, Images
from leanset.head import HeadStatistics
from leanset.inputs import opened
from leanset.judge import Forecast
from leanset.settings import CompareSettings
from leanset.trials.finished import Finished
from leanset.trials.forecast import forecast_of
from leanset.trials.pages import write_pages
from leanset.trials.split import FeatureSource
from leanset.trials.study import Study
from leanset.trials.summary import CompareResult


@with_options(CompareSettings)
def compare(
    features: "str | ArrayLike | HeadStatistics", labels: ArrayLike | None, settings: CompareSettings
) -> CompareResult:
    """Compare methods on features: fit the head on what each one keeps, and judge it on validation rows.

    Every method chooses with `leanset.prune` from the same rows, under the same loss and penalty. The validation rows are
    the given ones; without any, each seed holds out a share of each class anew. Class-stratified random is what the
    others are compared with, row by row and seed by seed. For networks on images see `leanset.torch.compare`.

    Parameters
    ----------
    features : (n, d) array of finite numbers; or a source of features such as "features.npz"; or the head statistics of a
        network (`leanset.torch.capture`). All but arrays contain their own labels and validation data.
    labels : (n,) whole numbers, booleans or strings; a 0/1 matrix with loss="sigmoid"; numbers with loss="squared"
    settings : a `leanset.CompareSettings(...)` instead of the options below
    {options}

    Examples
    --------
    >>> import numpy as np, leanset
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 3, 300)
    >>> features = rng.normal(size=(300, 4)) + np.eye(3, 4)[labels]
    >>> found = leanset.compare(features, labels, methods=["leanset", "el2n"], fractions=[0.5], seeds=2)
    >>> [row.method for row in found.rows]
    ['full', 'stratified-random', 'leanset', 'el2n']
    >>> found.rows[2].change.mean < found.rows[1].change.mean / 3
    True
    """
    with thread_count(settings.threads), reporter_for(settings.progress) as reporter:
        source = opened(features, labels, settings, reporter)
        if isinstance(source, Images):
            raise InputError("images need networks to compare methods on; use `leanset.torch.compare`.")
        return compare_on(source, settings, reporter)


def forecast_on(source: FeatureSource, settings: CompareSettings) -> Forecast:
    """Estimate what `compare_on` would take with the same arguments."""
    study, finished = Study.planned(source, settings), _finished(settings)
    finished.check(study.identity())
    return forecast_of(study, finished)


def compare_on(source: FeatureSource, settings: CompareSettings, reporter: Reporter) -> CompareResult:
    """Compare methods on features that have been read."""
    if isinstance(source, Examples) and source.weight is not None:
        raise InputError("a comparison counts all examples alike; leave the column of weights out (`drop`).")
    study = Study.planned(source, settings)
    finished = _finished(settings)
    finished.open(study.identity())
    with working_threads(settings.threads):
        study.run(finished, reporter)
    result = study.result(finished)
    if settings.out is not None:
        write_pages(Path(settings.out), result, study.table(finished), study.record())
    return result


def _finished(settings: CompareSettings) -> Finished:
    return Finished(None if settings.out is None else Path(settings.out))
