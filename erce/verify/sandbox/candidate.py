"""A program → answers to calls, as plain values: the untrusted side, in which nothing is a secret.

This runs in the process that is confined for one job, and ends with it. `erce.verify.sandbox` says what comes
here in each mode, and what a pass is worth: in all modes but "strict" the program can forge it.
"""

import atexit
import builtins
import io
import os
import socket
import sys
import threading
import types
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from erce.verify.sandbox import wire

_RECURSION_LIMIT = sys.getrecursionlimit() + 10  # our own functions below the program
_STREAMS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2, "/dev/fd/0": 0, "/proc/self/fd/0": 0}
_open_file = io.open


class Service:
    """The answers to calls of one program's functions. The worker makes it; each fork has a copy."""

    def __init__(self) -> None:
        self._names: dict[str, Any] = {}

    def serve(self, channel: socket.socket) -> None:
        """Take a program from the channel, and answer there until the other side closes it."""
        self._channel = channel
        mode, *job = wire.receive(channel)
        if mode != "strict":
            channel.sendall(_outcome(mode, *job))
            return
        with suppress(wire.ClosedError):
            self._answer(self._load, *job)
            while True:
                self._answer(self._call, *wire.receive(channel))

    def _answer(self, action: Callable[..., Any], *operands: Any) -> None:
        try:
            reply = {"ok": action(*operands)}
        except wire.OpaqueError as error:
            reply = {"opaque": str(error)}
        except BaseException as error:
            reply = {"raised": wire.exception_form(error)}
        try:
            wire.send(self._channel, reply)
        except wire.TooBigError as error:
            wire.send(self._channel, {"opaque": f"a value of {error}"})
        except RecursionError:
            wire.send(self._channel, {"opaque": wire.TOO_DEEP})

    def _load(self, program: str, imports: list[str], names: list[str]) -> list[bool]:
        """Load the program after the tests' imports; return whether it defines each of the names."""
        sys.setrecursionlimit(_RECURSION_LIMIT)
        sys.modules["program"] = module = types.ModuleType("program")
        self._names = module.__dict__
        for statement in imports:
            with suppress(Exception):  # the judge imports the same and reports the error
                exec(compile(statement, "<setup>", "exec"), self._names)
        exec(compile(program, "<program>", "exec"), self._names)
        modules = {name for name, value in self._names.items() if isinstance(value, types.ModuleType)}
        return [name in self._names and name not in modules for name in names]

    def _call(self, name: str, positional: list[Any], named: list[list[Any]], only_truth: bool) -> list[Any]:
        """Return the form of a function's result, or of its truth; if None, also of changed arguments."""
        values = [wire.decode(form, self._resolve) for form in positional]
        options = {key: wire.decode(form, self._resolve) for key, form in named}
        returned = self._names[name](*values, **options)
        if only_truth and returned is not None:
            return [bool(returned), []]
        try:
            result = wire.encode_result(returned)
            if returned is not None:
                return [result, []]
            passed = [*enumerate(values), *options.items()]
            return [result, self._changed(passed, [*enumerate(positional), *named])]
        except RecursionError:
            raise wire.OpaqueError(wire.TOO_DEEP) from None

    def _changed(self, values: list[tuple[Any, Any]], forms: list[Any]) -> list[Any]:
        """Return the place and the new form of each argument that the program has changed."""
        return [
            [key, wire.encode(value)]
            for (key, value), (_, before) in zip(values, forms, strict=True)
            if type(before) is list and before[0] != "own"  # else nothing changes it
            if repr(form := wire.encode(value, self._own)) != repr(before)
            # Nor of a copy: the order of a set can be another one here.
            if repr(form) != repr(wire.encode(wire.decode(before, self._resolve), self._own))
        ]

    def _own(self, value: Any) -> Any:
        """Return a value as JSON: a function of the program by its name, any other value as `wire` has it."""
        for name, mine in self._names.items():
            if mine is value:
                return ["own", name]
        return wire.encode(value)

    def _resolve(self, form: list[Any]) -> Any:
        """Return the function of the program that the tests hand to another of its functions."""
        return self._names[form[1]]


def _outcome(mode: str, program: str, setup: list[str], tests: list[str]) -> bytes:
    """Return "passed", or "failed" with a line that says why."""
    word, detail = _script(program) if mode == "script" else _together(program, setup, tests)
    return f"{word}\n{detail}".encode(errors="replace")[:1000]


def _together(program: str, setup: list[str], tests: list[str]) -> tuple[str, str]:
    """Run set-up, program, set-up again and tests in one namespace.

    Either of the first two may need names of the other.
    """
    names = _namespace("program")
    where = "the program raised "
    try:
        for source in setup:
            with suppress(Exception):
                exec(compile(source, "<setup>", "exec"), names)
        exec(compile(program, "<program>", "exec"), names)
        for source in (*setup, *tests):
            where = f"{' '.join(source.split())[:120]}: "
            exec(compile(source, "<test>", "exec"), names)
    except BaseException as error:
        return "failed", where + wire.described(error)
    return "passed", ""


def _script(program: str) -> tuple[str, str]:
    """Run a program as `python program.py` does, with the standard streams of this process.

    A program that does not fail ends as under Python: its threads first, then what it gave to `atexit`, then
    its standard output, which its names may serve, and what its files hold is written.
    """
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))
    names = _namespace("__main__")
    builtins.open = io.open = _open
    try:
        exec(compile(program, "<program>", "exec"), names)
    except SystemExit as end:
        if end.code not in (None, 0):
            return "failed", f"ended with status {end.code!r:.80}"
    except BaseException as error:
        return "failed", f"raised {wire.described(error)}"
    first = threading._shutdown, atexit._run_exitfuncs  # pyright: ignore (both private)
    for end in (*first, _flush, names.clear, _flush):
        with suppress(BaseException):
            end()
    return "passed", ""


def _flush() -> None:
    """Write what standard output holds, and put Python's own in its place."""
    stream, sys.stdout = sys.stdout, sys.__stdout__
    stream.flush()


def _open(file: Any, *options: Any, **named: Any) -> Any:
    """Open a file; a standard stream also by its path, which leads through the /proc that no program sees."""
    stream = _STREAMS.get(str(file))
    return _open_file(file if stream is None else os.dup(stream), *options, **named)


def _namespace(name: str) -> dict[str, Any]:
    sys.modules[name] = types.ModuleType(name)
    return sys.modules[name].__dict__
