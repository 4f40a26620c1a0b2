"""The loss under torch.compile: it runs outside of the compiler, between one graph and the next.

Its matmuls and passes are few and large, so that a compiler would gain nothing, and the number of scored
rows, which decides about its chunks, is known only when it runs.
"""

from collections.abc import Callable
from typing import Any

import torch

from erce.loss.request import Loss


@torch.compiler.disable(
    reason="the loss makes its own gradient, in chunks of the rows that are scored; leave out fullgraph=True"
)
def outside(function: Callable[..., Loss], *args: Any) -> Loss:
    """Return what the function returns, out of the compiler's sight."""
    return function(*args)
