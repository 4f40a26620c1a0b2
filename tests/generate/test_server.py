"""A served policy writes what it writes here, under the same decoding, seeds and stop texts."""

import time
from dataclasses import replace

import pytest
from toys.server import GREEDY, PROBLEMS, SAMPLED, choice

from erce.errors import ServerError
from erce.generate.server import generate_from_server
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
        assert this == replace(that, logprob=this.logprob, entropy=this.entropy, drawn_entropy=None)
        assert this.logprob == pytest.approx(that.logprob, abs=1e-4)
        assert this.entropy == pytest.approx(that.entropy, abs=0.02)
    assert {each.finished for each in served} == {True}


def test_a_completion_cut_off_at_the_limit_is_unfinished(server, model, tokenizer):
    short = replace(GREEDY, max_new_tokens=5)
    served = generate_from_server(server, tokenizer, PROBLEMS, decoding=short, seed=0)
    ours = generate(model, tokenizer, PROBLEMS, decoding=short, seed=0)
    assert [(each.text, each.tokens, each.finished) for each in served] == [
        (each.text, 5, False) for each in ours
    ]


def test_all_alternatives_give_the_entropy_itself(server, model, tokenizer):
    whole = replace(server, top_logprobs=model.config.vocab_size, entropy_within=1e-6)
    served = generate_from_server(whole, tokenizer, PROBLEMS[:2], decoding=GREEDY, seed=0)
    ours = generate(model, tokenizer, PROBLEMS[:2], decoding=GREEDY, seed=0)
    assert [each.entropy for each in served] == pytest.approx([each.entropy for each in ours], abs=1e-5)


def test_entropies_too_vague_are_an_error_and_can_be_accepted(server, tokenizer):
    blind = replace(server, top_logprobs=1, entropy_within=1e-3)
    with pytest.raises(ValueError, match=r"the 1 most likely tokens leave the mean entropies ± 0\.\d+ nats"):
        generate_from_server(blind, tokenizer, PROBLEMS, decoding=GREEDY, seed=0)
    generate_from_server(replace(blind, entropy_within=9.0), tokenizer, PROBLEMS, decoding=GREEDY, seed=0)


def test_every_decoding_field_is_written_out_and_the_prompt_is_that_of_training(server, engine, tokenizer):
    generate_from_server(server, tokenizer, PROBLEMS, decoding=SAMPLED, seed=0)
    prompts = {tuple(prompt_ids(tokenizer, problem.prompt)) for problem in PROBLEMS}
    assert {tuple(body["prompt"]) for body in engine.asked} == prompts
    wanted = NEUTRAL | {"temperature": 1.0, "max_tokens": 40, "logprobs": 20, "ignore_eos": True}
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
    engine.deaf = True
    with pytest.raises(ServerError, match="sample 0: the server wrote on after a stop text, '1"):
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


def test_without_a_tokenizer_the_text_goes_out_and_the_server_ends(server, engine, tokenizer):
    unsure = replace(server, entropy_within=9.0)
    done = generate_from_server(unsure, None, PROBLEMS[:1], decoding=GREEDY, seed=0)
    assert engine.asked[0]["prompt"] == PROBLEMS[0].prompt
    assert "ignore_eos" not in engine.asked[0]
    assert done[0].tokens


def test_a_server_that_is_not_vllm_gets_openais_fields_alone(server, engine, tokenizer):
    generate_from_server(replace(server, kind="openai"), tokenizer, PROBLEMS[:1], decoding=GREEDY, seed=0)
    beyond = {"top_k", "min_p", "repetition_penalty", "ignore_eos", "stop_token_ids", "min_tokens"}
    assert not beyond & set(engine.asked[0])
    with pytest.raises(ValueError, match="no kind of server 'tgi'"):
        generate_from_server(replace(server, kind="tgi"), tokenizer, PROBLEMS, decoding=GREEDY, seed=0)


@pytest.mark.slow
def test_no_more_requests_are_under_way_than_allowed(server, engine, tokenizer):
    engine.spoil = lambda _: time.sleep(0.02)
    generate_from_server(replace(server, concurrency=3), tokenizer, PROBLEMS, decoding=SAMPLED, seed=0)
    assert 1 < engine.busiest <= 3


def test_a_broken_surrogate_in_the_text_can_be_written_to_a_file(server, engine, tokenizer):
    engine.spoil = choice(text="a\ud800b")
    done = generate_from_server(server, tokenizer, PROBLEMS[:1], decoding=GREEDY, seed=0)
    assert done[0].text == "a?b"


def test_no_problems_ask_for_nothing(server, engine, tokenizer):
    assert generate_from_server(server, tokenizer, [], decoding=SAMPLED, seed=0) == []
    assert engine.asked == []
