"""Logits and labels of ms-swift → the entropy-regularised cross-entropy: `--loss_type er_ce`.

export ERCE_ENTROPY_PENALTY=4.0
swift sft --external_plugins examples/ms_swift_loss.py --loss_type er_ce …
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from torch import Tensor

from erce.errors import InputError
from erce.integrations import settings_from_environment
from erce.loss import entropy_regularized_cross_entropy, make_base_loss, make_penalty

_LOSSES: Any = import_module("swift.loss") if find_spec("swift") else None
BaseLoss: Any = _LOSSES.BaseLoss if _LOSSES else object


class ERCELoss(BaseLoss):
    """The loss of a training; ms-swift makes it once and calls it with the outputs of every micro-batch."""

    def __init__(self, args: Any, trainer: Any) -> None:
        super().__init__(args, trainer)
        settings = settings_from_environment()
        self.lam = settings["entropy_penalty"]
        self.penalty = make_penalty(
            settings.get("entropy_type", "shannon"), settings.get("entropy_order", 1.0)
        )
        self.base_loss = make_base_loss(settings.get("base_loss", "cross-entropy"))
        _refuse(self, args, trainer)

    def __call__(
        self,
        outputs: Any,
        labels: Tensor,  # (b, t), not shifted
        *,
        num_items_in_batch: Any = None,
        loss_scale: Tensor | None = None,  # (b · t,), shifted by ms-swift
        **kwargs: Any,
    ) -> Tensor:
        """Return the sum over the labels / `num_items_in_batch`, or their mean; `loss_scale` weighs each."""
        logits = outputs.logits
        weights = None if loss_scale is None else loss_scale.view(labels.shape)[:, :-1].to(logits.device)
        return entropy_regularized_cross_entropy(
            logits[:, :-1],
            labels[:, 1:].to(logits.device),
            lam=self.lam,
            penalty=self.penalty,
            base_loss=self.base_loss,
            row_weights=weights,
            num_items_in_batch=num_items_in_batch,
        ).objective


def _refuse(loss: Any, args: Any, trainer: Any) -> None:
    """Refuse settings with which this loss would be another one, or not the only one."""
    if loss.is_megatron:
        raise InputError("er_ce needs whole logits, and Megatron splits them; train without Megatron")
    if getattr(getattr(trainer, "template", None), "sequence_parallel_size", 1) > 1:
        raise InputError("er_ce needs whole sequences; set sequence_parallel_size to 1")
    for name in ("enable_dft_loss", "label_smoothing_factor"):
        if getattr(args, name, None):
            raise InputError(f"{name} would be left out beside loss_type er_ce; take one of the two out")


if _LOSSES:
    _LOSSES.loss_map["er_ce"] = ERCELoss
