"""Only values of exact builtin types cross the boundary."""

import datetime
import json
import socket
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction

import pytest

from erce.verify.sandbox import frames


def no_handle(form):
    raise ValueError(form)


def crossed(value):
    """Return the value after both directions and JSON."""
    return frames.decode(json.loads(json.dumps(frames.encode(value, no_handle))), no_handle)


class Liar(list):
    def __eq__(self, other):
        return True

    def __iter__(self):
        return iter([1, 2, 3])

    __hash__ = None


class Level(IntEnum):
    HIGH = 5


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -(2**53) + 1,
        2**53,
        -(10**4000),
        1.5,
        -0.0,
        float("inf"),
        float("-inf"),
        "",
        "a\ud800\0",
        b"\x00\xff",
        bytearray(b"x"),
        [1, [2, []]],
        (1, (2,)),
        {1, 2},
        frozenset({(1, 2)}),
        {"a": [1], (1, 2): {3}},
        1 + 2j,
        complex(float("inf"), -0.0),
        range(0, 10**18, 3),
        Decimal("1.10"),
        Decimal("1e999999999"),
        Fraction(1, 3),
        datetime.timedelta(days=-1, seconds=5),
        datetime.date(2024, 2, 29),
        datetime.datetime(2024, 2, 29, 12, 30, tzinfo=datetime.UTC),
        datetime.time(1, 2, 3, 4),
        OrderedDict([("b", 1), ("a", 2)]),
        Counter("aab"),
        deque([1, 2], maxlen=3),
        defaultdict(list, {"a": [1]}),
        int,
        type(None),
    ],
    ids=lambda value: f"{type(value).__name__} {value!r:.20}",
)
def test_a_plain_value_crosses_unchanged(value):
    again = crossed(value)
    assert type(again) is type(value)
    assert again == value
    assert repr(again) == repr(value)


def test_a_number_beyond_the_limit_of_digits_crosses_too():
    assert crossed(10**20_000 + 7) == 10**20_000 + 7


def test_nan_and_the_views_of_a_dict_cross_as_well():
    nan = crossed(float("nan"))
    assert nan != nan  # noqa: PLR0124
    assert crossed({1: 2, 3: 4}.keys()) == {1, 3}
    assert crossed({1: 2, 3: 4}.items()) == {(1, 2), (3, 4)}


@pytest.mark.parametrize(
    ("value", "base"),
    [
        (Liar([7]), [7]),
        (Level.HIGH, 5),
        (defaultdict(lambda: 7, {1: 2}), {1: 2}),
        (type("S", (str,), {"__str__": lambda self: "lie"})("s"), "s"),
        (type("F", (float,), {"__float__": lambda self: 0.0})(1.5), 1.5),
        (type("B", (bytes,), {"__getitem__": lambda self, key: b"lie"})(b"b"), b"b"),
        (type("Z", (frozenset,), {"__iter__": lambda self: iter(())})({1}), frozenset({1})),
        (type("D", (dict,), {"items": lambda self: ()})({1: 2}), {1: 2}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_instance_of_a_subclass_is_cut_to_its_builtin_by_the_builtins_own_methods(value, base):
    tag, form = frames.encode(value, no_handle)
    again = frames.decode(form, no_handle)
    assert tag == "sub"
    assert type(again) is type(base)
    assert again == base


def test_a_named_tuple_keeps_its_fields_in_a_class_that_is_made_here():
    again = crossed(Point(1, [2]))
    assert (again.x, again.y) == (1, [2])
    assert again == (1, [2])
    assert repr(again) == "Point(x=1, y=[2])"
    assert type(again) is not Point


@pytest.mark.parametrize(
    "form",
    [
        ["nt", "P", ["x", "y"], [1]],
        ["nt", "P", ["x", "x"], [1, 2]],
        ["nt", "P", ["__eq__"], [1]],
        ["nt", "P", ["x: int = open('/tmp/x', 'w')"], [1]],
        ["nt", "P(), __import__('os'", ["x"], [1]],
        ["nt", 5, ["x"], [1]],
        ["nt", "P", "x", [1]],
        ["nt", "P", [f"x{n}" for n in range(101)], list(range(101))],
        ["nt", "P", ["x"]],
    ],
    ids=str,
)
def test_names_of_fields_are_nothing_but_names(form):
    with pytest.raises((ValueError, TypeError)):
        frames.decode(form, handle=lambda form: None)


@pytest.mark.parametrize("text", [b"", b" ", b"1 2", b"[", b"\xff"])
def test_a_frame_is_one_json(text):
    with pytest.raises(ValueError, match=r"JSON|Expecting|decode"):
        frames.parsed(text)


def test_what_has_no_plain_form_becomes_a_handle():
    assert frames.encode([len], handle=lambda value: ["o", 0]) == ["l", [["o", 0]]]


@pytest.mark.parametrize(
    "form",
    [
        [],
        ["no such tag", 1],
        [["l"], []],
        {},
        ["l", 1],
        ["l", "ab"],
        ["t"],
        ["s", [["l", []]]],
        ["d", [[1]]],
        ["d", [[["l", []], 1]]],
        ["i", 5],
        ["i", "zz"],
        ["f", []],
        ["r", ["1", "2", "3"]],
        ["r", [0, 1, 0]],
        ["D", "x"],
        ["F", "0x1", "0x0"],
        ["td", 1e308, 0, 0],
        ["td", 10**12, 0, 0],
        ["date", "yesterday"],
        ["dq", [], "many"],
        ["ty", "eval"],
        ["dd", "eval", []],
        ["dd", "int", 5],
        ["b", "0"],
        ["o", 0],
    ],
    ids=repr,
)
def test_what_is_no_form_raises_an_error_that_the_judge_names(form):
    with pytest.raises(Exception):  # noqa: B017, PT011 (Peer turns any into a ruling)
        frames.decode(form, no_handle)


def test_a_deep_form_is_an_error_and_no_crash():
    form = 1
    for _ in range(100_000):
        form = ["l", [form]]
    with pytest.raises(RecursionError):
        frames.decode(form, no_handle)


def test_frames_are_capped_on_both_sides():
    near, far = socket.socketpair()
    with near, far:
        with pytest.raises(frames.TooBigError):
            frames.send(near, "x" * frames.MAX_FRAME_BYTES)
        near.sendall((frames.MAX_FRAME_BYTES + 1).to_bytes(4, "little"))
        with pytest.raises(frames.TooBigError, match=str(frames.MAX_FRAME_BYTES + 1)):
            frames.receive(far)


def test_a_frame_that_ends_early_is_a_closed_channel():
    near, far = socket.socketpair()
    with near, far:
        near.sendall(b"\x10\0\0\0[1")
        near.close()
        with pytest.raises(frames.ClosedError):
            frames.receive(far)


def test_a_number_with_too_many_digits_is_refused_where_json_would_read_it():
    near, far = socket.socketpair()
    with near, far:
        payload = b"1" * 100_000
        near.sendall(len(payload).to_bytes(4, "little") + payload)
        with pytest.raises(ValueError, match="digits"):
            frames.receive(far)
