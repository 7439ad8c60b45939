from leanset.certify.bounds import loss_gap_bounds
from leanset.certify.certificate import Certificate
from leanset.certify.findings import Finding, about_the_bound, about_the_clock, about_the_vectors
from leanset.certify.gap import LossGap, paired_gap
from leanset.certify.issue import issue_certificate
from leanset.certify.predictions import Prediction, predictions

__all__ = [
    "Certificate",
    "Finding",
    "LossGap",
    "Prediction",
    "about_the_bound",
    "about_the_clock",
    "about_the_vectors",
    "issue_certificate",
    "loss_gap_bounds",
    "paired_gap",
    "predictions",
]
