"""A program → programs that differ from it in one place, like the near misses of a policy.

A mutant changes a constant, a comparison, an operator or a condition, or wraps what one function returns in
something that looks like it: a generator, a subclass, a set, a float, a text, None.
"""

import ast
import random
from collections.abc import Iterator

COMPARISONS = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.FloorDiv,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
WRAPPED = {  # how a result is changed → an expression of `result`
    "generator": "(each for each in result) if hasattr(result, '__iter__') else (result,)",
    "subclass": "type('Own', (type(result),), {})(result) "
    "if type(result) in (int, float, str, list, tuple, dict, set) else result",
    "iterator": "iter(result) if hasattr(result, '__iter__') else result",
    "set": "set(result) if isinstance(result, (list, tuple)) else {result}",
    "tuple": "tuple(result) if isinstance(result, list) else result",
    "list": "list(result) if isinstance(result, (tuple, set, str)) else [result]",
    "float": "float(result) if isinstance(result, int) else result",
    "text": "str(result)",
    "none": "None",
}


def mutants(program: str, entry_point: str, *, count: int, seed: int) -> Iterator[tuple[str, str]]:
    """Yield up to `count` (kind, program): half changed inside, half in what `entry_point` returns."""
    draw = random.Random(f"{seed} {program}")
    inner = [(kind, place) for kind in CHANGES for place in range(_places(program, kind))]
    draw.shuffle(inner)
    wraps = draw.sample(sorted(WRAPPED), len(WRAPPED))
    for i in range(count):
        if i % 2 == 0 and inner:
            kind, place = inner.pop()
            yield kind, _changed(program, kind, place)
        elif wraps:
            kind = wraps.pop()
            yield kind, f"{program}\n{_wrapper(entry_point, WRAPPED[kind])}"


def _wrapper(entry_point: str, expression: str) -> str:
    return (
        f"def _wrapped(function):\n"
        f"    def {entry_point}(*positional, **named):\n"
        f"        result = function(*positional, **named)\n"
        f"        return {expression}\n"
        f"    return {entry_point}\n"
        f"{entry_point} = _wrapped({entry_point})\n"
    )


def _constant(node: ast.AST) -> ast.AST | None:
    if not isinstance(node, ast.Constant) or node.value is None or node.value is Ellipsis:
        return None
    if isinstance(node.value, bool):
        return ast.Constant(not node.value)
    if isinstance(node.value, int | float):
        return ast.Constant(node.value + 1)
    return ast.Constant(node.value + node.value[:1]) if isinstance(node.value, str) else None


def _comparison(node: ast.AST) -> ast.AST | None:
    if not isinstance(node, ast.Compare):
        return None
    return ast.Compare(node.left, [COMPARISONS[type(node.ops[0])](), *node.ops[1:]], node.comparators)


def _operator(node: ast.AST) -> ast.AST | None:
    if not isinstance(node, ast.BinOp) or type(node.op) not in OPERATORS:
        return None
    return ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)


def _condition(node: ast.AST) -> ast.AST | None:
    if not isinstance(node, ast.If):
        return None
    return ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)


def _returned(node: ast.AST) -> ast.AST | None:
    return ast.Return(None) if isinstance(node, ast.Return) and node.value is not None else None


CHANGES = {
    "constant": _constant,
    "comparison": _comparison,
    "operator": _operator,
    "condition": _condition,
    "returned": _returned,
}


class _ChangeAt(ast.NodeTransformer):
    """A transformer that changes the `place`-th node of a kind."""

    def __init__(self, kind: str, place: int) -> None:
        self._change, self._place, self.seen = CHANGES[kind], place, 0

    def visit(self, node: ast.AST) -> ast.AST:
        changed = self._change(node)
        if changed is not None:
            self.seen += 1
            if self.seen - 1 == self._place:
                return ast.copy_location(changed, node)
        return self.generic_visit(node)


def _places(program: str, kind: str) -> int:
    counting = _ChangeAt(kind, -1)
    counting.visit(ast.parse(program))
    return counting.seen


def _changed(program: str, kind: str, place: int) -> str:
    return ast.unparse(ast.fix_missing_locations(_ChangeAt(kind, place).visit(ast.parse(program))))
