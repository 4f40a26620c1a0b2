"""Hidden states or logits, and targets, into the entropy-regularised cross-entropy; needs torch alone."""

from erce.loss.batch import Loss
from erce.loss.dense import entropy_regularized_cross_entropy
from erce.loss.linear import linear_entropy_regularized_cross_entropy
from erce.loss.penalties import PENALTIES, Penalty, Renyi, Shannon, SupportSize, make_penalty

__all__ = [
    "PENALTIES",
    "Loss",
    "Penalty",
    "Renyi",
    "Shannon",
    "SupportSize",
    "entropy_regularized_cross_entropy",
    "linear_entropy_regularized_cross_entropy",
    "make_penalty",
]
