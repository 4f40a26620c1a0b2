"""Set-up and tests → whether running them leaves the judge's interpreter as it was.

A closed list of syntax, builtins and library functions, by which tests can make values and bind names but
reach nothing that outlives their job. Tests beyond the list get a judge of their own.
"""

import ast
import builtins
import sys
from functools import lru_cache

from erce.verify.sandbox.compiled_tests import BrokenTestsError, called_with_literals, nodes
from erce.verify.sandbox.judge.callbacks import INTERNALS

_SYNTAX = (
    *(ast.Module, ast.Assert, ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Pass, ast.If, ast.For),
    *(ast.While, ast.Break, ast.Continue, ast.Return, ast.FunctionDef, ast.arguments, ast.arg, ast.Lambda),
    *(ast.Try, ast.ExceptHandler, ast.Raise, ast.alias, ast.Constant, ast.Name, ast.Call, ast.keyword),
    *(ast.Starred, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp),
    *(ast.IfExp, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Subscript, ast.Slice, ast.JoinedStr),
    *(ast.FormattedValue, ast.NamedExpr, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
    *(ast.comprehension, ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop),
)
_PURE = """
abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter float format
frozenset hash hex id int isinstance issubclass iter len list map max min next object oct ord pow print range
repr reversed round set slice sorted str sum tuple type zip
"""
_BUILTINS = set(_PURE.split()) | {
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
}
_LIBRARY: dict[str, set[str] | None] = {  # module → names whose use changes nothing; None for all
    "math": None,
    "cmath": None,
    "itertools": None,
    "collections": {"Counter", "OrderedDict", "defaultdict", "deque"},
    "copy": {"copy", "deepcopy"},
    "datetime": {"date", "datetime", "time", "timedelta"},
    "fractions": {"Fraction"},
    "string": {"ascii_letters", "ascii_lowercase", "ascii_uppercase", "digits", "punctuation"},
}
_LIBRARY_NAMES = sys.stdlib_module_names | set(dir(builtins)) - _BUILTINS


@lru_cache(maxsize=1024)
def leaves_nothing(
    setup: tuple[str, ...], tests: tuple[str, ...], entry_points: tuple[str, ...] | None
) -> bool:
    """Return whether the tests provably leave nothing in the process that runs them.

    >>> leaves_nothing(("import math",), ("assert math.isclose(f(1), 2.0)",), ("f",))
    True
    >>> leaves_nothing((), ("import math\\nmath.isclose = lambda a, b: True\\nassert f(1)",), ("f",))
    False
    """
    try:
        if called_with_literals(setup, tests):
            return True
        every = [node for source in (*setup, *tests) for node in nodes(source, "test")]
    except BrokenTestsError:
        return False
    bound = {name for node in every for name in _bound(node)}
    imports = {item for node in every for item in _imported(node)}
    imported = {name for name, _ in imports}
    answered = set(entry_points or ()) - bound
    if bound & imported or len(imported) < len(imports):  # a name with two meanings is not followed
        return False
    modules = {name: module for name, module in imports if module}
    # The library's names stand for its modules even without an import, unless the program answers for them.
    modules |= {name: name for name in _LIBRARY.keys() - bound - imported - answered}
    unknown = _LIBRARY_NAMES - answered - {name for name, module in modules.items() if name == module}
    below_dots = {id(node.value) for node in every if isinstance(node, ast.Attribute)}
    for node in every:
        if not isinstance(node, ast.Name):
            is_allowed = _is_allowed(node, modules)
        else:  # a module stands before a dot alone
            is_allowed = _is_allowed_name(node.id, unknown, set() if id(node) in below_dots else set(modules))
        if not is_allowed:
            return False
    return True


def _bound(node: ast.AST) -> list[str]:
    """Return the names that a node binds to a value which the tests made."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.FunctionDef(name=name):
            return [name]
        case ast.ExceptHandler(name=str(name)):
            return [name]
    return []


def _imported(node: ast.AST) -> list[tuple[str, str]]:
    """Return each name that an import binds, and the module that it imports; "" for a `from` import."""
    if isinstance(node, ast.Import):
        return [(alias.asname or alias.name, alias.name) for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [(alias.asname or alias.name, "") for alias in node.names]
    return []


def _is_allowed_name(name: str, *refused: frozenset[str] | set[str]) -> bool:
    return not name.startswith("_") and not any(name in names for names in refused)


def _is_allowed(node: ast.AST, modules: dict[str, str]) -> bool:
    """Return whether a node by itself keeps to the lists."""
    match node:
        case ast.Import():
            return all(alias.name in _LIBRARY for alias in node.names)
        case ast.ImportFrom(module=str(module), level=0):
            return all(_is_listed(module, alias.name) for alias in node.names)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute, ctx=ast.Load()) if name in modules:
            return _is_listed(modules[name], attribute)
        case ast.Attribute(attr=attribute, ctx=ast.Load()):
            return not attribute.startswith(INTERNALS)
    return isinstance(node, _SYNTAX)


def _is_listed(module: str, name: str) -> bool:
    names = _LIBRARY.get(module, set())
    return not name.startswith("_") and name != "*" and (names is None or name in names)
