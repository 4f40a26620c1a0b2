"""A program → answers to calls, as plain values: the untrusted side, in which nothing is a secret.

It runs in the process that is confined for one job, and ends with it. It receives the program, the set-up's
imports, types and classes, and then requests: which name, which arguments. The text of the tests, expected
values and the verdict never come here in the mode "strict"; in the others the tests run here
(`one_interpreter`).
"""

import builtins
import copy
import enum
import importlib
import io
import itertools
import operator
import socket
import sys
import threading
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from erce.verify.sandbox import frames, one_interpreter, printed
from erce.verify.sandbox.descriptions import Descriptions, builtin_base
from erce.verify.sandbox.identity import looks_at_identity
from erce.verify.sandbox.objects import Table, extends_builtin, flavour

_FUNCTIONS = {
    function.__name__: function
    for function in (len, bool, int, float, str, repr, hash, format, round, reversed)
}
_FUNCTIONS |= {"contains": operator.contains, "copy": copy.copy, "deepcopy": copy.deepcopy}
_MUTABLE = {list, dict, set, bytearray, deque, defaultdict, Counter, OrderedDict, io.StringIO}
_INPUT = builtins.input
_RECURSION_LIMIT = sys.getrecursionlimit() + 10  # our own functions below the program
_BUILTINS = {name for name in dir(builtins) if not name.startswith("_")}
_KEEP_OUTPUT = {"printed", "names", "call by name"}  # requests after which no other asks for what was printed
_FEW_VALUES = 64  # a smaller request for the values of a generator gets one


class _CannotCrossError(Exception):
    """A value that has no place in a frame, though the program did nothing wrong."""


class Service:
    """The answers to requests, from the objects that the program makes.

    The worker makes one before it forks: each candidate has its own copy, at no cost.
    """

    def __init__(self) -> None:
        self._objects: list[Any] = []
        self._numbers: dict[int, int] = {}  # id(object) → its index there, negative for one of the tests'
        self._known_to_judge = 0  # objects below this index cross as the index alone
        self._names: dict[str, Any] = {}
        self._beyond_values = False  # whether the program sees, or hides, more than values
        self._copied_classes: set[str] = set()  # which the tests have, too: instances cross as copies
        self._copies: dict[int, Any] = {}  # of the tests' objects, by their negative numbers
        self._description = Descriptions(self._numbers, self._number, self._encode)
        self._tags: dict[str, Callable[..., Any]] = {
            "o": lambda number: self._objects[number],
            "it": lambda forms: iter([self._decode(form) for form in forms]),
            "with": self._with_copies,
            "copy": self._copy,
            "class": self._class_of_tests,
            "member": lambda kind, name: self._class_of_tests(kind)[name],
            "slice": lambda form: slice(*self._decode(form)),
            "error": lambda kind, form: getattr(builtins, kind)(*self._decode(form)),
            "callback": self._callback,
            "thrown": self._description.stand_in,
            "method": lambda kind, name: getattr(frames.TYPES[kind], name),
            "made": self._made,
            "sub": self._decode,
            "fn": lambda module, name: getattr(importlib.import_module(module), name),
        }
        self._table = Table(self._encode_on)  # of the message that is encoded
        self._callbacks: dict[int, Callable[..., Any]] = {}
        self._calling_back = threading.RLock()  # one thread of the program at a time
        self._loop: Any = None  # of asyncio, for the coroutines that the tests await
        self._verbs: dict[str, Callable[..., Any]] = {
            "names": self._of_names,
            "call": self._call,
            "call by name": self._call_by_name,
            "get": self._get,
            "set": self._set,
            "item": self._item,
            "iter": self._iterator,
            "next": self._next,
            "apply": self._apply,
            "delete": lambda number, name: delattr(self._objects[number], name),
            "set item": self._set_item,
            "delete item": lambda number, key: operator.delitem(self._objects[number], self._decode(key)),
            "plain": self._plain,
            "operate": self._operate,
            "isinstance": self._isinstance,
            "issubclass": self._issubclass,
            "await": self._await,
            "printed": self._printed,
            "typed": self._typed,
            "unread": self._unread,
            "paper": self._paper,
            "together": self._together,
            "apart": self._apart,
        }

    def serve(self, channel: socket.socket) -> None:
        """Take the program from the channel and answer there until the other side closes it."""
        self._channel = channel
        try:
            self._run(*frames.receive(channel))
        except frames.ClosedError:
            return

    def _run(self, program: str, definitions: list[list[str]], imports: list[str], mode: str) -> None:
        """Load the program and answer requests; an exception in loading is the first answer.

        Where program and tests share an interpreter, a request loads the program.
        """
        sys.stdout = printed.STDOUT
        sys.setrecursionlimit(_RECURSION_LIMIT)
        self._program, self._definitions = program, definitions
        sys.modules["program"] = module = types.ModuleType("program")
        self._names = module.__dict__
        if mode == "strict":
            loaded = self._reply(self._load_after_setup, self._names, imports)
            if "ok" not in loaded:  # the judge waits for the answer to "names", and gets this instead
                self._send(loaded)
        while True:
            verb, *operands = frames.receive(self._channel)
            if verb not in _KEEP_OUTPUT:
                printed.taken()  # what is kept is the output of the last request
            self._answer(self._verbs[verb], *operands)

    def _reply(self, action: Callable[..., Any], *operands: Any) -> dict[str, Any]:
        try:
            return {"ok": action(*operands)}
        except _CannotCrossError as error:
            return {"opaque": error.args[0]}
        except BaseException as error:
            return self._description.of(error)

    def _answer(self, action: Callable[..., Any], *operands: Any) -> None:
        self._send(self._reply(action, *operands))

    def _send(self, reply: dict[str, Any]) -> None:
        try:
            frames.send(self._channel, reply)
        except frames.TooBigError as error:
            frames.send(self._channel, {"opaque": f"a value of {error}, more than one reply may hold"})
        except RecursionError:
            frames.send(self._channel, {"opaque": frames.TOO_DEEP})
        except (MemoryError, ValueError) as error:
            frames.send(self._channel, self._description.of(error))

    def _load_after_setup(self, names: dict[str, Any], imports: Iterable[str] = ()) -> None:
        """Load the set-up's definitions, the program and the tests' imports, in the order of one process."""
        for source, name in self._definitions:
            with suppress(Exception):  # the judge runs the set-up again and reports the error
                exec(compile(source, "<setup>", "exec"), names)
            if name in names:
                self._copied_classes.add(name)
        self._load(names)
        for source in imports:
            with suppress(Exception):  # likewise
                exec(compile(source, "<test>", "exec"), names)

    def _load(self, names: dict[str, Any]) -> None:
        code = compile(self._program, "<program>", "exec")
        exec(code, names)
        self._beyond_values = looks_at_identity(self._program, code) or not _BUILTINS.isdisjoint(names)

    def _encode(self, value: Any) -> Any:
        try:
            if not self._copied_classes:  # then no object goes on a table
                return frames.encode(value, self._handle)
            return Table(self._encode_on).form(value)
        except RecursionError:
            raise _CannotCrossError(frames.TOO_DEEP) from None

    def _encode_on(self, value: Any, table: Table) -> Any:
        outer, self._table = self._table, table
        try:
            return frames.encode(value, self._handle)
        finally:
            self._table = outer

    def _decode(self, form: Any) -> Any:
        return frames.decode(form, self._resolve)

    def _handle(self, value: Any) -> list[Any]:
        kind = value if isinstance(value, type) else type(value)
        is_copied = bool(self._copied_classes) and kind.__name__ in self._copied_classes
        if is_copied and self._names.get(kind.__name__) is kind:
            return self._form_of_copied(kind, value)
        if kind is types.FunctionType and value in self._callbacks.values():
            return ["callback", next(n for n, function in self._callbacks.items() if function is value)]
        if isinstance(value, Exception):
            return ["exception", self._description.of(value)]
        if isinstance(value, type) and issubclass(value, Exception):
            self._number(value)
            return ["exception class", builtin_base(value).__name__, self._description.classes(value)]
        number = self._number(value)
        if number < self._known_to_judge:
            return ["o", number]
        return ["o", number, type(value).__name__, flavour(value)]

    def _form_of_copied(self, kind: type, value: Any) -> list[Any]:
        """Return the form of a class that set-up or tests define as well, or of an instance of it."""
        if kind is value:
            return ["class", kind.__name__]
        if isinstance(value, enum.Enum):
            return ["member", kind.__name__, value.name]
        return self._table.reference(self._number(value), value)

    def _number(self, value: Any) -> int:
        """Return the number by which the judge names an object; the same object keeps it."""
        number = self._numbers.setdefault(id(value), len(self._objects))
        if number == len(self._objects):
            self._objects.append(value)
        return number

    def _resolve(self, form: list[Any]) -> Any:
        """Return the value of a form that is none of the plain ones in `frames`."""
        tag, *rest = form
        return self._tags[tag](*rest)

    def _copy(self, number: int) -> Any:
        return self._copies[number] if number < 0 else self._objects[number]

    def _with_copies(self, entries: list[Any], inner: Any) -> Any:
        """Make or renew the copies in `entries` of the tests' objects; return the value that has them."""
        for number, name, _ in entries:
            if number < 0 and number not in self._copies:
                self._copies[number] = object.__new__(self._class_of_tests(name))
                self._numbers[id(self._copies[number])] = number
        for number, _, pairs in entries:
            for attribute, form in pairs:
                object.__setattr__(self._copy(number), attribute, self._decode(form))
        return self._decode(inner)

    def _class_of_tests(self, name: str) -> Any:
        kind = self._names.get(name)
        if not isinstance(kind, type):
            raise _CannotCrossError(
                f"the tests pass a {name!r} object, a class that the program does not have"
            )
        self._copied_classes.add(name)
        return kind

    def _made(self, module: str, name: str, arguments: Any) -> Any:
        positional, named = self._decode(arguments)
        return getattr(importlib.import_module(module), name)(*positional, **named)

    def _callback(self, number: int, name: str) -> Callable[..., Any]:
        """Return a function that calls the tests' function of this number, which runs in the judge's process.

        Meanwhile the judge may send requests, which are lists; its result is a dict.
        """
        if number in self._callbacks:
            return self._callbacks[number]

        def function(*positional: Any, **named: Any) -> Any:
            operands = {"positional": self._encode(list(positional)), "named": self._encode(named)}
            with self._calling_back:
                frames.send(self._channel, {"callback": number, **operands})
                while type(message := frames.receive(self._channel)) is list:
                    self._answer(self._verbs[message[0]], *message[1:])
            if "ok" in message:
                return self._decode(message["ok"])
            raise self._resolve(message["error"])

        function.__name__ = function.__qualname__ = name
        self._callbacks[number] = function
        return function

    def _of_names(self, *names: str) -> list[Any]:
        return [self._beyond_values, [self._reply(self._name, name) for name in names]]

    def _name(self, name: str) -> Any:
        value = self._names[name]
        if type(value) is types.FunctionType:
            return ["o", self._number(value), "function", "call"]
        if isinstance(value, types.ModuleType):
            raise KeyError(name)
        copied, self._copied_classes = self._copied_classes, set()  # the judge has run no set-up yet
        try:
            return self._encode(value)
        finally:
            self._copied_classes = copied

    def _call(self, number: int, arguments: Any) -> list[Any]:
        """Return the function's result, and its arguments after the call if it changed them, else None."""
        known = len(self._objects)
        positional, named = self._decode(arguments)
        function = self._objects[number]
        returned = function(*positional, **named)
        stays = type(returned) is function and extends_builtin(returned, self._names)
        encode = self._handle if stays else self._encode
        passed = (*positional, *named.values())
        if _MUTABLE.isdisjoint(map(type, passed)) and self._numbers.keys().isdisjoint(map(id, passed)):
            return [encode(returned), None]
        self._known_to_judge = known  # the judge refers to an object that it has by the number alone
        try:
            after = self._encode([positional, named])
        finally:
            self._known_to_judge = 0
        return [encode(returned), None if after == arguments else after]

    def _call_by_name(self, name: str, arguments: Any) -> list[Any] | None:
        """Call the program's function of this name, which the judge may not know; None if there is none."""
        function = self._names.get(name)
        return self._call(self._number(function), arguments) if type(function) is types.FunctionType else None

    def _plain(self, number: int) -> Any:
        """Return an object as the builtin that its class extends."""
        value = self._objects[number]
        if not isinstance(value, frames.PLAIN_TYPES):
            kind = type(value).__name__
            raise _CannotCrossError(f"a {kind!r} object cannot be compared outside the program's process")
        return self._encode(value)

    def _get(self, number: int, attribute: str) -> Any:
        return self._encode(getattr(self._objects[number], attribute))

    def _set(self, number: int, attribute: str, form: Any) -> None:
        setattr(self._objects[number], attribute, self._decode(form))

    def _item(self, number: int, form: Any) -> Any:
        return self._encode(self._objects[number][self._decode(form)])

    def _set_item(self, number: int, key: Any, form: Any) -> None:
        self._objects[number][self._decode(key)] = self._decode(form)

    def _operate(self, operation: str, operands: Any) -> Any:
        return self._encode(getattr(operator, operation)(*self._decode(operands)))

    def _isinstance(self, form: Any, number: int) -> bool:
        return bool(isinstance(self._decode(form), self._objects[number]))

    def _issubclass(self, form: Any, number: int) -> bool:
        return bool(issubclass(self._decode(form), self._objects[number]))

    def _await(self, number: int) -> Any:
        self._loop = self._loop or importlib.import_module("asyncio").new_event_loop()
        return self._encode(self._loop.run_until_complete(self._objects[number]))

    def _printed(self) -> str:
        """Return what the last request printed."""
        return printed.taken().decode(errors="replace")

    def _typed(self, text: str, function: Any) -> None:
        """Let the program read a text from standard input, and call a function of the tests as `input`."""
        sys.stdin = self._stdin = io.StringIO(text)
        builtins.input = self._decode(function) or _INPUT

    def _unread(self) -> int:
        """Return how many letters the program has left of that text, and let it read no more."""
        builtins.input = _INPUT
        return len(self._stdin.read())

    def _iterator(self, number: int) -> int:
        self._objects.append(iter(self._objects[number]))
        return len(self._objects) - 1

    def _next(self, number: int, count: int) -> list[Any]:
        """Return the next values: one at a time if each runs code of the program and few are asked for."""
        iterator = self._objects[number]
        is_lazy = type(iterator).__module__ != "builtins" or type(iterator) is types.GeneratorType
        count = 1 if is_lazy and count < _FEW_VALUES else count
        return [self._encode(value) for value in itertools.islice(iterator, count)]

    def _apply(self, number: int, function: str, *forms: Any) -> Any:
        return self._encode(_FUNCTIONS[function](self._objects[number], *map(self._decode, forms)))

    def _paper(self, nonce: str, setup: list[str], tests: list[str]) -> str:
        with one_interpreter.paper_alarm():
            return self._together(nonce, setup, tests)

    def _together(self, nonce: str, setup: list[str], tests: list[str]) -> str:
        """Run program and tests here; return the nonce, or raise what a test raises."""
        self._load_after_setup(self._names)
        one_interpreter.run((*setup, *tests), self._names)
        return nonce

    def _apart(self, nonce: str, setup: list[str], tests: list[str], *names: list[str]) -> str:
        """Do the same with a namespace for set-up and tests; `names`: entry points, and modules."""
        classes = [name for _, name in self._definitions if name]
        apart = one_interpreter.ApartTests(setup, tests, *names, classes=classes)
        one_interpreter.run_apart(self._load, self._names, apart)
        return nonce
