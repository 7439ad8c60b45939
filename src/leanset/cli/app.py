"""The command line: parse, call, show.

Exit codes: 0 done; 1 a re-check failed; 2 the call or the data are wrong; 3 a folder cannot be read or written, or
a computation cannot be finished; 130 interrupted.
"""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from leanset import __version__, load
from leanset._errors import InputError
from leanset.cli import names, show
from leanset.cli.demo import run_demo
from leanset.cli.guard import guarded
from leanset.data import read_npz
from leanset.pipeline import prune_examples
from leanset.pipeline.estimate import estimate
from leanset.pipeline.recheck import verify_run
from leanset.pipeline.run import DEFAULT_MEMORY
from leanset.pipeline.settings import checked_budget, checked_settings, constraints_of

app = typer.Typer(
    help="Which training examples can go, how many, and what will it cost?",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)

Data = Annotated[
    Path, typer.Argument(help="npz file with features, labels and, if wanted, val_features and val_labels.")
]
Fraction = Annotated[
    float | None, typer.Option(help="Share to remove, in (0, 1).", rich_help_panel="Budget: exactly one")
]
Count = Annotated[int | None, typer.Option(help="Number to remove.", rich_help_panel="Budget: exactly one")]
Epsilon = Annotated[
    float | None, typer.Option(help="Most that the head may change, measured.", rich_help_panel="Budget: exactly one")
]
RelativeEpsilon = Annotated[
    float | None, typer.Option(help="The same, as a share of the head's norm.", rich_help_panel="Budget: exactly one")
]
MaxLossGap = Annotated[
    float | None, typer.Option(help="Most that the validation loss may rise.", rich_help_panel="Budget: exactly one")
]
Out = Annotated[Path | None, typer.Option(help="Run folder to write, and to resume from.")]
Balance = Annotated[str | None, typer.Option(help="proportional, none, or the least number of each class to keep.")]
Pinned = Annotated[Path | None, typer.Option(help="Text file with the row numbers that must stay, one a line.")]


@app.command()
@guarded
def prune(
    data: Data,
    fraction: Fraction = None,
    count: Count = None,
    epsilon: Epsilon = None,
    relative_epsilon: RelativeEpsilon = None,
    max_loss_gap: MaxLossGap = None,
    out: Out = None,
    l2: Annotated[float, typer.Option(help="Weight of the penalty.")] = 1e-4,
    standardize: Annotated[bool, typer.Option(help="Scale the features first.")] = True,
    class_balance: Balance = None,
    pinned: Pinned = None,
    formulation: Annotated[str, typer.Option(help="newton, or paper (as published).")] = "newton",
    inverse: Annotated[
        str | None, typer.Option(help="cholesky, cg, lissa or kronecker; chosen for you if not given.")
    ] = None,
    solver: Annotated[str | None, typer.Option(help="adaptive, annealing (the paper's) or exhaustive.")] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Time for each search, instead of a number of proposals.")
    ] = None,
    proposals: Annotated[int | None, typer.Option(help="Exchanges that each search tries.")] = None,
    seed: Annotated[int, typer.Option(help="Of everything that is random.")] = 0,
    random_draws: Annotated[int, typer.Option(help="Random removals to compare with.")] = 5,
    frontier: Annotated[bool, typer.Option(help="Also search the other sizes.")] = True,
    memory: Annotated[str, typer.Option(help="For stored vectors and Hessians, e.g. 2GiB.")] = str(DEFAULT_MEMORY),
    threads: Annotated[int | None, typer.Option(help="Worker threads; all cores if not given.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace another run in the output folder.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would cost and stop.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the certificate as JSON and nothing else.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress and no table.")] = False,
) -> None:
    """Find the examples to drop and certify what dropping them does."""
    examples = read_npz(data)
    budget = checked_budget(
        len(examples),
        fraction=fraction,
        count=count,
        epsilon=epsilon,
        relative_epsilon=relative_epsilon,
        max_loss_gap=max_loss_gap,
    )
    settings = checked_settings(
        examples,
        budget=budget,
        l2=l2,
        standardize=standardize,
        class_balance=names.balance_from(class_balance),
        pinned=None if pinned is None else _row_numbers(pinned),
        formulation=formulation,
        inverse=names.inverse_named(inverse),
        solver=names.solver_named(solver, seconds, proposals, formulation),
        seed=seed,
        random_draws=random_draws,
        frontier=frontier,
        memory=names.bytes_from(memory),
        head=None,
    )
    if dry_run:
        most = constraints_of(examples, settings).most
        n, width = examples.features.shape
        cost = estimate(n, width, len(examples.classes), settings, most, threads=threads)
        if as_json:
            show.show_json(cost.to_dict())
        else:
            show.show_estimate(
                cost, f"leanset prune {data.name}: {len(examples):,} examples, {budget.kind} {budget.value:g}"
            )
        return
    progress = False if quiet or as_json else None
    result = prune_examples(examples, settings, threads=threads, out=out, overwrite=overwrite, progress=progress)
    if as_json:
        show.show_json(result.certificate.to_dict())
    elif not quiet:
        show.show_result(result, None if out is None else str(out))


@app.command()
@guarded
def verify(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    data: Annotated[Path, typer.Option(help="The npz file that the run was made from.")],
) -> None:
    """Re-check a saved run with independent code; exit code 1 if anything does not hold."""
    examples = read_npz(data)
    failed = []
    for check in verify_run(run, examples):
        show.show_check(check)
        if not check.holds:
            failed.append(check.name)
    if failed:
        show.OUT.print(f"[red bold]Does not hold:[/red bold] {', '.join(failed)}.")
        raise typer.Exit(1)
    show.OUT.print("[green]Everything that was checked holds.[/green]")


@app.command("show")
@guarded
def show_run(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    figures: Annotated[
        Path | None, typer.Option(help="Existing folder to draw figures into (needs the report extra).")
    ] = None,
) -> None:
    """Show a saved run again: its table, its frontier and, if wanted, its figures."""
    result = load(run)
    show.show_result(result, str(run))
    if len(result.frontier):
        show.show_frontier(result.frontier)
    if figures is not None:
        if not figures.is_dir():
            raise InputError(f"--figures {figures}: is not an existing folder.")
        show.draw_figures(result, figures)


@app.command()
@guarded
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the run and its figures.")] = Path("leanset-demo"),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier demo there.")] = False,
) -> None:
    """Tell the whole story on scikit-learn's handwritten digits, in under two minutes."""
    run_demo(out, overwrite=overwrite)


def _version(wanted: bool) -> None:
    if wanted:
        show.OUT.print(f"leanset {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def _row_numbers(path: Path) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    try:
        lines = path.read_text().split()
        return np.array([int(line) for line in lines], dtype=np.int64)
    except OSError as error:
        raise InputError(f"--pinned {path}: cannot be read: {error.strerror}.") from None
    except ValueError:
        raise InputError(f"--pinned {path}: must hold one row number a line.") from None


def main() -> None:
    """Run the command line."""
    app()
