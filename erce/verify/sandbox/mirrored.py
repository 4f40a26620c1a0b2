"""Set-up and tests as text → the comparison methods of their classes in which an instance cannot cheat.

Such a method compares an expression of `self` with the same expression of `other`. An instance with
attributes that a program chose then equals an expected one only if that expression has the same value.
"""

import ast
from collections.abc import Iterable

_COMPARED_BY = {
    "__eq__": (ast.Eq,),
    "__lt__": (ast.Lt,),
    "__le__": (ast.LtE,),
    "__gt__": (ast.Gt,),
    "__ge__": (ast.GtE,),
}
_OF_THE_CLASS = ("type", "__class__")  # all instances have the same
_STATIC = ("staticmethod", "classmethod")


def mirrored_comparisons(trees: Iterable[ast.Module]) -> frozenset[str]:
    """Return the qualified names of mirrored comparison methods.

    Of several definitions of one name, all must be mirrored.

    >>> text = "class Node:\\n    def __eq__(self, other):\\n        return self.val {} other.val"
    >>> mirrored_comparisons([ast.parse(text.format("=="))])
    frozenset({'Node.__eq__'})
    >>> mirrored_comparisons([ast.parse(text.format("in"))])
    frozenset()
    """
    mirrored: dict[str, bool] = {}
    for kind in (node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)):
        functions = [node for node in kind.body if isinstance(node, ast.FunctionDef)]
        static = {f.name for f in functions if any(map(_is_static, f.decorator_list))}
        for function in functions:
            if function.name in _COMPARED_BY:
                name = f"{kind.name}.{function.name}"
                mirrored[name] = mirrored.get(name, True) and _is_mirrored(function, static)
    return frozenset(name for name, holds in mirrored.items() if holds)


def _is_static(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Name) and decorator.id in _STATIC


def _is_mirrored(function: ast.FunctionDef, static: set[str]) -> bool:
    """Return whether a method says "no" early or returns the result of mirrored comparisons."""
    operators = _COMPARED_BY[function.name]
    match function.args:
        case ast.arguments(posonlyargs=[], args=[mine, theirs], vararg=None, kwonlyargs=[], kwarg=None):
            sides = _Sides(mine.arg, theirs.arg, static)
        case _:
            return False
    *early, last = function.body
    if function.decorator_list or not all(map(_says_no, early)):
        return False
    match last:
        case ast.Return(value=ast.BoolOp(op=ast.And(), values=parts)):
            pass
        case ast.Return(value=ast.expr() as part):
            parts = [part]
        case _:
            return False
    compared = [part for part in parts if not sides.is_check_of_class(part)]
    return bool(compared) and all(sides.are_mirrored(part, operators) for part in compared)


def _says_no(statement: ast.stmt) -> bool:
    """Return whether a statement is a docstring, or an `if` that returns False or NotImplemented."""
    match statement:
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.If(body=[ast.Return(value=ast.Constant(value=False))], orelse=[]):
            return True
        case ast.If(body=[ast.Return(value=ast.Name(id="NotImplemented"))], orelse=[]):
            return True
    return False


class _Sides:
    """The two parameters of a comparison method, and the methods of its class that need no instance."""

    def __init__(self, mine: str, theirs: str, static: set[str]) -> None:
        self._mine, self._theirs, self._static = mine, theirs, static

    def are_mirrored(self, part: ast.expr, operators: tuple[type[ast.cmpop], ...]) -> bool:
        match part:
            case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in operators:
                for one, other in ((self._mine, self._theirs), (self._theirs, self._mine)):
                    form = self._form(left, one, other)
                    if form and form == self._form(right, other, one):
                        return True
        return False

    def is_check_of_class(self, part: ast.expr) -> bool:
        """Return whether a part compares classes alone, or asks whether there is an instance at all."""
        match part:
            case ast.Call(func=ast.Name(id="isinstance")):
                return True
            case ast.Compare(ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
                return True
            case ast.Compare(left=ast.Call(func=ast.Name(id=name)) | ast.Attribute(attr=name)):
                return name in _OF_THE_CLASS
        return False

    def _form(self, side: ast.expr, one: str, other: str) -> str:
        """Return the form of an expression without the name of `one`; "" if it uses `other`, or not `one`."""
        copy = ast.parse(ast.unparse(side), mode="eval")
        for node in ast.walk(copy):
            match node:
                case ast.Attribute(value=ast.Name() as owner, attr=name) if name in self._static:
                    owner.id = "class"
        names = [node for node in ast.walk(copy) if isinstance(node, ast.Name)]
        if one not in {node.id for node in names} or other in {node.id for node in names}:
            return ""
        for node in names:
            node.id = "instance" if node.id == one else node.id
        return ast.dump(copy)
