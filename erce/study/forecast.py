"""What is left of a study → how long it takes on a device.

The speed is that of the study's cells that are done, wherever they ran. Else that of a GPU goes by its peak,
and a CPU's is not known.
"""

import re
from typing import Any, NamedTuple

from erce.errors import InputError, counted, duration
from erce.generate.backend import backend_of
from erce.study.budget import StudyCost
from erce.study.engines.processes import devices_of
from erce.study.folder import read_timing
from erce.study.memory import free_memory, weights

# What an H100 in a virtual machine reached with Qwen2.5-1.5B's shape, as shares of its peak: 4,362 tokens a
# second read in training, 589 generated eagerly. Compiled, 0.5B's shape was 25 times as fast (docs/scale.md).
TRAINING_SHARE, GENERATION_SHARE, COMPILED = 0.027, 0.0018, 25


class Speed(NamedTuple):
    """The tokens a device reads per second of training, and those it writes per second of generation."""

    training: float
    generation: float
    basis: str = ""  # where these numbers come from, in words


class Device(NamedTuple):
    """A device, by its maker's figures or as it is here."""

    name: str
    flops: float | None  # dense bfloat16 operations per second of a GPU; None: not known
    memory: float  # bytes; of a device of this machine those that are free
    is_here: bool = False

    @property
    def kind(self) -> str:
        """torch's name of this kind of device."""
        return "cpu" if self.name == "cpu" else "cuda"


DEVICES = {
    device.name: device
    for device in (
        Device("a100", 312e12, 80e9),
        Device("a100-40", 312e12, 40e9),
        Device("h100", 989e12, 80e9),
        Device("h200", 989e12, 141e9),
        Device("l40s", 362e12, 48e9),
        Device("l4", 121e12, 24e9),
        Device("rtx4090", 165e12, 24e9),
    )
}


def device_named(name: str | None) -> Device:
    """Return a device of `DEVICES`, this machine's for "cpu", or what a run takes here for None.

    A GPU of this machine has the peak of the entry that its own name holds, if there is one.
    """
    import torch

    if name in DEVICES:
        return DEVICES[name]
    if name not in (None, "cpu"):
        raise InputError(f"no device {name!r}; there are {', '.join(DEVICES)} and cpu")
    if name == "cpu" or not torch.cuda.is_available():
        return Device("cpu", None, free_memory(), is_here=True)
    called = torch.cuda.get_device_name()
    words = called.lower().replace("rtx ", "rtx")
    likely = (device.flops for device in DEVICES.values() if re.search(rf"\bg?{device.name}x?\b", words))
    return Device(called, next(likely, None), torch.cuda.mem_get_info()[0], is_here=True)


def time_lines(cost: StudyCost, *, config: Any, device: Device, jobs: int) -> list[str]:
    """Return the time of what is left, at a speed that is known of the device, and where that is from.

    There are no lines where nothing is left. `config` None is a model whose weights cannot be counted.
    """
    left = [takes for takes in map(cost.left, cost.study.planned) if any(takes)]
    if not left:
        return []
    try:
        speed = _known_speed(cost, config=config, device=device)
    except InputError as error:
        return [f"  time      unknown: {error}"]
    is_counted = backend_of(cost.recipe).in_cell_process  # a server's time is not
    training = sum(takes.read for takes in left) / speed.training
    expected = is_counted * sum(takes.expected for takes in left) / speed.generation
    most = is_counted * sum(takes.most for takes in left) / speed.generation
    cut_off = f"{duration(most)} if every completion is cut off at its limit"
    parts = f"training {duration(training)}, generation {duration(expected)} ({cut_off})"
    cells = f" for the {counted(len(left), 'cell')} that are not done" if cost.results else ""
    total, where = training + expected, "this machine" if device.is_here else f"one {device.name}"
    if not device.is_here:  # where cells that share a card are as slow as one after the other
        gpus, visible = cost.recipe.resources.gpus, [str(card) for card in range(jobs)]
        jobs = len({*devices_of(jobs, gpus=gpus, visible=visible)})
    if jobs > 1:
        where = f"this machine, {jobs} cells at a time" if device.is_here else f"{jobs} × {device.name}"
        where += f" ({duration(total)} one after the other)"
    time = f"{duration(total / jobs)} on {where}{cells}: {parts}"
    return [f"  time      {time}", f"            {speed.basis}"]


def _known_speed(cost: StudyCost, *, config: Any, device: Device) -> Speed:
    """Return the speed of cells that are done here; else that of a GPU by its peak."""
    if device.is_here and (of_cells := _finished_speed(cost)):
        return of_cells
    if device.kind == "cpu":
        raise InputError("a CPU's speed is known once a cell is trained; --device names a GPU")
    if config is None:
        raise InputError("the size of the model is not known")
    if device.flops is None:
        raise InputError(f"no peak of {device.name} is known; --device names a card that is")
    # Operations per weight and token: 2 forward, 2 backward through frozen weights, 2 to compute again.
    of_training = 6 if cost.recipe.training.gradient_checkpointing else 4
    rate = device.flops / weights(config)
    compiled = 1 if cost.recipe.decoding.compile is False else COMPILED
    return Speed(
        TRAINING_SHARE * rate / of_training,
        compiled * GENERATION_SHARE * rate / 2,
        basis="from what one H100 did with a model of 1.5 B weights, by peak and weights: a guess elsewhere",
    )


def _finished_speed(cost: StudyCost) -> Speed | None:
    """Return the speed at which cells were trained, and sampled and verified; None if no time was kept."""
    read = written = training = generation = 0.0
    for cell in cost.results:
        timing = read_timing(cost.study.folder(cell))
        whole = cost.whole(cell)
        if "training" in timing:
            read, training = read + whole.read, training + timing["training"]
        if "generation" in timing:
            written = written + whole.expected - cost.left(cell).expected
            generation += timing["generation"] + timing.get("verification", 0.0)
    if not min(read, written, training, generation):
        return None
    basis = f"as fast as the {counted(len(cost.results), 'cell')} that are done"
    return Speed(read / training, written / generation, basis=basis)
