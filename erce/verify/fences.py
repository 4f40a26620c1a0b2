"""Completion → the program in it: the last fenced block that fits, with its helpers, or lines of code."""

import re
import textwrap
from collections.abc import Iterable

from erce.verify.extract import TRACES, Traces, strip_traces


def extract_program(text: str, entry_points: Iterable[str] = (), *, traces: Traces = TRACES) -> str:
    """Return the program in a text: of its blocks the last that defines an entry point, else the last.

    Blocks are fences of three or more backticks or tildes that name Python, else fences that name nothing,
    else runs of lines that look like code, from a `def`, `class`, `import` or decorator on. A fence that
    names anything else, such as an output, holds no program. Without block and fence the text is the
    program. A block that is indented as a whole is moved to the margin. A fence that never closes ends with
    the text. There is no program inside a reasoning trace.

    If the program uses names that it does not define, or lacks an entry point, the other blocks that define
    or import these belong to it, in the order of the text. A block that uses what the program defines does
    not: it is an example or a test.

    >>> extract_program("Sure:\\n```python3.11\\nx = 1\\n```\\nOutput:\\n```text\\n1\\n```")
    'x = 1'
    >>> extract_program("Here it is.\\ndef f():\\n    return 1\\n\\nThis returns 1.")
    'def f():\\n    return 1'
    """
    text = _BYTE_ORDER_MARK.sub("", strip_traces(text, traces))
    fences, prose = _fences(text)
    kinds = [
        [code for language, code in fences if _PYTHON.fullmatch(language)],
        [code for language, code in fences if not language],
        _runs_of_code(prose),
    ]
    wanted = set(entry_points)
    chosen = [
        (kind, index)
        for kind in kinds
        for index in reversed(range(len(kind)))
        if wanted & set(_DEFINED_NAME.findall(kind[index]))
    ]
    chosen += [(kind, len(kind) - 1) for kind in kinds if kind]
    return _with_helpers(*chosen[0], wanted) if chosen else "" if fences else text


def _with_helpers(blocks: list[str], program: int, wanted: set[str]) -> str:
    """Return one of the blocks together with those that define what it lacks, and what these lack."""
    defines = [
        set(_IDENTIFIER.findall(" ".join(map("".join, _TOP_LEVEL.findall(block))))) for block in blocks
    ]
    uses = [set(_IDENTIFIER.findall(block)) for block in blocks]
    last = {name: index for index, names in enumerate(defines) for name in names}
    own = defines[program]
    parts, lacking = {program}, [*(uses[program] | wanted) - own]
    while lacking:
        index = last.get(lacking.pop(), program)
        if index not in parts and not own & uses[index]:
            parts.add(index)
            lacking += uses[index] - own
    return "\n\n".join(blocks[index] for index in sorted(parts))


def has_fence(text: str) -> bool:
    """Return whether a line of the text opens a fenced block."""
    return _FENCE.search(text) is not None


def _fences(text: str) -> tuple[list[tuple[str, str]], str]:
    """Return the language and the code of each fenced block, and the text outside all of them.

    A fence closes with at least as many of its characters, so that three backticks inside four are code. A
    block of Markdown or of no language that has blocks itself stands for these.
    """
    blocks: list[tuple[str, str]] = []
    inside: list[str] = []
    outside: list[str] = []
    mark, language = "", ""
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if mark and fence and fence["mark"].startswith(mark) and not fence["info"].strip():
            blocks += _blocks_of(language, inside)
            mark, inside = "", []
        elif mark:
            inside.append(line)
        elif fence and not (fence["mark"][0] == "`" and "`" in fence["info"]):
            mark, words = fence["mark"], fence["info"].split()
            language = words[0].strip("{}.").lower() if words else ""
        else:
            outside.append(line)
    return blocks + (_blocks_of(language, inside) if mark else []), "\n".join(outside)


def _blocks_of(language: str, lines: list[str]) -> list[tuple[str, str]]:
    code = _at_the_margin("\n".join(lines))
    inner = _fences(code)[0] if language in ("", "markdown", "md") and _FENCE.search(code) else []
    return inner or [(language, code)]


def _at_the_margin(code: str) -> str:
    """Return the code without the indentation that all of its lines have."""
    return textwrap.dedent(code) if code.lstrip("\n")[:1] in (" ", "\t") else code


def _runs_of_code(text: str) -> list[str]:
    """Return the runs of lines that look like code, each from a line on that defines or imports something.

    A text in which every line looks like code is one run.
    """
    runs: list[list[str]] = []
    is_open, is_code, quotes = False, bool(text.strip()), ""  # quotes: of a string that has not ended
    text = _at_the_margin(text)
    for line in text.split("\n"):
        if not is_open and _DEFINES.match(line):
            runs.append([])
            is_open = True
        elif line.strip() and not quotes and not (_CODE.match(line) or _DEFINES.match(line)):
            is_open = is_code = False
        if is_open:
            runs[-1].append(line)
        for triple in _TRIPLE.findall(line):
            quotes = "" if quotes == triple else quotes or triple
    return [text] if is_code else ["\n".join(run).strip("\n") for run in runs]


_FENCE = re.compile(r"^[ \t>]*+(?P<mark>`{3,}|~{3,})(?P<info>.*)$", re.MULTILINE)
_BYTE_ORDER_MARK = re.compile("^\ufeff", re.MULTILINE)
_PYTHON = re.compile(r"py(?:thon)?[0-9.]*|py3k?")
_DEFINED_NAME = re.compile(
    r"^[ \t]*+(?:(?:async\s++)?def\s++|class\s++|(?=\w++\s*+=[^=]))(\w++)", re.MULTILINE
)
# What a block defines or imports at its margin, and what it names otherwise than behind a point.
_TOP_LEVEL = re.compile(
    r"^(?:async\s++)?(?:def|class)\s++(\w++)|^(?:from\s++\S++\s++)?import\s++([\w., (]++)", re.MULTILINE
)
_IDENTIFIER = re.compile(r"(?<![\w.])(?!as\b)[^\W\d]\w*+")
_DEFINES = re.compile(r"(?:def|class|async\s+def|import|from\s+[\w.]+\s+import)\s|@\w")
# A line that goes on with code: indented, a statement, an assignment, a call, a comment, a closing bracket.
_CODE = re.compile(
    r"[ \t#)\]}@]|\"\"\"|'''|(?:def|class|async|import|from|if|elif|else|for|while|try|except|finally|with|"
    r"return|raise|assert|pass|del|global|print|lambda|yield|match|case)\b(?:.*[:(,=\\]|\s*+$|\s++\S++\s*+$)"
    r"|[\w.\[\]\"', ]++(?:[-+*/%&|^@]|//|\*\*|<<|>>)?=(?!=)|[\w.]++\(",
)
_TRIPLE = re.compile(r"\"\"\"|'''")
