"""Hidden states or logits, and targets → the entropy-regularised cross-entropy; needs torch alone.

penalties, base_losses     what λ multiplies, and what λ · penalty is added to: the definitions
named                      a name → one of them; a user-defined one is tried first
request                    the arguments of one call, checked once; the `Loss` that it returns
from_logits, from_hidden   the two functions, and the reference that the tests hold them to
chunked                    hidden states chunk by chunk; the `Plan` of a call, and its three paths
scored_rows                targets → the rows to score
matmul                     the matmuls by dtype and device
row_passes                 the two passes over rows of logits
row_statistics             between the passes: a row's sums → its loss and slopes
triton_kernels             all three in one Triton kernel
gpu_self_check             whether this and the matmuls into float32 are right on a device, checked once
bfloat16_on_cpu            bfloat16 operands on a CPU
compiled                   how torch.compile passes the loss by
"""

from erce.loss.base_losses import (
    DFT,
    EAFT,
    BaseLoss,
    CrossEntropy,
    Focal,
    LabelSmoothing,
    ProbabilityPower,
    Threshold,
)
from erce.loss.from_hidden import linear_entropy_regularized_cross_entropy
from erce.loss.from_logits import entropy_regularized_cross_entropy
from erce.loss.named import BASE_LOSSES, PENALTIES, check_names, make_base_loss, make_penalty
from erce.loss.penalties import Penalty, Renyi, Shannon, SupportSize
from erce.loss.request import Loss

__all__ = [
    "BASE_LOSSES",
    "DFT",
    "EAFT",
    "PENALTIES",
    "BaseLoss",
    "CrossEntropy",
    "Focal",
    "LabelSmoothing",
    "Loss",
    "Penalty",
    "ProbabilityPower",
    "Renyi",
    "Shannon",
    "SupportSize",
    "Threshold",
    "check_names",
    "entropy_regularized_cross_entropy",
    "linear_entropy_regularized_cross_entropy",
    "make_base_loss",
    "make_penalty",
]
