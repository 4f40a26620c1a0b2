"""Set-up, tests and a channel to a candidate → the ruling on one program: reason and detail of a verdict.

In mode "strict" the candidate's process learns the program, the set-up's definitions and the arguments of
the calls. Expected values and the text of the tests are only here, and comparisons happen only here, between
values that this process decoded. It never runs candidate code: a process that has run a candidate may say
whatever the candidate wants. In the other modes the candidate's process runs the tests (`one_interpreter`).
"""

import builtins
import gc
import importlib
import json
import os
import random
import socket
import sys
import types
from contextlib import suppress
from typing import Any

from erce.verify.sandbox import frames
from erce.verify.sandbox.compiled_tests import (
    BrokenTestsError,
    CompiledTests,
    compile_literal_asserts,
    compile_tests,
    require_asserts,
)
from erce.verify.sandbox.judge.peer import JobEnded, Peer
from erce.verify.sandbox.judge.raised import StandIn, StandInType
from erce.verify.sandbox.judge.remote import Remote
from erce.verify.sandbox.one_interpreter import PAPER_ALARM

# "reason", "detail", "clean": whether this process may judge another job, and "again" (absent: False):
# whether the tests, or what they were shown, go beyond values, so that a second run decides.
Ruling = dict[str, Any]
_EXHAUSTION = (MemoryError, RecursionError)  # after which this process judges no other job
MAX_BYTES_PER_JUDGE = 1 << 20  # received from programs, after which a fresh judge is forked
_MAX_BYTES_RENEWED = 1000  # of a global of the program, which is read after each call
_RECURSION_LIMIT = sys.getrecursionlimit()


def serve(control: socket.socket) -> None:
    """Judge the jobs that come over `control`, one after the other, until it is closed."""
    received = 0
    channel = None
    gc.set_threshold(20_000)  # reading tests makes many objects and few cycles
    while True:
        size, descriptors, _, _ = socket.recv_fds(control, 4, 1)
        if not size:
            return
        if channel:  # closed earlier, it would wake a candidate that the worker is about to kill
            channel.close()
        request = json.loads(frames.read(control, int.from_bytes(size, "little")))
        channel = socket.socket(fileno=descriptors[0])
        peer = Peer(channel)
        ruling = _ruling_of(peer, **request)
        received += peer.received
        frames.forget()
        frames.send(control, ruling | {"clean": ruling["clean"] and received < MAX_BYTES_PER_JUDGE})


def _ruling_of(peer: Peer, **request: Any) -> Ruling:
    """Return a ruling even if judging raises, once the program has sent something that may be the cause."""
    try:
        return judge(peer, **request)
    except BaseException as error:
        if not peer.received:
            raise
        return _ruling("failed", f"judging what it returned raised {type(error).__name__}", clean=False)


def judge(
    peer: Peer,
    setup: list[str],
    tests: list[str],
    entry_points: list[str] | None,
    mode: str,
    literal: list[str],
) -> Ruling:
    """Return the ruling on one candidate, whatever the tests raise.

    `literal`: the functions that the tests call, if the supervisor has found nothing but literal asserts.
    """
    random.seed(0)
    sys.setrecursionlimit(_RECURSION_LIMIT)
    try:
        if not literal:
            require_asserts(tests, setup)
        if mode in ("paper", "together"):
            return _in_one_interpreter(peer, mode, setup, tests)
        closed = None if entry_points is None else tuple(entry_points)
        if literal:
            compiled = compile_literal_asserts(tests, literal if closed is None else closed)
        else:
            compiled = compile_tests(tuple(setup), tuple(tests), closed)
    except BrokenTestsError as error:
        return _ruling("error", str(error))
    if mode == "apart":
        names = list(compiled.entry_points), list(compiled.modules)
        return _in_one_interpreter(peer, mode, setup, tests, *names)
    trial = _Trial(peer, compiled, tests)
    try:
        trial.run()
    except BaseException as error:
        return trial.ruling_on(error)
    return trial.outcome()


class _EqualToAll:
    """A value with which every assert of equality holds."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return True


_EQUAL = _EqualToAll()


class _Trial:
    """One run of compiled tests."""

    def __init__(self, peer: Peer, compiled: CompiledTests, sources: list[str]) -> None:
        self._peer, self._compiled, self._sources = peer, compiled, sources
        self._at = ""  # the running test, as the start of a detail
        sys.modules["tests"] = module = types.ModuleType("tests")  # where dataclasses look for their names
        self._names = module.__dict__
        self._names["__builtins__"] = dict(vars(builtins))
        peer.copies.names = self._names
        self._missing: set[str] = set()
        self._globals: dict[str, tuple[Any, Any]] = {}  # of the program, with a plain value: reply and value
        self._loading = True
        self._needed = False  # whether set-up or a test that has ended needed the program

    def run(self) -> None:
        replies = self._peer.load(self._compiled, self._calls_ahead())
        self._loading = False
        for module in self._compiled.modules:
            with suppress(ImportError):
                self._names[module] = importlib.import_module(module)
        self._bind_entry_points(replies)
        if self._missing & self._compiled.required:  # and no builtin of that name takes its place
            raise NameError(name=min(self._missing & self._compiled.required))
        for code in self._compiled.setup:
            exec(code, self._names)
        self._needed = self._peer.needed
        each_alone = self._compiled.independent and not self._needed
        for source, code in zip(self._sources, self._compiled.tests, strict=True):
            self._peer.needed &= not each_alone
            self._at = f"{' '.join(source.split()):.120}: "
            exec(code, self._names)
            self._needed |= self._peer.needed

    def _calls_ahead(self) -> list[tuple[Any, ...]]:
        """Return the arguments of each call of tests that are literal asserts on one function, else []."""
        calls: list[tuple[Any, ...]] = []
        names = self._compiled.entry_points
        if self._compiled.are_literal and len(names) == 1:
            for code in self._compiled.tests:
                exec(code, {names[0]: lambda *arguments: calls.append(arguments) or _EQUAL})
        return calls

    def _bind_entry_points(self, replies: list[Any]) -> None:
        """Bind the entry points and no other name, or a program could define both sides of an assert."""
        beyond_values = self._peer.beyond_values
        for name, reply in zip(self._compiled.entry_points, replies, strict=True):
            try:
                self._names[name] = self._peer.entry_point(name, reply)
            except KeyError:
                self._missing.add(name)
        values = [self._names[name] for name in self._compiled.entry_points if name not in self._missing]
        self._renew_if_small(replies)
        # Entry points come as stand-ins, which alone is neither a call nor more than values.
        self._peer.beyond_values = beyond_values
        others = self._missing - vars(builtins).keys()  # Python's own take the place of missing builtins
        self._peer.needed = bool(others) or not all(isinstance(value, Remote) for value in values)

    def _renew_if_small(self, replies: list[Any]) -> None:
        """From here on, read the program's plain globals anew after each request."""
        for name, reply in zip(self._compiled.entry_points, replies, strict=True):
            value = self._names.get(name)
            is_plain = name not in self._missing and not isinstance(value, Remote | StandInType)
            if is_plain and len(frames.frame(reply)) <= _MAX_BYTES_RENEWED:
                self._globals[name] = reply, value
        if self._globals:
            self._peer.renew = self._renew

    def _renew(self) -> None:
        """Bind the globals that the program has changed, unless the tests have bound the name themselves."""
        for name, reply in zip(self._globals, self._peer.read(tuple(self._globals)), strict=True):
            old, value = self._globals[name]
            if reply != old and "ok" in reply and self._names.get(name) is value:
                self._names[name] = self._peer.value(reply["ok"])
                self._globals[name] = reply, self._names[name]

    def outcome(self) -> Ruling:
        if self._peer.stopped:
            return self.ruling_on(self._peer.stopped)
        if not self._needed:
            return _ruling("error", "the tests hold without a call of the program, so any program would pass")
        return _ruling("passed", "") | {"again": self._looks_beyond_values()}

    def _looks_beyond_values(self) -> bool:
        return self._peer.beyond_values or not self._compiled.show_values_alone()

    def ruling_on(self, error: BaseException) -> Ruling:
        """Return the ruling on an exception: a fault of the tests, or of the program."""
        again = self._looks_beyond_values() and not (self._loading and isinstance(error, SyntaxError))
        stopped = self._peer.stopped
        if stopped is not None:
            again &= stopped.reason == "failed"
            return _ruling(stopped.reason, stopped.detail, clean=False) | {"again": again}
        fault = self._fault_of_the_tests(error)
        if fault:
            return _ruling("error", fault) | {"again": again and _missing_name(error) is None}
        detail = self._fault_of_the_program(error)  # which may ask the program for a text
        clean = self._peer.stopped is None and not isinstance(error, _EXHAUSTION)
        return _ruling("failed", detail, clean=clean) | {"again": again}

    def _fault_of_the_tests(self, error: BaseException) -> str:
        if self._loading or error is self._peer.raised:
            return ""
        name = _missing_name(error)
        if name is not None and name not in self._compiled.entry_points:
            return f"nobody defines {name!r}, which is no entry point"
        if isinstance(error, ImportError) and not isinstance(error, StandIn):
            return f"the tests import what is not here: {self._at}{_exception_text(error)}"
        if not self._peer.needed and not self._peer.has_copied and not self._missing:
            return f"the tests raise before they need the program: {self._at}{_exception_text(error)}"
        return ""

    def _fault_of_the_program(self, error: BaseException) -> str:
        """Return a sentence on what the program did wrong."""
        if self._loading:
            return f"the program raised {_exception_text(error)}"
        name = _missing_name(error)
        if name in self._missing:
            return f"the program does not define {name!r}"
        return self._at + _exception_text(error)


def _in_one_interpreter(peer: Peer, mode: str, *request: Any) -> Ruling:
    """Let the candidate's process run program and tests. A program can forge its answer, the nonce."""
    nonce = os.urandom(16).hex()
    peer.needed = True  # so that tests of over 8 MiB are "opaque"
    try:
        peer.send([mode, nonce, *request])
        reply = peer.reply()
    except JobEnded as ended:
        return _ruling(ended.reason, ended.detail, clean=False)
    if reply.get("ok") == nonce:
        return _ruling("passed", "")
    if mode == "paper" and reply.get("kind") == PAPER_ALARM:
        return _ruling("timeout", "over the paper's 2.0 s of wall time")
    return _ruling("failed", f"{reply.get('kind', 'a malformed reply')}: {reply.get('text', '')}")


def _ruling(reason: str, detail: str, *, clean: bool = True) -> Ruling:
    line = "".join(letter if letter.isprintable() else " " for letter in detail[:300])
    return {"reason": reason, "detail": " ".join(line.split()).removesuffix(":"), "clean": clean}


def _missing_name(error: BaseException) -> str | None:
    """Return the name that the tests looked for in vain; None for other errors, and for the program's."""
    return error.name if isinstance(error, NameError) and not isinstance(error, StandIn) else None


def _exception_text(error: BaseException) -> str:
    try:
        text = str(error)[:300]
    except BaseException:  # the text may be that of an object of the program, and raise anything
        text = "its text cannot be read"
    return f"{type(error).__name__}: {text}".removesuffix(": ")
