"""The settings of a training: TRL's and ours, checked before anything is loaded."""

import math
import sys
from dataclasses import dataclass, field, fields
from importlib.metadata import version
from typing import Any

import torch
from packaging.version import Version
from transformers import Trainer
from transformers.utils.import_utils import is_torch_bf16_gpu_available, is_torch_xla_available
from trl.trainer.sft_config import SFTConfig

from erce.catalog import refusing_unknown_names
from erce.errors import InputError
from erce.loss import BASE_LOSSES, PENALTIES, make_base_loss, make_penalty
from erce.recipe.sections import HEADS, NORMALIZATIONS, SCHEDULES

YOUR_OWN = 'or your own, "package.module:NAME"'
CHOICES = {"entropy_schedule": SCHEDULES, "normalize": NORMALIZATIONS, "head": HEADS}
LOWER_IS_BETTER = ("ce", "objective", "off")  # transformers takes a higher value for better, but in "…loss"
FIRST_TRL_HEAD = "1.16"  # the TRL whose own head runs everywhere and logs what ours does


def _setting(default: Any, text: str) -> Any:
    """Return the field of a setting, with its help."""
    return field(default=default, metadata={"help": text})


@dataclass
class ERCEConfig(SFTConfig):
    """TRL's `SFTConfig` with the entropy penalty; its defaults also work on a machine without a GPU.

    Where there is no accelerator, `use_cpu` is set, and `bf16` and `gradient_checkpointing` are off unless
    asked for. A bad value is a ValueError of one sentence.
    """

    entropy_penalty: float = _setting(
        0.0, "λ, the weight of the entropy that is added to the base loss; 0 adds nothing."
    )
    entropy_type: str = _setting("shannon", f"Which entropy: {', '.join(PENALTIES)}, {YOUR_OWN}.")
    entropy_order: float = _setting(
        1.0, "The order of the entropy; leave it at 1 for one without an order, such as 'shannon'."
    )
    entropy_schedule: str = _setting(
        "constant", "λ over the training: 'constant'; 'linear', which rises from 0; 'delayed', 0 and then λ."
    )
    entropy_warmup: float = _setting(
        0.1, "The share of the steps over which 'linear' rises, and 'delayed' keeps λ at 0."
    )
    base_loss: str = _setting(
        "cross-entropy",
        f"What the entropy is added to: {', '.join(BASE_LOSSES)}, {YOUR_OWN}; another number than its "
        "paper's comes after a colon, as in 'focal:3'.",
    )
    normalize: str = _setting(
        "token",
        "'token': every scored token of the accumulated batch weighs the same. 'sequence': every "
        "demonstration does, the paper's 1/T.",
    )
    head: str = _setting(
        "erce",
        "'erce': our output head, which stores no logits. 'trl': TRL's, for cross-entropy and Shannon by "
        "token only.",
    )
    gradient_checkpointing: bool = _setting(
        torch.accelerator.is_available(),
        "Recompute activations in the backward pass; the default where there is an accelerator.",
    )

    def __post_init__(self) -> None:
        self.check_objective()
        self.use_cpu = self.use_cpu or not (torch.accelerator.is_available() or is_torch_xla_available())
        if self.bf16 is None:
            self.bf16 = not (self.fp16 or self.use_cpu) and is_torch_bf16_gpu_available()
        best = (self.metric_for_best_model or "").split("/")[0].split("_")[-1]
        if self.greater_is_better is None and best in LOWER_IS_BETTER:
            self.greater_is_better = False
        if getattr(self, "activation_checkpointing", False) is None:
            # The name that transformers reads without a warning.
            self.activation_checkpointing = self.gradient_checkpointing
        super().__post_init__()

    def get_process_log_level(self) -> int:
        """Return TRL's log level; InputError if a trainer asks that would train without our settings.

        Every trainer of transformers asks, at its start.
        """
        asking = sys._getframe(1).f_locals.get("self")
        if isinstance(asking, Trainer) and not hasattr(asking, "minimises_entropy"):
            defaults = {setting.name: setting.default for setting in fields(ERCEConfig)}
            for name in ("entropy_penalty", "base_loss", "normalize"):
                if getattr(self, name) != defaults[name]:
                    raise InputError(
                        f"{type(asking).__name__} knows no {name} = {getattr(self, name)!r} and would train "
                        "without it; use erce.ERCETrainer"
                    )
        return super().get_process_log_level()

    def check_objective(self) -> None:
        """Refuse, with one sentence, settings that cannot be used, or would replace the objective."""
        lam, warmup = self.entropy_penalty, self.entropy_warmup
        if not isinstance(lam, int | float) or not math.isfinite(lam):
            raise InputError(
                f"entropy_penalty must be a finite int or float, got {lam!r}; 0 is plain cross-entropy"
            )
        if not (isinstance(warmup, int | float) and 0 <= warmup <= 1):
            raise InputError(f"entropy_warmup = {warmup!r} is a share of the steps; give one in [0, 1]")
        make_penalty(self.entropy_type, self.entropy_order)
        make_base_loss(self.base_loss)
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise InputError(
                    f"{name} must be {' or '.join(map(repr, choices))}, got {getattr(self, name)!r}"
                )
        if self.head == "trl":
            self._check_trls_head()
        packs = self.packing or self.eval_packing
        if self.normalize == "sequence" and packs and self.packing_strategy != "bfd":
            raise InputError(
                f"normalize='sequence' needs whole sequences, and packing_strategy={self.packing_strategy!r} "
                "cuts them; set packing_strategy='bfd'"
            )
        if self.loss_type == "dft":
            raise InputError("loss_type='dft' is TRL's loss; set base_loss='dft'")
        if self.label_smoothing_factor:
            raise InputError(
                f"label_smoothing_factor = {self.label_smoothing_factor} would replace the objective; set "
                f"base_loss='label-smoothing:{self.label_smoothing_factor}'"
            )

    def _check_trls_head(self) -> None:
        supported = {"base_loss": "cross-entropy", "entropy_type": "shannon", "normalize": "token"}
        for name, value in supported.items():
            if getattr(self, name) != value:
                raise InputError(
                    f"head='trl' knows {name}={value!r} only, got {getattr(self, name)!r}; set head='erce'"
                )
        if Version(installed := version("trl")) < Version(FIRST_TRL_HEAD):
            raise InputError(
                f"head='trl' needs TRL {FIRST_TRL_HEAD} or newer, got {installed}; upgrade it, or set "
                "head='erce'"
            )


ERCEConfig.__init__ = refusing_unknown_names(
    ERCEConfig.__init__,
    [setting.name for setting in fields(ERCEConfig)],
    otherwise="docs/trainer.md lists ours",
)


def scheduled(lam: float, schedule: str, *, warmup: float, step: int, steps: int) -> float:
    """Return λ at the optimizer step `step`, counted from 0, of `steps`.

    Over the first ⌈warmup · steps⌉ steps "linear" rises from 0, as a learning rate does, and "delayed" is 0.

    >>> [scheduled(2.0, "linear", warmup=0.4, step=step, steps=10) for step in range(6)]
    [0.0, 0.5, 1.0, 1.5, 2.0, 2.0]
    >>> [scheduled(2.0, "delayed", warmup=0.4, step=step, steps=10) for step in range(6)]
    [0.0, 0.0, 0.0, 0.0, 2.0, 2.0]
    >>> scheduled(2.0, "constant", warmup=0.4, step=0, steps=10)
    2.0
    """
    early = math.ceil(warmup * steps)
    if schedule == "constant" or step >= early:
        return lam
    return 0.0 if schedule == "delayed" else lam * (step / early)
