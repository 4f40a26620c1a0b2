"""Requests → replies, inside a process that `erce.verify.killable` starts and kills.

For sympy: two expressions → whether their difference simplifies to 0. Expressions are built node by node from
parsed trees, so no text ever reaches sympy's parser, which is an `eval`. For Math-Verify: a reference and a
text → its verdict.
"""

import json
import resource
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from multiprocessing.connection import Connection

import sympy

from erce.verify.answers.expression import parse_scalar
from erce.verify.answers.limits import TooLargeError, UnparsedError
from erce.verify.answers.tree import Tree
from erce.verify.killable import READY

MEMORY_BYTES = 2 << 30  # of address space
GRACE_SECONDS = 2  # of processor time beyond the limit, before a check that nobody stopped ends the process

# What parts of sympy raise when they give up on an expression.
_GIVEN_UP = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError),
    NotImplementedError,  # sympy's own error for what it cannot solve
)


def serve(answer: Callable[..., object], channel: Connection) -> None:
    """Say "ready", then reply to each request with `answer(*operands)` until the channel closes.

    The last entry of a request is its limit in seconds. Past that limit the process ends itself, in case the
    process that should kill it is gone.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY or soft > MEMORY_BYTES:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, hard))
    channel.send_bytes(json.dumps(READY).encode())
    while True:
        try:
            *operands, seconds = json.loads(channel.recv_bytes())
        except EOFError:
            return
        # This timer's signal ends the process. Math-Verify uses the ordinary alarm itself.
        signal.setitimer(signal.ITIMER_PROF, seconds + GRACE_SECONDS)
        channel.send_bytes(json.dumps(answer(*operands)).encode())
        signal.setitimer(signal.ITIMER_PROF, 0)


def difference(left: str, right: str) -> str:
    """Return "zero" if `left - right` simplifies to 0, else "other", or why sympy cannot tell."""
    try:
        left_tree, right_tree = parse_scalar(left), parse_scalar(right)
    except TooLargeError:
        return "too large"
    except UnparsedError:
        return "unparsed"
    try:
        return "zero" if sympy.simplify(expression(left_tree) - expression(right_tree)) == 0 else "other"
    except MemoryError:
        return "too large"
    except _GIVEN_UP:
        return "undecided"


def verdict(answer: str, text: str) -> bool | str:
    """Return whether Math-Verify accepts `text`, or a sentence that names the exception it raised."""
    math_verify = import_module("math_verify")
    try:
        gold = math_verify.parse(f"${answer}$", extraction_config=[math_verify.LatexExtractionConfig()])
        return bool(math_verify.verify(gold, math_verify.parse(text)))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        return f"it raised {type(error).__name__}"


def expression(tree: Tree) -> sympy.Expr:
    """Return a tree of `parse_scalar` as sympy's expression, in which symbols are complex."""
    return _BUILDERS[tree[0]](*tree[1:])


def _number(value: object) -> sympy.Expr:
    return sympy.Rational(value)


def _call(name: str, arguments: tuple[Tree, ...]) -> sympy.Expr:
    return _FUNCTIONS[name](*map(expression, arguments))


def _root(radicand: Tree, degree: Tree) -> sympy.Expr:
    return expression(radicand) ** (1 / expression(degree))


_CONSTANTS = {"pi": sympy.pi, "e": sympy.E, "i": sympy.I, "inf": sympy.oo}
_BUILDERS: dict[str, Callable[..., sympy.Expr]] = {
    "num": _number,
    "dec": _number,
    "sym": sympy.Symbol,
    "const": _CONSTANTS.__getitem__,
    "deg": lambda: sympy.pi / 180,
    "neg": lambda a: -expression(a),
    "add": lambda terms: sympy.Add(*map(expression, terms)),
    "mul": lambda factors: sympy.Mul(*map(expression, factors)),
    "frac": lambda a, b: expression(a) / expression(b),
    "pow": lambda a, b: expression(a) ** expression(b),
    "root": _root,
    "call": _call,
}
_FUNCTIONS: dict[str, Callable[..., sympy.Expr]] = {
    **{name: getattr(sympy, name) for name in ("sin", "cos", "tan", "cot", "sec", "csc")},
    **{name: getattr(sympy, name) for name in ("sinh", "cosh", "tanh")},
    **{f"arc{name}": getattr(sympy, f"a{name}") for name in ("sin", "cos", "tan", "cot")},
    "ln": sympy.log,
    "log": lambda base, argument: sympy.log(argument, base),
    "abs": sympy.Abs,
    "fact": sympy.factorial,
    "binom": sympy.binomial,
}

WORKERS: dict[str, Callable[..., object]] = {"sympy": difference, "math_verify": verdict}

if __name__ == "__main__":
    import_module(sys.argv[1])  # before the first request, whose time is limited
    serve(WORKERS[sys.argv[1]], Connection(int(sys.argv[2])))
