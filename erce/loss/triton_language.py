"""Triton where it is installed, and what its kernels share."""

from importlib import import_module
from typing import Any


class _Absent:
    """What stands for Triton where it is not installed, so that files with kernels can be loaded."""

    def __getattr__(self, name: str) -> Any:
        return lambda x: x


triton: Any = _Absent()
tl: Any = _Absent()
try:
    triton, tl = import_module("triton"), import_module("triton.language")
    AVAILABLE = True
except ImportError:
    AVAILABLE = False

ONE, ABOVE, BELOW = tl.constexpr(0), tl.constexpr(1), tl.constexpr(2)  # forms of the order; 3 is inf
FLOOR = tl.constexpr(-1e30)  # of u, so that a column of −inf has weight 0 and no product with it is NaN
