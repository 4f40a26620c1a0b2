"""Completion → the program in it: the whole text, its last fitting block with helpers, or lines of code."""

import ast
import re
import textwrap
from collections.abc import Iterable

from erce.verify.extract import TRACES, Traces, strip_traces
from erce.verify.sandbox.tests_text import BUILTINS, names_of, statements_of


def extract_program(text: str, entry_points: Iterable[str] = (), *, traces: Traces = TRACES) -> str:
    """Return the program in a text: all of it if it is Python, else the last block that fits.

    The last block that defines an entry point fits, else the last. Blocks are fences of three or more
    backticks or tildes that name Python, else fences that name nothing, else runs of lines that look like
    code, else, if one defines an entry point, other fences. A fence that never closes ends with the text. A
    block that is indented as a whole is moved to the margin. No program is inside a reasoning trace.

    Other blocks that define or import what the program lacks belong to it, in the order of the text, but not
    one that uses the program as soon as it is loaded: that is an example or a test.

    >>> extract_program("Sure:\\n```python3.11\\nx = 1\\n```\\nOutput:\\n```text\\n1\\n```")
    'x = 1'
    >>> extract_program("Here it is.\\ndef f():\\n    return 1\\n\\nThis returns 1.")
    'def f():\\n    return 1'
    """
    text = _BYTE_ORDER_MARK.sub("", text)
    for part in (text, strip_traces(text, traces)):
        statements = statements_of(_at_the_margin(part))
        if statements is not None and not any(map(_is_prose, statements)):
            return _at_the_margin(part)
    fences, prose = _fences(part)
    kinds = [
        [code for language, code in fences if _PYTHON.fullmatch(language)],
        [code for language, code in fences if not language],
        _runs_of_code(_at_the_margin(prose)),
        [code for _, code in fences],
    ]
    wanted = set(entry_points)
    chosen = [
        (kind, index)
        for kind in kinds
        for index in reversed(range(len(kind)))
        if wanted & set(_DEFINED_NAME.findall(kind[index]))
    ]
    chosen += [(kind, len(kind) - 1) for kind in kinds[:3] if kind]
    return _with_helpers(*chosen[0], wanted) if chosen else "" if fences else part


def _is_prose(statement: ast.stmt) -> bool:
    """Return whether a statement may be prose: Python can read `Answer`, `- a` and `Time: O(n)` as code."""
    if isinstance(statement, ast.AnnAssign):
        return statement.value is None
    prose = ast.Name | ast.List | ast.Tuple | ast.UnaryOp
    return isinstance(statement, ast.Expr) and isinstance(statement.value, prose)


def _with_helpers(blocks: list[str], program: int, wanted: set[str]) -> str:
    """Return one of the blocks together with those that define what it lacks, and what these lack."""
    if len(blocks) == 1:
        return blocks[0]
    names = [names_of(block if statements_of(block) else "") for block in blocks]
    own = names[program]
    helpers = [index for index, block in enumerate(names) if not own.assigned & block.read_at_once]
    last = {name: index for index in helpers for name in names[index].bound}
    parts, lacking = {program}, [*((own.read - BUILTINS) | wanted) - own.bound]
    while lacking:
        index = last.get(lacking.pop(), program)
        if index not in parts:
            parts.add(index)
            lacking += names[index].read - BUILTINS - own.bound
    return "\n\n".join(blocks[index] for index in sorted(parts))


def _fences(text: str) -> tuple[list[tuple[str, str]], str]:
    """Return the language and the code of each fenced block, and the text outside all of them.

    A fence closes with at least as many of its characters, so that three backticks inside four are code, at
    most three spaces deeper than it opened, as those of a docstring are not, or right behind a line of code.
    """
    blocks: list[tuple[str, str]] = []
    inside: list[str] = []
    outside: list[str] = []
    mark, language, depth = "", "", 0
    for line in text.split("\n"):
        if mark:
            code, closing, after = line.partition(mark)
            ends = re.fullmatch(rf"[ >]{{0,{depth + 3}}}|.*\S", code.expandtabs(4))
            if closing and ends and not after.strip(f"{mark[0]} \t\r"):
                blocks += _blocks_of(language, [*inside, code] if code.strip(" \t>") else inside)
                mark, inside = "", []
            else:
                inside.append(line)
        elif (fence := _FENCE.match(line)) and not (fence["mark"][0] == "`" and "`" in fence["info"]):
            mark, language = fence["mark"], fence["language"].lower()
            depth = len(fence["before"].expandtabs(4))
        else:
            outside.append(line)
    return blocks + (_blocks_of(language, inside) if mark else []), "\n".join(outside)


def _blocks_of(language: str, lines: list[str]) -> list[tuple[str, str]]:
    """Return a block; the blocks inside one of Markdown, or of no language, that is not Python itself."""
    code = _at_the_margin("\n".join(lines))
    is_text = language in ("", "markdown", "md") and _FENCE.search(code) and not statements_of(code)
    return (_fences(code)[0] if is_text else []) or [(language, code)]


def _at_the_margin(code: str) -> str:
    """Return the code without the indentation that all of its lines have."""
    return textwrap.dedent(code) if code.lstrip("\n")[:1] in (" ", "\t") else code


def _runs_of_code(text: str) -> list[str]:
    """Return the runs of lines that look like code; if some define or import something, these alone.

    A run that is not Python begins where it defines something, unless it is the whole text.
    """
    runs, quotes = [[""]], ""  # quotes: of a string that has not ended
    for line in text.split("\n"):
        if quotes or not line.strip() or _CODE.match(line) or _DEFINES.match(line):
            runs[-1].append(line)
        else:
            runs.append([])
        for triple in _TRIPLE.findall(line):
            quotes = "" if quotes == triple else quotes or triple
    if len(runs) == 1:
        return [text]
    texts = ["\n".join(run).strip("\n") for run in runs if any(map(str.strip, run))]
    starts = [(run, _DEFINES.search(run)) for run in texts]
    code = [run[start.start() :] if start and not statements_of(run) else run for run, start in starts]
    return [run for run in code if _DEFINES.search(run)] or code


_FENCE = re.compile(
    r"(?m)^(?P<before>[ \t>]*+)(?P<mark>`{3,}|~{3,})(?P<info>[ \t{.]*+(?P<language>[^\s:,;={}]*+).*)$"
)
_BYTE_ORDER_MARK = re.compile("^\ufeff", re.MULTILINE)
_PYTHON = re.compile(r"i?py(?:thon)?[0-9.]*|py3k?")
_DEFINED_NAME = re.compile(r"(?m)^[ \t]*+(?:(?:async\s++)?def\s++|class\s++|(?=\w++\s*+=[^=]))(\w++)")
_DEFINES = re.compile(r"(?m)^(?:(?:def|class|async\s+def|import|from\s+[\w.]+\s+import)\s|@\w)")
# A line that goes on with code: indented, a statement, an assignment, a call, a comment, a closing bracket.
_CODE = re.compile(
    r"[ \t#)\]}@]|\"\"\"|'''|(?:def|class|async|import|from|if|elif|else|for|while|try|except|finally|with|"
    r"return|raise|assert|pass|del|global|print|lambda|yield|match|case)\b(?:.*[:(,=\\]|\s*+$|\s++\S++\s*+$)"
    r"|(?:[\w(\[]|\*\w)[\w.\[\]()\"', *-]*+(?:[-+*/%&|^@]|//|\*\*|<<|>>)?=(?!=)|[\w.]++\(",
)
_TRIPLE = re.compile(r"\"\"\"|'''")
