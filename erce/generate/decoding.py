"""How completions are sampled, and where a stop text ends them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from erce.errors import InputError
from erce.types import Problem

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

MARGIN_TOKENS = 4  # before a text that its decoding may depend on: a character's other bytes, a space


@dataclass(frozen=True, kw_only=True)
class GenerationSettings:
    """How one set of completions is sampled, as a recipe has checked it; `temperature` 0 is greedy.

    A completion ends with the first token after which it contains a text of `stop`. The prompt is not
    searched, and a stop text may begin inside a token. That token counts in `tokens`, the completion's text
    ends before the stop text, and the completion is finished. Special tokens have no text.
    """

    temperature: float
    samples: int  # per problem
    max_new_tokens: int  # the end-of-sequence token included
    batch_size: int  # completions at a time; changes speed only
    stop: tuple[str, ...] = ()  # texts that end a completion, besides the policy's own end
    # Static cache and compiled steps; None: on a GPU, if the model has them. The rounding changes with it.
    compile: bool | None = False


def check_ids(problems: Sequence[Problem]) -> None:
    """Refuse two problems with one id, which would get the same random numbers."""
    if len({problem.id for problem in problems}) < len(problems):
        raise InputError("two problems have the same id and would get the same random numbers; rename one")


def before_stop(text: str, stop: Sequence[str]) -> str:
    """Return `text` up to the first stop text to become complete, or all of it without one.

    The stop text that is complete first decides, not the one that begins first, so that the cut does not
    depend on how the text was split into tokens. If several are complete at once, the longest counts.

    >>> before_stop("12 + 7 = 19\\n\\nNext:", ["Next", "\\n\\n"])
    '12 + 7 = 19'
    >>> before_stop("one two", ["one two three", "two", "ne two"])
    'o'
    """
    matches = [(start + len(ending), start) for ending in stop if (start := text.find(ending)) >= 0]
    return text[: min(matches)[1]] if matches else text


def spoken(tokenizer: "PreTrainedTokenizerBase", tokens: Sequence[int]) -> str:
    """Return the text of tokens, without special ones; bytes that are not a character become U+FFFD."""
    text: Any = tokenizer.decode(list(tokens), skip_special_tokens=True, clean_up_tokenization_spaces=False)
    return text


class Watch:
    """Reads one completion token by token and tells when a stop text has become complete in it.

    Transformers' own criterion (5.23, StopStringCriteria) reads the prompt too and would end a completion
    whose first word ends a stop text that the prompt began; it also matches the names of special tokens.
    """

    def __init__(
        self, tokenizer: "PreTrainedTokenizerBase", stop: Sequence[str], tokens: Sequence[int] = ()
    ) -> None:
        self.tokenizer, self.stop = tokenizer, stop
        self.silent = set(tokenizer.all_special_ids)
        self.spoken = [token for token in tokens if token not in self.silent]
        # Every other token is a byte or more, so that this many hold any stop text that the last one ends.
        self.reach = max(len(ending.encode()) for ending in stop) + MARGIN_TOKENS

    def completes(self, token: int) -> bool:
        """Return whether `token`, the next of the completion, completes a stop text."""
        if token in self.silent:
            return False
        self.spoken.append(token)
        near = spoken(self.tokenizer, self.spoken[-self.reach :])
        return any(ending in near for ending in self.stop)
