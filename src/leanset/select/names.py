"""Return strategies by name; only this file knows the names of formulations."""

from dataclasses import replace

from leanset._errors import InputError
from leanset.scores import Method, Score, method_named
from leanset.select.by_score import ByScore
from leanset.select.coverage import Coverage
from leanset.select.newton import Newton
from leanset.select.published import Published
from leanset.select.strategy import Strategy
from leanset.select.weighted import Weighted
from leanset.solve import Solver

FORMULATIONS: dict[str, type[Newton] | type[Published]] = {kind.formulation: kind for kind in (Newton, Published)}


def strategy_named(
    formulation: str,
    method: Method | str | None,
    *,
    remove: str | None = None,
    coverage: Coverage | None = None,
    solver: Solver | None = None,
    weight_bounds: tuple[float, float] | None = None,
    minimise: str | None = None,
) -> Strategy:
    """Return the strategy for a formulation and a method.

    Examples
    --------
    >>> strategy_named("newton", "el2n").method, strategy_named("paper", None).balance
    ('el2n', 'none')
    """
    kind = FORMULATIONS[formulation]
    chosen = _method(method, remove)
    if weight_bounds is not None:
        beside: dict[str, object] = {
            "method": None if chosen is None else chosen.name,
            "formulation": None if kind is Newton else formulation,
            "coverage": coverage,
        }
        for name, value in beside.items():
            if value is not None:
                raise InputError(f"`weights=True` chooses examples and weights together; leave `{name}={value!r}` out.")
        weighted = Weighted(*weight_bounds, minimise)
        return weighted if solver is None else weighted.with_solver(solver)
    if chosen is None:
        own = Newton(coverage, minimise=minimise) if kind is Newton else kind()
        if minimise is not None and kind is not Newton:
            raise InputError(f"`formulation={formulation!r}` minimises ‖Δθ‖ as published; leave `minimise` out.")
        return own if solver is None else own.with_solver(solver)
    if kind is not Newton:
        raise InputError(
            f"`method={method!r}` and `formulation={formulation!r}` are two ways to choose examples; give only one."
        )
    searching: dict[str, object] = {"solver": solver, "minimise": minimise}
    for name, value in searching.items():
        if value is not None:
            raise InputError(f"`method={chosen.name!r}` does not search, so `{name}={value!r}` does not apply to it.")
    return ByScore(chosen)


def covers(formulation: str, method: Method | str | None) -> bool:
    """Return whether coverage applies to a formulation and a method."""
    return FORMULATIONS[formulation] is Newton and _method(method, None) is None


def _method(method: Method | str | None, remove: str | None) -> Method | None:
    own = method is None or method == "leanset"
    chosen = None if own else method_named(method) if isinstance(method, str) else method
    if remove is None:
        return chosen
    if not isinstance(chosen, Score):
        raise InputError(
            f"`remove={remove!r}` does not apply to {chosen.name if chosen else 'leanset'}, which does not rank by a score."
        )
    return replace(chosen, remove=remove)  # type: ignore[type-var]
