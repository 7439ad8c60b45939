from dataclasses import asdict, dataclass, fields
from typing import Any

from leanset._kinds import TEXT, Kind, check_kinds, kinds_of, list_of
from leanset.certify.findings import FOR_A_NETWORK, Finding

_FAR = 0.5  # of the head's norm; the heads of networks that were trained for a few epochs only are this far and further
_FINDING = Kind("", lambda item: isinstance(item, dict) and TEXT.fits(item.get("code")) and TEXT.fits(item.get("text")))
_FINDINGS = list_of(_FINDING, "a list of findings, each with a code and a text")


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """The effect of removing the chosen examples on the head: bounded, predicted and measured.

    All changes are Euclidean norms of the change of the head's weights (bias included), for the features as the head
    sees them. The certificate is about the head on fixed features; only retraining shows the effect on a whole network.
    Where the examples came with a `sample_weight`, every loss, share and mean here is a weighted one.

    Attributes
    ----------
    n, removed : number of examples, number of removed examples
    influence_change : ‖Δθ‖ by first-order influence with the full Hessian; in leanset's formulation centred and divided
        by the number kept, in the paper's formulation as published
    newton_change : ‖Δθ‖ by one Newton step with the Hessian of the kept examples
    refit_change : ‖Δθ‖ measured by refitting the head to its minimum on the kept examples
    random_refit_change_mean, random_refit_change_sd : the same for random removals of equal size and equal class counts;
        in a run with weights each of their kept examples counts n/(n−m) times
    head_norm : ‖θ̂‖ of the head fitted on all examples
    l2 : weight of the penalty
    inverse, inverse_residual : how H⁻¹ was applied for `influence_change`, and the residual ‖H x − b‖ / ‖b‖
    validation_loss : mean validation loss of the head fitted on all examples; like all that follow, None without
        validation data
    validation_loss_gap : that of the refitted head minus it
    validation_loss_gap_low, validation_loss_gap_high : paired 95 % interval
    validation_accuracy, validation_accuracy_change : the same for the share of right answers; None if the loss has none
    validation_accuracy_change_low, validation_accuracy_change_high : paired 95 % interval
    validation_same_answers : share of the validation examples on which both heads give the same answer
    training_loss_gap, training_same_answers : the same on all training examples, removed ones included
    random_validation_loss_gap, random_validation_accuracy_change, random_validation_same_answers,
    random_training_loss_gap, random_training_same_answers : the same after random removals, on average
    loss_above_random : mean loss of the refitted head minus that after random removals, on the validation examples, or on
        the training examples without any; negative is better than random
    loss_above_random_low, loss_above_random_high : 95 % interval over examples and draws
    first_order_bound, second_order_bound : ‖∇L‖·‖Δθ‖ and Böhning's ½ΔθᵀBΔθ; their sum bounds the loss gap
    seed, leanset_version, data_fingerprint : needed to reproduce the result
    method : how the examples were chosen: "leanset", or a method of the literature
    formulation : "newton" or "paper"; how `influence_change` was computed
    loss : "softmax", "sigmoid" or "squared"
    penalty : what stays fixed when training on less: "mean" (l2) or "total" (n·l2)
    penalised_bias : whether the penalty is also on the bias. If not, the features are centred, so the bias in the changes
        is the output at the mean example
    train_l2 : l2 to train the head with on the kept examples
    other_penalty_change : ‖Δθ‖ measured by a refit under the other penalty
    minimised : what the search minimised: "parameters" (‖Δθ‖) or "loss" (its rise on all training examples)
    weighted : whether leanset gave the kept examples weights, or factors on the weights that they came with
    sample_weighted : whether the examples came with weights of their own, a `sample_weight`
    least_weight, largest_weight : range of the weights to train the kept examples with; 1 if they have none
    effective_size : (Σw)²/Σw², how many evenly weighted examples the kept ones are worth
    suspects_among_kept, suspects_among_removed : share of examples whose label is probably wrong; None if not looked for
    refit_error_bound : bound on the error of `refit_change`, because fits stop before the exact minimum; proven if
        `penalised_bias`, else estimated from the last Newton steps
    start_head_distance : ‖θ̂ − given head‖ if a head was given, else None
    outcome : how the search ended, with advice
    findings : facts needed to interpret the numbers, each with a code

    Examples
    --------
    >>> import leanset
    >>> result = leanset.prune([[0.1], [1], [2], [3.1]], [0, 1, 0, 1], count=1, l2=1, frontier=False)
    >>> c = result.certificate
    >>> c.n, c.removed, c.refit_change < c.head_norm
    (4, 1, True)
    """

    n: int
    removed: int
    influence_change: float
    newton_change: float
    refit_change: float
    random_refit_change_mean: float
    random_refit_change_sd: float
    head_norm: float
    l2: float
    inverse: str
    inverse_residual: float
    validation_loss: float | None
    validation_loss_gap: float | None
    validation_loss_gap_low: float | None
    validation_loss_gap_high: float | None
    validation_accuracy: float | None
    validation_accuracy_change: float | None
    validation_accuracy_change_low: float | None
    validation_accuracy_change_high: float | None
    validation_same_answers: float | None
    training_loss_gap: float
    training_same_answers: float | None
    random_validation_loss_gap: float | None
    random_validation_accuracy_change: float | None
    random_validation_same_answers: float | None
    random_training_loss_gap: float
    random_training_same_answers: float | None
    loss_above_random: float
    loss_above_random_low: float
    loss_above_random_high: float
    first_order_bound: float
    second_order_bound: float
    seed: int
    leanset_version: str
    data_fingerprint: str
    method: str
    formulation: str
    loss: str
    penalty: str
    penalised_bias: bool
    train_l2: float
    other_penalty_change: float
    minimised: str
    weighted: bool
    sample_weighted: bool
    least_weight: float
    largest_weight: float
    effective_size: float
    suspects_among_kept: float | None
    suspects_among_removed: float | None
    refit_error_bound: float
    start_head_distance: float | None
    outcome: str
    findings: tuple[Finding, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values under stable keys, ready for JSON."""
        return asdict(self) | {"findings": [asdict(finding) for finding in self.findings]}

    @classmethod
    def keys(cls) -> list[str]:
        """Return the keys of `to_dict`, in order."""
        return [field.name for field in fields(cls)]

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Certificate":
        """Rebuild a certificate from `to_dict`; unknown keys of later versions are ignored."""
        known = {key: values[key] for key in cls.keys()}  # noqa: SIM118
        check_kinds(known, kinds_of(cls) | {"findings": _FINDINGS}, "certificate.json")
        findings = tuple(Finding(item["code"], item["text"]) for item in values["findings"])
        return cls(**known | {"findings": findings})

    @property
    def notes(self) -> tuple[str, ...]:
        """The findings as plain sentences."""
        return tuple(finding.text for finding in self.findings)

    @property
    def same_answers(self) -> float | None:
        """Share of unchanged answers on the validation examples, or on the training examples without any."""
        return self.training_same_answers if self.validation_loss is None else self.validation_same_answers

    @property
    def random_same_answers(self) -> float | None:
        """The same after random removals."""
        return (
            self.random_training_same_answers if self.validation_loss is None else self.random_validation_same_answers
        )

    @property
    def has_weights(self) -> bool:
        """Whether the kept examples are to be trained with weights: leanset's, those that they came with, or both."""
        return self.weighted or self.sample_weighted

    @property
    def for_a_network(self) -> bool:
        """Whether the set was chosen for a network that is trained anew, and not for the head alone."""
        return any(finding.code == FOR_A_NETWORK for finding in self.findings)

    @property
    def far_from_minimum(self) -> bool:
        """Whether the head that was given, such as a network's, is far from where the certificate is about."""
        return (self.start_head_distance or 0.0) > _FAR * self.head_norm

    @property
    def below_random(self) -> float:
        """The mean measured change of random removals, divided by the measured change."""
        return self.random_refit_change_mean / self.refit_change if self.refit_change else float("inf")
