"""What is asked of a policy → what every backend checks before it spends any time on it."""

from collections.abc import Sequence
from typing import Protocol

from erce.generate.stop import BROKEN
from erce.types import Problem


class Decoding(Protocol):
    """How to draw completions; `temperature` 0 is greedy, and then `samples` is 1.

    A completion ends with the token with which one of the texts in `stop` first becomes complete in what it
    wrote, wherever that text begins in a token and whatever the prompt ended with. The token counts; the
    completion's text ends before the stop text, and it is finished. Special tokens have no text.
    """

    @property
    def temperature(self) -> float: ...
    @property
    def samples(self) -> int: ...  # a problem
    @property
    def max_new_tokens(self) -> int: ...  # the end-of-sequence token included
    @property
    def batch_size(self) -> int: ...  # completions at a time; changes speed only
    @property
    def stop(self) -> tuple[str, ...]: ...  # texts that end a completion, besides the policy's own end


def check_request(problems: Sequence[Problem], decoding: Decoding) -> None:
    """None, where the request makes sense; settings out of range and problems with one id are ValueErrors."""
    if not 0 <= decoding.temperature < float("inf"):
        raise ValueError(f"temperature = {decoding.temperature} is no temperature; use 0 (greedy) or more")
    for name in ("samples", "max_new_tokens", "batch_size"):
        if getattr(decoding, name) < 1:
            raise ValueError(f"{name} = {getattr(decoding, name)} draws nothing; it is at least 1")
    if decoding.temperature == 0 and decoding.samples > 1:
        raise ValueError(f"samples = {decoding.samples} at temperature 0 would be copies; use samples = 1")
    if isinstance(decoding.stop, str):
        raise ValueError(f"stop = {decoding.stop!r} is one text; write it as [{decoding.stop!r}]")
    for text in decoding.stop:
        if not text or BROKEN in text:
            raise ValueError(
                f"stop = {list(decoding.stop)} has {text!r}; a stop text is at least one character, none of "
                "them U+FFFD, which stands for bytes that are no text"
            )
    if len({problem.id for problem in problems}) < len(problems):
        raise ValueError("two problems have the same id and would get the same random numbers; rename one")
