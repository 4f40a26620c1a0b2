"""A study's problems and verifier: answer a question about a database with an SQL query.

    python text_to_sql.py geography.json geography.sqlite     writes problems.jsonl and database.sqlite
    erce run text_to_sql.toml                                 trains, verifies and reports

The two files are GeoQuery, questions on the geography of the United States: `geography.json` and
`geography-db.added-in-2020.sqlite` in `data/` of github.com/jkkummerfeld/text2sql-data.

A completion is right if its query finds the rows of the reference query: the same values in the same columns,
each row as often, and in the same order if the reference sorts them. Many queries do. Left out are questions
whose query SQLite cannot run, questions whose answer is no row or nothing but NULL and 0, since queries with
a mistake find that too, and training questions that repeat a test question in other words.

SQLite runs what a model wrote, so `rows_of` gives it little: a read-only database, no statement but SELECT,
few functions, and limits on text, values, steps and memory that do not depend on the clock.
"""

import json
import re
import shutil
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

from erce.tasks import near_duplicates
from erce.types import Completion, Problem

HERE = Path(__file__).resolve().parent
DATABASE = HERE / "database.sqlite"
PROMPT = """{schema}

{question}
Answer with one SQLite query."""
FENCE = re.compile(r"```(?:sql|sqlite)?\n(.*?)```", re.DOTALL)

# LIKE and GLOB are missing because one comparison may take hours, others because they make long values.
FUNCTIONS = {
    *("count", "sum", "total", "avg", "min", "max"),
    *("abs", "round", "length", "lower", "upper", "substr", "coalesce", "ifnull", "nullif"),
}
MOST_CHARACTERS = 2_000  # of a query, a value and a row
MOST_STEPS = 1_000_000  # of SQLite's virtual machine; the longest reference query takes 14 thousand
MOST_HEAP_BYTES = 100_000_000  # of all that SQLite does in this process: a short query can mean 2³⁰ tables
SIGNIFICANT_DIGITS = 9  # of a fraction: a sum depends on the order of its terms

Row = tuple[Any, ...]


def judge(problem: Problem, completion: Completion) -> bool:
    """Return whether the completion's query finds the rows of the reference query."""
    fenced = FENCE.search(completion.text)
    reference = _reference_rows(problem.answer)
    try:
        found = rows_of(fenced[1] if fenced else completion.text, most_rows=len(reference) + 1)
    except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError):  # a Warning for two statements
        return False
    return found == reference if is_sorted(problem.answer) else Counter(found) == Counter(reference)


@cache
def _reference_rows(query: str) -> list[Row]:
    return rows_of(query)


def rows_of(query: str, *, most_rows: int = 10_000) -> list[Row]:
    """Return the first rows that a query finds, fractions rounded; an error if it fails or is refused."""
    steps = iter(range(MOST_STEPS // 1_000))

    def permission(action: int, _table: str | None, function: str | None, *_: str | None) -> int:
        reads = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ)
        calls = action == sqlite3.SQLITE_FUNCTION and str(function).lower() in FUNCTIONS
        return sqlite3.SQLITE_OK if reads or calls else sqlite3.SQLITE_DENY

    with closing(sqlite3.connect(f"{DATABASE.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        connection.execute(f"PRAGMA hard_heap_limit = {MOST_HEAP_BYTES}")
        connection.execute("PRAGMA query_only = 1")
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, MOST_CHARACTERS)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_CHARACTERS)
        connection.set_authorizer(permission)
        connection.set_progress_handler(lambda: next(steps, None) is None, 1_000)
        return [tuple(map(_rounded, row)) for row in connection.execute(query).fetchmany(most_rows)]


def _rounded(value: Any) -> Any:
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}") if isinstance(value, float) else value


def is_sorted(query: str) -> bool:
    """Return whether the query sorts its rows: an ORDER BY outside of brackets and texts.

    >>> is_sorted("select a from t order by a"), is_sorted("select a from (select a from t order by a)")
    (True, False)
    """
    outer = re.sub(r"'[^']*'", "", query)
    while (shorter := re.sub(r"\([^()]*\)", "", outer)) != outer:
        outer = shorter
    return re.search(r"\border\s+by\b", outer, re.IGNORECASE) is not None


def schema() -> str:
    """Return the database's tables, a line each: `border_info: state_name border`."""
    with closing(sqlite3.connect(DATABASE)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        columns = {name: connection.execute(f'SELECT * FROM "{name}"').description for (name,) in names}
    return "\n".join(f"{name}: {' '.join(column for column, *_ in columns[name])}" for name in columns)


def shortest(query: str) -> str:
    """Return a query of the data set as a person would type it.

    >>> shortest('SELECT CITYalias0.CITY_NAME FROM CITY AS CITYalias0 WHERE CITYalias0.STATE_NAME = "iowa" ;')
    "select city_name from city where state_name = 'iowa'"
    >>> shortest('SELECT Aalias0.X FROM A AS Aalias0 , B AS Balias0 WHERE Aalias0.Y = Balias0.Y ;')
    'select a0.x from a a0, b b0 where a0.y = b0.y'
    """
    texts = re.findall(r'"([^"]*)"', query)
    short = re.sub(r'"[^"]*"', "''", query).lower().strip(" ;")
    short = re.sub(r"(\w+)alias(\d)", r"\1\2", short)
    short = re.sub(r"(?<!\)) as (\w+\d)\b", r" \1", short)
    if not re.search(r"from (?:\w+ \w+|\([^()]*\) as \w+) ?,|\bjoin\b", short):  # no tables side by side
        short = re.sub(r"\b\w+\d\.(?=\w)", "", short)
        short = re.sub(r"(from \w+) \w+\d\b", r"\1", short)
        short = re.sub(r"\) as derived_table\d\b", ")", short)
    short = re.sub(r"derived_(table|field)(\d)", r"\1\2", short)
    short = re.sub(r" ?\( ?", " (", short)
    short = re.sub(r"\b(count|sum|avg|min|max) \(", r"\1(", short)
    short = re.sub(r" ([,)])", r"\1", short)
    return re.sub("''", lambda _: f"'{texts.pop(0)}'", short)


def rows(questions: Path) -> list[dict[str, str]]:
    """Return the problems, no two with the same prompt."""
    tables = schema()
    examples = {PROMPT.format(schema=tables, question=text): rest for text, *rest in _examples(questions)}
    problems = {"train": [], "test": []}
    for prompt, (query, split) in examples.items():
        problem = Problem(id=prompt, prompt=prompt, demonstration=query, answer=query)
        problems["test" if split == "test" else "train"].append(problem)
    repeated = {pair.trained for pair in near_duplicates(problems["train"], problems["test"])}
    return [
        {
            "prompt": problem.prompt,
            "demonstration": problem.demonstration,
            "answer": problem.answer,
            "split": split,
        }
        for split, of_split in problems.items()
        for problem in of_split
        if problem not in repeated
    ]


def _examples(questions: Path) -> Iterator[tuple[str, str, str]]:
    """Yield question, query and split of each question whose query runs and finds something."""
    for group in json.loads(questions.read_text(encoding="utf-8")):
        for sentence in group["sentences"]:
            question, query = sentence["text"], group["sql"][0]
            for variable, value in sentence["variables"].items():
                question, query = question.replace(variable, value), query.replace(variable, value)
            try:
                found = rows_of(query)
            except sqlite3.Error:
                continue
            assert found == rows_of(shortest(query)), query
            if any(value for row in found for value in row):
                yield question, shortest(query), sentence["question-split"]


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python text_to_sql.py geography.json geography.sqlite")
    shutil.copyfile(sys.argv[2], DATABASE)
    lines = [json.dumps(row) + "\n" for row in rows(Path(sys.argv[1]))]
    (HERE / "problems.jsonl").write_text("".join(lines), encoding="utf-8")
    print(f"problems.jsonl: {len(lines)} problems")
