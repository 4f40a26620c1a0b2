"""Tests in the style of unittest → functions with the same asserts, for those who read tests as text."""

import ast
import copy
from collections.abc import Iterable

_EQUALITIES = {f"assert{kind}Equal" for kind in ("", "List", "Dict", "Set", "Tuple", "Sequence", "MultiLine")}
_STREAMS = {"io", "sys"}


def as_functions(statements: Iterable[ast.stmt]) -> list[ast.stmt]:
    """Return statements in which a method of a `TestCase` is a function, and `self.assertEqual` an assert.

    What makes and runs suites of these classes, and names nothing else, is left out.

    >>> text = "class T(unittest.TestCase):\\n  def test(self): self.assertEqual(f(1), 2)\\nunittest.main()"
    >>> print(ast.unparse(as_functions(ast.parse("import unittest\\n" + text).body)[1]))
    def test():
        assert f(1) == 2
    >>> tree = ast.parse("class T(TestCase):\\n  def test(self): self.assertTrue(1)")
    >>> as_functions(tree.body) != tree.body and "self.assertTrue" in ast.unparse(tree)
    True
    >>> kept = "class T(TestCase): x = 1", "class T(TestCase):\\n  def test(self): return f(1)"
    >>> [as_functions(tree.body) == tree.body for tree in map(ast.parse, kept)]
    [True, True]
    """
    functions: list[ast.stmt] = []
    suites: set[str] = set()  # names of unittest, of test cases, and of what is made of these
    for statement in statements:
        match statement:
            case ast.Import() | ast.ImportFrom(module="unittest"):
                functions.append(statement)
                suites |= {alias.asname or alias.name for alias in statement.names} & {"unittest", "TestCase"}
            case ast.ClassDef(name=name, bases=[base], body=body, decorator_list=[]) if (
                isinstance(base, ast.Name | ast.Attribute)
                and ast.unparse(base) in ("TestCase", "unittest.TestCase")
                and all(map(_is_method, body))
            ):
                functions += map(_function, body)
                suites.add(name)
            case _:
                names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
                read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
                if read & suites and read <= suites | _STREAMS:
                    suites |= {node.id for node in names}
                else:
                    functions.append(statement)
    return functions


def _is_method(node: ast.stmt) -> bool:
    match node:
        case ast.FunctionDef(args=ast.arguments(posonlyargs=[], args=[ast.arg(arg="self")], kwonlyargs=[])):
            return not any(isinstance(part, ast.Return | ast.Yield) for part in ast.walk(node))
    return False


def _function(method: ast.stmt) -> ast.stmt:
    function = _Asserts().visit(copy.deepcopy(method))
    function.args.args = []
    return function


class _Asserts(ast.NodeTransformer):
    """The checks of a test case → asserts."""

    def visit_With(self, node: ast.With) -> ast.With | list[ast.stmt]:
        self.generic_visit(node)
        match node.items:
            case [ast.withitem(ast.Call(ast.Attribute(ast.Name(id="self"), attr="subTest")), None)]:
                return node.body
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        match node.value:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="self"), attr=name), args=[value, *others], keywords=[]
            ):
                if name in _EQUALITIES and others:
                    return ast.Assert(ast.Compare(value, [ast.Eq()], others[:1]))
                if name == "assertTrue":
                    return ast.Assert(value)
                if name == "assertFalse":
                    return ast.Assert(ast.UnaryOp(ast.Not(), value))
        return node
