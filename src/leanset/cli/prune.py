from dataclasses import replace
from typing import Any

from leanset._progress import reporter_for
from leanset._threads import thread_count
from leanset.cli import names, options, show
from leanset.cli.guard import guarded
from leanset.cli.sources import network_settings, opened, row_numbers
from leanset.data import Images
from leanset.pipeline import prune_inputs
from leanset.pipeline.estimate import Estimate, estimate
from leanset.pipeline.inputs import Inputs, inputs_from
from leanset.pipeline.settings import DEFAULT_MEMORY, PruneSettings, checked_settings, constraints_of
from leanset.runs import RunFolder


@guarded
def prune(
    source: options.Source,
    fraction: options.Fraction = None,
    count: options.Count = None,
    epsilon: options.Epsilon = None,
    relative_epsilon: options.RelativeEpsilon = None,
    max_loss_gap: options.MaxLossGap = None,
    out: options.Out = None,
    method: options.Method = "leanset",
    remove: options.Remove = None,
    l2: options.L2 = None,
    standardize: options.Standardize = None,
    class_balance: options.Balance = None,
    pinned: options.Pinned = None,
    formulation: options.Formulation = "newton",
    coverage: options.Coverage = "auto",
    inverse: options.Inverse = None,
    solver: options.Solver = None,
    seconds: options.Seconds = None,
    proposals: options.Proposals = None,
    seed: options.Seed = 0,
    random_draws: options.RandomDraws = 5,
    frontier: options.WithFrontier = True,
    memory: options.Memory = str(DEFAULT_MEMORY),
    threads: options.Threads = None,
    overwrite: options.Overwrite = False,
    dry_run: options.DryRun = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    model: options.Model = None,
    checkpoint: options.Checkpoint = None,
    stem: options.Stem = None,
    preset: options.Preset = None,
    epochs: options.Epochs = None,
    batch_size: options.BatchSize = None,
    lr: options.Rate = None,
    weight_decay: options.WeightDecay = None,
    flip: options.Flip = None,
    crop: options.Crop = None,
    runs: options.Runs = None,
    retrain: options.Retrain = False,
    device: options.Device = None,
    devices: options.Devices = None,
    mean: options.Mean = None,
    std: options.Deviation = None,
    on_bad_image: options.OnBadImage = None,
    image_size: options.ImageSize = None,
    label_column: options.LabelColumn = None,
    image_column: options.ImageColumn = None,
) -> None:
    """Find the examples to drop and certify what dropping them does.

    Features are pruned as they are. Images need a network: it is trained, or a checkpoint is taken;
    then it is shown all images, and the inputs of its last layer are pruned.
    """
    progress = False if quiet or as_json else None
    data = opened(
        source,
        threads=threads,
        progress=progress,
        on_bad_image=on_bad_image,
        image_size=image_size,
        label_column=label_column,
        image_column=image_column,
    )

    def settings_for(inputs: Inputs) -> PruneSettings:
        return checked_settings(
            inputs,
            fraction=fraction,
            count=count,
            epsilon=epsilon,
            relative_epsilon=relative_epsilon,
            max_loss_gap=max_loss_gap,
            class_balance=names.balance_from(class_balance),
            pinned=None if pinned is None else row_numbers("--pinned", pinned),
            method=names.method_from(method, remove),
            formulation=formulation,
            coverage=coverage,
            inverse=names.inverse_named(inverse),
            solver=names.solver_named(solver, seconds, proposals, formulation),
            seed=seed,
            random_draws=random_draws,
            frontier=frontier,
            memory=names.bytes_from(memory),
        )

    network_options: dict[str, Any] = {
        "model": model,
        "checkpoint": checkpoint,
        "stem": stem,
        "preset": preset,
        "epochs": epochs,
        "batch_size": batch_size,
        "lr": lr,
        "weight_decay": weight_decay,
        "flip": flip,
        "crop": crop,
        "runs": runs,
        "device": device,
        "devices": devices,
        "mean": mean,
        "std": std,
    }
    if isinstance(data, Images):
        network = network_settings(data, seed=seed, warn=l2 is None, **network_options)
        from leanset.pipeline.network import network_statistics
        from leanset.pipeline.rehearsal import network_estimate, rehearsed_inputs

        # Whatever is wrong with the options is said now, not after an hour of training.
        decay = network.recipe.weight_decay if l2 is None else l2
        stand_in = rehearsed_inputs(data, network, l2=decay, standardize=bool(standardize))
        settings = settings_for(stand_in)
        gradients = network.check_can_serve(settings.method)
        most = constraints_of(stand_in.examples, settings).most
        if dry_run:
            cost = _cost(stand_in, settings, most, threads)
            with thread_count(threads):
                before = network_estimate(data, network, gradients=gradients)
            _show_cost(replace(cost, stages=(*before, *cost.stages)), source, settings, as_json)
            return
        if out is not None:
            RunFolder(out).check(settings.known_before_capture(), overwrite=overwrite, replaced_data=retrain)
        elif retrain:
            names.refuse("a run without --out", retrain=retrain)
        with thread_count(threads), reporter_for(progress) as reporter:
            data = network_statistics(data, network, gradients=gradients, out=out, retrain=retrain, reporter=reporter)
    else:
        names.refuse("features, which are pruned without a network", **network_options, retrain=retrain or None)
    inputs = inputs_from(data, l2=l2, standardize=standardize)
    settings = settings_for(inputs)
    if dry_run:
        _show_cost(
            _cost(inputs, settings, constraints_of(inputs.examples, settings).most, threads), source, settings, as_json
        )
        return
    result = prune_inputs(inputs, settings, threads=threads, out=out, overwrite=overwrite, progress=progress)
    if as_json:
        show.show_json(result.certificate.to_dict())
    elif not quiet:
        show.show_result(result, None if out is None else str(out))


def _cost(inputs: Inputs, settings: PruneSettings, most: int, threads: int | None) -> Estimate:
    n, width = inputs.examples.features.shape
    return estimate(n, width, len(inputs.examples.classes), settings, most, threads=threads)


def _show_cost(cost: Estimate, source: str, settings: PruneSettings, as_json: bool) -> None:
    budget = settings.budget
    if as_json:
        show.show_json(cost.to_dict())
    else:
        show.show_estimate(cost, f"leanset prune {source}: {budget.kind} {budget.value:g}")
