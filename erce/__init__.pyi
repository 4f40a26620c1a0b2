from erce import loss, stats, verify
from erce.evaluation.callback import VerifiedAccuracy
from erce.evaluation.evaluate import Evaluation, evaluate
from erce.hf.attach import attach, detach
from erce.loss import (
    BASE_LOSSES,
    DFT,
    EAFT,
    PENALTIES,
    CrossEntropy,
    Focal,
    LabelSmoothing,
    ProbabilityPower,
    Renyi,
    Shannon,
    SupportSize,
    Threshold,
    entropy_regularized_cross_entropy,
    linear_entropy_regularized_cross_entropy,
)
from erce.reporting import report
from erce.study.run import run
from erce.tasks import TASKS, load_task
from erce.train.config import ERCEConfig
from erce.train.trainer import ERCETrainer

__version__: str
__all__ = [
    "BASE_LOSSES",
    "DFT",
    "EAFT",
    "PENALTIES",
    "TASKS",
    "CrossEntropy",
    "ERCEConfig",
    "ERCETrainer",
    "Evaluation",
    "Focal",
    "LabelSmoothing",
    "ProbabilityPower",
    "Renyi",
    "Shannon",
    "SupportSize",
    "Threshold",
    "VerifiedAccuracy",
    "attach",
    "detach",
    "entropy_regularized_cross_entropy",
    "evaluate",
    "linear_entropy_regularized_cross_entropy",
    "load_task",
    "loss",
    "report",
    "run",
    "stats",
    "verify",
]
