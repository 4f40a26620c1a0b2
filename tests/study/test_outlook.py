"""Before any training: which way the first steps push the base model, and above which λ that is right."""

import json
import re
from dataclasses import replace

import pytest
from toys.recipes import tiny_recipe

from erce.errors import InputError
from erce.events import listening
from erce.recipe import Cell, Decoding
from erce.study.cell import run_cell
from erce.study.demonstrations import cell_splits, problem_rows
from erce.study.folder import open_study
from erce.study.outlook import Outlook, outlook, outlook_lines
from erce.train.pushes import Pushes

STYLES = {"model": "tiny-styles", "n_train": 32, "n_validation": 32}


@pytest.fixture(scope="module")
def shortcuts() -> Outlook:
    """What the base model would learn from demonstrations that are all shortcuts."""
    return outlook(tiny_recipe(task="mini-styles:1", **STYLES))


@pytest.mark.slow
def test_demonstrations_that_the_base_cannot_carry_out_push_away_from_what_is_right(shortcuts):
    worked = outlook(tiny_recipe(task="mini-styles:0", **STYLES))
    assert worked.objective > 0 > shortcuts.objective
    assert worked.switching_lam == 0 < shortcuts.switching_lam
    assert worked.accepted == shortcuts.accepted  # the same samples: nothing was trained
    assert 0 < worked.answered < worked.problems == 64


@pytest.mark.slow
def test_the_strengths_of_the_recipe_have_no_effect(shortcuts):
    assert outlook(tiny_recipe(task="mini-styles:1", lams=(0.0, 7.0), **STYLES)) == shortcuts


def test_too_few_samples_of_a_kind_are_refused_with_the_rate_and_the_way_out():
    with pytest.raises(
        InputError, match=r"0.0%.*about 240 problems.*raise n_train or n_validation"
    ) as refusal:
        outlook(tiny_recipe(task="mini-styles", model="tiny-styles", n_train=4, n_validation=4))
    first, *shown = str(refusal.value).split("\n")
    assert re.match(r"0 of 32 samples of the base model are right \(0.0%\)", first)
    assert [line.split("'")[0] for line in shown] == ["  problem "] * 3
    assert all("rejected (different" in line for line in shown)


def test_where_a_task_has_not_enough_problems_a_stronger_model_is_asked_for(tmp_path, monkeypatch):
    rows = [{"prompt": f"{n}?", "demonstration": str(n)} for n in range(12)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "outlook_never.py").write_text("def judge(problem, completion):\n    return False\n")
    monkeypatch.syspath_prepend(tmp_path)
    own = {"task": "outlook_never:judge", "data": str(tmp_path / "rows.jsonl"), "n_train": 4, "n_test": 2}
    with pytest.raises(
        InputError, match=r"one half of these .* has 0: .* take a stronger base model, an easier"
    ):
        outlook(tiny_recipe(**own, decoding=Decoding(max_new_tokens=8)))


def generated(**given):
    """What an outlook finds, and how many of how many completions were there before."""
    heard = []
    with listening(heard.append):
        found = outlook(**given)
    return found, next(((each.done, each.total) for each in heard if each.stage == "generation"), None)


SUMS = {"n_train": 16, "n_validation": 16}


@pytest.mark.slow  # the journal itself is tested in test_samples
def test_samples_are_kept_for_the_next_outlook(tmp_path):
    recipe, root = tiny_recipe(**SUMS), tmp_path / "runs" / "sums"
    first, drawn = generated(recipe=recipe, root=root)
    assert drawn == (0, 128)
    again, drawn = generated(recipe=recipe, root=root)
    assert (again, drawn) == (first, (128, 128))
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["sums.outlook"]
    _, drawn = generated(recipe=replace(recipe, split_seed=7), root=root)  # other problems
    assert drawn == (0, 128)


def test_the_samples_of_the_studys_base_model_are_used(tmp_path):
    recipe, root = tiny_recipe(**SUMS, n_test=1, decoding=Decoding(samples=4)), tmp_path / "sums"
    problems = {recipe.task: cell_splits(recipe, recipe.task)}
    open_study(root, recipe, problem_rows(problems))
    run_cell(root, recipe, Cell(recipe.task, None, 0), problems=problems)
    found, drawn = generated(recipe=recipe, root=root)
    assert drawn is None
    assert (found.samples, found.temperature) == (4 * 16, recipe.decoding.temperature)


@pytest.mark.parametrize(
    ("halves", "sentence"),
    [
        ([(-6.0, 2.0), (-6.0, 4.0)], "above λ = 2.0 or so (halves of the problems: 1.5 and 3.0)"),
        ([(2.0, 1.0), (4.0, 2.0)], "plain fine-tuning may do, and a penalty can hurt. Train λ = 0 first"),
        ([(2.0, -1.0), (4.0, -2.0)], "Stay at λ = 0"),
        ([(-2.0, 1.0), (4.0, 2.0)], "The two halves of the problems give opposite"),
    ],
)
def test_each_outlook_has_its_advice(halves, sentence):
    first, second = (Pushes(*half) for half in halves)
    lines = outlook_lines(Outlook(20, 80, 16, 9, (first, second)), tiny_recipe())
    assert lines[0] == (
        "20 of 80 samples of tiny are right at temperature 1; 9 of 16 problems have a right one, as the arms "
        "self and rft need."
    )
    assert sentence in lines[1]
