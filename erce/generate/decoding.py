"""What is asked of a policy → what every backend checks before it spends any time on it."""

from collections.abc import Sequence
from typing import Protocol

from erce.types import Problem


class Decoding(Protocol):
    """How to draw completions; `temperature` 0 is greedy, and then `samples` is 1."""

    @property
    def temperature(self) -> float: ...
    @property
    def samples(self) -> int: ...  # a problem
    @property
    def max_new_tokens(self) -> int: ...  # the end-of-sequence token included
    @property
    def batch_size(self) -> int: ...  # completions at a time; changes speed only


def check_request(problems: Sequence[Problem], decoding: Decoding) -> None:
    """None, where the request makes sense; settings out of range and problems with one id are ValueErrors."""
    if not 0 <= decoding.temperature < float("inf"):
        raise ValueError(f"temperature = {decoding.temperature} is no temperature; use 0 (greedy) or more")
    for name in ("samples", "max_new_tokens", "batch_size"):
        if getattr(decoding, name) < 1:
            raise ValueError(f"{name} = {getattr(decoding, name)} draws nothing; it is at least 1")
    if decoding.temperature == 0 and decoding.samples > 1:
        raise ValueError(f"samples = {decoding.samples} at temperature 0 would be copies; use samples = 1")
    if len({problem.id for problem in problems}) < len(problems):
        raise ValueError("two problems have the same id and would get the same random numbers; rename one")
