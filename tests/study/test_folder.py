"""What is on disk: whole files only, one study a folder, and arrays whose problems line up."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from toys.studies import files

from erce.errors import DamagedError, InputError
from erce.files import read_json, write_json, write_rows, write_text
from erce.recipe import Cell, Recipe, Serving
from erce.study.demonstrations import problem_rows
from erce.study.folder import (
    PROBLEMS,
    RESULT,
    STUDY,
    TIMING,
    Study,
    cell_folder,
    open_study,
    read_study,
    read_timing,
    timed,
)
from erce.study.freshness import is_done
from erce.types import BASELINE, Arm, Problem, Splits

RECIPE = Recipe(task="mini-sums", lams=(0.0, 0.5), seeds=(0, 1))


def finish(root: Path, cell: Cell, accepted: dict[tuple[str, int], bool], *, recipe: Recipe = RECIPE) -> None:
    folder = cell_folder(root, recipe, cell)
    rows = [
        {"split": "test", "decoding": "sampled", "problem": problem, "sample": sample, "accepted": value}
        for (problem, sample), value in accepted.items()
    ]
    write_rows(folder / "verdicts.jsonl", rows)
    write_json(folder / RESULT, {"scores": {}})


def test_a_cell_is_done_once_it_has_every_temperature(tmp_path):
    recipe = replace(RECIPE, control="control", decoding=replace(RECIPE.decoding, temperatures=(0.2, 1.0)))
    cell = Cell("mini-sums", 0.5, 0)
    for decodings, done in ((["greedy", "T0.2"], False), (["T0.2", "T0.4", "T1"], True)):
        folder = cell_folder(tmp_path, recipe, cell)
        write_json(folder / RESULT, {"scores": {"test": dict.fromkeys(decodings)}})
        assert Study(tmp_path, recipe).has(replace(cell, all_temperatures=True)) is done
        assert Study(tmp_path, recipe).has(cell)


def test_a_failed_write_leaves_the_old_file_whole(tmp_path, monkeypatch):
    path = tmp_path / "result.json"
    write_text(path, "old")
    with pytest.raises(ValueError, match="JSON"):
        write_json(path, {"pass@1": float("nan")})
    monkeypatch.setattr(Path, "replace", lambda self, target: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_text(path, "new")
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("content", ['{"scores": {"te\n', "[1]\n", "{}\n", "\0\0"])
def test_a_damaged_file_is_named_with_the_way_out(tmp_path, content):
    path = tmp_path / "half.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DamagedError, match=r"half\.json.* is damaged; `erce run` with the study's recipe"):
        read_json(path, "scores")


def test_a_folder_that_holds_another_study_is_left_as_it_is(tmp_path):
    open_study(tmp_path / "runs", RECIPE)
    before = files(tmp_path)
    with pytest.raises(
        ValueError, match=r"another study \(its rank is 16, not 4\); put that back, or choose"
    ):
        open_study(tmp_path / "runs", replace(RECIPE, training=replace(RECIPE.training, rank=4)))
    with pytest.raises(ValueError, match=r"its stop is \(\), not \('END',\)"):
        open_study(tmp_path / "runs", replace(RECIPE, decoding=replace(RECIPE.decoding, stop=("END",))))
    with pytest.raises(ValueError, match=r"its server.kind is None, not 'vllm'"):
        open_study(tmp_path / "runs", replace(RECIPE, server=Serving(url="http://here")))
    assert files(tmp_path) == before


def test_what_the_verifier_reads_of_a_problem_belongs_to_it(tmp_path):
    def rows(**changes):
        problem = Problem(id="p", prompt="Twice.", demonstration="", inputs=("3",), outputs=("6",))
        return problem_rows({"mini-sums": Splits((), (), (replace(problem, **changes),))})

    open_study(tmp_path, RECIPE, rows())
    for changes in ({"inputs": ("4",)}, {"outputs": ("7",)}):
        with pytest.raises(ValueError, match="begun with other problems"):
            open_study(tmp_path, RECIPE, rows(**changes))


@pytest.mark.parametrize("meta", [(1, 2), {1: "x"}, [("a", {"b": None})]], ids=repr)
def test_problems_are_the_same_whatever_json_makes_of_their_meta(tmp_path, meta):
    problem = Problem(id="p", prompt="Twice.", demonstration="", meta=meta)
    for _ in range(2):
        open_study(tmp_path, RECIPE, problem_rows({"mini-sums": Splits((), (), (problem,))}))


@pytest.mark.parametrize("meta", [{"s": {1, 2}}, {(1, 2): "x"}, float("nan")], ids=repr)
def test_a_meta_that_json_cannot_hold_is_refused_with_the_problem(meta):
    problem = Problem(id="p", prompt="Twice.", demonstration="", meta=meta)
    with pytest.raises(InputError, match=r"problem 'p' of 'mini-sums' .* JSON \(.*\); make its `meta`"):
        problem_rows({"mini-sums": Splits((), (), (problem,))})


def test_set_up_that_is_added_later_makes_other_problems(tmp_path):
    problem = Problem(id="p", prompt="Twice.", demonstration="", tests=("assert f(1) == 2",))
    before, after = (
        problem_rows({"mini-sums": Splits((), (), (each,))})
        for each in (problem, replace(problem, setup=("x = 1",)))
    )
    open_study(tmp_path, RECIPE, before)
    with pytest.raises(ValueError, match="begun with other problems"):
        open_study(tmp_path, RECIPE, after)


def test_a_study_begun_with_other_problems_is_left_as_it_is(tmp_path):
    first, other = ({"task": "mini-sums", "split": "test", "problem": name} for name in ("sum-1", "sum-2"))
    open_study(tmp_path / "runs", RECIPE, [first, other])
    before = files(tmp_path)
    with pytest.raises(ValueError, match="begun with other problems"):
        open_study(tmp_path / "runs", replace(RECIPE, seeds=(0, 1, 2)), [other, first])
    assert files(tmp_path) == before


def test_a_folder_of_other_files_is_left_as_it_is(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine", encoding="utf-8")
    with pytest.raises(ValueError, match="exists and holds no study"):
        open_study(tmp_path, RECIPE)
    assert list(tmp_path.iterdir()) == [tmp_path / "thesis.tex"]


@pytest.mark.parametrize("content", ["", "[1]", "{}", '{"task": "mini'])
def test_a_torn_study_json_is_written_again_for_the_recipe_of_its_cells_alone(tmp_path, content):
    open_study(tmp_path, RECIPE)
    whole = (tmp_path / STUDY).read_bytes()
    cell_folder(tmp_path, RECIPE, Cell("mini-sums", 0.5, 0)).mkdir(parents=True)
    (tmp_path / STUDY).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"holds another study, whose study\.json is torn; choose another"):
        open_study(tmp_path, replace(RECIPE, model="other"))
    open_study(tmp_path, RECIPE)
    assert (tmp_path / STUDY).read_bytes() == whole


def test_a_list_of_problems_that_was_cut_off_is_written_again(tmp_path):
    rows = [{"task": "mini-sums", "split": "test", "problem": name} for name in ("sum-1", "sum-2")]
    open_study(tmp_path, RECIPE, rows)
    whole = (tmp_path / PROBLEMS).read_bytes()
    for size in (0, len(whole) // 2, len(whole) // 2 + 5):
        (tmp_path / PROBLEMS).write_bytes(whole[:size])
        open_study(tmp_path, RECIPE, rows)
        assert (tmp_path / PROBLEMS).read_bytes() == whole


@pytest.mark.parametrize("content", ["", "[1]", "{"])
def test_a_torn_timing_costs_the_times_alone(tmp_path, content):
    (tmp_path / TIMING).write_text(content, encoding="utf-8")
    assert read_timing(tmp_path) == {}
    with timed(tmp_path, "training"):
        pass
    assert [*read_timing(tmp_path)] == ["training"]


def test_a_half_written_result_is_no_result(tmp_path):
    open_study(tmp_path, RECIPE)
    cell = Cell("mini-sums", 0.5, 0)
    folder = cell_folder(tmp_path, RECIPE, cell)
    folder.mkdir(parents=True)
    (folder / f".{RESULT}.tmp").write_text('{"scores": {}}', encoding="utf-8")
    assert not is_done(folder, ())
    (folder / RESULT).write_text('{"sco', encoding="utf-8")
    with pytest.raises(ValueError, match="damaged"):
        is_done(folder, ())


def test_the_outcomes_of_cross_entropy_are_not_those_of_another_method(tmp_path):
    open_study(tmp_path, replace(RECIPE, methods=("dft",)))
    finish(tmp_path, Cell("mini-sums", 0.0, 0), {("a", 0): True})
    finish(tmp_path, Cell("mini-sums", 0.0, 1, "dft"), {("a", 0): False})
    study = read_study(tmp_path)
    for arm, outcome in ((BASELINE, 1), (Arm(0.0, "dft"), 0)):
        outcomes = study.outcomes("mini-sums", arm, split="test", decoding="sampled")
        np.testing.assert_array_equal(outcomes, [[[outcome]]])


def test_outcomes_line_up_by_problem_and_sample_whatever_the_order_of_the_rows(tmp_path):
    open_study(tmp_path, RECIPE)
    first = {("b", 1): True, ("a", 0): False, ("b", 0): False, ("a", 1): True}
    finish(tmp_path, Cell("mini-sums", 0.5, 0), first)
    finish(tmp_path, Cell("mini-sums", 0.5, 1), dict(sorted(first.items())))
    study = read_study(tmp_path)
    outcomes = study.outcomes("mini-sums", Arm(0.5), split="test", decoding="sampled")
    np.testing.assert_array_equal(outcomes, [[[0, 1], [0, 1]]] * 2)
    assert study.cells("mini-sums", Arm(0.5)) == [Cell("mini-sums", 0.5, 0), Cell("mini-sums", 0.5, 1)]
    assert Cell("mini-sums", 0.0, 0) in study.missing
    assert Cell("mini-sums", 0.5, 0) not in study.missing
