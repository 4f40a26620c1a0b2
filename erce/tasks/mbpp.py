"""MBPP's rows → problems: a sentence and the first assert as a hint, answered by a fenced function.

Set-up of the paper's appendix "Experimental Setup MBPP", but for its sizes: 300 problems to train on and 200
to test on cannot be disjoint, because the sanitized subset has 427. Both tasks divide by the id ranges of
MBPP's authors, so that nobody's test problem is trained on: ids 11 to 510 are for tests (257 of them are
sanitized), the others for training.

    mbpp        sanitized problems alone: all 126 there are to train on, and 40 to validate on
    mbpp-full   300 and 100 of all 974, in their sanitized form if there is one; tested like `mbpp`

Training problems that repeat a test problem in other words are left out (`NEAR_DUPLICATES`).
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

from erce.tasks.source import Source, SourceRow, json_lines, json_list
from erce.types import Pools, Problem, Task
from erce.verify.program import verify_program
from erce.verify.sandbox.tests_text import BrokenTestsError, import_statements, read_and_bound

PROMPT = """{}

Write a complete Python function that passes tests like this one:
{}

Answer with the code in a ```python block."""
FENCED = "```python\n{}\n```"
TESTED = range(11, 511)
SANITIZED, FULL = "sanitized-mbpp.json", "mbpp.jsonl"
SOURCE = Source(
    hub="google-research-datasets/mbpp",
    files=f"the original {SANITIZED} (for mbpp-full also {FULL})",
    digests={
        SANITIZED: "8ac32b2799150228e2d745aed09c870b7e4444246d4727d1004576207ef40769",
        FULL: "ccf64ceae9c5403bf50a044cb6d505bfd2a2963ee58338ba268fd65beab92a9f",
    },
)

# Found by equal tests, by programs equal but for names, and by similar sentences; then read one by one.
NEAR_DUPLICATES = {  # problem → the test problem that it nearly is
    538: 310,
    569: 104,
    608: 67,
    649: 170,
    658: 130,
    704: 248,
    708: 118,
    756: 434,
    800: 451,
    922: 415,
    928: 427,
}


def _pools(data: str | None, *, full: bool) -> Pools:
    sanitized = dict(_with_numbers(_rows(data, "sanitized")))
    train = dict(_with_numbers(_rows(data, "full"))) | sanitized if full else sanitized
    return Pools(
        train=tuple(
            _problem(number, row)
            for number, row in sorted(train.items())
            if number not in TESTED and number not in NEAR_DUPLICATES
        ),
        test=tuple(_problem(number, row) for number, row in sorted(sanitized.items()) if number in TESTED),
    )


def _rows(data: str | None, config: str) -> Iterable[SourceRow]:
    if data is None:
        return [row for rows in SOURCE.from_hub(config).values() for row in rows]
    if config == "sanitized":
        return json_list(SOURCE.file(data, SANITIZED))
    return json_lines(SOURCE.file(data, FULL))


def _with_numbers(rows: Iterable[SourceRow]) -> Iterator[tuple[int, SourceRow]]:
    for row in rows:
        number = row.values.get("task_id")
        if not isinstance(number, int) or isinstance(number, bool):
            raise row.fault(f"`task_id` is {number!r}, not a whole number")
        yield number, row


def _problem(number: int, row: SourceRow) -> Problem:
    """Return the problem in a row of either file; the hint is its first test."""
    code = _unix_lines(row.text("code"))
    tests = tuple(_unix_lines(test) for test in row.texts("test_list"))
    if not tests:
        raise row.fault("`test_list` is empty, so any program would pass")
    statements = (*row.texts("test_imports", default=()), row.text("test_setup_code", default=""))
    setup = tuple(_unix_lines(statement) for statement in statements if statement.strip())
    try:
        imports, entry_points = _used_by_tests(code, "\n".join((*setup, *tests)))
    except BrokenTestsError as error:
        raise row.fault(f"its `code` or `test_list` is not Python ({error})") from error
    if not entry_points:
        raise row.fault("its tests use no name that `code` defines")
    question = row.text("prompt" if "prompt" in row.values else "text").strip()
    return Problem(
        id=f"mbpp-{number}",
        prompt=PROMPT.format(question, tests[0]),
        demonstration=FENCED.format(code),
        tests=tests,
        setup=(*imports, *setup),
        entry_points=entry_points,
    )


def _unix_lines(text: str) -> str:
    return text.replace("\r\n", "\n").strip("\n").rstrip()


def _used_by_tests(code: str, tests: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what the tests use of the code: its import statements, and the names that it defines.

    >>> _used_by_tests("import re, sys\\ndef f(x): return x", "assert f(3) == 3 < sys.maxsize")
    (('import re, sys',), ('f',))
    """
    used, _ = read_and_bound([tests])
    _, defined = read_and_bound([code])
    imports = {statement: read_and_bound([statement])[1] for statement in import_statements(code)}
    needed = tuple(statement for statement, names in imports.items() if names & used)
    return needed, tuple(sorted(used & defined.difference(*imports.values())))


MBPP = Task(
    name="mbpp",
    pools=partial(_pools, full=False),
    verify=verify_program,
    n_train=126,
    n_validation=40,
    n_test=200,
    max_new_tokens=256,
    max_length=768,
    about="short Python programs, verified by their tests; the sanitized problems alone",
)
MBPP_FULL = replace(
    MBPP,
    name="mbpp-full",
    pools=partial(_pools, full=True),
    n_train=300,
    n_validation=100,
    about="the same tests; demonstrations from all of MBPP",
)
