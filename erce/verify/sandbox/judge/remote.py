"""An object in the candidate's process → a stand-in for the tests.

The program chooses each answer without knowing the expected one. So it never decides a comparison: an object
whose class extends a builtin, and which the tests constructed, is compared as that builtin, and any other
ends the job. What the program computed from a value of the tests may be the expected one: it stays an object.
"""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from erce.verify.sandbox import frames
from erce.verify.sandbox.judge.raised import StandIn, StandInType

_MAX_VALUES_PER_REQUEST = 256  # of an iterable
# Tests call these methods on builtins; an object of the program with such a method could return anything.
_OF_BUILTINS = frozenset(
    name for kind in frames.CROSSING_TYPES for name in dir(kind) if not name.startswith("_")
)
_INFORMED = "it was made from a value of the tests"
_BINARY = [
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
    *("and_", "or_", "xor", "lshift", "rshift"),
]
_UNARY = ["neg", "pos", "abs", "invert"]


class Program(Protocol):
    """The methods by which a stand-in reaches the candidate's process; `judge.peer.Peer` has them."""

    raised: BaseException | None
    assert_in_contexts: Callable[[], bool]

    def stop(self, reason: str, detail: str) -> BaseException: ...
    def ask(self, *request: Any) -> Any: ...
    def value(self, form: Any) -> Any: ...
    def call(
        self, target: int, positional: tuple[Any, ...], named: dict[str, Any], name: str = ""
    ) -> Any: ...
    def attribute(self, number: int, name: str) -> Any: ...
    def form(self, value: Any) -> Any: ...


class Remote:
    """A value that stays in the candidate's process; a comparison with it ends the job as "opaque"."""

    _peer: Program
    _number: int
    _kind: str
    _expected = False  # whether the tests expect an object here, and no value of a builtin type
    _constructs = False  # whether this is a class with a name in CamelCase
    _constructed = False  # whether such a class made the object for the tests
    _informed = False  # whether the program made the object from a value of the tests
    _method = ""  # the name of a method or another attribute
    _name = ""  # by which the tests reach it
    _callable = True

    def __init__(self, peer: Program, number: int, kind: str) -> None:
        self._mark(_peer=peer, _number=number, _kind=kind)

    def _mark(self, **marks: Any) -> None:
        for name, value in marks.items():
            object.__setattr__(self, name, value)

    def _refuse(self, other: object) -> Any:
        raise self._peer.stop(
            "opaque", f"a {self._kind!r} object cannot be compared outside the program's process"
        )

    def _as_builtin(self) -> Any:
        """Return the builtin that an object extends, if the tests constructed it: then they compare that."""
        if not self._constructed or self._informed:
            self._refuse(None)
        return self._peer.value(self._peer.ask("plain", self._number))

    def __eq__(self, other: object) -> Any:
        return self._as_builtin() == other

    def __ne__(self, other: object) -> Any:
        return self._as_builtin() != other

    def __lt__(self, other: Any) -> Any:
        return self._as_builtin() < other

    def __le__(self, other: Any) -> Any:
        return self._as_builtin() <= other

    def __gt__(self, other: Any) -> Any:
        return self._as_builtin() > other

    def __ge__(self, other: Any) -> Any:
        return self._as_builtin() >= other

    def _proven(self, answer: Any, refused: str) -> Any:
        """Return the program's answer; a plain one ends the job if `refused` says why that proves nothing."""
        if isinstance(answer, Remote):
            informed = answer._informed or self._informed or bool(refused)
            answer._mark(_expected=self._expected, _informed=informed)
        elif refused and answer is not None:
            raise self._peer.stop(
                "opaque", f"the answer of a {self._kind!r} object proves nothing: {refused}"
            )
        return answer

    def __call__(self, *positional: Any, **named: Any) -> Any:
        refused = _INFORMED if self._informed and self._method in _OF_BUILTINS else ""
        if self._method in _OF_BUILTINS and (positional or named) and not self._expected:
            refused = f"it has its own {self._method!r}, which sees the arguments"
        answer = self._proven(self._peer.call(self._number, positional, named, self._name), refused)
        if isinstance(answer, Remote):  # in its place a right program might return a plain value
            answer._mark(_expected=self._constructs, _constructed=self._constructs)
        return answer

    def __getattr__(self, name: str) -> Any:
        answer = self._peer.attribute(self._number, name)
        self._proven(answer, _INFORMED if self._informed and name in _OF_BUILTINS else "")
        if isinstance(answer, Remote):  # likewise
            answer._mark(_method=name, _name=name, _expected=self._expected and not self._method)
        return answer

    def __setattr__(self, name: str, value: Any) -> None:
        self._peer.ask("set", self._number, name, self._peer.form(value))

    def __delattr__(self, name: str) -> None:
        self._peer.ask("delete", self._number, name)

    def _item(self, verb: str, *operands: Any) -> Any:
        answer = self._peer.ask(verb, self._number, *map(self._peer.form, operands))
        return self._proven(self._peer.value(answer), _INFORMED if self._informed else "")

    def __getitem__(self, key: Any) -> Any:
        return self._item("item", key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._item("set item", key, value)

    def __delitem__(self, key: Any) -> None:
        self._item("delete item", key)

    def __iter__(self) -> Iterator[Any]:
        number, count = self._peer.ask("iter", self._number), 1
        while forms := self._peer.ask("next", number, count):
            for value in self._peer.value(["l", forms]):
                yield self._proven(value, _INFORMED if self._informed else "")
            count = min(2 * count, _MAX_VALUES_PER_REQUEST)

    def __contains__(self, value: Any) -> bool:
        """Ask the program, as for a method that sees its argument."""
        return (
            self._as("contains", bool, value) if self._expected and not self._method else self._refuse(value)
        )

    def _as(self, function: str, expected: type, *operands: Any) -> Any:
        answer = self._item("apply", function, *operands)
        if type(answer) is not expected:
            raise self._peer.stop(
                "failed", f"{function}() of a {self._kind!r} object is no {expected.__name__}"
            )
        return answer

    def __hash__(self) -> int:
        return self._as("hash", int)

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

    def __format__(self, form: str) -> str:
        return self._as("format", str, form)

    def __reversed__(self) -> Any:
        return self._item("apply", "reversed")

    def __copy__(self) -> Any:
        return self._item("apply", "copy")

    def __deepcopy__(self, memo: Any) -> Any:
        return self._item("apply", "deepcopy")

    def __mro_entries__(self, bases: Any) -> Any:
        raise self._peer.stop(
            "opaque", f"a class of the tests extends {self._kind!r}, a class of the program"
        )

    def __round__(self, digits: Any = None) -> Any:
        return self._item("apply", "round", digits)

    def __instancecheck__(self, value: Any) -> bool:
        return self._is("isinstance", value)

    def __subclasscheck__(self, value: Any) -> bool:
        return self._is("issubclass", value)

    def _is(self, function: str, value: Any) -> bool:
        if not isinstance(value, Remote | StandIn | StandInType):
            self._refuse(value)
        return self._peer.ask(function, self._peer.form(value), self._number) is True

    def __enter__(self) -> Any:
        expected = self._expected
        entered = self._peer.attribute(self._number, "__enter__")()
        if entered is self:
            self._mark(_expected=expected)
        return entered

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        """Leave the program's context; it may only suppress what the program itself raised.

        It learns of the tests' own errors, but for a failed assert.
        """
        own = error is not None and error is self._peer.raised
        told = own or (error is not None and _is_plain_error(error))
        leave = self._peer.attribute(self._number, "__exit__")
        try:
            swallowed = leave(kind, error, None) if told else leave(None, None, None)
        except Exception:  # the program's own, which would take the place of the tests' failed assert
            if error is None or told:
                raise
            reason = "failed" if isinstance(error, AssertionError) else "opaque"
            raise self._peer.stop(reason, f"{type(error).__name__}: {error}".removesuffix(": ")) from None
        if swallowed is True and told and not own:
            raise self._peer.stop("opaque", f"a {self._kind!r} object suppresses an error of the tests")
        if own and swallowed is True and self._peer.assert_in_contexts():
            raise self._peer.stop("opaque", f"a {self._kind!r} object suppresses an error before an assert")
        return own and swallowed is True

    def _operate(self, operator: str, *operands: Any) -> Any:
        """Return what an operator of the program makes of its operands.

        If one of them is a value of the tests, as in `abs(f(3) - 9) < 1e-6`, the result must be an object.
        """
        answer = self._peer.value(self._peer.ask("operate", operator, self._peer.form(list(operands))))
        informed = any(not isinstance(operand, Remote) or operand._informed for operand in operands)
        if informed and isinstance(answer, Remote):
            answer._mark(_informed=True)
        return self._proven(answer, _INFORMED if informed else "")


def _is_plain_error(error: BaseException) -> bool:
    """Return whether an error of the tests is a builtin one with plain arguments, and no failed assert."""
    if type(error).__module__ != "builtins" or not isinstance(error, Exception):
        return False
    plain = all(type(argument) in (str, int, float, bool, type(None)) for argument in error.args)
    return plain and not isinstance(error, AssertionError)


def _binary(operator: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def forward(self: Remote, other: Any) -> Any:
        return self._operate(operator, self, other)

    def backward(self: Remote, other: Any) -> Any:
        return self._operate(operator, other, self)

    return forward, backward


def _unary(operator: str) -> Callable[..., Any]:
    def method(self: Remote) -> Any:
        return self._operate(operator, self)

    return method


for _name in _BINARY:
    _bare = _name.rstrip("_")
    _forward, _backward = _binary(_name)
    setattr(Remote, f"__{_bare}__", _forward)
    setattr(Remote, f"__r{_bare}__", _backward)
for _name in _UNARY:
    setattr(Remote, f"__{_name}__", _unary(_name))


class RemoteIterator(Remote):
    """A generator or another iterator in the candidate's process."""

    def __contains__(self, value: Any) -> bool:
        return any(item is value or item == value for item in self)

    def __iter__(self) -> "RemoteIterator":
        return self

    def __next__(self) -> Any:
        forms = self._peer.ask("next", self._number, 1)
        values = self._peer.value(["l", forms])
        if not values:
            raise StopIteration
        return values[0]


async def _coroutine(peer: Program, number: int, kind: str) -> Any:
    """Return what a coroutine of the program returns, when the tests await it."""
    return peer.value(peer.ask("await", number))


FLAVOURS: dict[str, Callable[[Program, int, str], Any]] = {
    "value": Remote,
    "call": Remote,
    "iterator": RemoteIterator,
    "coroutine": _coroutine,
}
