"""A served policy writes what it writes here; whatever a server does wrong is an error and never a score."""

import json
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import torch

from erce.generate.server import Server, generate_from_server, load_adapter, unload_adapter
from erce.generate.transformers import generate
from erce.models import load_model, load_tokenizer
from erce.prompt import prompt_ids
from erce.types import Problem


@dataclass(frozen=True)
class Draw:
    temperature: float = 0.0
    samples: int = 1
    max_new_tokens: int = 40
    batch_size: int = 64
    stop: tuple[str, ...] = ()


GREEDY = Draw()
SAMPLED = Draw(temperature=1.0, samples=3)
PROBLEMS = [
    Problem(id=f"p{number}", prompt=f"Work out {number}+7-2 step by step.", demonstration="")
    for number in range(4)
]
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


@pytest.fixture(scope="module")
def model():
    return load_model("tiny")


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer("tiny")


@dataclass
class Engine:
    """A small vLLM: one policy under one name, one request at a time; `spoil` is what goes wrong."""

    model: torch.nn.Module
    tokenizer: object
    name: str = "tiny"
    deaf: bool = False  # to stop texts
    spoil: object = None  # changes the answer, or returns a (status, headers, body) in its place
    asked: list = field(default_factory=list)
    loaded: list = field(default_factory=list)
    keys: list = field(default_factory=list)
    busy: int = 0
    busiest: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def complete(self, body):
        prompt, end = body["prompt"], set(body.get("stop_token_ids", [self.tokenizer.eos_token_id]))
        ids = self.tokenizer.encode(prompt) if isinstance(prompt, str) else list(prompt)
        start, steps, tops, text, reason = len(ids), [], [], "", None
        noise = torch.Generator().manual_seed(body["seed"])
        while len(ids) - start < body["max_tokens"] and reason is None:
            with torch.no_grad():
                logits = self.model(torch.tensor([ids])).logits[0, -1].double()
            log_p, heat = logits.log_softmax(-1), body["temperature"]
            drawn = torch.multinomial((logits / heat).softmax(-1), 1, generator=noise) if heat else None
            token = int(logits.argmax() if drawn is None else drawn)
            best = {int(each) for each in log_p.topk(body["logprobs"]).indices} | {token}
            steps.append(log_p[token].item())
            tops.append({f"token_id:{each}": log_p[each].item() for each in best})
            ids.append(token)
            before, text = text, self.tokenizer.decode(ids[start:], skip_special_tokens=True)
            text, reason = (text, token) if token in end else self.cut(text, before, body["stop"])
        written = ids[start:]
        return {
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "text": text,
                    "finish_reason": "length" if reason is None else "stop",
                    "stop_reason": reason,
                    "logprobs": {"token_logprobs": steps, "top_logprobs": tops},
                }
            ],
            "usage": {"prompt_tokens": start, "completion_tokens": len(written)},
        }

    def cut(self, text, before, stop):
        """As vLLM's check_stop_strings: the first of the list that ends in the text of the last token."""
        if self.deaf:
            return text, None
        more = len(text) - len(before.rstrip("\ufffd"))
        for each in stop:
            if (at := text.find(each, max(len(text) + 1 - more - len(each), 0))) >= 0:
                return text[:at], each
        return text, None

    def answer(self, path, body):
        """(status, headers, body) of one request."""
        if path == "/v1/load_lora_adapter":
            self.loaded.append(body)
            self.name = body["lora_name"]
            return 200, {}, b"Success: LoRA adapter added successfully."
        if path == "/v1/unload_lora_adapter" and body["lora_name"] == self.name:
            return 200, {}, b"Success: LoRA adapter removed successfully."
        if path != "/v1/completions" or body["model"] != self.name:
            return 404, {}, json.dumps({"error": f"no {path} of {body.get('model')}"}).encode()
        with self.lock:
            self.asked.append(body)
            self.busy += 1
            self.busiest = max(self.busiest, self.busy)
            answer = self.complete(body)
        if self.spoil is not None:
            spoilt = self.spoil(answer)
            answer = spoilt if isinstance(spoilt, tuple) else answer
        with self.lock:
            self.busy -= 1
        return answer if isinstance(answer, tuple) else (200, {}, json.dumps(answer).encode())


@contextmanager
def serving(engine):
    """The engine behind a socket of this machine, as a Server."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            engine.keys.append(self.headers.get("Authorization"))
            status, headers, text = engine.answer(self.path, body)
            if status == 0:  # hang up without a word
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            self.send_response(status)
            for name, value in ({"Content-Length": len(text)} | headers).items():
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield Server(url=f"http://127.0.0.1:{httpd.server_port}/v1", model="tiny", attempts=3, backoff=0.01)
    finally:
        httpd.shutdown()
        thread.join()
        httpd.server_close()


@pytest.fixture
def engine(model, tokenizer):
    return Engine(model, tokenizer)


@pytest.fixture
def server(engine):
    with serving(engine) as server:
        yield server


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
    with pytest.raises(ValueError, match="sample 0: the server wrote on after a stop text, '1"):
        generate_from_server(server, tokenizer, PROBLEMS, decoding=replace(GREEDY, stop=("1",)), seed=0)


def test_of_two_stop_texts_in_one_token_the_first_to_be_complete_cuts(server, engine, tokenizer):
    engine.spoil, both = choice(text="a?b", stop_reason="cd"), replace(GREEDY, stop=("?", "cd"))  # of "a?bcd"
    assert generate_from_server(server, tokenizer, PROBLEMS[:1], decoding=both, seed=0)[0].text == "a"


def test_seeds_are_those_of_study_problem_and_sample(server, engine, tokenizer):
    first = generate_from_server(server, tokenizer, PROBLEMS, decoding=SAMPLED, seed=0)
    seeds = {body["seed"] for body in engine.asked}
    assert len(seeds) == len(first) == 12
    assert [(each.problem, each.sample) for each in first] == [
        (problem.id, sample) for problem in PROBLEMS for sample in range(3)
    ]
    again = generate_from_server(
        replace(server, concurrency=1), tokenizer, PROBLEMS[::-1], decoding=SAMPLED, seed=0
    )
    assert sorted(again, key=lambda each: (each.problem, each.sample)) == first
    other = generate_from_server(server, tokenizer, PROBLEMS, decoding=SAMPLED, seed=1)
    assert not seeds & {body["seed"] for body in engine.asked[24:]}
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


def test_no_more_requests_are_under_way_than_allowed(server, engine, tokenizer):
    engine.spoil = lambda _: time.sleep(0.02)
    generate_from_server(replace(server, concurrency=3), tokenizer, PROBLEMS, decoding=SAMPLED, seed=0)
    assert 1 < engine.busiest <= 3


def choice(**changes):
    return lambda answer: answer["choices"][0].update(changes)


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
    with pytest.raises(ValueError, match=message):
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
    with pytest.raises(ValueError, match=f"no answer in 3 attempts, the last with ({message})"):
        generate_from_server(server, tokenizer, PROBLEMS[:1], decoding=GREEDY, seed=0)
    assert len(engine.asked) == 3


def test_one_failure_among_many_completions_has_no_result_and_stops_the_rest(server, engine, tokenizer):
    engine.spoil = lambda answer: (400, {}, b"no") if len(engine.asked) == 3 else None
    with pytest.raises(ValueError, match="refused, status 400"):
        generate_from_server(replace(server, concurrency=1), tokenizer, PROBLEMS, decoding=SAMPLED, seed=0)
    assert len(engine.asked) < 12


def test_a_server_waits_as_long_as_the_other_side_asks(server, engine, tokenizer):
    engine.spoil = lambda _: (429, {"Retry-After": 1}, b"") if len(engine.asked) == 1 else None
    started = time.monotonic()
    generate_from_server(server, tokenizer, PROBLEMS[:1], decoding=GREEDY, seed=0)
    assert time.monotonic() - started > 1


def test_a_broken_surrogate_in_the_text_can_be_written_to_a_file(server, engine, tokenizer):
    engine.spoil = choice(text="a\ud800b")
    done = generate_from_server(server, tokenizer, PROBLEMS[:1], decoding=GREEDY, seed=0)
    assert done[0].text == "a?b"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"url": "localhost:8000/v1"}, "write it as 'http://localhost:8000/v1'"),
        ({"url": "http://127.0.0.1:1/v1"}, "no answer in 3 attempts, the last with ConnectionRefusedError"),
        ({"model": "untold"}, "status 404.*names it serves"),
        ({"concurrency": 0}, "concurrency = 0"),
        ({"top_logprobs": 0}, "top_logprobs = 0"),
    ],
)
def test_a_server_that_is_not_there_and_settings_out_of_range_are_errors(server, tokenizer, changes, message):
    with pytest.raises(ValueError, match=message):
        generate_from_server(replace(server, **changes), tokenizer, PROBLEMS[:1], decoding=GREEDY, seed=0)


def test_an_adapter_is_loaded_under_the_name_that_is_asked_for(server, engine, tokenizer):
    adapter = replace(server, model="lam-8-seed-0", api_key="secret")
    load_adapter(adapter, "runs/lam-8-seed-0/adapter")
    assert engine.loaded == [{"lora_name": "lam-8-seed-0", "lora_path": "runs/lam-8-seed-0/adapter"}]
    assert len(generate_from_server(adapter, tokenizer, PROBLEMS[:1], decoding=GREEDY, seed=0)) == 1
    assert set(engine.keys) == {"Bearer secret"}
    unload_adapter(adapter)
    with pytest.raises(ValueError, match="status 404"):
        unload_adapter(server)


def test_no_problems_ask_for_nothing(server, engine, tokenizer):
    assert generate_from_server(server, tokenizer, [], decoding=SAMPLED, seed=0) == []
    assert engine.asked == []
