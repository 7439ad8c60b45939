"""How much to remove."""

from dataclasses import dataclass
from typing import Annotated

from leanset._options import Checked, Option
from leanset._rules import a_count, a_share, a_share_or_number, positive, yes_or_no
from leanset.parsing import share_or_number_in
from leanset.select import BUDGETS, Budget, the_budget
from leanset.settings.panels import BUDGET


@dataclass(frozen=True, kw_only=True, eq=False)
class BudgetOptions(Checked):
    """How much to remove; exactly one of these is given."""

    fraction: Annotated[float | None, Option("share of examples to remove, in (0, 1)", BUDGET, rule=a_share)] = None
    keep: Annotated[
        float | int | None,
        Option(
            "share of examples to keep, in (0, 1), or the number of examples to keep, as a whole number",
            BUDGET,
            rule=a_share_or_number,
            read=share_or_number_in,
        ),
    ] = None
    count: Annotated[int | None, Option("number of examples to remove", BUDGET, rule=a_count)] = None
    epsilon: Annotated[
        float | None,
        Option("largest measured change of the head's weights, ‖Δθ‖", BUDGET, rule=positive()),
    ] = None
    relative_epsilon: Annotated[
        float | None,
        Option("largest measured change of the head's weights, as a share of their norm", BUDGET, rule=positive()),
    ] = None
    max_loss_gap: Annotated[
        float | None,
        Option(
            "largest measured change of the mean validation loss, up or down, at the far end of its 95 % interval",
            BUDGET,
            rule=positive(),
        ),
    ] = None
    max_accuracy_drop: Annotated[
        float | None,
        Option(
            "largest measured drop of the validation accuracy, e.g. 0.005, at the far end of its 95 % interval",
            BUDGET,
            rule=a_share,
        ),
    ] = None
    min_agreement: Annotated[
        float | None,
        Option(
            "least share of answers that stay the same, e.g. 0.99, on the validation examples, or on the training examples "
            "without any",
            BUDGET,
            rule=a_share,
        ),
    ] = None
    same_model: Annotated[
        bool,
        Option("as few examples as reproduce the head, with weights on them", BUDGET, rule=yes_or_no),
    ] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if sum(getattr(self, name) not in (None, False) for name in BUDGETS) > 1:
            _ = self.budget  # which says what is wrong

    @property
    def budget(self) -> Budget:
        """The given budget."""
        return the_budget(**{name: getattr(self, name) for name in BUDGETS})
