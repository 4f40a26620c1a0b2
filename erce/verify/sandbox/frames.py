"""Values → frames and back: exact builtin types only, so that reading a frame runs no foreign code.

A frame is four bytes of length and JSON. JSON holds a value as it is if that is exact (None, bool, str, small
int, finite float), else as a list that begins with a tag: such a JSON is called a form. An instance of a
subclass of a builtin is reduced to the builtin, read with the builtin's own methods, and marked with the tag
"sub". For a value without a plain form the writer makes a handle.
"""

import collections
import datetime
import decimal
import fractions
import importlib
import io
import json
import socket
import struct
from collections.abc import Callable, Iterable
from functools import lru_cache
from sys import intern
from typing import Any

LIMITS = struct.Struct("3d2Q")  # of a job, from supervisor to worker: seconds of cpu, wall and idle, bytes
NEW_JUDGE, READY = b"judge", b"ready"  # what else supervisor and worker send each other
MAX_FRAME_BYTES = 8 << 20
WRITTEN_AT_ONCE_BYTES = 1 << 15  # a socket holds this much before the other side reads
TOO_DEEP = "a value that is nested too deeply to cross between the processes"

# The functions in C below JSONEncoder and JSONDecoder: each function of Python costs a forked process time.
_encoding: Any = json.encoder
_chunks_of = _encoding.c_make_encoder(
    None, None, _encoding.encode_basestring, None, ":", ",", False, False, True
)
_decoder: Any = json.JSONDecoder()
_UTF_8 = ("utf-8", "surrogatepass")  # JSON's own escapes would join two halves of a surrogate pair
_MAX_FIELDS = 100  # of a named tuple
_MAX_NAME_LETTERS = 200  # of a named tuple or of one of its fields
_MAX_INTERNED_LETTERS = 100
_JSON_INTS = range(1 - (1 << 53), 1 << 53)  # which survive every JSON reader
PLAIN_TYPES = (int, float, str, bytes, list, tuple, frozenset, set, dict)
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
TYPES = {kind.__name__: kind for kind in (*PLAIN_TYPES, bool, bytearray, complex, range, object, type(None))}
_FACTORIES = {kind.__name__: kind for kind in (*PLAIN_TYPES, bool)}  # whose values no program chooses


class ClosedError(ConnectionError):
    """The other side closed the channel."""


class TooBigError(Exception):
    """A frame beyond `MAX_FRAME_BYTES`."""


def frame(message: object) -> bytes:
    """Return the bytes of one frame; TooBigError if they exceed the limit."""
    text = "".join(_chunks_of(message, 0)).encode(*_UTF_8)
    if len(text) > MAX_FRAME_BYTES:
        raise TooBigError(f"{len(text)} bytes")
    return len(text).to_bytes(4, "little") + text


def send(channel: socket.socket, message: object) -> int:
    """Write one frame and return its length; after a TooBigError nothing was written."""
    written = frame(message)
    channel.sendall(written)
    return len(written)


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


def encode(value: Any, handle: Callable[[Any], Any]) -> Any:
    """Return the form of `value`; `handle` makes one for a value without a plain form.

    >>> encode([1, (2.5, {"a": b"x"}), len], handle=lambda value: ["o", 0])
    ['l', [1, ['t', [2.5, ['d', [['a', ['b', '78']]]]]], ['o', 0]]]
    """
    kind = type(value)
    if value is None or kind is bool or kind is str or (kind is int and value in _JSON_INTS):
        return value
    write = _WRITE.get(kind)
    if write is not None:
        return write(value, handle)
    if kind is type and TYPES.get(value.__name__) is value:
        return ["ty", value.__name__]
    fields = kind.__dict__.get("_fields")
    if issubclass(kind, tuple) and type(fields) is tuple and len(fields) == tuple.__len__(value):
        return ["nt", kind.__name__, list(fields), _items(tuple.__iter__(value), handle)]
    for base in PLAIN_TYPES:
        if issubclass(kind, base):
            return ["sub", encode(_TO_PLAIN[base](value), handle)]
    return handle(value)


def decode(form: Any, handle: Callable[[list[Any]], Any]) -> Any:
    """Return the value of a form; `handle` reads the tags that are not plain values.

    The value is at most a few times as large as the form: a range stays a range, a number keeps its exponent.
    Equal short strings are one object, as Python's compiler makes them: `op is "add"` holds on both sides.
    ValueError, TypeError, KeyError, OverflowError, ArithmeticError or RecursionError if `form` is none.

    >>> decode(["t", [1, ["r", [0, 10**15, 1]]]], handle=lambda form: None)
    (1, range(0, 1000000000000000))
    """
    kind = type(form)
    if kind is str:
        return intern(form) if len(form) <= _MAX_INTERNED_LETTERS else form
    if form is None or kind in (bool, int, float):
        return form
    if kind is not list:
        raise ValueError("not a form")
    build = _READ.get(form[0])
    return handle(form) if build is None else build(form, handle)


def _items(value: Any, handle: Any) -> list[Any]:
    return [encode(item, handle) for item in value]


def _pairs(value: Any, handle: Any) -> list[Any]:
    return [[encode(key, handle), encode(item, handle)] for key, item in value.items()]


def _write_defaultdict(value: collections.defaultdict[Any, Any], handle: Any) -> Any:
    """Return the form of a defaultdict; one with a factory of the program's own becomes a dict."""
    pairs = _pairs(value, handle)
    for name, factory in _FACTORIES.items():
        if value.default_factory is factory:
            return ["dd", name, pairs]
    return ["sub", ["d", pairs]]


def _write_float(value: float, handle: Any) -> Any:
    return value if value - value == 0 else ["f", repr(value)]


_WRITE: dict[type, Callable[[Any, Any], Any]] = {
    int: lambda value, handle: ["i", hex(value)],  # `encode` keeps small ones
    float: _write_float,
    list: lambda value, handle: ["l", [encode(item, handle) for item in value]],
    tuple: lambda value, handle: ["t", [encode(item, handle) for item in value]],
    set: lambda value, handle: ["s", _items(value, handle)],
    frozenset: lambda value, handle: ["z", _items(value, handle)],
    dict: lambda value, handle: [
        "d",
        [[encode(key, handle), encode(item, handle)] for key, item in value.items()],
    ],
    bytes: lambda value, handle: ["b", value.hex()],
    bytearray: lambda value, handle: ["B", value.hex()],
    complex: lambda value, handle: ["c", repr(value.real), repr(value.imag)],
    range: lambda value, handle: ["r", _items((value.start, value.stop, value.step), handle)],
    decimal.Decimal: lambda value, handle: ["D", str(value)],
    fractions.Fraction: lambda value, handle: ["F", hex(value.numerator), hex(value.denominator)],
    datetime.timedelta: lambda value, handle: ["td", value.days, value.seconds, value.microseconds],
    datetime.date: lambda value, handle: ["date", value.isoformat()],
    datetime.datetime: lambda value, handle: ["datetime", value.isoformat()],
    datetime.time: lambda value, handle: ["time", value.isoformat()],
    collections.OrderedDict: lambda value, handle: ["od", _pairs(value, handle)],
    collections.defaultdict: _write_defaultdict,
    collections.Counter: lambda value, handle: ["ct", _pairs(value, handle)],
    collections.deque: lambda value, handle: ["dq", _items(value, handle), value.maxlen],
    io.StringIO: lambda value, handle: ["io", value.getvalue(), value.tell()],
    type({}.keys()): lambda value, handle: ["dk", _items(value, handle)],
    type({}.values()): lambda value, handle: ["dv", _items(value, handle)],
    type({}.items()): lambda value, handle: ["di", _pairs(dict(value), handle)],
}


def _values(form: Any, handle: Any) -> list[Any]:
    if type(form[1]) is not list:
        raise ValueError("not a list of forms")
    return [decode(item, handle) for item in form[1]]


def _mapping(form: Any, handle: Any) -> dict[Any, Any]:
    return {decode(key, handle): decode(value, handle) for key, value in form[1]}


def _in_order(kind: Callable[[Iterable[Any]], Any], values: list[Any]) -> Any:
    """Return a set that iterates over `values` in their order, if Python makes such a one of them.

    The order depends on how a set is made: `{1, 2, 3}` is a copy of a constant one, which `set([1, 2, 3])`
    is not.
    """
    for order in (values, values[::-1]):
        for made in (kind(order), kind(set(order))):
            if [*map(id, made)] == [*map(id, values)]:
                return made
    return kind(values)


def _text(form: Any, index: int = 1) -> str:
    if type(form[index]) is not str:
        raise ValueError("not text")
    return form[index]


def _whole(*values: Any) -> tuple[int, ...]:
    if any(type(value) is not int for value in values):
        raise ValueError("not whole numbers")
    return values


def _named_tuple(form: Any, handle: Any) -> tuple[Any, ...]:
    """Return a named tuple, of a class that is made here from the names of the fields alone."""
    _, name, fields, forms = form
    values = _values(["t", forms], handle)
    if type(fields) is not list:
        raise ValueError("not a list of names")
    if not len(fields) == len(values) <= _MAX_FIELDS or any(
        type(text) is not str or len(text) > _MAX_NAME_LETTERS for text in (name, *fields)
    ):
        raise ValueError("not a named tuple")
    # Python reads "ｘ" as "x" in source, which namedtuple makes of the fields.
    if not all(map(str.isascii, fields)) and any(_normalized(text) != text for text in fields):
        raise ValueError("not names of fields")
    return _record(name, tuple(fields))._make(values)


def _stream(text: str, position: int) -> io.StringIO:
    stream = io.StringIO(text)
    stream.seek(position)
    return stream


def _defaultdict(form: Any, handle: Any) -> collections.defaultdict[Any, Any]:
    _, factory, pairs = form
    return collections.defaultdict(_FACTORIES[factory], _mapping(["d", pairs], handle))


def _normalized(text: str) -> str:
    return importlib.import_module("unicodedata").normalize("NFKC", text)  # a library fewer in every fork


@lru_cache(maxsize=64)
def _record(name: str, fields: tuple[str, ...]) -> Any:
    made = collections.namedtuple(name, fields, rename=True)
    if made._fields != fields:  # names such as "_0" are those of a tuple that was renamed in the same way
        raise ValueError("not names of fields")
    return made


def forget() -> None:
    """Drop the classes that have a name chosen by a program."""
    _record.cache_clear()


_READ: dict[str, Callable[[Any, Any], Any]] = {
    "i": lambda form, handle: int(_text(form), 16),
    "f": lambda form, handle: float(_text(form)),
    "l": _values,
    "t": lambda form, handle: tuple(_values(form, handle)),
    "s": lambda form, handle: _in_order(set, _values(form, handle)),
    "z": lambda form, handle: _in_order(frozenset, _values(form, handle)),
    "d": _mapping,
    "b": lambda form, handle: bytes.fromhex(_text(form)),
    "B": lambda form, handle: bytearray.fromhex(_text(form)),
    "c": lambda form, handle: complex(float(_text(form)), float(_text(form, 2))),
    "r": lambda form, handle: range(*_whole(*_values(form, handle))),
    "D": lambda form, handle: decimal.Decimal(_text(form)),
    "F": lambda form, handle: fractions.Fraction(int(_text(form), 16), int(_text(form, 2), 16)),
    "td": lambda form, handle: datetime.timedelta(*_whole(*form[1:])),
    "date": lambda form, handle: datetime.date.fromisoformat(_text(form)),
    "datetime": lambda form, handle: datetime.datetime.fromisoformat(_text(form)),
    "time": lambda form, handle: datetime.time.fromisoformat(_text(form)),
    "od": lambda form, handle: collections.OrderedDict(_mapping(form, handle)),
    "dd": _defaultdict,
    "ct": lambda form, handle: collections.Counter(_mapping(form, handle)),
    "dq": lambda form, handle: collections.deque(_values(form, handle), form[2]),
    "io": lambda form, handle: _stream(_text(form), *_whole(form[2])),
    "dk": lambda form, handle: dict.fromkeys(_values(form, handle)).keys(),
    "di": lambda form, handle: _mapping(form, handle).items(),
    "nt": _named_tuple,
    "ty": lambda form, handle: TYPES[_text(form)],
    "dv": lambda form, handle: dict(enumerate(_values(form, handle))).values(),
}
CROSSING_TYPES = (*(_WRITE.keys() - {io.StringIO}), *TYPES.values())  # of values; `object` is among them
