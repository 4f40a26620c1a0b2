"""Recipes: what is read, what is refused and with which sentence, and what makes two studies the same."""

from dataclasses import replace
from pathlib import Path

import pytest

from erce.recipe import Cell, Recipe, folder_name, identity, load_recipe, parse_recipe

RECIPE = Recipe(task="mini-sums", lams=(0.0, 0.5), seeds=(0, 1), control="mini-sums-answer-only")


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_what_is_left_out_has_the_papers_value():
    training = parse_recipe({"task": "gsm8k", "lams": [0, 8], "seeds": [0]}).training
    assert (training.rank, training.lora_alpha, training.dropout) == (16, 32, 0.05)
    assert (training.learning_rate, training.warmup, training.epochs) == (2e-4, 0.03, 3.0)
    assert (training.batch_size, training.micro_batch_size, training.max_grad_norm) == (16, 8, 1.0)


def test_whole_numbers_become_floats_where_floats_are_declared(tmp_path):
    recipe = load_recipe(
        written(tmp_path, 'task = "gsm8k"\nlams = [0, 8]\nseeds = [0]\n[training]\nepochs = 1\n')
    )
    assert recipe.lams == (0.0, 8.0)
    assert isinstance(recipe.training.epochs, float)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"lambs": [0]}, "no setting 'lambs'; did you mean 'lams'?"),
        ({"zzz": 1}, "no setting 'zzz'; there are task"),
        ({"training": {"epoch": 1}}, "[training] no setting 'epoch'; did you mean 'epochs'?"),
        ({"training": 3}, "training = 3: write a section [training]"),
        ({"lams": [0, "one"]}, "lams[1] = 'one' is not a number"),
        ({"lams": [0, True]}, "lams[1] = True is not a number"),
        ({"lams": 1}, "lams = 1 is not a list; write lams = [1]"),
        ({"lams": [0, float("nan")]}, "every λ must be a finite number"),
        ({"lams": [1, 2]}, "has no 0"),
        ({"lams": [0, 1, 1]}, "names a λ twice"),
        ({"lams": []}, "is empty"),
        ({"seeds": [0.5]}, "seeds[0] = 0.5 is not a whole number"),
        ({"seeds": [-1]}, "a seed is 0 or more"),
        ({"seeds": [3, 3]}, "names a seed twice"),
        ({"order": 0}, "order = 0 must be over 0"),
        ({"order": -2}, "order = -2 must be over 0"),
        ({"order": 2}, "has no effect on penalty 'shannon'"),
        ({"penalty": "shanon"}, "no penalty 'shanon'; did you mean 'shannon'?"),
        ({"dtype": "float12"}, "no dtype 'float12'; did you mean 'float32'?"),
        ({"control": "gsm8k"}, "is the task itself"),
        ({"data": 3}, "data = 3 is not a text in quotes"),
        ({"training": {"batch_size": 12, "micro_batch_size": 8}}, "is no multiple of micro_batch_size = 8"),
        ({"training": {"warmup": 1.5}}, "is a share of the steps"),
        ({"training": {"learning_rate": 0}}, "learning_rate = 0 must be over 0"),
        ({"training": {"normalize": "batch"}}, "no [training] normalize 'batch'"),
        ({"training": {"gradient_checkpointing": 1}}, "is not true or false"),
        ({"decoding": {"samples": 0}}, "[decoding] samples = 0 must be over 0"),
        ({"decoding": {"temperature": 0}}, "temperature = 0 must be over 0"),
    ],
)
def test_a_recipe_that_cannot_run_is_refused_with_the_value_and_the_way_out(change, sentence):
    with pytest.raises(ValueError, match=r"\A[^\n]*\Z") as refused:
        parse_recipe({"task": "gsm8k", "lams": [0, 1], "seeds": [0]} | change)
    assert sentence in str(refused.value)


def test_a_missing_setting_is_named():
    with pytest.raises(ValueError, match="'seeds' is missing"):
        parse_recipe({"task": "gsm8k", "lams": [0]})


@pytest.mark.parametrize(
    ("text", "sentence"), [("task = gsm8k", "not valid TOML"), ("lambs = [0]", "'lambs'")]
)
def test_the_file_is_named_in_its_errors(tmp_path, text, sentence):
    with pytest.raises(ValueError, match=r"mine\.toml: .*" + sentence):
        load_recipe(written(tmp_path, text))


def test_a_path_without_a_recipe_is_refused():
    with pytest.raises(ValueError, match=r"no recipe at 'nowhere\.toml'"):
        load_recipe("nowhere.toml")


def test_overrides_win_and_none_overrides_nothing(tmp_path):
    path = written(tmp_path, 'task = "gsm8k"\nlams = [0]\nseeds = [0]\nmodel = "big"\n[training]\nrank = 4\n')
    recipe = load_recipe(path, model="tiny", data=None, training={"epochs": 1.0})
    assert (recipe.model, recipe.data, recipe.training.rank, recipe.training.epochs) == ("tiny", None, 4, 1.0)


def test_the_grid_has_one_base_cell_a_task_and_every_lam_and_seed():
    cells = RECIPE.cells()
    assert len(cells) == len(set(cells)) == 2 * (1 + 2 * 2)
    assert [cell for cell in cells if cell.lam is None] == [
        Cell("mini-sums", None, 0),
        Cell("mini-sums-answer-only", None, 0),
    ]


def test_growing_the_grid_keeps_every_cells_folder_and_other_settings_change_it():
    cell = Cell("mini-sums", 0.5, 1)
    home = folder_name(RECIPE, cell)
    assert folder_name(replace(RECIPE, lams=(0.0, 0.5, 4.0), seeds=(0, 1, 2)), cell) == home
    assert folder_name(replace(RECIPE, decoding=replace(RECIPE.decoding, batch_size=3)), cell) == home
    assert folder_name(replace(RECIPE, n_train=10), cell) != home
    assert folder_name(RECIPE, replace(cell, seed=2)) != home


def test_the_identity_holds_every_setting_but_the_grid_and_the_speed():
    settings = identity(RECIPE)
    assert "lams" not in settings
    assert "batch_size" not in settings["decoding"]
    assert settings["training"]["batch_size"] == 16


def test_the_names_that_a_recipe_knows_are_those_of_the_loss():
    from erce.loss import PENALTIES
    from erce.recipe import PENALTY_NAMES

    assert tuple(PENALTIES) == PENALTY_NAMES
