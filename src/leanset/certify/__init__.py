from leanset.certify.bounds import loss_gap_bounds
from leanset.certify.certificate import Certificate
from leanset.certify.gap import LossGap, paired_gap
from leanset.certify.measure import Measurement, newton_step, preconditioner, refit
from leanset.certify.predictions import Prediction, predictions
from leanset.certify.verify import Check, verify_removal

__all__ = [
    "Certificate",
    "Check",
    "LossGap",
    "Measurement",
    "Prediction",
    "loss_gap_bounds",
    "newton_step",
    "paired_gap",
    "preconditioner",
    "predictions",
    "refit",
    "verify_removal",
]
