"""The main pipeline: read, plan, fit, select, certify. Python, the command line and adapters all call `prune`."""

from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from leanset._arrays import Matrix, Rows, Vector, some_places
from leanset._errors import DivergenceError, InputError, LeansetError
from leanset._lock import locked
from leanset._options import with_options
from leanset._progress import Reporter, passes_shown, reporter_for
from leanset._signature import private_key
from leanset._threads import thread_count, working_threads
from leanset._version import __version__
from leanset.certify import (
    Finding,
    about_chance,
    about_the_bound,
    about_the_clock,
    about_the_fewest,
    about_the_vectors,
    issue_certificate,
    mean_of,
)
from leanset.data import Classes, Examples, Images, fingerprint
from leanset.fitting import fitted_task
from leanset.head import HeadStatistics
from leanset.inputs import Inputs, inputs_from, opened, refuse_network_options
from leanset.plan import Plan, plan_for
from leanset.problem import Removal
from leanset.result import PruneResult, load
from leanset.rows import computed_by, dask_cluster, map_rows, watched_by
from leanset.runs import RunFolder
from leanset.select import Frontier, MeasuredSizes, Search, Task, answer_within, ladder_counts, trusted_places
from leanset.settings import Settings


@with_options(Settings)
def prune(
    features: "str | ArrayLike | Examples | Images | HeadStatistics", labels: ArrayLike | None, settings: Settings
) -> PruneResult:
    """Find the examples whose joint removal changes the head least, and certify the effect.

    Give exactly one budget. `fraction`, `keep` and `count` fix the number to remove; the change is then minimised.
    `epsilon`, `relative_epsilon` and `max_loss_gap` limit a *measured* quantity; the set is then made as large as possible.

    Parameters
    ----------
    features : (n, d) finite numbers: an array, a tensor, a sparse matrix, or a data frame, of which categories become one
        feature for each value; or a source such as "cifar10:DIR" or "features.npz"; or images, which need a
        `model`; or the head statistics of a network (`leanset.torch.capture`). The last three contain their own labels
        and validation data.
    labels : (n,) whole numbers, booleans or strings; a 0/1 matrix with loss="sigmoid"; numbers with loss="squared"
    settings : a `leanset.Settings(...)` instead of the options below
    {options}

    Examples
    --------
    >>> import numpy as np, leanset
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(0, 3, 300)
    >>> features = rng.normal(size=(300, 4)) + np.eye(3, 4)[labels]
    >>> result = leanset.prune(features, labels, fraction=0.4)
    >>> len(result.removed), len(result.kept)
    (120, 180)
    >>> result.certificate.refit_change < result.certificate.random_refit_change_mean / 3
    True
    """
    _ = settings.budget  # before anything is read
    if settings.sign is not None:
        private_key(settings.sign)  # or say what is wrong with it
        if settings.out is None:
            raise InputError("`sign` does not apply to a run without `out`.")
    alone = nullcontext() if settings.out is None else locked(settings.out, wait=settings.wait)
    with (
        thread_count(settings.threads),
        reporter_for(settings.progress) as reporter,
        alone,
        dask_cluster(settings.dask) as cluster,
        computed_by(cluster),
        passes_shown(reporter) as watch,
        watched_by(watch),
    ):
        source = opened(features, labels, settings, reporter)
        if isinstance(source, Images):
            inputs = inputs_from(_statistics(source, settings, reporter), settings).named_after(source)
        else:
            refuse_network_options(settings)
            inputs = inputs_from(source, settings)
        return _saved(inputs, settings, reporter)


def _statistics(images: Images, settings: Settings, reporter: Reporter) -> HeadStatistics:
    """Return the head statistics of a network on images; check all settings before training it."""
    from leanset.capture import Network  # needs torch

    network = Network.for_images(images, settings)
    plan = plan_for(settings, network.outline())
    gradients = network.check_can_serve(plan.strategy)
    if settings.out is not None:
        RunFolder(settings.out).check(plan.identity(), overwrite=settings.overwrite, replaced_data=settings.retrain)
    elif settings.retrain:
        raise InputError("`retrain=True` does not apply to a run without `out`.")
    return network.statistics(gradients=gradients, out=settings.out, retrain=settings.retrain, reporter=reporter)


def _saved(inputs: Inputs, settings: Settings, reporter: Reporter) -> PruneResult:
    """Resume, run and save in the run folder, if one was given."""
    plan, out, overwrite = plan_for(settings, inputs.outline()), settings.out, settings.overwrite
    identity = plan.identity() | inputs.digests(plan.strategy.needs)
    columns = inputs.examples.columns
    identity |= {"columns": None if columns is None else list(columns)}
    identity |= {"data_fingerprint": fingerprint(inputs.examples), "leanset_version": __version__}
    if out is None:
        return _pruned(*_trusted(inputs, plan, settings, None, reporter), identity, None, reporter)
    folder = RunFolder(out)
    signed = settings.sign is None or folder.is_signed_with(settings.sign)
    if folder.is_finished(identity) and not overwrite and signed:
        folder.close()  # a run that was killed while it tidied up leaves stages
        return load(out)
    new = folder.open(identity, overwrite=overwrite)
    try:
        result = _pruned(*_trusted(inputs, plan, settings, folder, reporter), identity, folder, reporter)
        result.write_to(folder, settings.sign)
    except (InputError, DivergenceError):
        if new:
            folder.discard()  # so that the leftovers of a failed call do not block a corrected one
        raise
    return result


def _trusted(
    inputs: Inputs, plan: Plan, settings: Settings, folder: RunFolder | None, reporter: Reporter
) -> tuple[Inputs, Plan, Rows]:
    """Leave out examples whose label is probably wrong, if that was asked for; return their row numbers, too."""
    if settings.suspects != "drop":
        return inputs, plan, np.zeros(0, dtype=np.int64)
    n = len(inputs.examples)
    known = None if folder is None else folder.recalled("trusted", lambda stage: some_places(stage["places"], n))
    if known is not None:
        trusted = known
    else:
        with working_threads(settings.threads):
            task, *_ = fitted_task(inputs, plan, None, reporter)
            with reporter.stage("Looking for wrong labels"):
                trusted = trusted_places(task)
        if folder is not None:
            folder.save_stage("trusted", places=trusted)
    dropped = np.setdiff1d(np.arange(n), trusted)
    fewer = inputs.take(trusted)
    return fewer, plan_for(settings, fewer.outline()), inputs.examples.source_rows[dropped]


def _pruned(
    inputs: Inputs, plan: Plan, dropped: Rows, identity: dict[str, Any], folder: RunFolder | None, reporter: Reporter
) -> PruneResult:
    with working_threads(plan.settings.threads):
        task, fit, start_distance = fitted_task(inputs, plan, folder, reporter)
        search = plan.strategy.begin(task)
        with reporter.stage("Influence of every example"):
            influence_norm = search.norms
        sizes = MeasuredSizes(search, reporter, folder)
        answer = answer_within(plan.budget, sizes)
        if broken := plan.constraints.violations(answer.removed):
            raise LeansetError(f"the search broke its constraints ({'; '.join(broken)}); this is a bug in leanset.")
        frontier = Frontier(())
        if plan.settings.frontier:
            frontier = sizes.frontier(ladder_counts(len(task), plan.constraints.most), answer)
        suspect = None
        if plan.settings.suspects != "ignore":
            with reporter.stage("Looking for wrong labels"):
                suspect = task.suspect
        certificate = issue_certificate(
            task.head,
            fit,
            task.validation,
            answer,
            precondition=task.inverses.precondition,
            inverse=task.inverses.sums.name,
            random=sizes.random_baseline(answer.count, plan.settings.random_draws),
            minimised=search.minimised(answer.count),
            suspect=suspect,
            method=plan.strategy.method,
            formulation=plan.strategy.formulation,
            seed=plan.settings.seed,
            fingerprint=fingerprint(inputs.examples) if len(dropped) else identity["data_fingerprint"],
            start_distance=start_distance,
            sample_weight=inputs.examples.weight,
            findings=[*_near_chance(inputs, task), *_findings(plan, search, answer)],
        )
        rows, own = inputs.examples.source_rows, inputs.examples.weight
        return PruneResult(
            kept=rows[~answer.removed],
            removed=rows[answer.removed],
            dropped=dropped,
            rows=rows,
            certificate=certificate,
            frontier=frontier,
            labels=inputs.examples.targets.shown,
            influence_norm=influence_norm,
            label_probability=_label_probability(task),
            weight=answer.weights if own is None else answer.weights * own,
            suspect=np.zeros(len(rows), dtype=bool) if suspect is None else suspect,
            score=np.full(len(rows), np.nan) if search.scores is None else search.scores,
            settings=identity,
            names=None if inputs.examples.names is None else np.array(inputs.examples.names),
            origin=inputs.examples.origin,
        )


def _label_probability(task: Task) -> Vector:
    head, loss = task.head, task.head.loss
    columns = head.predicted, head.design.targets
    return map_rows(lambda x, p, y: loss.target_probability(p, y), head.rows, *columns, width=head.design.width)


def _near_chance(inputs: Inputs, task: Task) -> list[Finding]:
    targets, head = inputs.examples.targets, task.head
    if targets.kind != Classes.kind:
        return []
    columns = head.predicted if inputs.logits is None else inputs.logits, targets.values
    weight = inputs.examples.weight
    right = mean_of(map_rows(_is_right, head.rows, *columns, width=head.design.width), weight)
    largest = float(np.bincount(targets.values, weights=weight).max() / inputs.examples.total)
    return about_chance(right, largest, "The head" if inputs.logits is None else "The network")


def _is_right(x: Matrix, outputs: Matrix, labels: Rows) -> Vector:
    return np.asarray(outputs.argmax(axis=1) == labels, dtype=np.float64)


def _findings(plan: Plan, search: Search, answer: Removal) -> list[Finding]:
    found, task = search.findings(answer), search.task
    limit = plan.budget.limit(task.head.norm)
    if not plan.budget.is_size and plan.budget.measured(answer.measured) > limit:
        found.append(about_the_bound(limit))
    if plan.budget.needs_weights:
        found.append(about_the_fewest(len(task) - answer.count, task.head.free_weights))
    remark = task.inverses.steering.remark(task.head, search.influence)
    if remark is not None:
        found.append(about_the_vectors(remark))
    if plan.strategy.solver is not None and plan.strategy.solver.depends_on_speed:
        found.append(about_the_clock())
    return found
