"""Calls of a test → requests to the candidate's process, and its replies → plain values or handles.

A handle answers calls, attributes, items, iteration and `len`, `bool`, `int`, `float`, `str`, `repr`: each
answer is a value that was chosen without knowing what is expected. It never answers a comparison.
"""

import builtins
import itertools
import socket
import types
from collections.abc import Iterator
from typing import Any

from erce.verify.sandbox import frames

MALFORMED = (ValueError, TypeError, LookupError, ArithmeticError, RecursionError, MemoryError, AttributeError)
ENDED = "the program ended its process"

_CHUNK = 256  # values of an iterable a request, at most
_MOST_PASSED = 1 << 20  # values of a test's own iterator that are passed on


class Stop(BaseException):
    """Ends the job. A test that swallows it changes nothing: the peer remembers."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail


class ProgramError(Exception):
    """An exception of the program's own making."""


class Peer:
    """The other end of the channel: one candidate for one job."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self.stopped: Stop | None = None
        self.raised: BaseException | None = None  # the last exception that came from the program
        self.needed = False  # whether the program has had a part in anything so far

    def stop(self, reason: str, detail: str) -> Stop:
        """To be raised: ends the job for good; the first reason stays."""
        self.stopped = self.stopped or Stop(reason, detail)
        return self.stopped

    def ask(self, *request: Any) -> Any:
        """What the candidate's process answers, not yet decoded; its exceptions are raised here."""
        self.needed = True
        self.send(*request)
        return self.answer()

    def send(self, *request: Any) -> None:
        """One request, whose reply is to be read."""
        if self.stopped:
            raise self.stopped
        try:
            frames.send(self._channel, request)
        except OSError:
            raise self.stop("failed", ENDED) from None
        except frames.TooBigError as error:
            raise self.stop("error", f"the tests pass more than a call can hold: {error}") from None

    def answer(self) -> Any:
        """What the next reply holds; its exception is raised here."""
        reply = self.reply()
        if "ok" in reply:
            return reply["ok"]
        self.raised = self._error(**{key: str(text)[:500] for key, text in reply.items()})
        raise self.raised

    def reply(self) -> dict[str, Any]:
        """The next reply: `ok`, or `raised`, `kind` and `text`."""
        try:
            reply = frames.receive(self._channel)
        except (frames.ClosedError, OSError):
            raise self.stop("failed", ENDED) from None
        except frames.TooBigError as error:
            raise self.stop("failed", f"a reply of {error}, more than a reply may hold") from None
        except MALFORMED as error:
            raise self.stop("failed", f"a malformed reply ({type(error).__name__})") from None
        if type(reply) is not dict or reply.keys() not in ({"ok"}, {"raised", "kind", "text"}):
            raise self.stop("failed", "a malformed reply")
        return reply

    def _error(self, raised: str, kind: str, text: str) -> BaseException:
        """The builtin that is nearest to what the program raised."""
        said = f"{kind}: {text}".removesuffix(": ")
        builtin = getattr(builtins, raised, None)
        if not (isinstance(builtin, type) and issubclass(builtin, Exception)):
            return self.stop("failed", f"the program raised {said}")  # SystemExit and the like
        # It would silently end an all(map(...)) of the test.
        if issubclass(builtin, StopIteration | StopAsyncIteration):
            return ProgramError(said)
        try:
            return builtin(said)
        except TypeError:
            return ProgramError(said)

    def value(self, form: Any) -> Any:
        """A form of the candidate's, decoded."""
        try:
            return frames.decode(form, self._handle)
        except MALFORMED as error:
            raise self.stop("failed", f"a malformed value ({type(error).__name__})") from None

    def call(self, target: int, positional: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """What the program's function returns for these arguments, which it gets as copies.

        What a function that returns None did to its positional arguments is done to the test's own: it was
        called for that. One that returns anything else changes nothing here, or it could empty the list that
        its result is compared with.
        """
        reply = self.ask("call", target, self.form(list(positional)), self.form(named))
        if type(reply) is not list or len(reply) != 2:
            raise self.stop("failed", "a malformed reply")
        returned, after = self.value(reply[0]), reply[1]
        if returned is None and after is not None:
            self._change(positional, self.value(after))
        return returned

    def _change(self, arguments: tuple[Any, ...], after: Any) -> None:
        """Gives lists, dicts, sets and bytearrays the contents that they have in the program's process."""
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

    def form(self, value: Any) -> Any:
        """A value of the test's, encoded for the program."""
        return frames.encode(value, self._refer)

    def _handle(self, form: list[Any]) -> "Remote":
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
            passed = itertools.islice(value, _MOST_PASSED)
            return ["it", [self.form(each) for each in passed]]
        raise self.stop(
            "error",
            f"the tests pass a {type(value).__name__} to the program, which has no copy in its process: "
            "pass plain values",
        )


def _is_public(value: Any) -> bool:
    """Whether the value is what Python's library has under its name; those of the tests are not."""
    module = getattr(value, "__module__", None)
    return module in ("builtins", "math", "operator", "cmath") and (
        getattr(builtins if module == "builtins" else __import__(module), value.__name__, None) is value
    )


class Remote:
    """A value that stays in the candidate's process. To compare it ends the job as "opaque"."""

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
        return self._peer.value(self._peer.ask("get", self._number, name))

    def __setattr__(self, name: str, value: Any) -> None:
        self._peer.ask("set", self._number, name, self._peer.form(value))

    def __getitem__(self, key: Any) -> Any:
        return self._peer.value(self._peer.ask("item", self._number, self._peer.form(key)))

    def __iter__(self) -> Iterator[Any]:
        number, count = self._peer.ask("iter", self._number), 1
        while forms := self._peer.ask("next", number, count):
            yield from self._peer.value(["l", forms])
            count = min(2 * count, _CHUNK)

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
