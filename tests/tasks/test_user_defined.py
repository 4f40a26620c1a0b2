"""A JSONL file and a function are a task."""

import json
import pickle

import numpy as np
import pytest
from toys.task_files import completion

from erce.errors import InputError, VerifierError
from erce.tasks import check_demonstrations, jsonl_task, load_task, reader_task, splits
from erce.tasks.overlap import LeftOutWarning
from erce.tasks.verdicts import verdict
from erce.types import Completion, Problem, Verdict

CHECKS = """
from erce.types import Verdict

def judge(problem, completion):
    return completion.text.strip() == problem.answer

def in_words(problem, completion):
    return Verdict(completion.text == problem.answer, "exact", completion.text)
"""


def row(number: int, **more) -> dict:
    return {"prompt": f"Spell {number}.", "demonstration": f"n{number}", "answer": f"n{number}"} | more


ROWS = [row(number) for number in range(10)]


@pytest.fixture
def file(tmp_path):
    """Writes rows into a file and returns its path."""

    def write(rows=ROWS) -> str:
        path = tmp_path / "problems.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def checks(tmp_path, monkeypatch) -> str:
    (tmp_path / "own_checks.py").write_text(CHECKS, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return "own_checks"


def by_answer(problem: Problem, completion: Completion) -> bool:
    return completion.text == problem.answer


def test_a_function_named_as_the_task_verifies_the_problems_in_data(file, checks):
    task = load_task(f"{checks}:judge")
    drawn = splits(task, data=file())
    assert [len(drawn.train), len(drawn.validation), len(drawn.test)] == [7, 1, 2]
    check_demonstrations(task, drawn.train + drawn.validation + drawn.test)
    assert task.name == "own_checks:judge"


def test_erces_own_verifier_of_programs_can_be_named(file):
    task = load_task("erce.verify.program:verify_program")
    rows = [
        {"prompt": f"Add {n}.", "demonstration": f"def f(x):\n    return x + {n}", "setup": ["import math"]}
        | {"tests": [f"assert f(math.floor(2.5)) == {n + 2}"], "entry_points": ["f"]}
        for n in range(3)
    ]
    drawn = splits(task, data=file(rows))
    assert drawn.train[0].entry_points == ("f",)
    assert drawn.train[0].setup == ("import math",)


def test_a_file_of_the_tasks_own_gives_way_to_the_recipes_data(file, tmp_path):
    task = jsonl_task("mine", str(tmp_path / "nowhere.jsonl"), by_answer)
    assert len(task.pools(file()).train) == 8
    with pytest.raises(
        ValueError, match=r"no file '.*nowhere\.jsonl'; problems are one JSON object per line, or a data set"
    ):
        task.pools(None)


def test_a_task_of_ones_own_can_be_sent_to_another_process(file):
    task = pickle.loads(pickle.dumps(jsonl_task("mine", file(), by_answer)))
    assert verdict(task, task.pools(None).train[0], completion("n")).reason == "different"


def test_ids_answers_weights_and_the_split_may_be_the_files_own(file):
    rows = [
        row(0, split="test"),
        row(1, split="train", id="one", weight=0.5),
        row(2, split="train", answer=3),
    ]
    pools = jsonl_task("mine", file(rows), by_answer).pools(None)
    problems = pools.train + pools.test
    assert [each.id for each in problems] == ["one", "line-3", "line-1"]
    assert [each.answer for each in problems] == ["n1", "3", "n0"]
    assert [each.weight for each in problems] == [0.5, 1.0, 1.0]
    assert len(pools.test) == 1


def test_programs_may_be_verified_by_what_they_print(file):
    rows = [row(number, inputs=[f"{number}\n", "0"], outputs=[f"{number}", ""]) for number in range(10)]
    pools = jsonl_task("mine", file(rows), by_answer).pools(None)
    problem = next(each for each in pools.train + pools.test if each.answer == "n3")
    assert (problem.inputs, problem.outputs) == (("3\n", "0"), ("3", ""))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"inputs": ["1"]}, "line 1: it has 1 `inputs` and 0 `outputs`, which are pairs"),
        ({"inputs": "1", "outputs": "1"}, "`inputs` is '1', not a list of texts"),
        ({"inputs": ["1"], "outputs": ["1"], "tests": ["assert f(1)"]}, "both `tests` and `inputs`"),
        ({"inputs": ["1"], "outputs": [" "]}, "all its `outputs` are empty"),
    ],
)
def test_inputs_without_their_outputs_are_a_sentence(file, fields, message):
    with pytest.raises(InputError, match=message):
        jsonl_task("mine", file([row(0, **fields)]), by_answer).pools(None)


def test_otherwise_a_fifth_is_tested_whatever_the_order_of_the_lines(file):
    task = jsonl_task("mine", None, by_answer)
    forwards, backwards = (task.pools(file(rows)).test for rows in (ROWS, ROWS[::-1]))
    assert len(forwards) == 2
    assert {each.prompt for each in forwards} == {each.prompt for each in backwards}


def test_copies_are_never_divided(file):
    copies = [row(number, prompt=f"  spell  {number}? ") for number in range(10)]
    task = jsonl_task("mine", file(ROWS + copies), by_answer)
    with (
        pytest.warns(LeftOutWarning, match="6 of 20 problems repeat another's prompt; left out"),
        pytest.warns(LeftOutWarning, match="4 of 10 problems to train on give a test problem away"),
    ):
        drawn = splits(task)
    answers = [each.answer for each in drawn.train + drawn.validation + drawn.test]
    assert len(answers) == len(set(answers)) == 10


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [row(0), {"prompt": "p"}],
            "line 2: no column 'demonstration' .*, only prompt; name one in .columns.: demonstration = ",
        ),
        ([row(0), row(1, demonstration=None)], "line 2: `demonstration` is missing; correct the row"),
        ([row(0), row(1, demonstration=" ")], "line 2: `demonstration` is empty"),
        ([row(0), row(1, prompt=3)], "line 2: `prompt` is 3, not a text"),
        ([row(0), row(1, answer=[3])], r"line 2: `answer` is \[3\], not a text; `meta` may hold a list"),
        (
            [row(0), row(1, answer=None)],
            "line 2: it has none of answer, tests, outputs, meta, which other rows have",
        ),
        ([row(0), row(1, answer="")], "line 2: it has none of answer, tests, outputs, meta, which other"),
        ([row(0), row(1, weight="2")], "line 2: `weight` is '2'; it is a number, 0 or above"),
        ([row(0), row(1, weight=-1)], "line 2: `weight` is -1; it is a number"),
        ([row(0), row(1, answer=True)], "line 2: `answer` is True, not a text"),
        (
            [row(0), row(1, anwser="3")],
            "line 2: a study does not read field 'anwser', only .*; did you mean 'answer'",
        ),
        ([row(0), row(1, tests="assert f()")], "line 2: `tests` is 'assert f..', not a list of texts"),
        (
            [{"question": "a"}],
            r"line 1: a study does not read field 'question', only .*; did you mean 'prompt'\?",
        ),
        (
            [row(0) | {"zzz": "a"}],
            r"line 1: a study does not read field 'zzz', only .*; leave it out, or say in \[columns\]",
        ),
        ([row(0, split="test"), row(1)], 'line 2: `split` is None; it is "train" or "test"'),
        ([row(0, split="dev"), row(1)], "line 1: `split` is 'dev'"),
        ([row(0), row(1)], "has 1 problems to train on and 1 to test on, which are too few"),
        ([row(n, split="train") for n in range(5)], "has 5 problems to train on and 0 to test on, which"),
        ([], "problems.jsonl is empty; its problems are one JSON object per line"),
    ],
)
def test_a_file_that_is_no_task_is_a_sentence_with_its_line(file, rows, message):
    with pytest.raises(ValueError, match=message):
        splits(jsonl_task("mine", file(rows), by_answer))


RENAMED = [{"question": f"Spell {n}.", "answer": f"n{n}", "final": n, "source": "us"} for n in range(10)]
COLUMNS = {"prompt": "question", "demonstration": "answer"}


def test_columns_say_where_fields_are_and_other_columns_are_left_out(file):
    pools = jsonl_task("mine", file(RENAMED), by_answer, columns=COLUMNS).pools(None)
    problems = {problem.prompt: problem for problem in pools.train + pools.test}
    assert problems["Spell 3."] == Problem(id="line-4", prompt="Spell 3.", demonstration="n3")  # no answer
    named = jsonl_task("mine", file(RENAMED), by_answer, columns=COLUMNS | {"answer": "final", "id": "final"})
    assert {problem.answer for problem in named.pools(None).test} < {str(n) for n in range(10)}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"prompt": "questoin"},
            "no column 'questoin' for `prompt`, only question, answer, .*; did you mean 'question'",
        ),
        ({"prompt": "question"}, "line 1: no column 'demonstration' for .*, only question, .*; name one in "),
        ({"prompt": "final", "demonstration": "answer"}, "line 1: `prompt` is 0, not a text"),
    ],
)
def test_a_column_that_is_missing_or_no_text_is_a_sentence(file, columns, message):
    with pytest.raises(ValueError, match=message):
        jsonl_task("mine", file(RENAMED), by_answer, columns=columns).pools(None)


def turns(*roles: str) -> list[dict[str, str]]:
    return [{"role": role, "content": f"the {role}'s text"} for role in roles]


def test_a_conversation_of_two_turns_is_a_problem_with_the_rows_other_fields(file):
    rows = [{"messages": turns("user", "assistant"), "answer": n} for n in range(3)]
    for n, each in enumerate(rows):
        each["messages"][0]["content"] += f" {n}"
    renamed = [{"chat": each["messages"], "answer": each["answer"]} for each in rows]
    pools = jsonl_task("mine", file(rows), by_answer).pools(None)
    assert jsonl_task("mine", file(renamed), by_answer, columns={"messages": "chat"}).pools(None) == pools
    trainers = [
        {"prompt": each["messages"][:1], "completion": each["messages"][1:], "answer": each["answer"]}
        for each in rows
    ]
    assert jsonl_task("mine", file(trainers), by_answer).pools(None) == pools
    beside = [{**each, "q": f"Q{n}", "a": "A"} for n, each in enumerate(trainers)]
    mapped = jsonl_task("mine", file(beside), by_answer, columns={"prompt": "q", "demonstration": "a"}).pools(
        None
    )
    assert {problem.demonstration for problem in mapped.train} == {"A"}
    prompts = {problem.prompt: problem for problem in pools.train + pools.test}
    first = Problem(id="line-1", prompt="the user's text 0", demonstration="the assistant's text", answer="0")
    assert prompts["the user's text 0"] == first


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"messages": []}, "`messages` has the turns none; a problem is one of the user"),
        (
            {"messages": turns("system", "user", "assistant")},
            "the turns system, user, assistant; .*system turn",
        ),
        ({"messages": turns("user", "assistant", "user")}, "the turns user, assistant, user;"),
        ({"messages": "user: hi"}, "`messages` is not a list of turns with `role` and `content`"),
        ({"messages": [{"role": "user"}, {"role": "assistant"}]}, "`prompt` is missing"),
        (
            {"prompt": turns("user"), "demonstration": "d"},
            "`prompt` is a list, not a text; a conversation of two turns is `messages`",
        ),
        ({"messages": turns("user", "assistant"), "prompt": "p"}, "it has both `messages` and `prompt`"),
    ],
)
def test_any_other_conversation_is_a_sentence(file, values, message):
    with pytest.raises(ValueError, match=f"line 2: .*{message}"):
        jsonl_task("mine", file([row(0), values]), by_answer).pools(None)


def test_columns_are_of_a_file_of_ones_own(file, checks):
    pools = load_task(f"{checks}:judge", columns=COLUMNS).pools(file(RENAMED))
    assert (len(pools.train), len(pools.test)) == (8, 2)
    for other in ("mini-sums", "mini-styles:0.5", "erce.tasks.gsm8k:GSM8K"):
        with pytest.raises(ValueError, match=rf"\[columns\] has no effect on task '{other}'"):
            load_task(other, columns=COLUMNS)


GSM8K_ROWS = {
    "train": [{"question": f"Spell {n}.", "answer": f"n{n}"} for n in range(6)],
    "test": [{"question": f"Spell {n}.", "answer": f"n{n}"} for n in range(6, 8)],
    "extra": [{"question": "Spell 9.", "answer": "n9"}],
}


def test_a_data_set_of_the_hub_is_read_by_its_name_and_its_splits_are_kept(hub):
    asked = []
    hub(lambda *names: asked.append(names) or GSM8K_ROWS)
    task = jsonl_task("mine", None, by_answer, columns=COLUMNS)
    pools = task.pools("openai/gsm8k:main")
    task.pools("openai/gsm8k")
    assert asked == [("openai/gsm8k", "main"), ("openai/gsm8k", None)]
    assert [problem.id for problem in pools.train] == [f"train-{n}" for n in range(1, 7)]
    assert [problem.id for problem in pools.test] == ["test-1", "test-2"]


@pytest.mark.parametrize("splits", [("train", "extra"), ("test",)])
def test_of_a_data_set_without_both_splits_a_fifth_is_tested(hub, splits):
    hub(lambda *names: dict.fromkeys(splits, GSM8K_ROWS["train"]))
    pools = jsonl_task("mine", None, by_answer, columns=COLUMNS).pools("owner/name")
    assert (len(pools.train), len(pools.test)) == (4, 2)


def unnamed(name, config):
    raise ValueError("Config name is missing.\nPlease pick one of ['main']")


@pytest.mark.parametrize(
    ("load", "message"),
    [
        (lambda *names: {"a": [], "b": []}, "owner/name has the splits a, b; a study needs train"),
        (lambda *names: GSM8K_ROWS, "owner/name, train row 1: no column 'prompt'"),
        (unnamed, r"Please pick .*'main'.*, or a configuration: data = \"owner/name:CONF"),
        (None, r"owner/name needs the package datasets.*give a folder with its rows in train\.jsonl"),
    ],
)
def test_a_data_set_that_is_no_task_is_a_sentence(hub, load, message):
    hub(load)
    with pytest.raises(ValueError, match=message):
        jsonl_task("mine", None, by_answer).pools("owner/name")


def test_a_misspelt_file_is_told_the_nearest_of_its_folder(file):
    with pytest.raises(InputError, match=r"no file '.*problem\.jsonl'; did you mean 'problems\.jsonl'\?"):
        jsonl_task("mine", None, by_answer).pools(file().replace("problems.", "problem."))


@pytest.mark.parametrize("data", ["problems.jsonl", "data/problems.jsonl", "data/problems.json", "/a/b"])
def test_a_misspelt_file_is_not_looked_for_on_the_hub(hub, data):
    hub(lambda *names: pytest.fail("the hub was asked"))
    with pytest.raises(
        ValueError, match=f"no file '{data}'; problems are one JSON object per line, or a data set"
    ):
        jsonl_task("mine", None, by_answer).pools(data)


PROBLEM = Problem(id="p", prompt="Spell 3.", demonstration="n3", answer="n3")


@pytest.mark.parametrize(
    ("told", "finished", "reason"),
    [(True, True, "exact"), (True, False, "exact"), (False, True, "different"), (False, False, "truncated")],
)
def test_a_bool_becomes_a_verdict(told, finished, reason):
    task = jsonl_task("mine", None, lambda problem, completion: told)
    assert verdict(task, PROBLEM, completion("x", finished=finished)) == Verdict(told, reason)
    numpys = jsonl_task("mine", None, lambda problem, completion: np.bool_(told))  # as np.isclose returns
    assert verdict(numpys, PROBLEM, completion("x", finished=finished)).accepted is told


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (None, r"None .NoneType. for problem 'p'; return True, False or an erce\.types\.Verdict$"),
        (1, r"1 .int. for problem 'p'"),
        (Verdict(True, "splendid"), r"Verdict\(.*'splendid'.* for problem 'p'; .* reasons exact, numeric, "),
    ],
)
def test_anything_else_is_an_error_that_names_the_task(told, message):
    def judge(problem, completion):
        return told

    with pytest.raises(VerifierError, match="the function that verifies task 'mine' returned " + message):
        verdict(jsonl_task("mine", None, judge), PROBLEM, completion("x"))


@pytest.mark.parametrize("verify", [lambda completion: True, lambda problem, completion, *, unit: True])
def test_a_function_that_takes_other_values_is_refused_with_its_signature(verify):
    with pytest.raises(
        InputError, match=r"lambda>\(.*completion.*\) cannot be called with a problem and a com"
    ):
        jsonl_task("mine", None, verify)


def test_anything_in_meta_reaches_the_function(file):
    seen = []

    def verify(problem: Problem, completion: Completion) -> bool:
        seen.append(problem.meta)
        return True

    rows = [row(number, meta={"unit": "cm", "steps": [number]}) for number in range(5)]
    task = jsonl_task("mine", file(rows), verify)
    pools = task.pools(None)
    assert all(hash(problem) for problem in pools.train)
    task.verify(pools.test[0], completion("n"))
    assert seen == [{"unit": "cm", "steps": [int(pools.test[0].answer[1:])]}]


@pytest.mark.parametrize(
    ("reader", "fields", "right"),
    [
        ("number", {"demonstration": "#### 4", "answer": 4}, "#### 4.0"),
        ("math", {"demonstration": r"\boxed{4}", "answer": "4"}, r"\boxed{8/2}"),
        ("program", {"demonstration": "def f(): return 4", "tests": ["assert f() == 4"]}, "f = lambda: 4"),
    ],
)
def test_a_verifier_of_erce_can_be_named_for_problems_of_ones_own(reader, fields, right, file):
    task = reader_task(reader, columns={"prompt": "question"})
    rows = [{"question": f"Say it {number} times."} | fields for number in range(5)]
    drawn = splits(task, data=file(rows))
    check_demonstrations(task, drawn.train + drawn.test)
    assert task.verify(drawn.test[0], completion(right)).accepted
    assert not task.verify(drawn.test[0], completion("5")).accepted


def test_a_prompt_in_both_splits_is_tested_alone(file):
    rows = [row(number, split="train") for number in range(6)]
    rows += [row(number, split="test", id=f"test-{number}") for number in (1, 4, 7)]
    with pytest.warns(LeftOutWarning, match="2 of 6 problems to train on give a test problem away"):
        drawn = splits(jsonl_task("mine", file(rows), by_answer))
    assert {problem.id for problem in drawn.test} == {"test-1", "test-4", "test-7"}
    assert {problem.answer for problem in drawn.train + drawn.validation} == {"n0", "n2", "n3", "n5"}
