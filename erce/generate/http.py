"""An address and a JSON body → the server's JSON answer, asked again while it is busy or out of reach."""

import json
import time
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, NamedTuple
from urllib.parse import urlsplit

LONGEST_WAIT = 60.0  # seconds between two attempts, whatever the server asks for
QUOTED = 300  # characters of a server's own words in an error


class Address(NamedTuple):
    """A server's base URL and how often and how patiently it is asked; times in seconds."""

    url: str
    api_key: str
    attempts: int
    backoff: float
    timeout: float


def post(address: Address, path: str, body: dict[str, Any]) -> Any:
    """What the server answers with status 200: its JSON, or the text where that is none.

    A connection that fails or breaks off, status 429 and any 5xx are tried again, each time after twice the
    wait or what the server's Retry-After asks for. What then still fails, and any other status, is a
    ValueError with the server's own words.
    """
    payload, wait, failure = json.dumps(body).encode(), address.backoff, ""
    for attempt in range(address.attempts):
        if attempt:
            time.sleep(min(wait, LONGEST_WAIT))
            wait *= 2
        try:
            reply = _send(address, path, payload)
        except (OSError, HTTPException) as error:
            failure = f"{type(error).__name__}: {error}"
            continue
        if reply.status == 200:
            return _decoded(address, reply.text)
        failure = f"status {reply.status}: {reply.text[:QUOTED]}"
        if reply.status != 429 and reply.status < 500:
            raise ValueError(f"{address.url}{path} refused, {failure}; {_way_out(reply.status)}")
        wait = max(wait, reply.retry_after)
    raise ValueError(
        f"{address.url}{path} gave no answer in {address.attempts} attempts, the last with {failure}; see "
        "that the server runs and is not overloaded"
    )


class _Reply(NamedTuple):
    status: int
    text: str
    retry_after: float


def _send(address: Address, path: str, payload: bytes) -> _Reply:
    parts = urlsplit(address.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{address.url!r} is no server's address; write it as 'http://localhost:8000/v1'")
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname, parts.port, timeout=address.timeout)
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if address.api_key:
        headers["Authorization"] = f"Bearer {address.api_key}"
    try:
        connection.request("POST", parts.path.rstrip("/") + path, payload, headers)
        reply = connection.getresponse()
        after = reply.getheader("Retry-After", "")
        text = reply.read().decode("utf-8", "replace")
    finally:
        connection.close()
    return _Reply(reply.status, text, float(after) if after.isdecimal() else 0.0)


def _decoded(address: Address, text: str) -> Any:
    """JSON with no NaN or infinity in it; what does not even begin like an object is the text itself."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        return json.loads(text, parse_constant=_not_a_number)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{address.url} sent {len(text)} characters that are no JSON ({error!s:.80}), ending in "
            f"{text[-40:]!r}; see the server's log, and whether a proxy cuts its answers"
        ) from error


def _not_a_number(constant: str) -> float:
    raise ValueError(f"{constant} is not in JSON")


def _way_out(status: int) -> str:
    """What to do about a status that asking again would not change."""
    if status in (401, 403):
        return "give the server's api_key"
    if status == 404:
        return "see <url>/models for the names it serves (vLLM: --lora-modules, or load_adapter)"
    return "see the server's log; one that is not vLLM may want kind = 'openai' and fewer top_logprobs"
