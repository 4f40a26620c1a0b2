"""Hidden states or logits, and targets, into the entropy-regularised cross-entropy; needs torch alone."""

from erce.loss.batch import Loss
from erce.loss.dense import entropy_regularized_cross_entropy
from erce.loss.linear import linear_entropy_regularized_cross_entropy
from erce.loss.named import OBJECTIVES, PENALTIES, check_names, make_objective, make_penalty
from erce.loss.objectives import DFT, EAFT, CrossEntropy, Focal, LabelSmoothing, Objective
from erce.loss.penalties import Penalty, Renyi, Shannon, SupportSize

__all__ = [
    "DFT",
    "EAFT",
    "OBJECTIVES",
    "PENALTIES",
    "CrossEntropy",
    "Focal",
    "LabelSmoothing",
    "Loss",
    "Objective",
    "Penalty",
    "Renyi",
    "Shannon",
    "SupportSize",
    "check_names",
    "entropy_regularized_cross_entropy",
    "linear_entropy_regularized_cross_entropy",
    "make_objective",
    "make_penalty",
]
