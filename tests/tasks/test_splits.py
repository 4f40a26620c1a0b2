"""Tasks by name, and samples that cannot overlap."""

from dataclasses import replace

import pytest

from erce.tasks import TASKS, load_task, near_duplicates, splits
from erce.tasks.overlap import LeftOutWarning
from erce.types import Pools, Problem, Task, Verdict


def problem(name: str, prompt: str) -> Problem:
    return Problem(id=name, prompt=prompt, demonstration="", answer="")


def toy(train: int = 20, test: int = 10, **changes) -> Task:
    pools = Pools(
        train=tuple(problem(f"train-{number}", f"Add {number}") for number in range(train)),
        test=tuple(problem(f"test-{number}", f"Subtract {number}") for number in range(test)),
    )
    settings = {"n_train": 8, "n_validation": 4, "n_test": 5, "max_new_tokens": 1, "max_length": 1} | changes
    return Task(
        name="toy", pools=lambda data: pools, verify=lambda *_: Verdict(False, "no answer"), **settings
    )


TOY = toy()


def ids(problems: tuple[Problem, ...]) -> list[str]:
    return [problem.id for problem in problems]


@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_found_by_its_own_name(name):
    assert load_task(name) is TASKS[name]
    assert TASKS[name].name == name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mini-sum", r"no task 'mini-sum'; did you mean 'mini-sums'\? \(your own: package.module:NAME\)"),
        ("gsm8", r"did you mean 'gsm8k'\?"),
        ("zzz", "there are mini-sums, "),
        (":NAME", "no task ':NAME'"),
        (".x:NAME", "no task '.x:NAME'"),
        ("nowhere.at_all:NAME", "no module 'nowhere'"),
        ("erce.nowhere:NAME", "no module 'erce.nowhere'"),
        ("erce.types:NAME", r"erce.types has no NAME \(.*types\.py\); correct the name"),
        ("erce.verify:verify_progam", r"no verify_progam \(.*\); did you mean 'verify_program'\?"),
        (
            "erce.types:Problem",
            r"not a task: Problem is a class \(.*\); name an erce.types.Task, or a function",
        ),
    ],
)
def test_a_name_that_is_no_task_is_a_sentence_with_a_way_out(name, message):
    with pytest.raises(ValueError, match=message):
        load_task(name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import nowhere_to_be_found\n", "No module named 'nowhere_to_be_found'; install it"),
        ("ready = 1 / 0\n", r"raised ZeroDivisionError: .* \(broken_task_14\.py, line 1\); correct it"),
        ("def verify(problem, completion)\n", r"is not Python: .*broken_task.*\.py, line 1\); correct it"),
    ],
)
def test_a_task_whose_file_cannot_be_imported_is_a_sentence(text, message, monkeypatch, tmp_path):
    name = f"broken_task_{len(text)}"
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match=message):
        load_task(f"{name}:verify")


def test_splits_have_the_tasks_sizes_and_share_nothing():
    drawn = splits(TOY)
    assert [len(drawn.train), len(drawn.validation), len(drawn.test)] == [8, 4, 5]
    assert len({*ids(drawn.train), *ids(drawn.validation), *ids(drawn.test)}) == 17


def test_the_seed_decides_the_sample_and_nothing_else_does():
    assert splits(TOY, seed=1) == splits(toy(), seed=1)
    assert ids(splits(TOY, seed=1).train) != ids(splits(TOY, seed=2).train)
    assert ids(splits(TOY, seed=1).test) != ids(splits(TOY, seed=2).test)


@pytest.mark.parametrize("size", ["n_train", "n_validation", "n_test"])
def test_a_size_changes_its_own_sample_alone_and_a_larger_one_contains_a_smaller(size):
    few, many = splits(TOY, **{size: 3}), splits(TOY, **{size: 6})
    for name in ("train", "validation", "test"):
        if name == size.removeprefix("n_"):
            assert set(ids(getattr(few, name))) < set(ids(getattr(many, name)))
        else:
            assert getattr(few, name) == getattr(many, name)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"n_train": 17}, "ask for 21 problems, but task 'toy' has 20"),
        ({"n_test": 11}, "n_test = 11, but task 'toy' has 10"),
        ({"n_train": 0}, "n_train = 0"),
        ({"n_validation": -1}, "n_validation = -1"),
        ({"n_test": 0}, "n_test = 0"),
    ],
)
def test_impossible_sizes_are_refused_with_both_numbers(sizes, message):
    with pytest.raises(ValueError, match=message):
        splits(TOY, **sizes)


@pytest.mark.parametrize("copied", ["Add 3", "  add\n 3 ", "Add: 3."])
def test_a_training_problem_that_gives_a_test_problem_away_is_left_out_and_another_takes_its_place(copied):
    pools = TOY.pools(None)
    leaky = replace(TOY, pools=lambda data: Pools(pools.train, (problem("leak", copied), *pools.test)))
    sentence = r"task 'toy': 1 of 20 problems to train on give .* 'train-3', which is nearly 'leak'; left out"
    with pytest.warns(LeftOutWarning, match=sentence):
        drawn = splits(leaky, n_train=15, n_test=11)
    assert len(drawn.train) == 15
    assert "train-3" not in ids(drawn.train + drawn.validation)
    with pytest.raises(ValueError, match="has 19 to train on"), pytest.warns(LeftOutWarning):
        splits(leaky, n_train=16, n_test=11)


def test_an_overlap_that_is_not_sampled_leaves_nothing_out():
    pools = TOY.pools(None)
    drawn = splits(TOY, n_train=15, n_validation=4)
    left = next(each for each in pools.train if each not in drawn.train + drawn.validation)
    leaky = replace(TOY, pools=lambda data: Pools(pools.train, (replace(left, id="leak"), *pools.test)))
    assert ids(splits(leaky, n_train=15, n_test=11).train) == ids(drawn.train)


def test_pools_of_which_too_little_is_left_are_refused():
    few = replace(TOY, pools=lambda data: Pools((problem("a", "Add 1"), problem("b", "Say 2")), ()))
    with pytest.raises(ValueError, match="has 2 problems to train on and 0 to test on, which are too few"):
        splits(few)


def test_copies_within_a_pool_count_once():
    copies = Pools(
        (problem("a", "Add 1"), problem("b", "add  1"), problem("c", "Add 2")), (problem("d", "x"),)
    )
    task = replace(TOY, pools=lambda data: copies)
    with pytest.warns(LeftOutWarning, match="1 of 4 problems repeat another's prompt; left out"):
        drawn = splits(task, n_train=1, n_validation=1, n_test=1)
    assert {*ids(drawn.train), *ids(drawn.validation)} == {"a", "c"}


def test_two_problems_with_one_id_are_an_error_that_shows_both():
    pools = TOY.pools(None)
    twice = replace(TOY, pools=lambda data: Pools(pools.train, (problem("train-3", "Else"), *pools.test)))
    with pytest.raises(ValueError, match=r"two problems with the id 'train-3' .'Add 3' and 'Else'."):
        splits(twice)


def test_sizes_that_a_task_leaves_open_are_all_that_its_pools_hold():
    drawn = splits(toy(n_train=0, n_validation=0, n_test=0))
    assert [len(drawn.train), len(drawn.validation), len(drawn.test)] == [16, 4, 10]
    fewer = splits(toy(n_train=0, n_validation=0, n_test=0), n_validation=7, n_test=2)
    assert [len(fewer.train), len(fewer.validation), len(fewer.test)] == [13, 7, 2]


@pytest.mark.parametrize("name", ["mini-sums", "mini-sums-answer-only", "mini-code"])
def test_a_generated_task_has_no_near_duplicate_in_all_of_its_pools(name):
    pools = load_task(name).pools(None)
    assert near_duplicates(pools.train, pools.test) == []
