"""Whatever a server does wrong is an error and never a score; adapters are loaded and unloaded by name."""

import time
from dataclasses import replace

import pytest
from toys.server import GREEDY, PROBLEMS, SAMPLED, choice

from erce.errors import InputError, ServerError
from erce.generate.server import generate_from_server, load_adapter, unload_adapter


def spoken(change):
    return lambda answer: change(answer["choices"][0]["logprobs"])


WRONG = [
    (lambda answer: answer["choices"].clear(), "sent 0 choices"),
    (lambda answer: answer["choices"].append(answer["choices"][0]), "sent 2 choices"),
    (lambda answer: answer.pop("choices"), "choices = None"),
    (lambda answer: answer.pop("usage"), "usage = None"),
    (lambda answer: answer.update(model="base"), "answered as model 'base'"),
    (lambda answer: answer["usage"].update(prompt_tokens=3), "read 3 prompt tokens"),
    (lambda answer: answer["usage"].update(completion_tokens=2), "says that it wrote 2"),
    (choice(finish_reason="abort"), "finish_reason 'abort'"),
    (choice(finish_reason=None), "finish_reason = None"),
    (choice(finish_reason="length"), "where 40 were asked for"),
    (choice(text=None), "text = None"),
    (choice(logprobs=None), "logprobs = None"),
    (spoken(lambda part: part["token_logprobs"].__setitem__(0, None)), "sent None as a log p"),
    (spoken(lambda part: part["token_logprobs"].__setitem__(0, 0.5)), r"sent 0\.5 as a log p"),
    (spoken(lambda part: part["token_logprobs"].pop()), "sent log p of"),
    (spoken(lambda part: part["top_logprobs"].pop()), "top_logprobs of"),
    (spoken(lambda part: part["top_logprobs"].__setitem__(0, None)), "top_logprobs None"),
    (spoken(lambda part: part["top_logprobs"].__setitem__(0, {"a": 0.0, "b": 0.0})), "sum to 2"),
    (lambda _: (200, {}, b'{"choices": [{"te'), "are no JSON"),
    (lambda _: (200, {}, b'{"choices": NaN}'), "NaN is not in JSON"),
    (lambda _: (200, {}, b'{"a": ' * 9 + b"[" * 100_000), "are no JSON"),
    (lambda _: (200, {}, b"<html>"), "choices = None"),
    (lambda _: (200, {}, b""), "choices = None"),
    (lambda _: (400, {}, b"top_k is unknown"), "status 400: top_k is unknown; .* kind = 'openai'"),
    (lambda _: (401, {}, b""), "status 401.*api_key"),
]


@pytest.mark.parametrize(("spoil", "message"), WRONG, ids=[message for _, message in WRONG])
def test_an_answer_that_is_not_whole_is_an_error(server, engine, tokenizer, spoil, message):
    engine.spoil = spoil
    with pytest.raises(ServerError, match=message):
        generate_from_server(server, tokenizer, PROBLEMS[:1], decoding=GREEDY, seed=0)
    assert len(engine.asked) == 1


FAILING = [
    (lambda _: (500, {}, b"out of memory"), "status 500: out of memory"),
    (lambda _: (503, {}, b""), "status 503"),
    (lambda _: (429, {"Retry-After": 0}, b"slower"), "status 429: slower"),
    (lambda _: (0, {}, b""), "RemoteDisconnected"),
    (lambda _: (200, {"Content-Length": 500}, b'{"choices": ['), "IncompleteRead|timed out"),
]


@pytest.mark.parametrize(("spoil", "message"), FAILING, ids=[message for _, message in FAILING])
def test_a_passing_failure_is_asked_again_and_a_lasting_one_is_an_error(
    server, engine, tokenizer, spoil, message
):
    expected = generate_from_server(server, tokenizer, PROBLEMS[:1], decoding=GREEDY, seed=0)
    engine.asked.clear()
    engine.spoil = lambda answer: spoil(answer) if len(engine.asked) < 3 else None
    assert generate_from_server(server, tokenizer, PROBLEMS[:1], decoding=GREEDY, seed=0) == expected
    engine.asked.clear()
    engine.spoil = spoil
    with pytest.raises(ServerError, match=f"no answer in 3 attempts, the last with ({message})"):
        generate_from_server(server, tokenizer, PROBLEMS[:1], decoding=GREEDY, seed=0)
    assert len(engine.asked) == 3


def test_one_failure_among_many_completions_has_no_result_and_stops_the_rest(server, engine, tokenizer):
    engine.spoil = lambda answer: (400, {}, b"no") if len(engine.asked) == 3 else None
    with pytest.raises(ServerError, match="refused, status 400"):
        generate_from_server(replace(server, concurrency=1), tokenizer, PROBLEMS, decoding=SAMPLED, seed=0)
    assert len(engine.asked) < 12


def test_a_server_waits_as_long_as_the_other_side_asks(server, engine, tokenizer):
    engine.spoil = lambda _: (429, {"Retry-After": 1}, b"") if len(engine.asked) == 1 else None
    started = time.monotonic()
    generate_from_server(server, tokenizer, PROBLEMS[:1], decoding=GREEDY, seed=0)
    assert time.monotonic() - started > 1


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"url": "localhost:8000/v1"}, InputError, "write it as 'http://localhost:8000/v1'"),
        (
            {"url": "http://127.0.0.1:1/v1"},
            ServerError,
            "no answer in 3 attempts, the last with ConnectionRefusedError",
        ),
        ({"model": "untold"}, ServerError, "status 404.*names it serves"),
        ({"concurrency": 0}, InputError, "concurrency = 0"),
        ({"top_logprobs": 0}, InputError, "top_logprobs = 0"),
    ],
)
def test_a_server_that_is_not_there_and_settings_out_of_range_are_errors(
    server, tokenizer, changes, kind, message
):
    with pytest.raises(kind, match=message):
        generate_from_server(replace(server, **changes), tokenizer, PROBLEMS[:1], decoding=GREEDY, seed=0)


def test_an_adapter_is_loaded_under_the_name_that_is_asked_for(server, engine, tokenizer):
    adapter = replace(server, model="lam-8-seed-0", api_key="secret")
    load_adapter(adapter, "runs/lam-8-seed-0/adapter")
    assert engine.loaded == [{"lora_name": "lam-8-seed-0", "lora_path": "runs/lam-8-seed-0/adapter"}]
    assert len(generate_from_server(adapter, tokenizer, PROBLEMS[:1], decoding=GREEDY, seed=0)) == 1
    assert set(engine.keys) == {"Bearer secret"}
    unload_adapter(adapter)
    with pytest.raises(ServerError, match="status 404"):
        unload_adapter(server)


def test_an_adapter_that_the_server_cannot_find_is_a_matter_of_its_path(server):
    with pytest.raises(ServerError, match=r"No adapter found for /nowhere; .* under that very path"):
        load_adapter(server, "/nowhere")
