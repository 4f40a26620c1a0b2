"""Plain values → frames and back: what may pass between the judge and a program's process, and nothing else.

A frame is four bytes of length and JSON. JSON holds None, bool, str, small ints and finite floats as they
are, and every other value as a list that begins with a tag. Reading builds values of the classes in this file
alone, so it runs no foreign code; writing reads instances of subclasses with the builtin's own methods.
"""

import builtins
import itertools
import json
import re
import socket
import struct
import sys
from collections import Counter, OrderedDict, deque, namedtuple
from collections.abc import Callable, Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, NoReturn

LIMITS = struct.Struct("3d2Q")  # of a job, from supervisor to worker: seconds of cpu, wall and idle, bytes
NEW_JUDGE, READY = b"judge", b"ready"  # what else supervisor and worker send each other
MAX_FRAME_BYTES = 8 << 20
MAX_ITERATOR_VALUES = 10_000
TOO_DEEP = "a value that is nested too deeply"
_NO_TEXT = "its text cannot be read"

_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode
_UTF_8 = ("utf-8", "surrogatepass")  # JSON's own escapes would join two halves of a surrogate pair
_NAME = re.compile(r"[a-zA-Z]\w*", re.ASCII)
_JSON_INTS = range(1 - (1 << 53), 1 << 53)  # which survive every JSON reader


class ClosedError(ConnectionError):
    """The other side closed the channel."""


class TooBigError(Exception):
    """A frame beyond `MAX_FRAME_BYTES`."""


class OpaqueError(Exception):
    """A value that has no place in a frame; the message says which."""


def frame(message: object) -> bytes:
    """Return the bytes of one frame; TooBigError if they exceed the limit."""
    text = _encode(message).encode(*_UTF_8)
    if len(text) > MAX_FRAME_BYTES:
        raise TooBigError(f"{len(text)} bytes")
    return len(text).to_bytes(4, "little") + text


def send(channel: socket.socket, message: object) -> None:
    """Write one frame; after a TooBigError nothing was written."""
    channel.sendall(frame(message))


def receive(channel: socket.socket) -> Any:
    """Return the content of the next frame; TooBigError, or ValueError or RecursionError if not JSON."""
    size = int.from_bytes(read(channel, 4), "little")
    if size > MAX_FRAME_BYTES:
        raise TooBigError(f"{size} bytes")
    return parsed(read(channel, size))


def parsed(payload: bytes) -> Any:
    """Return the content of a frame's JSON; ValueError or RecursionError if it is not readable."""
    return json.loads(payload.decode(*_UTF_8))


def read(channel: socket.socket, count: int) -> bytes:
    """Read exactly `count` bytes."""
    chunks = []
    while count:
        chunks.append(channel.recv(min(count, 1 << 18)))
        if not chunks[-1]:
            raise ClosedError
        count -= len(chunks[-1])
    return b"".join(chunks)


def _of_numpy(value: Any) -> Any:
    """Return the form of a number of NumPy, which crosses as Python's; OpaqueError for any other object."""
    numpy = sys.modules.get("numpy")
    if numpy and isinstance(value, numpy.number | numpy.bool_):
        plain = value.item()
        if type(plain) is not type(value):  # as of a number that Python has not
            return encode(plain)
    raise OpaqueError(f"a {type(value).__name__!r} object")


def encode(value: Any, other: Callable[[Any], Any] = _of_numpy) -> Any:
    """Return the form of `value` in a frame; `other` makes that of a value that is not plain, or raises.

    OpaqueError if there is none, RecursionError if the value is nested too deeply.

    >>> encode([1, (2.5, {"a": b"x"})])
    ['l', 1, ['t', 2.5, ['d', 'a', ['b', '78']]]]
    """
    kind = type(value)
    if value is None or kind is bool or kind is str or (kind is int and value in _JSON_INTS):
        return value
    if kind is float and value - value == 0:  # finite
        return value
    row = _WRITE.get(kind) or _row_of_namedtuple(kind)
    if row is not None:
        tag, parts = row
        return [tag, *[encode(part, other) for part in parts(value)]]
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
        return ["it", *[encode(item) for item in values]]
    return encode(value)


def _is_no_form(form: Any) -> NoReturn:
    raise ValueError("not a form")


def decode(form: Any, other: Callable[[list[Any]], Any] = _is_no_form) -> Any:
    """Return the value of a form; `other` reads the tags that are not plain values.

    The value is at most a few times as large as the form: a range stays a range, a number keeps its exponent.
    ValueError, TypeError, KeyError, OverflowError, ArithmeticError or RecursionError if `form` is none.
    """
    kind = type(form)
    if form is None or kind in (bool, int, float, str):
        return form
    if kind is not list:
        raise ValueError("not a form")
    build = _READ.get(form[0])
    return other(form) if build is None else build([decode(part, other) for part in form[1:]])


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
    name, arguments, own_name, text = form
    kind = getattr(builtins, _text([name]), None)
    if not isinstance(kind, type) or not issubclass(kind, Exception):
        raise ValueError("not an exception")
    if issubclass(kind, StopIteration | StopAsyncIteration):
        return RuntimeError(f"{name}: {_text([text])}")
    values = (text,) if arguments is None else decode(arguments)
    try:
        error = kind(*values)
        if own_name == name or text in (text_of(error), _NO_TEXT):
            return error
        return type(name, (kind,), {"__str__": lambda _: _text([text])})(*values)  # a text of its own class
    except Exception:  # the constructor wants other arguments, as UnicodeError does
        return Exception(_text([text]))


def text_of(error: BaseException) -> str:
    """Return the beginning of an exception's text, whatever that of a program's class does."""
    try:
        return str.__str__(str(error))[:300]
    except BaseException:
        return _NO_TEXT


def described(error: BaseException) -> str:
    """Return the name of an exception's class with its text."""
    return f"{type(error).__name__}: {text_of(error)}".removesuffix(": ")


def _pairs(value: Any) -> list[Any]:
    return list(itertools.chain.from_iterable(value.items()))


def _mapping(parts: list[Any]) -> dict[Any, Any]:
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _text(parts: list[Any]) -> str:
    (text,) = parts
    if type(text) is not str:
        raise ValueError("not text")
    return text


@lru_cache(maxsize=64)
def _namedtuple(name: str, fields: tuple[str, ...]) -> Any:
    """Return a namedtuple's class; ValueError or TypeError if a name could be anything but a name."""
    if not all(map(_NAME.fullmatch, (name, *fields))):
        raise ValueError("not the names of a namedtuple")
    return namedtuple(name, fields)


def _row_of_namedtuple(kind: type) -> tuple[str, Callable[[Any], Iterable[Any]]] | None:
    """Return the tag of a namedtuple's instances, and what returns their parts; None for other classes."""
    fields = getattr(kind, "_fields", None) if issubclass(kind, tuple) else None
    if type(fields) is not tuple:
        return None
    try:
        named = _namedtuple(kind.__name__, fields)
    except (ValueError, TypeError):
        return None
    return "n", lambda value: (named.__name__, named._fields, *tuple.__iter__(value))


def _whole(parts: list[Any]) -> list[int]:
    if any(type(part) is not int for part in parts):
        raise ValueError("not whole numbers")
    return parts


# tag, class, value → its parts, which are plain values, and parts → value
_KINDS: tuple[tuple[str, type, Callable[[Any], Iterable[Any]], Callable[[list[Any]], Any]], ...] = (
    ("i", int, lambda value: [hex(value)], lambda parts: int(_text(parts), 16)),
    ("f", float, lambda value: [repr(value)], lambda parts: float(_text(parts))),
    ("l", list, iter, lambda parts: parts),
    ("t", tuple, iter, tuple),
    ("s", set, iter, set),
    ("z", frozenset, iter, frozenset),
    ("d", dict, _pairs, _mapping),
    ("b", bytes, lambda value: [value.hex()], lambda parts: bytes.fromhex(_text(parts))),
    ("B", bytearray, lambda value: [value.hex()], lambda parts: bytearray.fromhex(_text(parts))),
    ("c", complex, lambda value: [value.real, value.imag], lambda parts: complex(*map(float, parts))),
    ("r", range, lambda v: (v.start, v.stop, v.step), lambda parts: range(*_whole(parts))),
    ("sl", slice, lambda v: (v.start, v.stop, v.step), lambda parts: slice(*parts)),
    ("D", Decimal, lambda value: [str(value)], lambda parts: Decimal(_text(parts))),
    ("F", Fraction, lambda value: value.as_integer_ratio(), lambda parts: Fraction(*_whole(parts))),
    ("td", timedelta, lambda v: [v.days, v.seconds, v.microseconds], lambda parts: timedelta(*_whole(parts))),
    ("date", date, lambda v: [v.isoformat()], lambda parts: date.fromisoformat(_text(parts))),
    ("datetime", datetime, lambda v: [v.isoformat()], lambda p: datetime.fromisoformat(_text(p))),
    ("time", time, lambda v: [v.isoformat()], lambda parts: time.fromisoformat(_text(parts))),
    ("od", OrderedDict, _pairs, lambda parts: OrderedDict(_mapping(parts))),
    ("ct", Counter, _pairs, lambda parts: Counter(_mapping(parts))),
    ("dq", deque, lambda value: [value.maxlen, *value], lambda parts: deque(parts[1:], parts[0])),
    ("dk", type({}.keys()), list, lambda parts: dict.fromkeys(parts).keys()),
    ("dv", type({}.values()), list, lambda parts: dict(enumerate(parts)).values()),
    ("di", type({}.items()), list, lambda parts: dict(parts).items()),
)
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
MUTABLE = (list, dict, set, bytearray, deque, Counter, OrderedDict)
_WRITE = {kind: (tag, parts) for tag, kind, parts, _ in _KINDS}
_READ = {tag: build for tag, _, _, build in _KINDS} | {
    "it": iter,
    "ty": lambda parts: TYPES[_text(parts)],
    "n": lambda parts: _namedtuple(parts[0], parts[1])._make(parts[2:]),
}
