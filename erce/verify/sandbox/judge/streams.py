"""The `sys.stdin`, `input` and `sys.stdout` of the tests → what the program reads, calls and prints."""

import builtins
import io
import sys
from collections.abc import Callable
from typing import Any, Protocol

from erce.verify.sandbox.judge.callbacks import is_harmless

_STDOUT, _INPUT = sys.stdout, builtins.input


class _Peer(Protocol):
    def exchange(self, request: Any) -> Any: ...
    def callback(self, function: Callable[..., Any], name: str) -> list[Any]: ...
    def stop(self, reason: str, detail: str) -> BaseException: ...


def are_replaced() -> bool:
    """Return whether the tests have put something in the place of a stream or of `input`."""
    return sys.stdout is not _STDOUT or _is_typed()


def exchange(peer: _Peer, request: Any) -> Any:
    """Return the answer to a request while the program uses the tests' streams."""
    is_typed = _is_typed()
    stream = sys.stdin if type(sys.stdin) is io.StringIO else io.StringIO()
    text = stream.read()
    if is_typed:
        function = peer.callback(builtins.input, "input") if _is_harmless(builtins.input) else None
        peer.exchange(["typed", text, function])
    try:
        return peer.exchange(request)
    finally:
        if sys.stdout is not _STDOUT:
            sys.stdout.write(peer.exchange(["printed"]))
        if is_typed:
            unread = peer.exchange(["unread"])
            if type(unread) is not int or not 0 <= unread <= len(text):
                raise peer.stop("failed", "a malformed reply")
            stream.seek(stream.tell() - unread)


def _is_typed() -> bool:
    return type(sys.stdin) is io.StringIO or builtins.input is not _INPUT


def _is_harmless(function: Any) -> bool:
    """Return whether the program may call the tests' `input`: it runs no text, and is not Python's own."""
    if type(function).__module__ != "unittest.mock":
        return is_harmless(function)
    called = [made for made in (function.side_effect, function._mock_wraps) if callable(made)]
    return all(map(is_harmless, called))
