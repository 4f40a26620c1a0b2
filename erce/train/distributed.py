"""What several processes must agree on: how logits are read out, an epoch's rows, how the head is sharded."""

from typing import Any

from accelerate import Accelerator
from accelerate.utils import broadcast_object_list
from torch import Tensor
from transformers import PreTrainedModel

from erce.errors import InputError
from erce.hf.head import IGNORED, Readout, readout_of


def agreed_readout(accelerator: Accelerator, model: PreTrainedModel) -> Readout:
    """Return `readout_of(model)` of the first process in all of them; its InputError is raised in all.

    With FSDP's efficient loading only the first process has weights to try the readout on.
    """
    outcome: list[Any] = [None]
    if accelerator.is_main_process:
        try:
            outcome = [readout_of(model)]
        except InputError as error:
            outcome = [error]
    broadcast_object_list(outcome)
    if isinstance(outcome[0], InputError):
        raise outcome[0]
    return outcome[0]


def ignore_repeats(accelerator: Accelerator, labels: Tensor, *, rows: int) -> bool:
    """Mask the rows that accelerate repeats to fill up the last batch; return whether it repeated any.

    It takes them from the epoch's beginning so that every process has `rows` rows. Masking them in `labels`,
    (rows, length), makes an epoch over several processes the same as over one. All processes return the same.
    """
    state = accelerator.gradient_state
    if accelerator.num_processes == 1 or len(labels) != rows:
        return False
    if not state.end_of_dataloader or state.remainder <= 0:
        return False
    labels[max(state.remainder - rows * accelerator.process_index, 0) :] = IGNORED
    return True


def refuse_sharding(accelerator: Accelerator) -> None:
    """Refuse a head that is sharded in a way in which our loss cannot gather it."""
    kind = str(accelerator.distributed_type.value)
    if kind == "DEEPSPEED" or (kind == "FSDP" and not accelerator.is_fsdp2):
        raise InputError(
            "head='erce' does not gather an output head that DeepSpeed or FSDP 1 has sharded; use DDP or "
            "FSDP 2 (fsdp_version: 2), or set head='trl'"
        )
