"""An object in the candidate's process → a stand-in for the tests.

The program chooses each answer without knowing the expected one. So it never decides a comparison: an object
whose class extends a builtin, and which the tests constructed, is compared as that builtin, and any other
ends the job. What the program computed from a value of the tests may be the expected one: it stays an object.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

from erce.verify.sandbox import frames
from erce.verify.sandbox.compiled_tests import CompiledTests
from erce.verify.sandbox.judge.raised import StandIn, StandInType

_MAX_VALUES_PER_REQUEST = 256  # of an iterable
_VALUES_ONE_BY_ONE = 1000  # of an iterator, which may do something for each; then it is asked for many
# Methods of builtins that return None: what returns more, and is used, was called on no builtin.
_CHANGE_ALONE = {
    *("add", "append", "appendleft", "clear", "difference_update", "discard", "extend", "extendleft"),
    *("insert", "intersection_update", "move_to_end", "remove", "reverse", "sort", "subtract"),
    *("symmetric_difference_update", "update"),
}
# Tests call these methods on builtins; an object of the program with such a method could return anything.
_OF_BUILTINS = frozenset(
    name for kind in frames.CROSSING_TYPES for name in dir(kind) if not name.startswith("_")
).difference(_CHANGE_ALONE)
_INFORMED = "it was made from a value of the tests"
_BINARY = [
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
    *("and_", "or_", "xor", "lshift", "rshift"),
]
_IN_PLACE = [f"i{name.rstrip('_')}" for name in _BINARY]
_UNARY = ["neg", "pos", "abs", "invert"]


class Program(Protocol):
    """The methods by which a stand-in reaches the candidate's process; `judge.peer.Peer` has them."""

    raised: BaseException | None
    tests: CompiledTests

    def stop(self, reason: str, detail: str) -> BaseException: ...
    def ask(self, *request: Any) -> Any: ...
    def value(self, form: Any) -> Any: ...
    def call(
        self, target: int, positional: tuple[Any, ...], named: dict[str, Any], name: str = ""
    ) -> Any: ...
    def attribute(self, number: int, name: str) -> Any: ...
    def form(self, value: Any) -> Any: ...


@dataclass
class Handle:
    """What the judge knows of an object in the candidate's process, and how it asks for more."""

    peer: Program
    number: int
    kind: str  # the name of its class
    name: str = ""  # by which the tests reach it
    attribute: str = ""  # the same name, if it is that of a method or another attribute
    is_callable: bool = True
    is_expected: bool = False  # whether the tests expect an object here, and no value of a builtin type
    is_class: bool = False  # whether it has a name in CamelCase
    is_constructed: bool = False  # whether the tests made it by such a name
    is_informed: bool = False  # whether the program made it from a value of the tests
    requests: int = 0  # for values of an iterator
    ahead: list[Any] = field(default_factory=list)  # values of an iterator that came early, the next one last

    def ask(self, verb: str, *operands: Any) -> Any:
        """Return the answer to a question about this object, not yet decoded."""
        return self.peer.ask(verb, self.number, *operands)

    def is_constructed_here(self) -> bool:
        """Return whether the tests constructed the object, and never met it as an attribute since."""
        return self.is_constructed and not self.attribute

    def is_fluent(self) -> bool:
        """Return whether the tests drop the result of this function, or chain calls of it."""
        tests = self.peer.tests
        chained = self.attribute in _CHANGE_ALONE and self.attribute in tests.chained()
        return chained or self.name in tests.called_for_effects()

    def refuse(self) -> NoReturn:
        raise self.peer.stop(
            "opaque", f"a {self.kind!r} object cannot be compared outside the program's process"
        )

    def as_builtin(self) -> Any:
        """Return the builtin that an object extends, if the tests constructed it: then they compare that."""
        if not self.is_constructed or self.is_informed:
            self.refuse()
        return self.peer.value(self.ask("plain"))

    def proven(self, answer: Any, doubt: str) -> Any:
        """Return the program's answer; a plain one ends the job if `doubt` says why it proves nothing."""
        if isinstance(answer, Remote):
            made = handle_of(answer)
            made.is_expected = self.is_expected
            made.is_informed |= self.is_informed or bool(doubt)
        elif doubt and answer is not None:
            raise self.peer.stop("opaque", f"the answer of a {self.kind!r} object proves nothing: {doubt}")
        return answer

    def read(self, verb: str, *operands: Any) -> Any:
        """Return the answer to a question; a plain one must not be made of values of the tests."""
        answer = self.ask(verb, *map(self.peer.form, operands))
        return self.proven(self.peer.value(answer), _INFORMED if self.is_informed else "")

    def converted(self, function: str, expected: type, *operands: Any) -> Any:
        """Return what a builtin such as `len` makes of the object; the job ends if its type is another."""
        answer = self.read("apply", function, *operands)
        if type(answer) is not expected:
            raise self.peer.stop(
                "failed", f"{function}() of a {self.kind!r} object is no {expected.__name__}"
            )
        return answer

    def has(self, verb: str, value: Any) -> bool:
        """Return whether an object of the program is an instance, or a class a subclass, of this class."""
        if not isinstance(value, Remote | StandIn | StandInType):
            self.refuse()
        return self.peer.ask(verb, self.peer.form(value), self.number) is True


def handle_of(remote: "Remote") -> Handle:
    return object.__getattribute__(remote, "_handle")


class Remote:
    """A value that stays in the candidate's process; a comparison with it ends the job as "opaque".

    It has no attributes but `_handle`: all others are those of the program's object.
    """

    _handle: Handle

    def __init__(self, peer: Program, number: int, kind: str) -> None:
        object.__setattr__(self, "_handle", Handle(peer, number, kind))

    def __eq__(self, other: object) -> Any:
        return self._handle.as_builtin() == other

    def __ne__(self, other: object) -> Any:
        return self._handle.as_builtin() != other

    def __lt__(self, other: Any) -> Any:
        return self._handle.as_builtin() < other

    def __le__(self, other: Any) -> Any:
        return self._handle.as_builtin() <= other

    def __gt__(self, other: Any) -> Any:
        return self._handle.as_builtin() > other

    def __ge__(self, other: Any) -> Any:
        return self._handle.as_builtin() >= other

    def __call__(self, *positional: Any, **named: Any) -> Any:
        handle, doubt = self._handle, ""
        if handle.attribute in _OF_BUILTINS:
            if handle.is_informed:
                doubt = _INFORMED
            elif (positional or named or handle.attribute.startswith("is")) and not handle.is_expected:
                doubt = f"it has its own {handle.attribute!r}"
        answer = handle.peer.call(handle.number, positional, named, handle.name)
        if isinstance(answer, Remote) and handle_of(answer).is_constructed_here() and handle.is_fluent():
            return answer
        answer = handle.proven(answer, doubt)
        if isinstance(answer, Remote):  # in its place a right program might return a plain value
            made = handle_of(answer)
            made.is_expected = made.is_constructed = handle.is_class
        return answer

    def __getattr__(self, name: str) -> Any:
        handle = self._handle
        doubt = _INFORMED if handle.is_informed and name in _OF_BUILTINS else ""
        answer = handle.proven(handle.peer.attribute(handle.number, name), doubt)
        if isinstance(answer, Remote):  # likewise
            made = handle_of(answer)
            made.name = made.attribute = name
            made.is_expected = handle.is_expected and not handle.attribute
        return answer

    def __setattr__(self, name: str, value: Any) -> None:
        self._handle.ask("set", name, self._handle.peer.form(value))

    def __delattr__(self, name: str) -> None:
        self._handle.ask("delete", name)

    def __getitem__(self, key: Any) -> Any:
        return self._handle.read("item", key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._handle.read("set item", key, value)

    def __delitem__(self, key: Any) -> None:
        self._handle.read("delete item", key)

    def __iter__(self) -> Iterator[Any]:
        handle = self._handle
        number, count = handle.ask("iter"), 1
        while forms := handle.peer.ask("next", number, count):
            for value in handle.peer.value(["l", forms]):
                yield handle.proven(value, _INFORMED if handle.is_informed else "")
            count = min(2 * count, _MAX_VALUES_PER_REQUEST)

    def __contains__(self, value: Any) -> bool:
        """Ask the program, as for a method that sees its argument."""
        if not self._handle.is_expected or self._handle.attribute:
            self._handle.refuse()
        return self._handle.converted("contains", bool, value)

    def __hash__(self) -> int:
        return self._handle.converted("hash", int)

    def __len__(self) -> int:
        return self._handle.converted("len", int)

    def __bool__(self) -> bool:
        return self._handle.converted("bool", bool)

    def __int__(self) -> int:
        return self._handle.converted("int", int)

    def __float__(self) -> float:
        return self._handle.converted("float", float)

    def __str__(self) -> str:
        return self._handle.converted("str", str)

    def __repr__(self) -> str:
        return self._handle.converted("repr", str)

    def __format__(self, form: str) -> str:
        return self._handle.converted("format", str, form)

    def __reversed__(self) -> Any:
        return self._handle.read("apply", "reversed")

    def __copy__(self) -> Any:
        return self._handle.read("apply", "copy")

    def __deepcopy__(self, memo: Any) -> Any:
        return self._handle.read("apply", "deepcopy")

    def __mro_entries__(self, bases: Any) -> Any:
        handle = self._handle
        name = handle.name or handle.kind
        raise handle.peer.stop("opaque", f"a class of the tests extends {name!r}, a class of the program")

    def __round__(self, digits: Any = None) -> Any:
        return self._handle.read("apply", "round", digits)

    def __instancecheck__(self, value: Any) -> bool:
        return self._handle.has("isinstance", value)

    def __subclasscheck__(self, value: Any) -> bool:
        return self._handle.has("issubclass", value)

    def __enter__(self) -> Any:
        expected = self._handle.is_expected
        entered = self._handle.peer.attribute(self._handle.number, "__enter__")()
        if entered is self:
            self._handle.is_expected = expected
        return entered

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        """Leave the program's context; it may only suppress what the program itself raised.

        It learns of the tests' own errors, but for a failed assert.
        """
        handle, peer = self._handle, self._handle.peer
        own = error is not None and error is peer.raised
        told = own or (error is not None and _is_plain_error(error))
        leave = peer.attribute(handle.number, "__exit__")
        try:
            swallowed = leave(kind, error, None) if told else leave(None, None, None)
        except Exception:  # the program's own, which would take the place of the tests' failed assert
            if error is None or told:
                raise
            reason = "failed" if isinstance(error, AssertionError) else "opaque"
            raise peer.stop(reason, f"{type(error).__name__}: {error}".removesuffix(": ")) from None
        if swallowed is True and told and not own:
            raise peer.stop("opaque", f"a {handle.kind!r} object suppresses an error of the tests")
        if swallowed is True and own and peer.tests.assert_in_contexts():
            raise peer.stop("opaque", f"a {handle.kind!r} object suppresses an error before an assert")
        return own and swallowed is True


def _operate(peer: Program, operator: str, *operands: Any) -> Any:
    """Return what an operator of the program makes of its operands.

    If one of them is a value of the tests, as in `abs(f(3) - 9) < 1e-6`, the result must be an object.
    """
    answer = peer.value(peer.ask("operate", operator, peer.form(list(operands))))
    handles = [handle_of(operand) for operand in operands if isinstance(operand, Remote)]
    if operator in _IN_PLACE and answer is operands[0] and handles[0].is_constructed_here():
        return answer  # changed, as by a method that the tests call for its effect
    informed = len(handles) < len(operands) or any(handle.is_informed for handle in handles)
    return handles[0].proven(answer, _INFORMED if informed else "")


def _is_plain_error(error: BaseException) -> bool:
    """Return whether an error of the tests is a builtin one with plain arguments, and no failed assert."""
    if type(error).__module__ != "builtins" or not isinstance(error, Exception):
        return False
    plain = all(type(argument) in (str, int, float, bool, type(None)) for argument in error.args)
    return plain and not isinstance(error, AssertionError)


def _binary(operator: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def forward(self: Remote, other: Any) -> Any:
        return _operate(self._handle.peer, operator, self, other)

    def backward(self: Remote, other: Any) -> Any:
        return _operate(self._handle.peer, operator, other, self)

    return forward, backward


def _unary(operator: str) -> Callable[..., Any]:
    def method(self: Remote) -> Any:
        return _operate(self._handle.peer, operator, self)

    return method


for _name in _BINARY:
    _bare = _name.rstrip("_")
    _forward, _backward = _binary(_name)
    setattr(Remote, f"__{_bare}__", _forward)
    setattr(Remote, f"__r{_bare}__", _backward)
for _name in _IN_PLACE:
    setattr(Remote, f"__{_name}__", _binary(_name)[0])
for _name in _UNARY:
    setattr(Remote, f"__{_name}__", _unary(_name))


class RemoteIterator(Remote):
    """A generator or another iterator in the candidate's process."""

    def __contains__(self, value: Any) -> bool:
        return any(item is value or item == value for item in self)

    def __iter__(self) -> "RemoteIterator":
        return self

    def __next__(self) -> Any:
        handle = self._handle
        if not handle.ahead:
            handle.requests += 1
            count = 1 if handle.requests <= _VALUES_ONE_BY_ONE else _MAX_VALUES_PER_REQUEST
            handle.ahead = handle.peer.value(["l", handle.ask("next", count)])[::-1]
        if not handle.ahead:
            raise StopIteration
        return handle.ahead.pop()


async def _coroutine(peer: Program, number: int, kind: str) -> Any:
    """Return what a coroutine of the program returns, when the tests await it."""
    return peer.value(peer.ask("await", number))


FLAVOURS: dict[str, Callable[[Program, int, str], Any]] = {
    "value": Remote,
    "call": Remote,
    "iterator": RemoteIterator,
    "coroutine": _coroutine,
}
