import itertools
import os

import numpy as np
from numpy.typing import ArrayLike

from leanset._errors import DivergenceError, InputError, LeansetError
from leanset._progress import Reporter, part_of, reporter_for
from leanset._threads import working_threads
from leanset._version import __version__
from leanset.data import Examples, fingerprint
from leanset.head import HeadFit
from leanset.head.statistics import HeadStatistics
from leanset.influence import Inverse
from leanset.pipeline.budgets import expected_evaluations, ladder_counts, largest_within
from leanset.pipeline.certification import issue_certificate
from leanset.pipeline.coverage import Coverage
from leanset.pipeline.evaluate import Evaluation, measured
from leanset.pipeline.evaluations import FULL_EFFORT, LIGHT_EFFORT, SEARCH_EFFORT, Evaluations
from leanset.pipeline.formulations import Formulation, NewtonFormulation, PaperFormulation
from leanset.pipeline.frontier import Frontier
from leanset.pipeline.ground import Ground, prepare_ground
from leanset.pipeline.inputs import Inputs, inputs_from
from leanset.pipeline.result import PruneResult, load
from leanset.pipeline.scored import ScoredFormulation
from leanset.pipeline.settings import DEFAULT_MEMORY, PruneSettings, checked_settings, constraints_of
from leanset.problem import Constraints
from leanset.runs import RunFolder
from leanset.scores import Method
from leanset.solve import Solver

FORMULATIONS: dict[str, type[Formulation]] = {"newton": NewtonFormulation, "paper": PaperFormulation}


def prune(
    features: ArrayLike | HeadStatistics,
    labels: ArrayLike | None = None,
    *,
    fraction: float | None = None,
    count: int | None = None,
    epsilon: float | None = None,
    relative_epsilon: float | None = None,
    max_loss_gap: float | None = None,
    validation: tuple[ArrayLike, ArrayLike] | None = None,
    method: Method | str | None = None,
    l2: float | None = None,
    standardize: bool | None = None,
    class_balance: str | int | None = None,
    pinned: ArrayLike | None = None,
    formulation: str = "newton",
    coverage: Coverage | str = "auto",
    inverse: Inverse | None = None,
    solver: Solver | None = None,
    seed: int = 0,
    head: ArrayLike | None = None,
    random_draws: int = 5,
    frontier: bool = True,
    memory: int = DEFAULT_MEMORY,
    threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    progress: bool | None = None,
) -> PruneResult:
    """Find the examples whose joint removal changes the head least, and certify what their removal does.

    Exactly one budget must be given. With `fraction` or `count` the size is fixed and the change is made small; with
    `epsilon`, `relative_epsilon` or `max_loss_gap` the set is made large while the *measured* quantity stays within.

    Parameters
    ----------
    features : (n, d) array of finite numbers; or the statistics of a network (`leanset.torch.capture`), which bring
        labels, validation data and the network's own head
    labels : (n,) integers 0..C-1, or strings
    fraction, count : how much to remove, as a share in (0, 1) or as a number
    epsilon : most the head's weights may change, ‖Δθ‖
    relative_epsilon : the same as a share of the head's norm
    max_loss_gap : most the validation loss may rise
    validation : held-out (features, labels)
    method : what chooses the examples: leanset's own search if None, or a method of the literature by name ("el2n") or with
        options (`leanset.scores.EL2N(...)`). Budgets, constraints and certificate are the same for all.
    l2 : weight of the penalty (l2/2)‖θ‖² on all weights, bias included; 1e-4, or a network's weight decay, if None
    standardize : scale the features by their own mean and standard deviation first; if None, only when arrays were given
    class_balance : "proportional" (default), "none", or the least number of each class to keep. The paper's formulation
        has "none" by default, as published. No class is ever wiped out.
    pinned : row numbers, or a mask, of examples that must stay
    formulation : "newton", or "paper" for problems (a) and (b) as published
    coverage : "auto" keeps some of every difficulty where the statistics bring the dynamics of a training, since a network
        that is trained anew needs them; "none", or `leanset.Coverage(...)` with options
    inverse : how to invert the Hessian, e.g. `leanset.ConjugateGradients()`; chosen from the head's size if None
    solver : how to search, e.g. `leanset.AdaptiveAnnealing(seconds=10)`
    seed : of everything that is random; the answer does not depend on the number of threads
    head : (C, d+1) weights, bias last, of a head for the features as given, to start from; it is polished to a minimum
    random_draws : random removals to compare with
    frontier : also search the other sizes of the frontier
    memory : bytes that stored influence vectors and Hessians may take
    threads : worker threads; all cores if None
    out : run folder to write, and to resume from
    overwrite : replace another run in `out`
    progress : show progress bars; None shows them if a person is watching

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
    inputs = inputs_from(features, labels, validation=validation, head=head, l2=l2, standardize=standardize)
    settings = checked_settings(
        inputs,
        fraction=fraction,
        count=count,
        epsilon=epsilon,
        relative_epsilon=relative_epsilon,
        max_loss_gap=max_loss_gap,
        class_balance=class_balance,
        pinned=pinned,
        method=method,
        formulation=formulation,
        coverage=coverage,
        inverse=inverse,
        solver=solver,
        seed=seed,
        random_draws=random_draws,
        frontier=frontier,
        memory=memory,
    )
    return prune_inputs(inputs, settings, threads=threads, out=out, overwrite=overwrite, progress=progress)


def prune_inputs(
    inputs: Inputs,
    settings: PruneSettings,
    *,
    threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    progress: bool | None = None,
) -> PruneResult:
    """Do what `prune` does, from checked inputs and settings; the front ends' common entrance."""
    constraints = constraints_of(inputs.examples, settings)
    identity = run_identity(inputs.examples, settings)
    folder, new = None, False
    if out is not None:
        folder = RunFolder(out)
        if folder.is_finished(identity) and not overwrite:
            return load(out)
        new = folder.open(identity, overwrite=overwrite)
    try:
        with working_threads(threads), reporter_for(progress) as reporter:
            result = _run(inputs, settings, constraints, identity, folder, reporter)
        if folder is not None:
            result.write_to(folder)
    except (InputError, DivergenceError):
        if folder is not None and new:
            folder.discard()  # a call that cannot succeed leaves nothing behind that would block a corrected one
        raise
    return result


def run_identity(examples: Examples, settings: PruneSettings) -> dict[str, object]:
    """Return what a run's answer depends on."""
    return settings.to_dict() | {"data_fingerprint": fingerprint(examples), "leanset_version": __version__}


def _run(
    inputs: Inputs,
    settings: PruneSettings,
    constraints: Constraints,
    identity: dict[str, object],
    folder: RunFolder | None,
    reporter: Reporter,
) -> PruneResult:
    examples, ground = inputs.examples, _ground(inputs, settings, constraints, folder, reporter)
    formulation = ScoredFormulation(ground) if settings.method else FORMULATIONS[settings.formulation](ground)
    with reporter.stage("Influence of every example"):
        influence_norm = formulation.norms
    evaluations = Evaluations(formulation, reporter, folder)
    answer = _answer(formulation, evaluations, reporter)
    if broken := constraints.violations(answer.removed):
        raise LeansetError(f"the search broke its constraints ({'; '.join(broken)}); this is a bug in leanset.")
    curve = Frontier(())
    if settings.frontier:
        curve = evaluations.frontier(ladder_counts(len(examples), constraints.most), answer)
    certificate = issue_certificate(evaluations, answer, str(identity["data_fingerprint"]))
    own = ground.state.probability[np.arange(len(examples)), examples.labels]
    score = formulation.scores if isinstance(formulation, ScoredFormulation) else None
    return PruneResult(
        kept=examples.source_rows[~answer.removed],
        removed=examples.source_rows[answer.removed],
        rows=examples.source_rows,
        certificate=certificate,
        frontier=curve,
        labels=np.array(examples.classes)[examples.labels],
        influence_norm=influence_norm,
        label_probability=own,
        score=np.full(len(examples), np.nan) if score is None else score,
        settings=identity,
    )


def _ground(
    inputs: Inputs,
    settings: PruneSettings,
    constraints: Constraints,
    folder: RunFolder | None,
    reporter: Reporter,
) -> Ground:
    known = None
    if folder is not None and folder.has_stage("head"):
        stage = folder.load_stage("head")
        known = HeadFit(
            stage["theta"], float(stage["gradient_norm"]), float(stage["error_bound"]), int(stage["iterations"])
        )
    with reporter.stage("Fitting the head"):
        ground = prepare_ground(inputs, settings, constraints, known)
    if folder is not None and known is None:
        fit = ground.fit
        folder.save_stage(
            "head",
            theta=fit.theta,
            gradient_norm=np.array(fit.gradient_norm),
            error_bound=np.array(fit.error_bound),
            iterations=np.array(fit.iterations),
        )
    return ground


def _answer(formulation: Formulation, evaluations: Evaluations, reporter: Reporter) -> Evaluation:
    ground = formulation.ground
    budget, n = ground.settings.budget, len(ground.examples)
    if budget.is_size:
        return _searched(evaluations, reporter, budget.size(n))
    limit = budget.limit(ground.head_norm)
    if isinstance(formulation, PaperFormulation):
        return _grown(formulation, limit, evaluations, reporter)
    measure = _loss_gap if budget.kind == "max_loss_gap" else _refit_change
    expected, visited = expected_evaluations(), itertools.count()
    with reporter.stage("Largest set within the budget", units=expected, unit="sizes") as advance:

        def evaluated(count: int, effort: float) -> Evaluation:
            return evaluations.at(count, effort, part_of(advance, min(next(visited), expected - 1), expected))

        size, effort = largest_within(
            lambda count, effort: measure(evaluated(count, effort)) <= limit,
            n,
            ground.constraints.most,
            quick=LIGHT_EFFORT,
            thorough=SEARCH_EFFORT,
        )
        found = evaluated(size, effort)
    if size == 0:
        return found
    full = _searched(evaluations, reporter, size)
    return full if measure(full) <= measure(found) else found


def _searched(evaluations: Evaluations, reporter: Reporter, count: int) -> Evaluation:
    with reporter.stage(f"Best {count:,} to remove", units=100, unit="%") as advance:
        return evaluations.at(count, FULL_EFFORT, advance)


def _grown(formulation: PaperFormulation, limit: float, evaluations: Evaluations, reporter: Reporter) -> Evaluation:
    answer = evaluations.recalled("growth")
    if answer is None:
        with reporter.stage("Growing the largest set, as published", units=100, unit="%") as advance:
            found = formulation.grow(limit, advance)
        answer = measured(formulation, found)
        evaluations.keep("growth", answer)
    return answer


def _refit_change(answer: Evaluation) -> float:
    return answer.refit_change


def _loss_gap(answer: Evaluation) -> float:
    assert answer.validation_loss_gap is not None  # checked with the settings
    return answer.validation_loss_gap
