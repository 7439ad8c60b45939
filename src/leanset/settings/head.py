"""The problem that the head solves."""

from dataclasses import dataclass
from typing import Annotated

from numpy.typing import ArrayLike

from leanset._options import Checked, Option
from leanset._rules import not_negative, one_of, positive, yes_or_no
from leanset.head import LOSSES, PENALTIES
from leanset.settings.panels import HEAD, READING

_LOSSES = ", ".join(LOSSES)


@dataclass(frozen=True, kw_only=True, eq=False)
class HeadOptions(Checked):
    """The head's problem: its held-out data, its loss and its penalty."""

    validation: Annotated[
        tuple[ArrayLike, ...] | None,
        Option(
            "held-out (features, labels), or (features, labels, sample_weight)",
            READING,
            on_command_line=False,
            decides=False,
        ),
    ] = None
    loss: Annotated[
        str,
        Option(
            f"loss of the head: {_LOSSES}; softmax for one class per example, sigmoid for any number "
            "of 0/1 labels, squared for numbers",
            HEAD,
            rule=one_of(*LOSSES),
        ),
    ] = "softmax"
    l2: Annotated[
        float | None,
        Option(
            "weight of the penalty (l2/2)‖θ‖², 0 where the head has a minimum without; if not given, the network's weight "
            "decay, or for features the value with the lowest loss on the validation examples, or on held-out training "
            "examples without any",
            HEAD,
            rule=not_negative,
        ),
    ] = None
    C: Annotated[
        float | None,
        Option(
            "scikit-learn's C (for squared, 1/alpha of Ridge) in place of l2: the head is scikit-learn's on the features "
            "as they are, so unless you set them, penalise_bias and standardize are False and penalty is 'total'. "
            "l2 = 1/(C·n) for n examples, 2/(C·n) for a softmax of two classes",
            HEAD,
            rule=positive(),
        ),
    ] = None
    bias: Annotated[
        bool,
        Option("whether the head has a bias; scikit-learn's fit_intercept", HEAD, rule=yes_or_no),
    ] = True
    penalise_bias: Annotated[
        bool | None,
        Option(
            "whether the penalty is also on the bias; scikit-learn leaves its intercept out. If not given, yes, unless C is "
            "given",
            HEAD,
            rule=yes_or_no,
        ),
    ] = None
    penalty: Annotated[
        str | None,
        Option(
            "what stays fixed when you train on less: 'mean' leaves l2 alone (torch's weight decay), 'total' leaves "
            "n·l2 alone (scikit-learn's C); if not given, 'total' for features and 'mean' for a network",
            HEAD,
            rule=one_of(*PENALTIES),
        ),
    ] = None
    standardize: Annotated[
        bool | None,
        Option(
            "scale the features by their mean and standard deviation first; if not given, only features that "
            "come without a network, and not with C",
            HEAD,
            rule=yes_or_no,
        ),
    ] = None
