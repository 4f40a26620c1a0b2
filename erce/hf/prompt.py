"""A problem → the token ids that the policy reads and writes, the same in training and generation."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from erce.errors import InputError
from erce.types import Problem

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


ANSWER = "§"  # a text that no chat template has of its own


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
    an InputError for a tokenizer without a chat template, which gets the settings `template`; so is a text
    without a token.
    """
    if isinstance(prompt, str):
        ids = tokenizer.encode(prompt)
        ids = ids[:-1] if ids and ids[-1] == tokenizer.eos_token_id else ids
        if not ids:
            raise InputError(
                "a prompt is empty, and the tokenizer has no token that begins a text; leave it out"
            )
        return ids
    if not tokenizer.chat_template:
        raise InputError(
            "the prompts are messages, but the tokenizer has no chat template; give it one, or texts"
        )
    turns: Any = [dict(turn) for turn in prompt]
    text = tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False, **template)
    return tokenizer.encode(str(text), add_special_tokens=False)


def end_tokens(tokenizer: "PreTrainedTokenizerBase") -> list[int]:
    """Return the ids that generation stops at: first what ends a demonstration, then the end of a sequence.

    A demonstration ends as an answer in the chat template, with the first special token after it: with
    Gemma's that is not the tokenizer's eos_token. A template without one, or that cannot render one question
    and answer, leaves that. A tokenizer without eos_token is an InputError.
    """
    from jinja2 import TemplateError

    end: Any = tokenizer.eos_token_id
    if end is None:
        raise InputError("the tokenizer has no end-of-sequence token; set its eos_token to one of its tokens")
    if not tokenizer.chat_template:
        return [end]
    turns = [{"role": "user", "content": "?"}, {"role": "assistant", "content": ANSWER}]
    rendered: Any = ""
    with suppress(TemplateError):
        rendered = tokenizer.apply_chat_template(turns, tokenize=False)
    _, answer, rest = rendered.rpartition(ANSWER)
    after = tokenizer.encode(rest, add_special_tokens=False) if answer else []
    special = [
        id for id in after if tokenizer.decode([id]) != tokenizer.decode([id], skip_special_tokens=True)
    ]
    return list(dict.fromkeys([*special[:1], end]))


def demonstration_ids(tokenizer: "PreTrainedTokenizerBase", text: str) -> list[int]:
    """Return the ids that the policy is to write next: those of the text, and the first of `end_tokens`.

    Some chat templates end a turn with a newline after that token; generation stops before it, so it is not
    trained on either.
    """
    return [*tokenizer.encode(text, add_special_tokens=False), end_tokens(tokenizer)[0]]


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
