"""What the tests of served policies draw from: a small vLLM behind a socket of this machine."""

import json
import socket
import threading
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from weakref import WeakKeyDictionary

import torch

from erce.generate.decoding import GenerationSettings
from erce.generate.server import Server
from erce.hf.models import adapted
from erce.types import Problem

GREEDY = GenerationSettings(temperature=0.0, samples=1, max_new_tokens=40, batch_size=64)
SAMPLED = replace(GREEDY, temperature=1.0, samples=3)
PROBLEMS = [
    Problem(id=f"p{number}", prompt=f"Work out {number}+7-2 step by step.", demonstration="")
    for number in range(4)
]


_written = WeakKeyDictionary()  # model → request → answer: most tests spoil the same few


@dataclass
class Engine:
    """A small vLLM: a base model and adapters by name, one request at a time; `spoil` is what goes wrong."""

    policies: dict  # name → model; at first the base model's alone
    tokenizer: object
    spoil: object = None  # changes the answer, or returns a (status, headers, body) in its place
    asked: list = field(default_factory=list)
    changes: list = field(default_factory=list)  # ("load" or "unload", name)
    keys: list = field(default_factory=list)
    listing: tuple | None = None  # status and text in place of the list of models
    url: str = ""
    open: ExitStack = field(default_factory=ExitStack)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def complete(self, model, body):
        prompt, end = body["prompt"], set(body.get("stop_token_ids", [self.tokenizer.eos_token_id]))
        ids = self.tokenizer.encode(prompt) if isinstance(prompt, str) else list(prompt)
        start, steps, tops, text, reason = len(ids), [], [], "", None
        noise = torch.Generator().manual_seed(body["seed"])
        while len(ids) - start < body["max_tokens"] and reason is None:
            with torch.no_grad():
                logits = model(torch.tensor([ids])).logits[0, -1].double()
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
        more = len(text) - len(before.rstrip("\ufffd"))
        for each in stop:
            if (at := text.find(each, max(len(text) + 1 - more - len(each), 0))) >= 0:
                return text[:at], each
        return text, None

    def answer(self, path, body):
        """(status, headers, body) of one request."""
        name = body.get("model") or body.get("lora_name")
        if path == "/v1/models":
            status, text = self.listing or (
                200,
                json.dumps({"data": [{"id": name} for name in self.policies]}),
            )
            return status, {}, text.encode()
        if path == "/v1/load_lora_adapter" and name not in self.policies:
            if not Path(body["lora_path"]).is_dir():
                return 404, {}, f"No adapter found for {body['lora_path']}".encode()
            base = next(iter(self.policies.values()))
            self.policies[name] = self.open.enter_context(adapted(base, Path(body["lora_path"])))
            self.changes.append(("load", name))
            return 200, {}, b"Success: LoRA adapter added successfully."
        if path == "/v1/unload_lora_adapter" and name in self.policies:
            del self.policies[name]
            self.changes.append(("unload", name))
            return 200, {}, b"Success: LoRA adapter removed successfully."
        if path != "/v1/completions" or name not in self.policies:
            return 404, {}, json.dumps({"error": f"no {path} of {name}"}).encode()
        with self.lock:
            self.asked.append(body)
            known = _written.setdefault(self.policies[name], {})
            same = json.dumps(body, sort_keys=True)
            if same not in known:
                known[same] = self.complete(self.policies[name], body)
            answer = deepcopy(known[same])
        if self.spoil is not None:
            spoilt = self.spoil(answer)
            answer = spoilt if isinstance(spoilt, tuple) else answer
        return answer if isinstance(answer, tuple) else (200, {}, json.dumps(answer).encode())


@contextmanager
def serving(engine, port=0):
    """The engine behind a socket of this machine, as a Server."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.do_POST()

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "{}")
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

    httpd = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        engine.url = f"http://127.0.0.1:{httpd.server_port}/v1"
        yield Server(url=engine.url, model=next(iter(engine.policies)), attempts=3, backoff=0.01)
    finally:
        httpd.shutdown()
        thread.join()
        httpd.server_close()


def choice(**changes):
    return lambda answer: answer["choices"][0].update(changes)
