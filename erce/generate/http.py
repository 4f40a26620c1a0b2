"""Requests to a server → its JSON answers, asked again while it is busy or out of reach."""

import json
import time
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from erce.errors import InputError, ServerError

LONGEST_WAIT_SECONDS = 60.0  # between two attempts, whatever the server asks for
QUOTED_CHARACTERS = 300  # of a server's own words in an error


class Address(NamedTuple):
    """A server's base URL and how often and how patiently it is asked; times in seconds."""

    url: str
    api_key: str
    attempts: int
    backoff: float
    timeout: float


def post(address: Address, path: str, body: dict[str, Any]) -> Any:
    """Return the JSON that the server answers with status 200, or the text where it is not JSON.

    A connection that fails or breaks off, status 429 and any 5xx are tried again, each time after twice the
    wait or what the server's Retry-After asks for. The last failure, and any other status, is a ServerError
    with the server's own words.
    """
    payload, wait, failure = json.dumps(body).encode(), address.backoff, ""
    for attempt in range(address.attempts):
        if attempt:
            time.sleep(min(wait, LONGEST_WAIT_SECONDS))
            wait *= 2
        try:
            reply = _send(address, "POST", path, payload)
        except (OSError, HTTPException) as error:
            failure = f"{type(error).__name__}: {error}"
            continue
        if reply.status == 200:
            return _decoded(address, reply.text)
        failure = f"status {reply.status}: {reply.text[:QUOTED_CHARACTERS]}"
        if reply.status != 429 and reply.status < 500:
            raise ServerError(f"{address.url}{path} refused, {failure}; {_way_out(reply.status, path)}")
        wait = max(wait, reply.retry_after)
    raise ServerError(
        f"{address.url}{path} gave no answer in {address.attempts} attempts, the last with {failure}; check "
        "that the server runs and is not overloaded"
    )


def get(address: Address, path: str) -> Any:
    """Return the JSON that the server answers with status 200, asked once; all else is a ServerError."""
    try:
        reply = _send(address, "GET", path)
    except (OSError, HTTPException) as error:
        raise ServerError(f"{type(error).__name__}: {error!s:.80}") from error
    if reply.status != 200:
        raise ServerError(f"status {reply.status}")
    return _decoded(address, reply.text)


class _Reply(NamedTuple):
    status: int
    text: str
    retry_after: float


def _send(address: Address, method: str, path: str, payload: bytes | None = None) -> _Reply:
    parts = urlsplit(address.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"{address.url!r} is no server's address; write it as 'http://localhost:8000/v1'")
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname, parts.port, timeout=address.timeout)
    headers = {"Accept": "application/json"}
    if payload is not None:
        headers["Content-Type"] = "application/json"
    if address.api_key:
        headers["Authorization"] = f"Bearer {address.api_key}"
    try:
        connection.request(method, parts.path.rstrip("/") + path, payload, headers)
        reply = connection.getresponse()
        after = reply.getheader("Retry-After", "")
        text = reply.read().decode("utf-8", "replace")
    finally:
        connection.close()
    return _Reply(reply.status, text, float(after) if after.isdecimal() else 0.0)


def _decoded(address: Address, text: str) -> Any:
    """Return the JSON, without NaN or infinity, or the text itself if it does not begin like an object."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        return json.loads(text, parse_constant=_not_a_number)
    except (ValueError, RecursionError) as error:
        raise ServerError(
            f"{address.url} sent {len(text)} characters that are no JSON ({error!s:.80}), ending in "
            f"{text[-40:]!r}; see the server's log, and whether a proxy cuts its answers"
        ) from error


def _not_a_number(constant: str) -> float:
    raise ValueError(f"{constant} is not in JSON")


def _way_out(status: int, path: str) -> str:
    """Return what the user can do about a status that asking again would not change."""
    if status in (401, 403):
        return "give the server's api_key"
    if status == 404 and path == "/load_lora_adapter":
        return (
            "the adapter's folder must exist on the server's machine under that very path, and vLLM needs "
            "--enable-lora and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True"
        )
    if status == 404:
        return "see <url>/models for the names it serves (vLLM: --lora-modules, or load_adapter)"
    return "see the server's log; one that is not vLLM may want kind = 'openai' and fewer top_logprobs"
