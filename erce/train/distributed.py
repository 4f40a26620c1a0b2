"""What several processes must agree on becomes the same in each: the readout, an epoch's rows, sharding."""

from typing import Any

from accelerate import Accelerator
from accelerate.utils import broadcast_object_list
from torch import Tensor
from transformers import PreTrainedModel

from erce.hf.head import IGNORED, Readout, readout_of


def agreed_readout(accelerator: Accelerator, model: PreTrainedModel) -> Readout:
    """`readout_of(model)` as the first process finds it; its ValueError is raised in all of them.

    With FSDP's efficient loading the others have no weights yet to try it on.
    """
    found: list[Any] = [None]
    if accelerator.is_main_process:
        try:
            found = [readout_of(model)]
        except ValueError as error:
            found = [error]
    broadcast_object_list(found)
    if isinstance(found[0], ValueError):
        raise found[0]
    return found[0]


def ignore_repeats(accelerator: Accelerator, labels: Tensor, *, rows: int) -> bool:
    """Whether an epoch's last micro-batches, of `rows` rows each, have rows of the epoch's beginning in them.

    They only give every process as many rows, and here lose their labels, (rows, length), or an epoch over
    several processes would be another than over one. The answer is the same in every process.
    """
    state = accelerator.gradient_state
    if accelerator.num_processes == 1 or len(labels) != rows:
        return False
    if not state.end_of_dataloader or state.remainder <= 0:
        return False
    labels[max(state.remainder - rows * accelerator.process_index, 0) :] = IGNORED
    return True


def refuse_sharding(accelerator: Accelerator) -> None:
    """A ValueError where a sharded head is not gathered as our loss needs it."""
    kind = str(accelerator.distributed_type.value)
    if kind == "DEEPSPEED" or (kind == "FSDP" and not accelerator.is_fsdp2):
        raise ValueError(
            "head='erce' does not gather an output head that DeepSpeed or FSDP 1 has sharded; use DDP or "
            "FSDP 2 (fsdp_version: 2), or set head='trl'"
        )
