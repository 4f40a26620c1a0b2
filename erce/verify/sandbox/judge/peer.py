"""Calls in a test → requests to the candidate's process, and its replies → plain values or stand-ins.

During a request the program may call back the functions that the tests passed to it, and no others.
"""

import io
import socket
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from erce.verify.sandbox import frames
from erce.verify.sandbox.compiled_tests import CompiledTests
from erce.verify.sandbox.expectations import is_camel_case
from erce.verify.sandbox.judge import raised, streams
from erce.verify.sandbox.judge.callbacks import is_harmless
from erce.verify.sandbox.judge.copies import Copies
from erce.verify.sandbox.judge.library import library_form
from erce.verify.sandbox.judge.remote import FLAVOURS, Remote, handle_of
from erce.verify.sandbox.objects import Table

ENDED = "the program ended its process"

_MAX_REPEATS = 1000


class JobEnded(BaseException):
    """The end of a job. A test that swallows the exception changes nothing, for the peer remembers it."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail


class Peer:
    """The candidate of one job, at the other end of the channel."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._asking = threading.RLock()  # tests may have threads
        self.stopped: JobEnded | None = None
        self.raised: BaseException | None = None  # the last exception that came from the program
        self.needed = False  # whether the outcome of the running test depends on the program
        self.received = 0  # bytes
        self.tests: CompiledTests  # from `load` on
        # Whether program or tests may see more than values of builtin types, as `a is b` or an object.
        self.beyond_values = False
        self.has_left_out = False  # whether a change of an argument was not copied back
        self.has_copied = False  # whether a change of an argument was copied back
        self.renew: Callable[[], object] = bool  # runs after each request
        self._exceptions = raised.RaisedExceptions(self.attribute, self.call)
        self._remotes: dict[int, Remote] = {}
        self._table = Table(self._encode)  # of the message that is encoded
        self.copies = Copies(
            self._encode,
            lambda form: frames.decode(form, self._handle),
            lambda number, name: self._handle(["o", number, name, "value"]),
        )
        self._functions: dict[Any, int] = {}  # of the tests, passed to the program → their numbers
        self._thrown: list[Exception] = []  # of the tests' own classes, in functions that the program called
        self._ahead = 0  # calls that were sent before the tests make them, and whose replies are not read
        self._last_call: Any = None
        self._repeats = 0  # how often the last call was made before

    def stop(self, reason: str, detail: str) -> JobEnded:
        """Return the exception that ends the job for good; the first reason stays."""
        self.stopped = self.stopped or JobEnded(reason, detail)
        return self.stopped

    def ask(self, *request: Any) -> Any:
        """Return the candidate's answer, not yet decoded; its exceptions are raised here."""
        with self._asking:
            while self._ahead:  # there is no such function, or a failed assert asks for a text
                self._ahead -= 1
                self.reply()
            try:
                return streams.exchange(self, request) if streams.are_replaced() else self.exchange(request)
            finally:
                self.renew()

    def exchange(self, request: Any) -> Any:
        """Return the candidate's answer, whatever the tests' streams are."""
        self.send(request)
        self.needed = True
        return self.answer()

    def send(self, message: Any) -> None:
        """Send a request, whose reply must be read next, or the answer to a call back."""
        if self.stopped:
            raise self.stopped
        try:
            self._write(frames.frame(message))
        except frames.TooBigError as error:
            # What the program returned may be in it, and then the tests are not at fault.
            reason = "opaque" if self.needed else "error"
            raise self.stop(reason, f"the tests pass more than a call can hold: {error}") from None

    def _write(self, written: bytes) -> None:
        try:
            self._channel.sendall(written)
        except OSError:
            raise self.stop("failed", ENDED) from None

    def answer(self) -> Any:
        """Return the content of the next reply; its exception is raised here."""
        return self._content(self.reply())

    def _content(self, reply: dict[str, Any]) -> Any:
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
        """Return the next reply: `ok`, `opaque`, or the description of an exception.

        Before it the program may call back functions of the tests.
        """
        while (reply := self._message()).keys() == {"callback", "positional", "named"}:
            self._call_back(**reply)
        return self._checked(reply)

    def _checked(self, reply: Any) -> dict[str, Any]:
        if type(reply) is not dict or reply.keys() not in ({"ok"}, {"opaque"}, raised.KEYS):
            raise self.stop("failed", "a malformed reply")
        return reply

    def _message(self) -> dict[str, Any]:
        try:
            payload = frames.payload(self._channel)
        except (frames.ClosedError, OSError):
            raise self.stop("failed", ENDED) from None
        except frames.TooBigError as error:
            raise self.stop("failed", f"a reply of {error}, more than a reply may hold") from None
        self.received += len(payload)
        message = self._readable(frames.parsed, payload, "reply")
        if type(message) is not dict:
            raise self.stop("failed", "a malformed reply")
        return message

    def _readable(self, read: Callable[..., Any], source: Any, what: str) -> Any:
        """Return `read(source)`; whatever it raises ends the job, for the program chose the source."""
        try:
            return read(source)
        except (RecursionError, MemoryError) as error:
            raise self.stop("opaque", f"{frames.TOO_DEEP} ({type(error).__name__})") from None
        except Exception as error:  # the program wrote the source, so it chooses what is raised here
            raise self.stop("failed", f"a malformed {what} ({type(error).__name__})") from None

    def value(self, form: Any) -> Any:
        """Decode a form that came from the candidate."""
        return self._readable(lambda form: frames.decode(form, self._handle), form, "value")

    def load(self, tests: CompiledTests, calls: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
        """Ask for the tests' entry points; return the replies, which `entry_point` reads.

        The program answers once it is loaded. `calls` are the arguments of all calls that the tests will make
        of the one entry point: the requests go along, so that neither process waits for the other each time.
        """
        self.tests, self.copies.mirrored = tests, tests.mirrored
        names = tests.entry_points
        request, ahead = frames.frame(["names", *names]), b""
        for positional in calls:
            ahead += frames.frame(["call by name", names[0], self.form([list(positional), {}])])
        if len(ahead) <= frames.WRITTEN_AT_ONCE_BYTES:  # else both processes might wait until the other reads
            self._ahead = len(calls)
        else:
            ahead = b""
        self._write(request + ahead)
        replies = self._replies(self.answer(), names)
        self.needed = True
        return replies

    def read(self, names: tuple[str, ...]) -> list[dict[str, Any]]:
        """Ask for names of the program once more; return the replies."""
        return self._replies(self.exchange(["names", *names]), names)

    def _replies(self, answer: Any, names: tuple[str, ...]) -> list[dict[str, Any]]:
        match answer:
            case [bool(beyond_values), list(replies)] if len(replies) == len(names):
                self.beyond_values |= beyond_values
                return [self._checked(reply) for reply in replies]
        raise self.stop("failed", "a malformed reply")

    def entry_point(self, name: str, reply: Any) -> Any:
        """Return what the program has under a name; KeyError if it has nothing.

        The tests expect an object, not a value, under a name in CamelCase and of what cannot be called.
        """
        value = self.value(self._content(reply))
        if isinstance(value, Remote):
            handle = handle_of(value)
            handle.name, handle.is_class = name, is_camel_case(name)
            handle.is_expected = handle.is_class or not handle.is_callable
        return value

    def call(self, target: int, positional: tuple[Any, ...], named: dict[str, Any], name: str = "") -> Any:
        """Return what the program's function of this name returns for copies of these arguments.

        Its changes to the arguments are copied back if it was called for its effect (it returned None, and
        the tests use no result of it), or if the tests expect nothing but constants. Otherwise it could empty
        the list that its result is compared with.
        """
        arguments = [list(positional), named]
        reply = self._reply_ahead()
        if reply is None:
            passed = self.form(arguments)
            if self.has_left_out:
                self._stop_repeating([target, passed])
            reply = self.ask("call", target, passed)
        if type(reply) is not list or len(reply) != 2:
            raise self.stop("failed", "a malformed reply")
        returned, after = self.value(reply[0]), reply[1]
        for_effects = returned is None and name in self.tests.called_for_effects()
        if after is not None and not for_effects and not self.tests.against_constants():
            self.has_left_out = True
        elif after is not None:
            self.copies.updating = self.has_copied = True
            try:
                self._change(arguments, self.value(after))
            finally:
                self.copies.updating = False
        return returned

    def _reply_ahead(self) -> Any:
        """Return the reply to the next call if `load` sent that; None if not, or without a function."""
        if not self._ahead:
            return None
        self._ahead -= 1
        self.needed = True
        return self.answer()

    def _stop_repeating(self, call: Any) -> None:
        """End a loop that waits for a change of an argument, which is not copied back."""
        self._repeats = self._repeats + 1 if call == self._last_call else 0
        self._last_call = call
        if self._repeats > _MAX_REPEATS:
            raise self.stop(
                "opaque", "the program changed an argument and returned a value: the tests repeat the call"
            )

    def _change(self, arguments: list[Any], after: Any) -> None:
        """Give mutable arguments the contents that they have in the program's process."""
        match after:
            case [list(positional), dict(named)] if len(positional) == len(arguments[0]):
                pairs = [*zip(arguments[0], positional, strict=True)]
            case _:
                raise self.stop("failed", "a malformed reply")
        pairs += [(arguments[1][name], named[name]) for name in arguments[1].keys() & named.keys()]
        for mine, theirs in pairs:
            if type(mine) is not type(theirs):
                continue
            if type(mine) in (list, bytearray):
                mine[:] = theirs
            elif isinstance(mine, dict | set):
                mine.clear()
                mine.update(theirs)
            elif type(mine) is deque:
                mine.clear()
                mine.extend(theirs)
            elif type(mine) is io.StringIO:
                mine.seek(0)
                mine.truncate()
                mine.write(theirs.getvalue())
                mine.seek(theirs.tell())

    def attribute(self, number: int, name: str) -> Any:
        return self.value(self.ask("get", number, name))

    def _call_back(self, callback: Any, positional: Any, named: Any) -> None:
        """Call a function of the tests for the program, and send what it returns or raises."""
        positional, named = self.value(positional), self.value(named)
        function = self._readable(self._function, callback, "reply")
        if type(positional) is not list or type(named) is not dict:
            raise self.stop("failed", "a malformed reply")
        try:
            message = {"ok": self.form(function(*positional, **named))}
        except AssertionError as error:  # which the program must not swallow
            raise self.stop("failed", f"AssertionError: {error}".removesuffix(": ")) from None
        except Exception as error:  # as in one process, the program that called sees the error
            message = {"error": self._error_form(error)}
        self.send(message)

    def _function(self, number: Any) -> Any:
        """Return a function that the tests passed to the program."""
        if type(number) is not int or number < 0:
            raise ValueError("not a number of a function")
        return [*self._functions][number]

    def _error_form(self, error: Exception) -> list[Any]:
        if isinstance(error, raised.StandIn) or type(error).__module__ == "builtins":
            return self._refer(error)
        self._thrown.append(error)
        known = (base for base in type(error).__mro__ if base.__module__ == "builtins")
        kind = (
            "RuntimeError" if isinstance(error, StopIteration | StopAsyncIteration) else next(known).__name__
        )
        return ["thrown", -len(self._thrown), kind, f"{type(error).__name__}: {error}"[:500]]

    def form(self, value: Any) -> Any:
        """Encode a value of the test for the program."""
        return Table(self._encode).form(value)

    def _encode(self, value: Any, table: Table) -> Any:
        outer, self._table = self._table, table
        try:
            return frames.encode(value, self._refer)
        finally:
            self._table = outer

    def _exception(self, form: dict[str, Any]) -> Exception | None:
        if type(form["number"]) is int and -len(self._thrown) <= form["number"] < 0:
            return self._thrown[-1 - form["number"]]
        arguments = None if form["args"] is None else frames.decode(form["args"], self._handle)
        error = self._exceptions.exception(form, arguments)
        if error is not None and form["history"] is not None:
            raised.remember(error, form["history"], self._exception)
        return error

    def _handle(self, form: list[Any]) -> Any:
        if form[0] == "sub":
            self.beyond_values = True
            return frames.decode(form[1], self._handle)
        match form:
            case ["exception", error]:
                return self._exception(error)
            case ["exception class", raised_as, classes]:
                return self._exceptions.class_of(raised_as, classes)
            case ["with" | "copy" | "class" | "member", *_]:
                return self.copies.read(form)
            case ["callback", number]:
                return self._function(number)
        self.beyond_values = True
        return self._stand_in(form)

    def _stand_in(self, form: list[Any]) -> Any:
        if form[0] == "o" and len(form) == 2:
            return self._remotes[form[1]]
        tag, number, kind, flavour = form
        if tag != "o" or type(number) is not int or type(kind) is not str:
            raise ValueError("not a handle")
        made = self._remotes.get(number)  # the same object has the same stand-in, so that `is` holds
        if made is None or handle_of(made).kind != kind[:40]:
            made = FLAVOURS[flavour](self, number, kind[:40])
        if isinstance(made, Remote):
            handle_of(made).is_callable = flavour != "value"
            self._remotes[number] = made
        return made

    def _refer(self, value: Any) -> list[Any]:
        if isinstance(value, Remote):
            return ["o", handle_of(value).number]
        if isinstance(value, raised.StandIn | raised.StandInType):
            return ["o", value._number]
        form = self.copies.form(value, self._table) or library_form(value, self.form)
        if form is None and is_harmless(value):
            form = self.callback(value, value.__name__)
        if form is None:
            raise self.stop(
                "opaque",
                f"the tests pass a {type(value).__name__} to the program, which has no copy in its process: "
                "pass plain values",
            )
        return form

    def callback(self, function: Callable[..., Any], name: str) -> list[Any]:
        """Return the form of a function that the program may call here."""
        return ["callback", self._functions.setdefault(function, len(self._functions)), name]
