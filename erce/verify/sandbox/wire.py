"""Plain values → frames and back: what may pass between the judge and a program's process, and nothing else.

A frame is four bytes of length and JSON. JSON holds None, bool, str, small ints and finite floats as they
are, and every other value as a list that begins with a tag. Reading builds values of the classes in this file
alone, so it runs no foreign code. Instances of a subclass of a builtin are written as the builtin, read with
the builtin's own methods; an iterator as the list of its values. All else is opaque.
"""

import builtins
import collections
import datetime
import decimal
import fractions
import itertools
import json
import socket
import struct
from collections.abc import Callable
from typing import Any, NoReturn

LIMITS = struct.Struct("3d2Q")  # of a job, from supervisor to worker: seconds of cpu, wall and idle, bytes
NEW_JUDGE, READY = b"judge", b"ready"  # what else supervisor and worker send each other
MAX_FRAME_BYTES = 8 << 20
MAX_ITERATOR_VALUES = 10_000
TOO_DEEP = "a value that is nested too deeply"

# The functions in C below JSONEncoder and JSONDecoder: each function of Python costs a forked process time.
_encoding: Any = json.encoder
_chunks_of = _encoding.c_make_encoder(
    None, None, _encoding.encode_basestring, None, ":", ",", False, False, True
)
_decoder: Any = json.JSONDecoder()
_UTF_8 = ("utf-8", "surrogatepass")  # JSON's own escapes would join two halves of a surrogate pair
_JSON_INTS = range(1 - (1 << 53), 1 << 53)  # which survive every JSON reader


class ClosedError(ConnectionError):
    """The other side closed the channel."""


class TooBigError(Exception):
    """A frame beyond `MAX_FRAME_BYTES`."""


class OpaqueError(Exception):
    """A value that has no place in a frame; the message says which."""


def frame(message: object) -> bytes:
    """Return the bytes of one frame; TooBigError if they exceed the limit."""
    text = "".join(_chunks_of(message, 0)).encode(*_UTF_8)
    if len(text) > MAX_FRAME_BYTES:
        raise TooBigError(f"{len(text)} bytes")
    return len(text).to_bytes(4, "little") + text


def send(channel: socket.socket, message: object) -> None:
    """Write one frame; after a TooBigError nothing was written."""
    channel.sendall(frame(message))


def receive(channel: socket.socket) -> Any:
    """Return the content of the next frame; ValueError or RecursionError if it is not readable JSON."""
    return parsed(payload(channel))


def parsed(payload: bytes) -> Any:
    """Return the content of a frame's JSON; ValueError or RecursionError if it is not readable."""
    text = payload.decode(*_UTF_8)
    try:
        content, end = _decoder.scan_once(text, 0)
    except StopIteration:
        raise ValueError("no JSON") from None
    if end != len(text):
        raise ValueError("more than one JSON")
    return content


def payload(channel: socket.socket) -> bytes:
    """Return the JSON of the next frame, not yet read; TooBigError if it exceeds the limit."""
    head = channel.recv(4)
    size = int.from_bytes(head if len(head) == 4 else head + read(channel, 4 - len(head)), "little")
    if size > MAX_FRAME_BYTES:
        raise TooBigError(f"{size} bytes")
    return read(channel, size)


def read(channel: socket.socket, count: int) -> bytes:
    """Read exactly `count` bytes."""
    chunk = channel.recv(min(count, 1 << 18))
    if len(chunk) == count:
        return chunk
    chunks = [chunk]
    while chunk and (count := count - len(chunk)):
        chunk = channel.recv(min(count, 1 << 18))
        chunks.append(chunk)
    if count:
        raise ClosedError
    return b"".join(chunks)


def _is_opaque(value: Any) -> NoReturn:
    raise OpaqueError(f"a {type(value).__name__!r} object")


def encode(value: Any, other: Callable[[Any], Any] = _is_opaque) -> Any:
    """Return the form of `value` in a frame; `other` makes that of a value that is not plain, or raises.

    OpaqueError if there is none, RecursionError if the value is nested too deeply.

    >>> encode([1, (2.5, {"a": b"x"})])
    ['l', [1, ['t', [2.5, ['d', [['a', ['b', '78']]]]]]]]
    """
    kind = type(value)
    if value is None or kind is bool or kind is str or (kind is int and value in _JSON_INTS):
        return value
    write = _WRITE.get(kind)
    if write is not None:
        return write(value, other)
    if kind is type and TYPES.get(value.__name__) is value:
        return ["ty", value.__name__]
    for base, plain in _TO_PLAIN.items():
        if issubclass(kind, base):
            return encode(plain(value), other)
    return other(value)


def encode_result(value: Any) -> Any:
    """Return the form of what a program returned: an iterator is exhausted, and crosses as its values."""
    if hasattr(type(value), "__next__"):
        values = list(itertools.islice(value, MAX_ITERATOR_VALUES + 1))
        if len(values) > MAX_ITERATOR_VALUES:
            raise OpaqueError(f"an iterator of over {MAX_ITERATOR_VALUES} values")
        return ["it", [encode(item) for item in values]]
    return encode(value)


def _is_no_form(form: Any) -> NoReturn:
    raise ValueError("not a form")


def decode(form: Any, other: Callable[[list[Any]], Any] = _is_no_form) -> Any:
    """Return the value of a form; `other` reads the tags that are not plain values.

    The value is at most a few times as large as the form: a range stays a range, a number keeps its exponent.
    ValueError, TypeError, KeyError, OverflowError, ArithmeticError or RecursionError if `form` is none.

    >>> decode(["t", [1, ["r", [0, 10**15, 1]]]])
    (1, range(0, 1000000000000000))
    """
    kind = type(form)
    if form is None or kind in (bool, int, float, str):
        return form
    if kind is not list:
        raise ValueError("not a form")
    build = _READ.get(form[0])
    return other(form) if build is None else build(form, other)


def exception_form(error: BaseException) -> list[Any]:
    """Return [name of the nearest builtin class, form of its arguments or None, name of its class, text]."""
    kind = next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
    try:
        arguments = encode(error.args)
    except BaseException:  # an object of the program among them may raise anything
        arguments = None
    return [kind.__name__, arguments, type(error).__name__[:100], text_of(error)]


def exception_of(form: Any) -> Exception:
    """Return a builtin exception; ValueError if its class is not an ordinary exception of Python.

    The exceptions that end an iteration become a RuntimeError, or a program could end a loop of the tests.
    """
    name, arguments, _, text = form
    kind = getattr(builtins, _text([name], 0), None)
    if not isinstance(kind, type) or not issubclass(kind, Exception):
        raise ValueError("not an exception")
    if issubclass(kind, StopIteration | StopAsyncIteration):
        return RuntimeError(f"{name}: {_text([text], 0)}")
    values = (text,) if arguments is None else decode(arguments)
    try:
        return kind(*values)
    except Exception:  # as a UnicodeError that a program made without its arguments
        return Exception(_text([text], 0))


def text_of(error: BaseException, letters: int = 300) -> str:
    """Return the beginning of an exception's text, whatever that of a program's class does."""
    try:
        return str.__str__(str(error))[:letters]
    except BaseException:
        return "its text cannot be read"


def _items(value: Any, other: Any) -> list[Any]:
    return [encode(item, other) for item in value]


def _pairs(value: Any, other: Any) -> list[Any]:
    return [[encode(key, other), encode(item, other)] for key, item in value.items()]


def _write_defaultdict(value: collections.defaultdict[Any, Any], other: Any) -> Any:
    """Return the form of a defaultdict; one with a factory of the program's own becomes a dict."""
    for name, factory in _FACTORIES.items():
        if value.default_factory is factory:
            return ["dd", name, _pairs(value, other)]
    return ["d", _pairs(value, other)]


_WRITE: dict[type, Callable[[Any, Any], Any]] = {
    int: lambda value, other: ["i", hex(value)],  # `encode` keeps small ones
    float: lambda value, other: value if value - value == 0 else ["f", repr(value)],
    list: lambda value, other: ["l", [encode(item, other) for item in value]],
    tuple: lambda value, other: ["t", [encode(item, other) for item in value]],
    set: lambda value, other: ["s", _items(value, other)],
    frozenset: lambda value, other: ["z", _items(value, other)],
    dict: lambda value, other: ["d", _pairs(value, other)],
    bytes: lambda value, other: ["b", value.hex()],
    bytearray: lambda value, other: ["B", value.hex()],
    complex: lambda value, other: ["c", repr(value.real), repr(value.imag)],
    range: lambda value, other: ["r", _items((value.start, value.stop, value.step), other)],
    slice: lambda value, other: ["sl", _items((value.start, value.stop, value.step), other)],
    decimal.Decimal: lambda value, other: ["D", str(value)],
    fractions.Fraction: lambda value, other: ["F", hex(value.numerator), hex(value.denominator)],
    datetime.timedelta: lambda value, other: ["td", value.days, value.seconds, value.microseconds],
    datetime.date: lambda value, other: ["date", value.isoformat()],
    datetime.datetime: lambda value, other: ["datetime", value.isoformat()],
    datetime.time: lambda value, other: ["time", value.isoformat()],
    collections.OrderedDict: lambda value, other: ["od", _pairs(value, other)],
    collections.defaultdict: _write_defaultdict,
    collections.Counter: lambda value, other: ["ct", _pairs(value, other)],
    collections.deque: lambda value, other: ["dq", _items(value, other), value.maxlen],
    type({}.keys()): lambda value, other: ["dk", _items(value, other)],
    type({}.values()): lambda value, other: ["dv", _items(value, other)],
    type({}.items()): lambda value, other: ["di", _pairs(dict(value), other)],
}
_TO_PLAIN: dict[type, Callable[[Any], Any]] = {
    int: int.__pos__,
    float: float.__pos__,
    str: str.__str__,
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    list: lambda value: list(list.__iter__(value)),
    tuple: lambda value: tuple(tuple.__iter__(value)),
    frozenset: lambda value: frozenset(frozenset.__iter__(value)),
    set: lambda value: set(set.__iter__(value)),
    dict: lambda value: dict(dict.items(value)),
}
TYPES = {kind.__name__: kind for kind in (*_TO_PLAIN, bool, bytearray, complex, range, object, type(None))}
_FACTORIES = {kind.__name__: kind for kind in (*_TO_PLAIN, bool)}
MUTABLE = (
    *(list, dict, set, bytearray),
    *(collections.deque, collections.defaultdict, collections.Counter, collections.OrderedDict),
)


def _values(form: Any, other: Any) -> list[Any]:
    if type(form[1]) is not list:
        raise ValueError("not a list of forms")
    return [decode(item, other) for item in form[1]]


def _mapping(form: Any, other: Any, index: int = 1) -> dict[Any, Any]:
    return {decode(key, other): decode(value, other) for key, value in form[index]}


def _text(form: Any, index: int = 1) -> str:
    if type(form[index]) is not str:
        raise ValueError("not text")
    return form[index]


def _whole(*values: Any) -> tuple[int, ...]:
    if any(type(value) is not int for value in values):
        raise ValueError("not whole numbers")
    return values


_READ: dict[str, Callable[[Any, Any], Any]] = {
    "i": lambda form, other: int(_text(form), 16),
    "f": lambda form, other: float(_text(form)),
    "l": _values,
    "t": lambda form, other: tuple(_values(form, other)),
    "s": lambda form, other: set(_values(form, other)),
    "z": lambda form, other: frozenset(_values(form, other)),
    "d": _mapping,
    "b": lambda form, other: bytes.fromhex(_text(form)),
    "B": lambda form, other: bytearray.fromhex(_text(form)),
    "c": lambda form, other: complex(float(_text(form)), float(_text(form, 2))),
    "r": lambda form, other: range(*_whole(*_values(form, other))),
    "sl": lambda form, other: slice(*_values(form, other)),
    "D": lambda form, other: decimal.Decimal(_text(form)),
    "F": lambda form, other: fractions.Fraction(int(_text(form), 16), int(_text(form, 2), 16)),
    "td": lambda form, other: datetime.timedelta(*_whole(*form[1:])),
    "date": lambda form, other: datetime.date.fromisoformat(_text(form)),
    "datetime": lambda form, other: datetime.datetime.fromisoformat(_text(form)),
    "time": lambda form, other: datetime.time.fromisoformat(_text(form)),
    "od": lambda form, other: collections.OrderedDict(_mapping(form, other)),
    "dd": lambda form, other: collections.defaultdict(_FACTORIES[form[1]], _mapping(form, other, 2)),
    "ct": lambda form, other: collections.Counter(_mapping(form, other)),
    "dq": lambda form, other: collections.deque(_values(form, other), form[2]),
    "dk": lambda form, other: dict.fromkeys(_values(form, other)).keys(),
    "dv": lambda form, other: dict(enumerate(_values(form, other))).values(),
    "di": lambda form, other: _mapping(form, other).items(),
    "ty": lambda form, other: TYPES[_text(form)],
    "it": lambda form, other: iter(_values(form, other)),
}
