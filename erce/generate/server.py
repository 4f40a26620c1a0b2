"""An OpenAI-compatible server and problems → Completions of the policy that it serves under a name.

`Served` is the backend of a recipe with a [server]: it loads each cell's adapter there. Requests that fail
for the moment are made again. The HTTP is the standard library's: a client of another library would follow
that library's settings, such as an offline mode.
"""

import hashlib
import json
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from erce import events
from erce.errors import InputError, ServerError
from erce.generate.decoding import GenerationSettings, before_stop, check_ids
from erce.hf.prompt import end_tokens, prompt_ids
from erce.recipe import Recipe, Serving
from erce.types import Completion, Problem

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from erce.hf.models import BasePolicy

EXTENSIONS: dict[str, dict[str, Any]] = {  # kind → decoding fields beside OpenAI's, at values without effect
    "openai": {},
    "vllm": {
        "top_k": -1,
        "min_p": 0.0,
        "repetition_penalty": 1.0,
        "min_tokens": 0,
        "skip_special_tokens": True,
        "include_stop_str_in_output": False,
    },
}
LIST_TIMEOUT_SECONDS = 30.0  # without a byte of the list of models
LONGEST_WAIT_SECONDS = 60.0  # between two attempts, whatever the server asks for
QUOTED_CHARACTERS = 300  # of a server's own words in an error


@dataclass(frozen=True, kw_only=True)
class Server(Serving):
    """A recipe's [server], checked, as it is asked: `model` is the base model's name there or an adapter's.

    A server that is not vLLM may refuse or ignore vLLM's decoding fields: `kind` "openai" sends OpenAI's
    alone, and the server's own defaults hold for the rest (top-k, repetition penalty, end tokens).
    """

    api_key: str = ""
    attempts: int = 6  # at each request, where the connection fails or the server is busy (429, 5xx)
    backoff: float = 0.5  # seconds before the second attempt; doubled before every further one


@dataclass(frozen=True)
class Served:
    """The backend of a recipe with a [server]: the base model and the cells' adapters are served there."""

    recipe: Recipe
    in_cell_process = False
    after_training = False

    @property
    def serving(self) -> Serving:
        assert self.recipe.server is not None
        return self.recipe.server

    @property
    def name(self) -> str:
        return self.serving.kind

    def base(self) -> Server:
        """Return the base model on the server; InputError where the variable with its key is not set."""
        serving, variable = self.serving, self.serving.api_key_variable
        if variable is not None and variable not in os.environ:
            raise InputError(
                f"[server] api_key_variable = {variable!r} is not set; export {variable}=… first"
            )
        key = "" if variable is None else os.environ[variable]
        if not key.isascii() or not key.isprintable() or key != key.strip():
            raise InputError(
                f"[server] the key in {variable!r} has characters that no key has, such as a line's end"
            )
        settings: dict[str, Any] = asdict(serving)
        settings |= {"url": serving.url.rstrip("/"), "model": serving.model or self.recipe.model}
        return Server(**settings, api_key=key)

    def check(self) -> None:
        """Refuse a server that does not serve the base model; ServerError if it does not answer."""
        base = self.base()
        names = served_names(base)
        if base.model not in names:
            raise InputError(
                f"{base.url} serves no {base.model!r} but {', '.join(names) or 'nothing'}; name the model to "
                "sample from with [server] model"
            )

    def running(self, folder: Path) -> AbstractContextManager[None]:
        return nullcontext()

    @contextmanager
    def generator(
        self, base: "BasePolicy", adapter: Path | None
    ) -> Iterator[Callable[..., Sequence[Completion]]]:
        """Load the adapter as `served_name` for the block, and unload it afterwards."""
        with _loaded(self.base(), adapter) as server:
            yield partial(generate_from_server, server, base.tokenizer)


def served_name(adapter: Path) -> str:
    """Return an adapter's name on a server: its cell's folder and 8 hexadecimal digits of the folder's path.

    So two studies of one recipe share no adapter, and a study that was killed finds the one that it left.

    >>> served_name(Path("/runs/mini/cells/sums-lam1-seed0-3fa9c1d2/adapter"))
    'sums-lam1-seed0-3fa9c1d2-b49ea395'
    """
    digest = hashlib.sha256(os.fsencode(adapter.resolve())).hexdigest()
    return f"{adapter.parent.name}-{digest[:8]}"


def served_names(server: Server) -> list[str]:
    """Return the names of all models and adapters that the server serves."""
    patient = replace(server, timeout=min(server.timeout, LIST_TIMEOUT_SECONDS))
    try:
        reply = _send(patient, "/models")
        if reply.status != 200:
            raise ServerError(f"status {reply.status}")
        return sorted(model["id"] for model in _decoded(server, reply.text)["data"])
    except (OSError, HTTPException, ServerError, TypeError, KeyError) as error:
        raise ServerError(
            f"no list of models at {server.url}/models ({error!s:.80}); check that the server runs there and "
            "accepts the key"
        ) from error


@contextmanager
def _loaded(base: Server, adapter: Path | None) -> Iterator[Server]:
    """Yield the base model's server, or the same with the adapter loaded, which is unloaded afterwards."""
    if adapter is None:
        yield base
        return
    server = replace(base, model=served_name(adapter))
    with suppress(ServerError):  # only where a killed run has left one of the name, perhaps of other weights
        unload_adapter(server)
    # A name that it still serves is refused, since nobody could say which of the two adapters answers.
    adapter_there = {"lora_name": server.model, "lora_path": str(adapter.resolve())}
    try:
        post(server, "/load_lora_adapter", adapter_there)
        yield server
    except BaseException:
        with suppress(ServerError):  # the first error is the one to report
            unload_adapter(replace(server, attempts=1))
        raise
    unload_adapter(server)


def generate_from_server(
    server: Server,
    tokenizer: "PreTrainedTokenizerBase",
    problems: Sequence[Problem],
    *,
    decoding: GenerationSettings,
    seed: int,
) -> list[Completion]:
    """Sample `decoding.samples` completions per problem, ordered by problem and then by sample.

    The prompt goes out as the very token ids of the training (`erce.hf.prompt`). Each completion is a request
    of its own, with every decoding field written out and a random seed that depends on (seed, problem id,
    sample) alone. Whether one seed gives one completion whatever else the server is busy with is the server's
    affair (vLLM: VLLM_BATCH_INVARIANT=1).

    `logprob` is the sum of the server's, which must be those at temperature 1 (vLLM's default, raw_logprobs).
    `entropy` is None: the likeliest tokens that a server sends do not tell it.

    Whatever is missing or wrong is a ServerError, and the whole call has no result: a server that cannot
    be reached or refuses, answers with another model's name, with fewer choices, without log p, with fewer
    tokens than asked although nothing ended the completion, or with a stop text in the completion.
    """
    check_ids(problems)
    requests = list(_requests(server, tokenizer, problems, decoding, seed))
    answers: dict[_Request, Completion] = {}
    with ThreadPoolExecutor(server.concurrency) as pool:
        pending = {pool.submit(_answer, server, request): request for request in requests}
        try:
            for future in as_completed(pending):
                answers[pending[future]] = completion = future.result()
                events.advance(1, tokens=completion.tokens or 0)
        finally:
            for future in pending:
                future.cancel()
    return [answers[request] for request in requests]


def unload_adapter(server: Server) -> None:
    """Unload the adapter named `server.model` from a vLLM server."""
    post(server, "/unload_lora_adapter", {"lora_name": server.model})


@dataclass(frozen=True, eq=False)  # hashable by identity: the body is a dict
class _Request:
    problem: str
    sample: int
    body: dict[str, Any]


def _requests(
    server: Server,
    tokenizer: "PreTrainedTokenizerBase",
    problems: Sequence[Problem],
    decoding: GenerationSettings,
    seed: int,
) -> Iterator[_Request]:
    common = {
        "model": server.model,
        "n": 1,
        "max_tokens": decoding.max_new_tokens,
        "temperature": decoding.temperature,
        "top_p": 1.0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "stop": sorted(decoding.stop, key=len, reverse=True),  # of several at once, vLLM takes its first
        "logprobs": 1,  # of the chosen tokens, beside which servers send the likeliest
        "echo": False,
        "stream": False,
        **EXTENSIONS[server.kind],
    }
    if server.kind == "vllm":
        # Left alone, vLLM also stops at every end token of the checkpoint's own generation config.
        common |= {"ignore_eos": True, "stop_token_ids": end_tokens(tokenizer)}
    for problem in problems:
        prompt = prompt_ids(tokenizer, problem.prompt)
        for sample in range(decoding.samples):
            body = common | {"prompt": prompt, "seed": _seed(seed, problem.id, sample)}
            yield _Request(problem.id, sample, body)


def _seed(seed: int, problem: str, sample: int) -> int:
    """Return a seed of 31 bits, which every server takes; a problem's samples have different ones."""
    start = hashlib.sha256(f"{seed}\0{problem}".encode()).digest()
    return (int.from_bytes(start[:8], "little") + sample) % 2**31


def _answer(server: Server, request: _Request) -> Completion:
    """Ask for one completion; a ServerError says what is wrong with the answer."""
    answer = post(server, "/completions", request.body)
    try:
        return _read(answer, request)
    except ServerError as error:
        raise ServerError(f"problem {request.problem!r}, sample {request.sample}: {error}") from error


def _read(answer: Any, request: _Request) -> Completion:
    body, choices = request.body, _part(answer, "choices", list)
    if (name := _part(answer, "model", str)) != body["model"]:
        raise ServerError(f"the server answered as model {name!r}; ask it for {body['model']!r} by that name")
    if len(choices) != 1:
        raise ServerError(f"the server sent {len(choices)} choices where 1 was asked for; see its log")
    choice = choices[0]
    usage, logprobs = _part(answer, "usage", dict), _part(choice, "logprobs", dict)
    steps = [_log_p(value) for value in _part(logprobs, "token_logprobs", list)]
    ended = _part(choice, "finish_reason", str)
    _check_counts(body, usage, len(steps), ended)
    text = _text(choice, body["stop"])
    reason, ends = choice.get("stop_reason"), body.get("stop_token_ids", ())
    if ends and ended == "stop" and reason not in (*ends, *body["stop"]):
        raise ServerError(
            f"the server ended a completion at {reason!r:.60}, which nobody asked for; see its log"
        )
    return Completion(
        problem=request.problem,
        sample=request.sample,
        text=text.encode("utf-8", "replace").decode(),  # a lone surrogate becomes "?"
        tokens=len(steps),
        finished=ended == "stop",
        logprob=math.fsum(steps),
        entropy=None,
    )


def _text(choice: dict[str, Any], stop: list[str]) -> str:
    """Return the completion's text; a ServerError where the server did not end it at a stop text."""
    text = _part(choice, "text", str)
    kept = before_stop(text, stop)
    # Where one token completes two stop texts, vLLM may cut at the later one; `stop_reason` names it.
    if kept != text and choice.get("stop_reason") not in stop:
        raise ServerError(
            f"the server wrote on after a stop text, {text[len(kept) :]!r:.60}; it must end completions there"
        )
    return kept


def _check_counts(body: dict[str, Any], usage: dict[str, Any], steps: int, ended: str) -> None:
    """Refuse an answer to a changed prompt, and a completion that is not whole."""
    if ended not in ("stop", "length"):
        raise ServerError(f"the server gave up with finish_reason {ended!r}; see its log")
    written, limit = _part(usage, "completion_tokens", int), body["max_tokens"]
    if not steps or steps != written:
        raise ServerError(f"the server sent log p of {steps} tokens and says that it wrote {written}")
    if steps > limit or (ended == "length" and steps < limit):
        raise ServerError(
            f"the server stopped after {steps} tokens where {limit} were asked for; give it room for the "
            "prompt and these (vLLM: --max-model-len)"
        )
    read, prompt = _part(usage, "prompt_tokens", int), body["prompt"]
    if read != len(prompt):
        raise ServerError(
            f"the server read {read} prompt tokens where {len(prompt)} were sent; it adds tokens or cuts the "
            "prompt, which it must not do with token ids"
        )


def _part(answer: Any, name: str, kind: type) -> Any:
    """Return a field of the answer; a ServerError where it is missing or of another type."""
    value = answer.get(name) if isinstance(answer, dict) else None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ServerError(
            f"the server's answer has {name} = {value!r:.60}, not a {kind.__name__}; it must speak OpenAI's "
            "completions with logprobs, as vLLM does"
        )
    return value


def _log_p(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not -1e6 <= value <= 1e-3:
        raise ServerError(f"the server sent {value!r:.60} as a log p, which is a number of at most 0")
    return float(value)


def post(server: Server, path: str, body: dict[str, Any]) -> Any:
    """Return the JSON that the server answers with status 200, or the text where it is not JSON.

    A connection that fails or breaks off, status 429 and any 5xx are tried again, each time after twice the
    wait or what the server's Retry-After asks for. The last failure, and any other status, is a ServerError
    with the server's own words.
    """
    payload, wait, failure = json.dumps(body).encode(), server.backoff, ""
    for attempt in range(server.attempts):
        if attempt:
            time.sleep(min(wait, LONGEST_WAIT_SECONDS))
            wait *= 2
        try:
            reply = _send(server, path, payload)
        except (OSError, HTTPException) as error:
            failure = f"{type(error).__name__}: {error}"
            continue
        if reply.status == 200:
            return _decoded(server, reply.text)
        failure = f"status {reply.status}: {reply.text[:QUOTED_CHARACTERS]}"
        if reply.status != 429 and reply.status < 500:
            raise ServerError(f"{server.url}{path} refused, {failure}; {_way_out(reply.status)}")
        wait = max(wait, reply.retry_after)
    raise ServerError(
        f"{server.url}{path} gave no answer in {server.attempts} attempts, the last with {failure}; check "
        "that the server runs and is not overloaded"
    )


class _Reply(NamedTuple):
    status: int
    text: str
    retry_after: float


def _send(server: Server, path: str, payload: bytes | None = None) -> _Reply:
    """Send the payload, JSON, by POST; without one ask by GET."""
    parts = urlsplit(server.url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.netloc, timeout=server.timeout)
    headers = {"Accept": "application/json"}
    if payload is not None:
        headers["Content-Type"] = "application/json"
    if server.api_key:
        headers["Authorization"] = f"Bearer {server.api_key}"
    try:
        method = "GET" if payload is None else "POST"
        connection.request(method, parts.path.rstrip("/") + path, payload, headers)
        reply = connection.getresponse()
        after = reply.getheader("Retry-After", "")
        text = reply.read().decode("utf-8", "replace")
    finally:
        connection.close()
    return _Reply(reply.status, text, float(after) if after.isdecimal() else 0.0)


def _decoded(server: Server, text: str) -> Any:
    """Return the JSON, or the text itself if it does not begin like an object."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ServerError(
            f"{server.url} sent {len(text)} characters that are not JSON ({error!s:.80}), ending in "
            f"{text[-40:]!r}; see the server's log, and whether a proxy cuts its answers"
        ) from error


def _way_out(status: int) -> str:
    """Return what the user can do about a status that asking again would not change."""
    if status in (401, 403):
        return "give the server's api_key"
    if status == 404:
        return (
            "see <url>/models for the names it serves; an adapter's folder must exist on the server's "
            "machine under that very path, and vLLM needs --enable-lora and "
            "VLLM_ALLOW_RUNTIME_LORA_UPDATING=True"
        )
    return "see the server's log; one that is not vLLM may want kind = 'openai'"
