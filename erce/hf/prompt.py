"""A problem → the token ids that the policy reads and writes, the same in training and generation."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from erce.errors import InputError
from erce.types import Problem

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


class TrainingRow(TypedDict):
    """One demonstration as tokens. `completion_mask` is 1 where the token is trained on."""

    input_ids: list[int]
    completion_mask: list[int]
    truncated: bool
    weight: NotRequired[float]  # where it is not 1


def prompt_ids(tokenizer: "PreTrainedTokenizerBase", problem_prompt: str) -> list[int]:
    """Return the ids that the policy continues: a user turn and the assistant's opening, or plain text.

    A tokenizer with a chat template renders the prompt as one user message with `add_generation_prompt`; any
    system message is the template's own. Without a template the text is encoded as the tokenizer does by
    default: with its beginning-of-sequence token where it has one, never with an end.
    """
    is_chat = bool(tokenizer.chat_template)
    return row_prompt_ids(
        tokenizer, [{"role": "user", "content": problem_prompt}] if is_chat else problem_prompt
    )


def row_prompt_ids(
    tokenizer: "PreTrainedTokenizerBase", prompt: str | Sequence[Mapping[str, Any]], **template: Any
) -> list[int]:
    """Return the ids of a row's prompt as TRL trains on it: messages in the chat template, a text as it is.

    A text has the tokenizer's beginning-of-sequence token where there is one, and never its end. Messages are
    an InputError for a tokenizer without a chat template, which gets the settings `template`.
    """
    if isinstance(prompt, str):
        ids = tokenizer.encode(prompt)
        return ids[:-1] if ids and ids[-1] == tokenizer.eos_token_id else ids
    if not tokenizer.chat_template:
        raise InputError(
            "the prompts are messages, but the tokenizer has no chat template; give it one, or texts"
        )
    turns: Any = [dict(turn) for turn in prompt]
    text = tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False, **template)
    return tokenizer.encode(str(text), add_special_tokens=False)


def refuse_other_end(tokenizer: "PreTrainedTokenizerBase") -> None:
    """Refuse a chat template that does not end an answer with the end token, where generation stops."""
    turns = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "§"}]
    end = str(tokenizer.apply_chat_template(turns, tokenize=False)).rpartition("§")[2].strip()
    if end and str(tokenizer.eos_token) not in end:
        raise InputError(
            f"the chat template ends an answer with {end!r}, generation with {tokenizer.eos_token!r}; set "
            "the tokenizer's eos_token, in ERCEConfig eos_token=…, to what ends an answer"
        )


def end_token(tokenizer: "PreTrainedTokenizerBase") -> int:
    """Return the id of the end-of-sequence token; an InputError for a tokenizer without one."""
    end: Any = tokenizer.eos_token_id
    if end is None:
        raise InputError("the tokenizer has no end-of-sequence token; set its eos_token to one of its tokens")
    return end


def demonstration_ids(tokenizer: "PreTrainedTokenizerBase", text: str) -> list[int]:
    """Return the ids that the policy is to write next: the text and the end-of-sequence token.

    Some chat templates end a turn with a newline after that token; generation stops before it, so it is not
    trained on either. A tokenizer without an end-of-sequence token is refused.
    """
    return [*tokenizer.encode(text, add_special_tokens=False), end_token(tokenizer)]


def training_rows(
    tokenizer: "PreTrainedTokenizerBase", problems: Iterable[Problem], max_length: int | None
) -> list[TrainingRow]:
    """Return one row a problem: its prompt (mask 0), then its demonstration (mask 1).

    A row longer than `max_length` tokens loses its end, as in the paper (768 tokens), and says so in
    `truncated`; None does not limit them. A prompt that leaves no room for the demonstration is refused.
    """
    rows: list[TrainingRow] = []
    for problem in problems:
        start = prompt_ids(tokenizer, problem.prompt)
        end = demonstration_ids(tokenizer, problem.demonstration)
        room = len(end) if max_length is None else max_length - len(start)
        if room <= 0:
            raise InputError(
                f"the prompt of problem {problem.id!r} has {len(start)} tokens and fills max_length = "
                f"{max_length}; raise max_length or leave the problem out"
            )
        kept = end[:room]
        rows.append(
            TrainingRow(
                input_ids=[*start, *kept],
                completion_mask=[0] * len(start) + [1] * len(kept),
                truncated=len(end) > room,
            )
        )
        if problem.weight != 1:
            rows[-1]["weight"] = problem.weight
    return rows
