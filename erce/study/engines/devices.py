"""The number of devices a cell needs, and this machine's devices → the devices that each process may see."""

import os
from importlib.util import find_spec

from erce.errors import InputError


def visible_devices() -> list[str]:
    """Return the CUDA devices of this process, by the names that CUDA_VISIBLE_DEVICES would give them."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return [name for name in named.split(",") if name and name != "-1"]
    if find_spec("torch") is None:
        return []
    import torch

    return [str(index) for index in range(torch.cuda.device_count())]  # asks the driver, makes no context


def devices_of(jobs: int, *, gpus: float, visible: list[str]) -> list[str | None]:
    """Return CUDA_VISIBLE_DEVICES for each of `jobs` processes; None leaves the variable as it is.

    >>> devices_of(2, gpus=2, visible=["0", "1", "2", "3"])
    ['0,1', '2,3']
    >>> devices_of(3, gpus=0.5, visible=["0", "1"])
    ['0', '0', '1']

    More devices than there are is an InputError; without `gpus`, nothing is set.
    """
    if gpus == 0:
        return [None] * jobs
    sharing = round(1 / gpus) if gpus < 1 else 1  # cells on one device
    room = len(visible) * sharing if gpus < 1 else len(visible) // int(gpus)
    if jobs > room:
        raise InputError(
            f"jobs = {jobs} with gpus = {gpus:g} a cell need more than the {len(visible)} devices here; use "
            f"--jobs {room}" + ("" if room else ", or gpus = 0 to compute on the CPU")
        )
    if gpus < 1:
        return [visible[job // sharing] for job in range(jobs)]
    width = int(gpus)
    return [",".join(visible[job * width : (job + 1) * width]) for job in range(jobs)]
