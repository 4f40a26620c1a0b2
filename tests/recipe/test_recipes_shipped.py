"""The recipes that come with erce: each can run, and is the paper's study where it says so."""

import re
from pathlib import Path

import pytest

from erce.cli.flags import recipe_path
from erce.recipe import Recipe, load_recipe
from erce.tasks import load_task
from scripts.paper import tables

ROOT = Path(__file__).parents[2]
SHIPPED = {path.stem: path for path in sorted((ROOT / "recipes").glob("*.toml"))}
OWN = {"mini", "mini-code", "mini-styles", "smollm2-mbpp"}  # of other models than the paper
SMALLER = {"mbpp": 126}  # the sanitized subset has no 300 that are disjoint from 200


def claims(name: str) -> set[str]:
    """The labels of tables and figures in a recipe's first comment, up to the sentence that describes it."""
    comment = SHIPPED[name].read_text(encoding="utf-8").partition("\ntask")[0].partition("# Expect")[0]
    return set(re.findall(r"\b(?:tab|fig):[\w-]+", comment))


def served(recipe: Recipe, labels: set[str]) -> list:
    """The paper's tables under these labels whose task, penalty and order the recipe has."""
    return [
        table
        for table in tables()
        if table.label in labels
        and table.task in recipe.tasks
        and (table.penalty, table.order) == (recipe.penalty, recipe.order)
    ]


def same_grid(recipe: Recipe, table) -> bool:
    return (recipe.lams, len(recipe.seeds)) == (table.lams, table.n_seeds)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_recipe_parses_names_tasks_that_exist_and_is_found_by_its_name(name):
    assert recipe_path(name).samefile(SHIPPED[name])
    recipe = load_recipe(SHIPPED[name])
    assert [load_task(task).name for task in recipe.tasks] == list(recipe.tasks)
    assert recipe.data is None


def test_a_recipe_of_your_own_needs_no_ending_and_a_misspelt_one_is_suggested(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "units.toml").touch()
    assert recipe_path("units").samefile(tmp_path / "units.toml")
    (tmp_path / "mini-styles.toml").touch()
    assert recipe_path("mini-styles").samefile(SHIPPED["mini-styles"])  # of which `erce demo` asks
    with pytest.raises(ValueError, match=r"no recipe 'unit': .*; did you mean 'units'"):
        recipe_path("unit")


@pytest.mark.parametrize("name", sorted(set(SHIPPED) - OWN))
def test_a_recipe_has_the_grid_and_the_seeds_of_each_table_that_it_claims(name):
    recipe = load_recipe(SHIPPED[name])
    labels = {label for label in claims(name) if label.startswith("tab:")}
    exact = [table for table in served(recipe, labels) if same_grid(recipe, table)]
    assert labels
    assert {table.label for table in exact} == labels


@pytest.mark.parametrize("name", sorted(set(SHIPPED) - OWN))
def test_a_recipe_has_the_model_the_problems_and_the_samples_of_its_tables(name):
    recipe = load_recipe(SHIPPED[name])
    for table in served(recipe, claims(name)):
        task = load_task(table.task)
        trained, tested = recipe.n_train or task.n_train, recipe.n_test or task.n_test
        assert (recipe.model, tested) == (table.model, table.n_test)
        assert trained == SMALLER.get(table.task, table.n_train)
        if table.decoding == "sampled":
            assert (recipe.decoding.samples, recipe.decoding.temperature) == (
                table.n_samples,
                table.temperature,
            )


def test_every_table_of_the_paper_has_a_recipe_with_its_grid():
    recipes = {name: load_recipe(path) for name, path in SHIPPED.items() if name not in OWN}
    for table in tables():
        assert any(
            same_grid(recipe, table) and table in served(recipe, claims(name))
            for name, recipe in recipes.items()
        ), (table.label, table.task, table.decoding, table.order)


@pytest.mark.parametrize("name", sorted(set(SHIPPED) - OWN))
def test_the_numbers_to_expect_are_the_papers(name):
    text = SHIPPED[name].read_text(encoding="utf-8")
    recipe = load_recipe(SHIPPED[name])
    printed = {
        f"{row.mean:.4f} ± {row.sd:.4f}"
        for table in tables()
        if table.task in recipe.tasks
        for row in table.rows
    }
    quoted = set(re.findall(r"\d\.\d{4} ± \d\.\d{4}", text.replace("\n#", "")))
    assert quoted
    assert quoted <= printed


def test_the_page_of_the_papers_tables_names_each_recipe():
    page = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    assert [name for name in SHIPPED if name not in OWN and f"`{name}`" not in page] == []
