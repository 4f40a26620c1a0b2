"""What several processes must agree on: the logits of a model, who makes the batches, who has the head."""

from collections.abc import Callable
from typing import Any, TypeVar

from accelerate import Accelerator
from accelerate.utils import broadcast_object_list
from transformers import PreTrainedModel, TrainingArguments

from erce.errors import InputError
from erce.hf.head import Readout, readout_of
from erce.hf.own_loss import OwnLoss, own_loss_of

Found = TypeVar("Found")


def agreed(
    accelerator: Accelerator, try_out: Callable[[PreTrainedModel], Found], model: PreTrainedModel
) -> Found:
    """Return `try_out(model)` of the first process in all of them; its InputError is raised in all.

    With FSDP's efficient loading only the first process has weights to try.
    """
    outcome: list[Any] = [None]
    if accelerator.is_main_process:
        try:
            outcome = [try_out(model)]
        except InputError as error:
            outcome = [error]
    broadcast_object_list(outcome)
    if isinstance(outcome[0], InputError):
        raise outcome[0]
    return outcome[0]


def loss_of(model: PreTrainedModel) -> tuple[Readout, OwnLoss | None]:
    """Return how the model goes from its head to its logits, and what it adds to its cross-entropy."""
    return readout_of(model), own_loss_of(model)


def refuse_trls_head(own_loss: OwnLoss | None, *, adds_router_loss: bool) -> None:
    """Refuse a model that adds more to its cross-entropy than TRL's head, which knows one router's loss."""
    if own_loss is not None and not (adds_router_loss and own_loss.logits_to_keep):
        raise InputError(
            "the model adds something to its cross-entropy that head='trl' leaves out; set head='erce', "
            "which adds it too"
        )


def refuse_dispatch(args: TrainingArguments) -> None:
    """Let every process make its own batches; one that cuts them for all would repeat rows."""
    config: Any = args.accelerator_config
    if config.dispatch_batches:
        raise InputError("dispatch_batches=True would train on rows twice; leave it out")
    config.dispatch_batches = False


def refuse_sharding(accelerator: Accelerator) -> None:
    """Refuse a head that is sharded in a way in which our loss cannot gather it."""
    kind = str(accelerator.distributed_type.value)
    if kind == "DEEPSPEED" or (kind == "FSDP" and not accelerator.is_fsdp2):
        raise InputError(
            "head='erce' does not gather an output head that DeepSpeed or FSDP 1 has sharded; use DDP or "
            "FSDP 2 (fsdp_version: 2), or set head='trl'"
        )
