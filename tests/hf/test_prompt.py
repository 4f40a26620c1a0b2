"""A problem as tokens: the same in training and in generation, and nothing after the end."""

import pytest
from toys import training as toy

from erce.errors import InputError
from erce.hf.prompt import demonstration_ids, end_tokens, prompt_ids, row_prompt_ids, training_rows
from erce.types import Problem

PROBLEM = Problem(id="p1", prompt="1+1=", demonstration="2")


def test_a_chat_template_renders_the_prompt_as_one_user_turn():
    tokens = toy.tokenizer()
    text = tokens.decode(prompt_ids(tokens, "1+1="))
    assert text == "<|start|>user\n1+1=<|end|>\n<|start|>assistant\n"


def test_without_a_template_the_prompt_is_its_text():
    tokens = toy.tokenizer(chat=False)
    assert tokens.decode(prompt_ids(tokens, "1+1=")) == "1+1="


def test_a_rows_prompt_is_a_text_as_it_stands_or_messages_in_the_template():
    tokens = toy.tokenizer()
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "1+1="}]
    text = tokens.decode(row_prompt_ids(tokens, messages))
    assert text == "<|start|>system\nBe brief.<|end|>\n<|start|>user\n1+1=<|end|>\n<|start|>assistant\n"
    assert tokens.decode(row_prompt_ids(tokens, "1+1=")) == "1+1="
    with pytest.raises(InputError, match="the prompts are messages, but the tokenizer has no chat template"):
        row_prompt_ids(toy.tokenizer(chat=False), messages)


@pytest.mark.parametrize("special", ["<|start|>", "<|end|>"], ids=["bos is kept", "eos is dropped"])
def test_what_a_tokenizer_adds_to_plain_text(special):
    from tokenizers.processors import TemplateProcessing

    tokens = toy.tokenizer(chat=False)
    pieces = {"<|start|>": "<|start|> $A", "<|end|>": "$A <|end|>"}
    tokens.backend_tokenizer.post_processor = TemplateProcessing(
        single=pieces[special], special_tokens=[(special, tokens.convert_tokens_to_ids(special))]
    )
    wanted = {"<|start|>": "<|start|>1+1=", "<|end|>": "1+1="}
    assert tokens.decode(prompt_ids(tokens, "1+1=")) == wanted[special]
    assert tokens.decode(demonstration_ids(tokens, "2")) == "2<|end|>"


def test_a_row_is_the_prompt_that_generation_sees_then_the_demonstration_and_its_end():
    tokens = toy.tokenizer()
    (row,) = training_rows(tokens, [PROBLEM], 64)
    start, end = prompt_ids(tokens, "1+1="), demonstration_ids(tokens, "2")
    assert row["input_ids"] == start + end
    assert row["completion_mask"] == [0] * len(start) + [1] * len(end)
    assert tokens.decode(end) == "2<|end|>"  # without the template's newline
    assert not row["truncated"]


@pytest.mark.parametrize(
    ("max_length", "kept", "truncated"), [(None, 2, False), (25, 2, False), (24, 1, True)]
)
def test_a_row_that_is_too_long_loses_its_end_and_says_so(max_length, kept, truncated):
    (row,) = training_rows(toy.tokenizer(), [PROBLEM], max_length)
    assert (sum(row["completion_mask"]), row["truncated"]) == (kept, truncated)
    assert len(row["input_ids"]) == len(row["completion_mask"]) == 23 + kept


def test_a_prompt_that_fills_the_row_is_refused_by_name():
    with pytest.raises(ValueError, match="'p1' has 23 tokens and fills max_length = 23; raise"):
        training_rows(toy.tokenizer(), [PROBLEM], 23)


def test_a_tokenizer_without_an_end_is_refused():
    tokens = toy.tokenizer()
    tokens.eos_token = None
    with pytest.raises(ValueError, match="no end-of-sequence token; set its eos_token"):
        demonstration_ids(tokens, "2")


def test_generation_stops_where_the_template_ends_an_answer_and_at_the_end_of_a_sequence():
    tokens, end = toy.tokenizer(), toy.tokenizer().eos_token_id
    assert end_tokens(tokens) == [end]
    tokens.eos_token = "<|start|>"
    assert end_tokens(tokens) == [end, tokens.eos_token_id]
    assert demonstration_ids(tokens, "2")[-1] == end
    no_assistant = "{% if messages|length > 1 %}{{ raise_exception('one turn') }}{% endif %}"
    for template in ("{{ messages[0]['content'] }}", "{{ messages[-1]['content'] }}\n", no_assistant, None):
        tokens.chat_template = template  # without the answer, or without an end
        assert end_tokens(tokens) == [tokens.eos_token_id]


def test_a_prompt_without_a_token_is_refused():
    with pytest.raises(InputError, match="a prompt is empty"):
        prompt_ids(toy.tokenizer(chat=False), "")
