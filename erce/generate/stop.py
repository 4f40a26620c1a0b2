"""Texts that end a completion → where its text is cut, and which token completes one of them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

BROKEN = "\ufffd"  # what decoding writes for bytes that are no character, or not yet
MARGIN_TOKENS = 4  # before a text that its decoding may depend on: a character's other bytes, a space


def before_stop(text: str, stop: Sequence[str]) -> str:
    """Cut `text` where the stop text that is complete first begins; without one, return all of it.

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
    """Return the text of tokens, without special ones; bytes that are no character become U+FFFD."""
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
