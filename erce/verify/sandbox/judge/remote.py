"""Calls in a test → requests to the candidate's process, and its replies → plain values or handles.

A handle answers calls, attributes, items, iteration and `len`, `bool`, `int`, `float`, `str`, `repr`. The
program chooses each answer without knowing the expected one. A handle never answers a comparison.
"""

import builtins
import itertools
import json
import socket
import types
from collections.abc import Callable, Iterator
from typing import Any

from erce.verify.sandbox import frames
from erce.verify.sandbox.judge import raised

ENDED = "the program ended its process"

_MAX_VALUES_PER_REQUEST = 256  # of an iterable
_MAX_VALUES_PASSED = 1 << 20  # of a test's own iterator


class JobEnded(BaseException):
    """The end of a job. A test that swallows the exception changes nothing, for the peer remembers it."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail


class Peer:
    """The candidate of one job, at the other end of the channel."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self.stopped: JobEnded | None = None
        self.raised: BaseException | None = None  # the last exception that came from the program
        self.needed = False  # whether the program was asked anything so far
        self.received = 0  # bytes
        self._exceptions = raised.RaisedExceptions(self.attribute, self.call)

    def stop(self, reason: str, detail: str) -> JobEnded:
        """Return the exception that ends the job for good; the first reason stays."""
        self.stopped = self.stopped or JobEnded(reason, detail)
        return self.stopped

    def ask(self, *request: Any) -> Any:
        """Return the candidate's answer, not yet decoded; its exceptions are raised here."""
        self.send(*request)
        self.needed = True
        return self.answer()

    def send(self, *request: Any) -> None:
        """Send one request, whose reply must be read next."""
        if self.stopped:
            raise self.stopped
        try:
            frames.send(self._channel, request)
        except OSError:
            raise self.stop("failed", ENDED) from None
        except frames.TooBigError as error:
            # What the program returned may be in it, and then the tests are not at fault.
            reason = "opaque" if self.needed else "error"
            raise self.stop(reason, f"the tests pass more than a call can hold: {error}") from None

    def answer(self) -> Any:
        """Return the content of the next reply; its exception is raised here."""
        reply = self.reply()
        if "ok" in reply:
            return reply["ok"]
        if "opaque" in reply:
            raise self.stop("opaque", str(reply["opaque"])[:500])
        error = self._readable(self._exception, reply, "exception")
        if error is None:
            raise self.stop("failed", f"the program raised {reply['kind']}: {reply['text']}"[:500])
        self.raised = error
        raise error

    def reply(self) -> dict[str, Any]:
        """Return the next reply: `ok`, `opaque`, or the description of an exception."""
        try:
            payload = frames.payload(self._channel)
        except (frames.ClosedError, OSError):
            raise self.stop("failed", ENDED) from None
        except frames.TooBigError as error:
            raise self.stop("failed", f"a reply of {error}, more than a reply may hold") from None
        self.received += len(payload)
        reply = self._readable(json.loads, payload, "reply")
        if type(reply) is not dict or reply.keys() not in ({"ok"}, {"opaque"}, raised.KEYS):
            raise self.stop("failed", "a malformed reply")
        return reply

    def _readable(self, read: Callable[..., Any], source: Any, what: str) -> Any:
        """Return `read(source)`; whatever it raises ends the job, for the program chose the source."""
        try:
            return read(source)
        except (RecursionError, MemoryError) as error:
            raise self.stop("opaque", f"{frames.TOO_DEEP} ({type(error).__name__})") from None
        except Exception as error:
            raise self.stop("failed", f"a malformed {what} ({type(error).__name__})") from None

    def value(self, form: Any) -> Any:
        """Decode a form that came from the candidate."""
        return self._readable(lambda form: frames.decode(form, self._handle), form, "value")

    def call(self, target: int, positional: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Return what the program's function returns for copies of these arguments.

        If it returns None, its changes to positional arguments are copied back: it was called for them. A
        function that returns anything else changes nothing here, or it could empty the list that its result
        is compared with.
        """
        reply = self.ask("call", target, self.form(list(positional)), self.form(named))
        if type(reply) is not list or len(reply) != 2:
            raise self.stop("failed", "a malformed reply")
        returned, after = self.value(reply[0]), reply[1]
        if returned is None and after is not None:
            self._change(positional, self.value(after))
        return returned

    def _change(self, arguments: tuple[Any, ...], after: Any) -> None:
        """Give lists, dicts, sets and bytearrays the contents that they have in the program's process."""
        if type(after) is not list or len(after) != len(arguments):
            raise self.stop("failed", "a malformed reply")
        for mine, theirs in zip(arguments, after, strict=True):
            if type(mine) is not type(theirs):
                continue
            if type(mine) in (list, bytearray):
                mine[:] = theirs
            elif type(mine) in (dict, set):
                mine.clear()
                mine.update(theirs)

    def attribute(self, number: int, name: str) -> Any:
        return self.value(self.ask("get", number, name))

    def form(self, value: Any) -> Any:
        """Encode a value of the test for the program."""
        return frames.encode(value, self._refer)

    def _exception(self, form: dict[str, Any]) -> Exception | None:
        arguments = None if form["args"] is None else frames.decode(form["args"], self._handle)
        return self._exceptions.exception(form, arguments)

    def _handle(self, form: list[Any]) -> Any:
        if form[0] == "exception":
            return self._exception(form[1])
        if form[0] == "exception class":
            return self._exceptions.class_of(form[1], form[2])
        tag, number, kind, flavour = form
        if tag != "o" or type(number) is not int or type(kind) is not str:
            raise ValueError("not a handle")
        return (RemoteIterator if flavour == "iterator" else Remote)(self, number, kind[:40])

    def _refer(self, value: Any) -> list[Any]:
        if isinstance(value, Remote):
            return ["o", object.__getattribute__(value, "_number")]
        if isinstance(value, types.BuiltinFunctionType | type) and _is_public(value):
            return ["fn", value.__module__, value.__name__]
        if isinstance(value, Iterator):
            passed = itertools.islice(value, _MAX_VALUES_PASSED)
            return ["it", [self.form(item) for item in passed]]
        raise self.stop(
            "error",
            f"the tests pass a {type(value).__name__} to the program, which has no copy in its process: "
            "pass plain values",
        )


def _is_public(value: Any) -> bool:
    """Return whether Python's library has this value under its name."""
    module = getattr(value, "__module__", None)
    return module in ("builtins", "math", "operator", "cmath") and (
        getattr(builtins if module == "builtins" else __import__(module), value.__name__, None) is value
    )


class Remote:
    """A value that stays in the candidate's process; a comparison with it ends the job as "opaque"."""

    def __init__(self, peer: Peer, number: int, kind: str) -> None:
        for name, value in (("_peer", peer), ("_number", number), ("_kind", kind)):
            object.__setattr__(self, name, value)

    def _refuse(self, other: object) -> Any:
        raise self._peer.stop(
            "opaque", f"a {self._kind!r} object cannot be compared outside the program's process"
        )

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = _refuse
    __hash__ = object.__hash__

    def __call__(self, *positional: Any, **named: Any) -> Any:
        return self._peer.call(self._number, positional, named)

    def __getattr__(self, name: str) -> Any:
        return self._peer.attribute(self._number, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._peer.ask("set", self._number, name, self._peer.form(value))

    def __getitem__(self, key: Any) -> Any:
        return self._peer.value(self._peer.ask("item", self._number, self._peer.form(key)))

    def __iter__(self) -> Iterator[Any]:
        number, count = self._peer.ask("iter", self._number), 1
        while forms := self._peer.ask("next", number, count):
            yield from self._peer.value(["l", forms])
            count = min(2 * count, _MAX_VALUES_PER_REQUEST)

    def _as(self, function: str, expected: type) -> Any:
        answer = self._peer.value(self._peer.ask("unary", self._number, function))
        if type(answer) is not expected:
            raise self._peer.stop(
                "failed", f"{function}() of a {self._kind!r} object is no {expected.__name__}"
            )
        return answer

    def __len__(self) -> int:
        return self._as("len", int)

    def __bool__(self) -> bool:
        return self._as("bool", bool)

    def __int__(self) -> int:
        return self._as("int", int)

    def __float__(self) -> float:
        return self._as("float", float)

    def __str__(self) -> str:
        return self._as("str", str)

    def __repr__(self) -> str:
        return self._as("repr", str)


class RemoteIterator(Remote):
    """A generator or another iterator in the candidate's process."""

    def __iter__(self) -> "RemoteIterator":
        return self

    def __next__(self) -> Any:
        forms = self._peer.ask("next", self._number, 1)
        values = self._peer.value(["l", forms])
        if not values:
            raise StopIteration
        return values[0]
