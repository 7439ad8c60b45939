"""What a comparison on features would take, and what of it is finished."""

from dataclasses import replace

from leanset.cost import estimate_plan
from leanset.inputs import inputs_from
from leanset.judge import FULL, Forecast, Share, choice_name, prune_options
from leanset.plan import Outline, plan_for
from leanset.settings import Settings
from leanset.trials.cell import Cell
from leanset.trials.finished import Finished
from leanset.trials.study import Study

_ONCE = ("choosing l2", "fitting the head")  # stages of a run that a comparison does once for each split


def forecast_of(study: Study, finished: Finished) -> Forecast:
    """Estimate the time of a comparison from its shapes and a short test of this machine; nothing is fitted or written."""
    outline = inputs_from(study.splits.data(0), study.settings).outline()
    left = {key for key in study.all_keys() if finished.get(choice_name(*key), Cell) is None}
    on_all = [key for key in study.all_keys() if key[0] == FULL]
    needed = {study.splits.nth(seed) for _, _, seed in left}
    once = sum(_stages(study.settings, study.fractions[0], outline).get(stage, 0.0) for stage in _ONCE)
    shares = [
        Share(
            work="head of all data, with its l2" if study.settings.l2 is None else "head of all data",
            number=len(on_all),
            finished=sum(key not in left for key in on_all),
            each=once,
            left=once * len(needed),  # a split with anything left is prepared again
        )
    ]
    for method in study.methods:
        mine = [key for key in study.all_keys() if key[0] == method]
        each = {fraction: _run(study.settings, method, fraction, outline) for fraction in study.fractions}
        shares.append(
            Share(
                work=f"{method}: choosing, and a head on what it keeps",
                number=len(mine),
                finished=sum(key not in left for key in mine),
                each=sum(each[key[1]] for key in mine) / len(mine),
                left=sum(each[key[1]] for key in mine if key in left),
            )
        )
    return Forecast(tuple(shares))


def _run(settings: Settings, method: str, fraction: float, outline: Outline) -> float:
    """Return the seconds of one run of a method, under the l2 that its split has chosen."""
    known = settings if settings.l2 is not None else replace(settings, l2=1.0)
    return sum(_stages(replace(known, **prune_options(method)), fraction, outline).values())


def _stages(settings: Settings, fraction: float, outline: Outline) -> dict[str, float]:
    return dict(estimate_plan(plan_for(replace(settings, fraction=fraction), outline), outline).stages)
