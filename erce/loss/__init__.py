"""Hidden states or logits, and targets, into the entropy-regularised cross-entropy; needs torch alone."""

from erce.loss.batch import Loss
from erce.loss.dense import entropy_regularized_cross_entropy
from erce.loss.linear import linear_entropy_regularized_cross_entropy
from erce.loss.objectives import (
    DFT,
    EAFT,
    OBJECTIVES,
    CrossEntropy,
    Focal,
    LabelSmoothing,
    Objective,
    make_objective,
)
from erce.loss.penalties import PENALTIES, Penalty, Renyi, Shannon, SupportSize, make_penalty

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
    "entropy_regularized_cross_entropy",
    "linear_entropy_regularized_cross_entropy",
    "make_objective",
    "make_penalty",
]
