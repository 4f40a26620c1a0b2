"""How completions are drawn: settings that every backend shares, checked before any time is spent."""

from collections.abc import Sequence
from dataclasses import dataclass

from erce.errors import InputError
from erce.generate.stop import BROKEN
from erce.types import Problem


@dataclass(frozen=True, kw_only=True)
class GenerationSettings:
    """How one set of completions is drawn; `temperature` 0 is greedy, and then `samples` is 1.

    A completion ends with the first token after which it contains a text of `stop`. The prompt is not
    searched, and a stop text may begin inside a token. That token counts in `tokens`, the completion's text
    ends before the stop text, and the completion is finished. Special tokens have no text.
    """

    temperature: float
    samples: int  # a problem
    max_new_tokens: int  # the end-of-sequence token included
    batch_size: int  # completions at a time; changes speed only
    stop: tuple[str, ...] = ()  # texts that end a completion, besides the policy's own end
    compile: bool = False  # static cache and compiled steps; the rounding changes with the speed

    def __post_init__(self) -> None:
        if not 0 <= self.temperature < float("inf"):
            raise InputError(f"temperature = {self.temperature} is no temperature; use 0 (greedy) or more")
        for name in ("samples", "max_new_tokens", "batch_size"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} = {getattr(self, name)} draws nothing; it is at least 1")
        if self.temperature == 0 and self.samples > 1:
            raise InputError(f"samples = {self.samples} at temperature 0 would be copies; use samples = 1")
        if isinstance(self.stop, str):
            raise InputError(f"stop = {self.stop!r} is one text; write it as [{self.stop!r}]")
        for text in self.stop:
            if not text or BROKEN in text:
                raise InputError(
                    f"stop = {list(self.stop)} has {text!r}; a stop text is at least one character, none of "
                    "them U+FFFD, which stands for bytes that are no text"
                )


def check_ids(problems: Sequence[Problem]) -> None:
    """Refuse two problems with one id, which would get the same random numbers."""
    if len({problem.id for problem in problems}) < len(problems):
        raise InputError("two problems have the same id and would get the same random numbers; rename one")
