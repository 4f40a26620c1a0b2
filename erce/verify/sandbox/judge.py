"""Set-up, tests and a channel to a candidate → the ruling on one program: reason and detail of a verdict.

This process runs the tests with stubs in the place of the program's functions: a stub sends its arguments to
the candidate's process and returns a plain value. What that guarantees is said in `erce.verify.sandbox`.
"""

import ast
import builtins
import gc
import importlib
import itertools
import operator
import random
import resource
import socket
import sys
import threading
import types
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, NoReturn

from erce.verify.sandbox import wire

ENDED = "the program ended its process"
OF_NUMPY = (
    "the tests import numpy, for which an empty list is close to every number, so that a pass would prove "
    "nothing: only mode 'unproven' runs them"
)
MAX_RESIDENT_KB = 100_000  # of this process, after which a fresh judge is forked
_EXHAUSTION = (MemoryError, RecursionError)  # after which this process judges no other job
_ENDINGS = ("SystemExit", "KeyboardInterrupt", "GeneratorExit", "BaseException", "BaseExceptionGroup")
_UNREADABLE = (*_EXHAUSTION, ValueError, TypeError, LookupError, ArithmeticError)  # what a false form raises
_RECURSION_LIMIT = sys.getrecursionlimit()
_TRUTH_OF = "truth of"  # a builtin of the tests, under a name that no test can write

# "reason", "detail", and "clean": whether this process may judge another job.
Ruling = dict[str, Any]


def serve(control: socket.socket) -> None:
    """Judge the jobs that come over `control`, one after the other, until it is closed."""
    channel = None
    sys.modules["numpy"] = None  # pyright: ignore (no test imports it: what is equal is for Python to say)
    gc.set_threshold(20_000)
    while True:
        size, descriptors, _, _ = socket.recv_fds(control, 4, 1)
        if not size:
            return
        if channel:  # closed earlier, it would wake a candidate that the worker is about to kill
            channel.close()
        request = wire.parsed(wire.read(control, int.from_bytes(size, "little")))
        channel = socket.socket(fileno=descriptors[0])
        ruling = _Run(Program(channel), request).ruling()
        small = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < MAX_RESIDENT_KB
        wire.send(control, ruling | {"clean": ruling["clean"] and small})


class JobEnded(BaseException):
    """The end of a job (reason, detail). A test that swallows it changes nothing: `Program` remembers it."""


class Program:
    """The program of one job, in the process at the other end of the channel."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._calling = threading.RLock()  # tests may have threads
        self.ended: JobEnded | None = None
        self.raised: BaseException | None = None  # the last exception that came from the program
        self.raised_as = ""  # with the name that its class has there
        self.called = False

    def end(self, reason: str, detail: str) -> NoReturn:
        """End the job, unless it has ended: the first reason counts."""
        self.ended = self.ended or JobEnded(reason, detail)
        raise self.ended

    def call(
        self, name: str, positional: tuple[Any, ...], named: dict[str, Any], *, only_truth: bool = False
    ) -> Any:
        """Call a function of the program; return a plain value, or raise a builtin exception.

        If it returns None, the changes to its arguments are made here as well, as after in-place sorting.
        `only_truth` asks for None or for the truth value of the result, which any object has.
        """
        with self._calling:
            if self.ended:
                raise self.ended
            fault = "failed" if self.called else "error"  # what is passed may be what the program returned
            self.called = True
            try:
                forms = [wire.encode(value, self._form) for value in positional]
                options = [[key, wire.encode(value, self._form)] for key, value in named.items()]
                wire.send(self._channel, [name, forms, options, only_truth])
            except wire.TooBigError as error:
                self.end(fault, f"the tests pass more than a call can hold: {error}")
            except RecursionError:
                self.end(fault, f"the tests pass {wire.TOO_DEEP}")
            except OSError:
                self.end("failed", ENDED)
            answer = self.answer()
            with self.reading():
                form, changes = answer
                result = wire.decode(form)
                if changes and result is not None:
                    raise ValueError("changes beside a result")
                for key, after in changes:
                    mine = named[key] if type(key) is str else positional[key]
                    if _update(mine, wire.decode(after)) is not mine:  # such as that of a subclass
                        self.end("opaque", f"the program changes a {type(mine).__name__!r} object")
            return result

    @contextmanager
    def reading(self) -> Iterator[None]:
        """End the job if the block cannot read what the program's process sent."""
        try:
            yield
        except _UNREADABLE:
            self.end("failed", "a malformed reply")

    def answer(self) -> Any:
        """Return the next answer: first which entry points the program defines, then each call's result."""
        try:
            reply = wire.receive(self._channel)
        except wire.TooBigError as error:
            self.end("failed", f"a reply of {error}, more than a reply may hold")
        except OSError:
            self.end("failed", ENDED)
        except (ValueError, RecursionError):
            self.end("failed", "a malformed reply")
        match reply:
            case {"ok": form}:
                return form
            case {"opaque": str(what)}:
                self.end("opaque", f"{what[:100]} does not cross from the program's process")
            case {"raised": [str(kind), _, str(name), str(text)]}:
                if kind in _ENDINGS:
                    self.end("failed", f"the program raised {name}: {text}".removesuffix(": "))
                with self.reading():
                    self.raised = wire.exception_of(reply["raised"])
                self.raised_as = f"{name}: {text}".removesuffix(": ")
                raise self.raised
        return self.end("failed", "a malformed reply")

    def _form(self, value: Any) -> list[Any]:
        """Return the form of an argument that is not plain."""
        if isinstance(value, Stub):
            return ["own", value.__name__]
        return self.end("opaque", f"the tests pass a {type(value).__name__!r} object, which does not cross")


class Stub:
    """An entry point of the program, as tests see it: they may call it or hand it on, and nothing else."""

    def __init__(self, program: Program, name: str) -> None:
        self._program = program
        self.__name__ = self.__qualname__ = name

    def __call__(self, /, *positional: Any, **named: Any) -> Any:
        return self._program.call(self.__name__, positional, named)

    def __eq__(self, other: object) -> bool:
        self._program.end("opaque", f"the tests compare {self.__name__}, which does not cross")

    __hash__ = object.__hash__

    def __bool__(self) -> bool:  # noqa: PLE0304 (it never returns)
        self._program.end("opaque", f"the tests ask whether {self.__name__} is true, which does not cross")

    def __getattr__(self, attribute: str) -> NoReturn:
        self._program.end("opaque", f"the tests look at {self.__name__}.{attribute}, which does not cross")

    @property
    def __doc__(self) -> NoReturn:  # pyright: ignore (instead of that of this class)
        self.__getattr__("__doc__")


def _truth_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what to call in the place of a function whose result is only asked whether it is true."""
    if not isinstance(function, Stub):
        return function
    program, name = function._program, function.__name__
    return lambda *positional, **named: program.call(name, positional, named, only_truth=True)


@lru_cache(maxsize=256)
def _compiled(source: str, where: str) -> types.CodeType:
    """Return the code of tests, in which the call in `assert f(x)` and in `not f(x)` asks for the truth."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        match node:
            case ast.Assert(test=ast.Call() as call) | ast.UnaryOp(op=ast.Not(), operand=ast.Call() as call):
                call.func = ast.Call(ast.Name(_TRUTH_OF, ast.Load()), [call.func], [])
                ast.fix_missing_locations(call)
    return compile(tree, where, "exec")


def _update(mine: Any, after: Any) -> Any:
    """Change a value of the tests in place to what the program made of its copy, and return it.

    What cannot be changed in place comes back as another object.
    """
    if type(mine) is tuple is type(after) and len(mine) == len(after):
        after = tuple(map(_update, mine, after))
        return mine if all(map(operator.is_, mine, after)) else after
    if type(mine) is not type(after) or type(mine) not in wire.MUTABLE:
        return mine if type(mine) is type(after) and mine == after else after
    if isinstance(mine, dict):
        after = {key: _update(mine.get(key), value) for key, value in after.items()}
    elif isinstance(mine, list | deque):
        after = [*map(_update, mine, after), *itertools.islice(after, len(mine), None)]
    mine.clear()
    if isinstance(mine, dict | set):
        mine.update(after)
    else:
        mine.extend(after)
    return mine


class _Run:
    def __init__(self, program: Program, request: dict[str, Any]) -> None:
        self._program, self._request = program, request
        self._at = ""  # the running test, as the start of a detail
        sys.modules["tests"] = module = types.ModuleType("tests")  # where dataclasses look for their names
        self._names = module.__dict__
        self._names["__builtins__"] = vars(builtins) | {_TRUTH_OF: _truth_of}
        self._missing: set[str] = set()
        self._loading = True

    def ruling(self) -> Ruling:
        """Run set-up and tests; return the ruling on the program, whatever they raise."""
        random.seed(0)
        sys.setrecursionlimit(_RECURSION_LIMIT)
        try:
            self._run()
        except BaseException as error:
            return self._ruling_on(error)
        if self._program.ended:
            return self._ruling_on(self._program.ended)
        if not self._program.called:
            return _ruling("error", "the tests hold without a call of the program, so any program would pass")
        return _ruling("passed", "")

    def _run(self) -> None:
        self._bind_entry_points(self._program.answer())
        self._loading = False
        for name in self._request["modules"]:
            with suppress(ImportError):
                self._names[name] = importlib.import_module(name)
        if missing := self._missing.intersection(self._request["required"]):
            raise NameError(name=min(missing))
        for source in self._request["setup"]:
            exec(_compiled(source, "<set-up>"), self._names)
        for source in self._request["tests"]:
            self._at = f"{' '.join(source.split()):.120}: "
            exec(_compiled(source, "<test>"), self._names)

    def _bind_entry_points(self, answered: Any) -> None:
        """Bind the entry points and no other name, or a program could define both sides of an assert."""
        with self._program.reading():
            for name, is_defined in zip(self._request["entry_points"], answered, strict=True):
                if is_defined:
                    self._names[name] = Stub(self._program, name)
                else:
                    self._missing.add(name)

    def _ruling_on(self, error: BaseException) -> Ruling:
        """Return the ruling on an exception: a fault of the tests, or of the program."""
        ended = self._program.ended
        if ended is not None:
            reason, detail = ended.args
            return _ruling(reason, (self._at if reason == "opaque" else "") + detail, clean=False)
        raised = error is self._program.raised
        text = self._program.raised_as if raised else wire.described(error)
        if isinstance(error, ImportError) and (error.name or "").partition(".")[0] == "numpy":
            return _ruling("opaque", OF_NUMPY)
        if self._loading:
            return _ruling("failed", f"the program raised {text}")
        if not raised and (fault := self._fault_of_the_tests(error)):
            return _ruling("error", fault)
        if isinstance(error, NameError) and error.name in self._missing:
            return _ruling("failed", f"the program does not define {error.name!r}")
        return _ruling("failed", self._at + text, clean=not isinstance(error, _EXHAUSTION))

    def _fault_of_the_tests(self, error: BaseException) -> str:
        name = error.name if isinstance(error, NameError) else None
        if name is not None and name not in self._request["entry_points"]:
            return f"nobody defines {name!r}, which is not an entry point"
        if isinstance(error, ImportError):
            return f"the tests import what is not here: {self._at}{wire.described(error)}"
        if not self._program.called and not self._missing:
            return f"the tests raise before they need the program: {self._at}{wire.described(error)}"
        return ""


def _ruling(reason: str, detail: str, *, clean: bool = True) -> Ruling:
    return {"reason": reason, "detail": detail[:300], "clean": clean}
