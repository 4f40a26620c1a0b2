"""A served policy writes what it writes here, and whatever a server does wrong is an error, never a score."""

import time
from dataclasses import replace

import pytest
from toys.server import GREEDY, PROBLEMS, SAMPLED, choice

from erce.errors import ServerError
from erce.generate.server import generate_from_server, post
from erce.generate.transformers import generate
from erce.hf.prompt import prompt_ids

NEUTRAL = {
    "top_p": 1.0,
    "top_k": -1,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "min_tokens": 0,
    "n": 1,
    "stop": [],
    "echo": False,
    "stream": False,
}


def test_greedy_from_a_server_is_greedy_here(server, model, tokenizer):
    served = generate_from_server(server, tokenizer, PROBLEMS, decoding=GREEDY, seed=0)
    ours = generate(model, tokenizer, PROBLEMS, decoding=GREEDY, seed=0)
    for this, that in zip(served, ours, strict=True):
        assert this == replace(that, logprob=this.logprob, entropy=None)
        assert this.logprob == pytest.approx(that.logprob, abs=1e-4)
    assert {each.finished for each in served} == {True}


def test_a_completion_cut_off_at_the_limit_is_unfinished(server, model, tokenizer):
    short = replace(GREEDY, max_new_tokens=5)
    served = generate_from_server(server, tokenizer, PROBLEMS, decoding=short, seed=0)
    ours = generate(model, tokenizer, PROBLEMS, decoding=short, seed=0)
    assert [(each.text, each.tokens, each.finished) for each in served] == [
        (each.text, 5, False) for each in ours
    ]


def test_every_decoding_field_is_written_out_and_the_prompt_is_that_of_training(server, engine, tokenizer):
    brief = replace(SAMPLED, samples=1, max_new_tokens=4)
    generate_from_server(server, tokenizer, PROBLEMS, decoding=brief, seed=0)
    prompts = {tuple(prompt_ids(tokenizer, problem.prompt)) for problem in PROBLEMS}
    assert {tuple(body["prompt"]) for body in engine.asked} == prompts
    wanted = NEUTRAL | {"temperature": 1.0, "max_tokens": 4, "logprobs": 1, "ignore_eos": True}
    for body in engine.asked:
        assert {name: body[name] for name in wanted} == wanted
        assert body["stop_token_ids"] == [tokenizer.eos_token_id]


def test_a_stop_text_ends_a_served_completion_where_it_ends_ours(server, engine, model, tokenizer):
    whole = generate(model, tokenizer, PROBLEMS, decoding=GREEDY, seed=0)
    for stop in ((whole[0].text[4:7],), (whole[0].text[4:7], whole[0].text[6], whole[1].text[-2:])):
        until = replace(GREEDY, stop=stop)
        served = generate_from_server(server, tokenizer, PROBLEMS, decoding=until, seed=0)
        ours = generate(model, tokenizer, PROBLEMS, decoding=until, seed=0)
        assert sorted(engine.asked[-1]["stop"]) == sorted(stop)
        for this, that in zip(served, ours, strict=True):
            assert (this.text, this.tokens, this.finished) == (that.text, that.tokens, that.finished)
            assert this.logprob == pytest.approx(that.logprob, abs=1e-4)
        assert served[0].text == whole[0].text[:4]
        assert served[0].tokens < whole[0].tokens


def test_a_server_that_writes_on_after_a_stop_text_is_an_error(server, engine, tokenizer):
    engine.spoil = choice(text="7-1=6", stop_reason=None)
    with pytest.raises(ServerError, match="sample 0: the server wrote on after a stop text, '1=6'"):
        generate_from_server(server, tokenizer, PROBLEMS, decoding=replace(GREEDY, stop=("1",)), seed=0)


def test_of_two_stop_texts_in_one_token_the_first_to_be_complete_cuts(server, engine, tokenizer):
    engine.spoil, both = choice(text="a?b", stop_reason="cd"), replace(GREEDY, stop=("?", "cd"))  # of "a?bcd"
    assert generate_from_server(server, tokenizer, PROBLEMS[:1], decoding=both, seed=0)[0].text == "a"


@pytest.mark.slow
def test_seeds_are_those_of_study_problem_and_sample(server, engine, tokenizer):
    two = PROBLEMS[:2]
    first = generate_from_server(server, tokenizer, two, decoding=SAMPLED, seed=0)
    seeds = {body["seed"] for body in engine.asked}
    assert len(seeds) == len(first) == 6
    assert [(each.problem, each.sample) for each in first] == [
        (problem.id, sample) for problem in two for sample in range(3)
    ]
    again = generate_from_server(
        replace(server, concurrency=1), tokenizer, two[::-1], decoding=SAMPLED, seed=0
    )
    assert sorted(again, key=lambda each: (each.problem, each.sample)) == first
    other = generate_from_server(server, tokenizer, two, decoding=SAMPLED, seed=1)
    assert not seeds & {body["seed"] for body in engine.asked[12:]}
    assert [each.text for each in other] != [each.text for each in first]


def test_a_server_that_is_not_vllm_gets_openais_fields_alone(server, engine, tokenizer):
    generate_from_server(replace(server, kind="openai"), tokenizer, PROBLEMS[:1], decoding=GREEDY, seed=0)
    beyond = {"top_k", "min_p", "repetition_penalty", "ignore_eos", "stop_token_ids", "min_tokens"}
    assert not beyond & set(engine.asked[0])


def spoken(change):
    return lambda answer: change(answer["choices"][0]["logprobs"])


WRONG = [
    (lambda answer: answer["choices"].clear(), "sent 0 choices"),
    (lambda answer: answer["choices"].append(answer["choices"][0]), "sent 2 choices"),
    (lambda answer: answer.pop("usage"), "usage = None"),
    (lambda answer: answer.update(model="base"), "answered as model 'base'"),
    (lambda answer: answer["usage"].update(prompt_tokens=3), "read 3 prompt tokens"),
    (lambda answer: answer["usage"].update(completion_tokens=2), "says that it wrote 2"),
    (choice(finish_reason="abort"), "finish_reason 'abort'"),
    (choice(finish_reason="length"), "where 40 were asked for"),
    (choice(stop_reason=7), "ended a completion at 7, which nobody asked for"),
    (spoken(lambda part: part["token_logprobs"].__setitem__(0, None)), "sent None as a log p"),
    (spoken(lambda part: part["token_logprobs"].__setitem__(0, 0.5)), r"sent 0\.5 as a log p"),
    (spoken(lambda part: part["token_logprobs"].pop()), "sent log p of"),
    (lambda _: (200, {}, b'{"choices": [{"te'), "are not JSON"),
    (lambda _: (200, {}, b'{"choices": NaN}'), "choices = nan, not a list"),
    (lambda _: (200, {}, b"<html>"), "choices = None"),
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
    ("changes", "message"),
    [
        ({"url": "http://127.0.0.1:1/v1"}, "no answer in 3 attempts, the last with ConnectionRefusedError"),
        ({"model": "untold"}, "status 404.*names it serves"),
    ],
)
def test_a_server_or_a_model_that_is_not_there_is_an_error(server, tokenizer, changes, message):
    with pytest.raises(ServerError, match=message):
        generate_from_server(replace(server, **changes), tokenizer, PROBLEMS[:1], decoding=GREEDY, seed=0)


def test_an_adapter_that_the_server_cannot_find_is_a_matter_of_its_path(server):
    with pytest.raises(ServerError, match=r"No adapter found for /nowhere; .* under that very path"):
        post(server, "/load_lora_adapter", {"lora_name": "lam8", "lora_path": "/nowhere"})


def test_a_broken_surrogate_in_the_text_can_be_written_to_a_file(server, engine, tokenizer):
    engine.spoil = choice(text="a\ud800b")
    done = generate_from_server(server, tokenizer, PROBLEMS[:1], decoding=GREEDY, seed=0)
    assert done[0].text == "a?b"
