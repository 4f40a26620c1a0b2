"""The example examples/text_to_sql: its problems, and its judge on honest and hostile queries."""

import doctest
import importlib.util
import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

from erce.types import Completion, Problem

EXAMPLE = Path(__file__).parents[2] / "examples" / "text_to_sql"
STATES = [("iowa", 3, 56.5, None), ("ohio", 11, 44.0, "columbus"), ("utah", 3, 84.0, "salt lake city")]
BORDERS = [("iowa", "ohio"), ("iowa", "utah"), ("utah", "iowa"), ("ohio", "iowa")]
STATE = 'SELECT STATEalias0.{} FROM STATE AS STATEalias0 WHERE STATEalias0.STATE_NAME = "state_name0" ;'


def group(query: str, *sentences: tuple[str, str, str]) -> dict[str, object]:
    """Return a group of the data set: a query, and (split, question, state) of each way to ask for it."""
    return {
        "sql": [query],
        "sentences": [
            {"question-split": split, "text": text, "variables": {"state_name0": state} if state else {}}
            for split, text, state in sentences
        ],
    }


QUESTIONS = [
    group(
        STATE.format("POPULATION"),
        ("train", "how many people live in state_name0", "iowa"),
        ("dev", "how many people live in state_name0", "ohio"),
        ("test", "population of state_name0", "utah"),
        ("train", "the population of state_name0", "texas"),  # no row
    ),
    group(STATE.format("CAPITAL"), ("train", "capital of state_name0", "iowa")),  # NULL
    group(
        "SELECT COUNT( STATEalias0.STATE_NAME ) FROM STATE AS STATEalias0 WHERE STATEalias0.AREA > 99 ;",
        ("test", "how many states are large", ""),  # 0
    ),
    group("SELECT ALL ( STATE ) ;", ("train", "what does not run", "")),
    group(
        "SELECT STATEalias0.STATE_NAME FROM STATE AS STATEalias0 , BORDER_INFO AS BORDER_INFOalias0"
        " WHERE STATEalias0.STATE_NAME = BORDER_INFOalias0.BORDER ;",
        ("train", "which of all the states there are border a state, please", ""),
        ("test", "which of all the states there are border a state", ""),  # the same in other words
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the example after its script ran on a tiny data set."""
    folder = tmp_path_factory.mktemp("example") / "text_to_sql"
    shutil.copytree(EXAMPLE, folder)
    source = folder.parent
    (source / "questions.json").write_text(json.dumps(QUESTIONS), encoding="utf-8")
    with closing(sqlite3.connect(source / "states.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE state (state_name text, population int, area double, capital text)")
        connection.execute("CREATE TABLE border_info (state_name text, border text)")
        connection.executemany("INSERT INTO state VALUES (?, ?, ?, ?)", STATES)
        connection.executemany("INSERT INTO border_info VALUES (?, ?)", BORDERS)
    command = [sys.executable, str(folder / "text_to_sql.py"), "questions.json", "states.sqlite"]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def example(folder: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("text_to_sql_example", folder / "text_to_sql.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def accepts(example: ModuleType, reference: str, text: str) -> bool:
    problem = Problem(id="1", prompt="?", demonstration=reference, answer=reference)
    completion = Completion(
        problem="1", sample=0, text=text, tokens=None, finished=True, logprob=None, entropy=None
    )
    return example.judge(problem, completion)


def test_the_script_keeps_the_questions_whose_answer_tells_a_right_query_from_a_wrong_one(folder, example):
    problems = [json.loads(line) for line in (folder / "problems.jsonl").read_text("utf-8").splitlines()]
    kept = [(row["split"], row["prompt"].splitlines()[-2], row["demonstration"]) for row in problems]
    side_by_side = "select state0.state_name from state state0, border_info border_info0 where "
    assert kept == [
        ("train", "how many people live in iowa", "select population from state where state_name = 'iowa'"),
        ("train", "how many people live in ohio", "select population from state where state_name = 'ohio'"),
        ("test", "population of utah", "select population from state where state_name = 'utah'"),
        (
            "test",
            "which of all the states there are border a state",
            side_by_side + "state0.state_name = border_info0.border",
        ),
    ]
    assert problems[0]["prompt"].splitlines()[:2] == [
        "border_info: state_name border",
        "state: state_name population area capital",
    ]
    assert all(accepts(example, row["answer"], row["demonstration"]) for row in problems)


NAMES = "select state_name from state"
SORTED = "select state_name from state order by area"


@pytest.mark.parametrize(
    ("reference", "text", "accepted"),
    [
        (NAMES, "SELECT s.state_name FROM state AS s ORDER BY population DESC;", True),
        (NAMES, "Here it is:\n```sql\nselect state_name from state\n```\nIt reads all states.", True),
        (NAMES, "select state_name from state limit 2", False),
        (NAMES, "select state_name from state union all select 'iowa'", False),
        (NAMES, "select state_name, area from state", False),
        (NAMES, "select border from border_info", False),  # iowa twice, and four rows
        ("select border from border_info", "select distinct border from border_info", False),
        ("select area, population from state", "select population, area from state", False),
        (SORTED, "select state_name from state order by area asc", True),
        (SORTED, NAMES, False),
        ("select population from state", "select population * 1.0 from state", True),
        ("select population from state", "select population || '' from state", False),
        ("select sum(area) / 3 from state", "select avg(area) from state", True),
        ("select 0.3 from state", "select 0.1 + 0.2 from state", True),
        ("select sum(area) from state", "select sum(area) + 0.001 from state", False),
        ("select capital from state", "select coalesce(capital, '') from state", False),
        (NAMES, "with s as (select * from state) select state_name from s", True),
        (NAMES, "iowa, ohio and utah", False),
        (NAMES, "", False),
    ],
)
def test_a_query_is_right_if_its_rows_are_those_of_the_reference(example, reference, text, accepted):
    assert accepts(example, reference, text) is accepted


def nested(times: int, expression: str) -> str:
    query = "select population x from state"
    for _ in range(times):
        query = f"select {expression} x from ({query})"
    return query


MANY_TABLES = ", ".join(f"border_info t{number}" for number in range(12))
HOSTILE = {
    f"select count(*) from {MANY_TABLES}": "interrupted",
    f"select t0.border from {MANY_TABLES} order by t1.border": "interrupted",
    nested(9, "x + x + x + x + x") + " where x > 1": "MemoryError",
    "with recursive t(x) as (select 1 union all select x + 1 from t) select x from t": "not authorized",
    "select zeroblob(1000000000)": "not authorized",
    "select printf('%1000000000d', 1)": "not authorized",
    "select state_name from state where state_name like '%a%a%a%a%a%a%a%a%b'": "not authorized",
    "select load_extension('mine')": "not authorized",
    "attach 'other.sqlite' as other": "not authorized",
    "pragma query_only = 0": "not authorized",
    "insert into state select * from state": "not authorized",
    "drop table state": "not authorized",
    "create temp table mine as select * from state": "not authorized",
    f"select {' || '.join(['state_name'] * 9)} from state where {' and '.join(['1'] * 900)}": "too large",
    nested(9, "x || x || x || x") + " limit 1": "too big",
    "select 1; drop table state": "one statement",
    "select 'a\0b'": "null character",
    "select '\ud800'": "surrogates",
    "select cast(x'ff' as text)": "decode",
}


@pytest.mark.parametrize(("query", "why"), HOSTILE.items(), ids=[query[:40] for query in HOSTILE])
def test_a_hostile_query_is_refused_or_stopped_and_counts_as_wrong(example, folder, query, why):
    before = (folder / "database.sqlite").read_bytes()
    with pytest.raises((sqlite3.Error, sqlite3.Warning, ValueError, MemoryError)) as failure:
        example.rows_of(query)
    assert why in repr(failure.value)
    assert not accepts(example, NAMES, query)
    assert (folder / "database.sqlite").read_bytes() == before


def test_a_missing_database_is_an_error_and_no_wrong_answer(example, monkeypatch, tmp_path):
    monkeypatch.setattr(example, "DATABASE", tmp_path / "none.sqlite")
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        accepts(example, "select 7", "select 7")


def test_the_examples_in_its_docstrings_hold(example):
    assert doctest.testmod(example) == (0, 3)
