from leanset.certify.bounds import loss_gap_bounds
from leanset.certify.certificate import Certificate
from leanset.certify.findings import (
    Finding,
    about_chance,
    about_few_epochs,
    about_the_bound,
    about_the_clock,
    about_the_fewest,
    about_the_network,
    about_the_vectors,
)
from leanset.certify.issue import issue_certificate
from leanset.certify.predictions import Prediction, predictions
from leanset.certify.quality import half_width, mean_of, paired, quality_on

__all__ = [
    "Certificate",
    "Finding",
    "Prediction",
    "about_chance",
    "about_few_epochs",
    "about_the_bound",
    "about_the_clock",
    "about_the_fewest",
    "about_the_network",
    "about_the_vectors",
    "half_width",
    "issue_certificate",
    "loss_gap_bounds",
    "mean_of",
    "paired",
    "predictions",
    "quality_on",
]
