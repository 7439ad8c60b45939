from leanset.head.curvature import Curvature, KroneckerFactors
from leanset.head.design import Design, Scaling, design_of
from leanset.head.fit import HeadFit, fit_head
from leanset.head.fitted import FittedHead
from leanset.head.folds import ChosenL2, choose_l2, cross_fitted, held_out_folds
from leanset.head.loss import Loss
from leanset.head.losses import LOSSES
from leanset.head.penalty import PENALTIES, MeanPenalty, Penalty, TotalPenalty
from leanset.head.refit import Refit, newton_step, refit
from leanset.head.sigmoid import Sigmoid
from leanset.head.softmax import Softmax
from leanset.head.squared import Squared
from leanset.head.statistics import STORE, HeadStatistics, is_stored, store_in

__all__ = [
    "LOSSES",
    "PENALTIES",
    "STORE",
    "ChosenL2",
    "Curvature",
    "Design",
    "FittedHead",
    "HeadFit",
    "HeadStatistics",
    "KroneckerFactors",
    "Loss",
    "MeanPenalty",
    "Penalty",
    "Refit",
    "Scaling",
    "Sigmoid",
    "Softmax",
    "Squared",
    "TotalPenalty",
    "choose_l2",
    "cross_fitted",
    "design_of",
    "fit_head",
    "held_out_folds",
    "is_stored",
    "newton_step",
    "refit",
    "store_in",
]
