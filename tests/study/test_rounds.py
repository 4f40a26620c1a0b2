"""A study's rounds: its cells, what stops it, and a study whose verdicts are all alike."""

from contextlib import contextmanager
from dataclasses import replace

import pytest
from toys import FINDS_TOYS
from toys.engines import each_engine
from toys.recipes import tiny_recipe
from toys.studies import (
    write_right_cell,
    write_wrong_cell,
    write_wrong_cell_of_a_right_base,
    write_wrong_first_round,
)

import erce.study.run
from erce.cli.main import main
from erce.errors import AllAlikeError, CellsFailedError, DivergedError
from erce.files import write_json
from erce.recipe import GRID, Cell, load_recipe, parse_recipe
from erce.recipe.sections import OWN
from erce.study.engines import Done, Work
from erce.study.folder import read_study
from erce.study.rounds import (
    ENOUGH_PROBLEMS,
    FAILURES_TO_GIVE_UP,
    _accuracy,
    run_or_give_up,
    trainings_first,
)
from erce.study.run import run
from erce.study.schedule import best_lam

TASK, CONTROL = "mini-sums", "mini-sums-answer-only"


def test_auto_is_the_grid(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(f'task = "{TASK}"\nlams = "auto"\nseeds = [0, 1]\n')
    assert load_recipe(path).lams == GRID


def test_the_line_of_a_finished_cell_rounds_as_the_report_does(tmp_path):
    write_json(tmp_path / "result.json", {"scores": {"test": {"greedy": {"pass@1": 0.8725}}}})  # a tie
    assert _accuracy(tmp_path) == "87.3 % greedy"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"lams": "atuo"}, "lams = 'atuo' is neither a list of λ nor \"auto\""),
        ({"search": {"level": 0.1}}, "no section 'search'"),
    ],
)
def test_an_auto_that_cannot_choose_is_refused(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        parse_recipe({"task": TASK, "lams": "auto", "seeds": [0, 1]} | change)


def test_what_a_run_gave_up_is_counted(tmp_path, monkeypatch):
    def training(root, recipe, cell, **given):
        raise RuntimeError("no luck")

    monkeypatch.setattr(erce.study.run, "run_cell", training)
    with pytest.raises(CellsFailedError, match="3 of 6 cells failed, and 3 more were not run"):
        erce.study.run.run(tiny_recipe(lams=GRID), out=tmp_path / "study")


def test_a_base_model_that_is_done_keeps_no_study_going_in_which_every_training_fails(tmp_path, monkeypatch):
    def training(root, recipe, cell, **given):
        if cell.is_trained:
            raise RuntimeError("out of memory")
        write_right_cell(root, recipe, cell)

    monkeypatch.setattr(erce.study.run, "run_cell", training)
    recipe = tiny_recipe(lams=GRID)
    for _ in range(2):  # the second run finds the base model's result
        with pytest.raises(CellsFailedError, match="3 of 6 cells failed, and 2 more were not run"):
            erce.study.run.run(recipe, out=tmp_path / "study")


def test_a_training_that_diverges_holds_up_neither_choice_nor_control(tmp_path, monkeypatch):
    def training(root, recipe, cell, **given):
        ran.append(cell)
        if cell.lam == 8.0:
            raise DivergedError("the training diverged at step 3: objective nan")
        write_right_cell(root, recipe, cell)

    ran, root, recipe = [], tmp_path / "study", tiny_recipe(lams=(0.0, 1.0, 8.0), control=CONTROL)
    monkeypatch.setattr(erce.study.run, "run_cell", training)
    with pytest.raises(CellsFailedError, match=r"1 of 6 cells failed.*\n.*lam8-seed0: DivergedError"):
        run(recipe, out=root)
    assert [cell.lam for cell in ran if cell.task == CONTROL] == [None, 0.0]  # the choice is a tie, so 0
    assert best_lam(read_study(root)).scores == {0.0: 1.0, 1.0: 1.0}


CELLS = [Cell("toy", lam, seed) for seed in (0, 1, 2) for lam in (0.0, 1.0)]


class Engine:
    """Ends cells as it is told."""

    def __init__(self, *failures: Done) -> None:
        self.failures = {done.cell: done for done in failures}
        self.begun: list[Cell] = []

    def run(self, cells):
        for cell in cells:
            self.begun.append(cell)
            yield self.failures.get(cell, Done(cell))


def test_after_a_failure_the_others_are_begun():
    engine = Engine(Done(CELLS[1], "no luck"))
    assert [bool(done.failure) for done in run_or_give_up(engine.run, CELLS)] == [False, True] + [False] * 4


def test_without_one_success_the_rest_is_not_begun():
    engine = Engine(*(Done(cell, "no model") for cell in CELLS))
    assert len(list(run_or_give_up(engine.run, CELLS))) == FAILURES_TO_GIVE_UP
    assert engine.begun == CELLS[:FAILURES_TO_GIVE_UP]


def test_cells_that_train_nothing_are_no_success():
    cells = [Cell("toy", None, 0), Cell("toy", 1.0, 0, OWN), *CELLS]
    engine = Engine(*(Done(cell, "out of memory") for cell in CELLS))
    assert [done.cell for done in run_or_give_up(engine.run, cells)] == cells[: 2 + FAILURES_TO_GIVE_UP]


def test_trainings_that_diverge_are_no_lost_cause():
    engine = Engine(*(Done(cell, "nan", diverged=True) for cell in CELLS[:4]))
    assert len(list(run_or_give_up(engine.run, CELLS))) == len(CELLS)
    assert engine.begun == CELLS


def test_where_others_succeeded_before_the_rest_is_begun_all_the_same():
    engine = Engine(*(Done(cell, "diverged") for cell in CELLS))
    assert len(list(run_or_give_up(engine.run, CELLS, succeeded=1))) == len(CELLS)


def test_a_full_disk_stops_at_once():
    engine = Engine(Done(CELLS[3], "no luck", fatal=True))
    assert [done.cell for done in run_or_give_up(engine.run, CELLS)] == CELLS[:4]


RECIPE = tiny_recipe(seeds=(0, 1), n_test=ENOUGH_PROBLEMS, methods=("dft",), control=CONTROL)
FIRST = ["mini-sums-base", "mini-sums-lam0-seed0", "mini-sums-lam1-seed0", "mini-sums-dft-seed0"]


def given(monkeypatch, write):
    """Let `write` stand in for a cell's work; returns the names of the cells that it is called for."""
    ran = []

    def noted(root, recipe, cell, **work):
        ran.append(cell.name)
        write(root, recipe, cell, **work)

    monkeypatch.setattr(erce.study.run, "run_cell", noted)
    return ran


@pytest.mark.parametrize(
    ("write", "why", "judged"),
    [
        (write_wrong_cell, "nothing was right in any arm: the model cannot do this task, or", "rejected ("),
        (write_right_cell, "everything was right in every arm: the task is too easy", "accepted (numeric"),
    ],
)
def test_a_grid_stops_after_one_seed_of_every_arm_until_it_is_told_to_go_on(
    tmp_path, monkeypatch, write, why, judged
):
    ran = given(monkeypatch, write)
    with pytest.raises(AllAlikeError) as stopped:
        run(RECIPE, out=tmp_path / "study")
    assert ran == FIRST
    sentence, *completions = str(stopped.value).split("\n")
    assert sentence.startswith(why)
    assert "--go-on" in sentence
    assert len(completions) == 3
    for line, arm in zip(completions, ("λ = 0", "λ = 1", "dft"), strict=True):
        assert line.startswith(f"  {arm}, problem 'test-")
        assert judged in line
        assert "\\x1b[2J\\u202e 17\\n" in line  # nothing hidden, on one line
        assert len(line) < 500
    assert len(read_study(tmp_path / "study").results) == 4
    with pytest.raises(AllAlikeError):
        run(RECIPE, out=tmp_path / "study")
    assert ran == FIRST  # the same command runs nothing more
    assert not run(RECIPE, out=tmp_path / "study", go_on=True).missing
    assert sorted(ran) == sorted(cell.name for cell in read_study(tmp_path / "study").expected)
    run(RECIPE, out=tmp_path / "study")  # a finished study is only read


@pytest.mark.parametrize(
    ("write", "changes"),
    [(write_wrong_cell, {"n_test": ENOUGH_PROBLEMS - 1}), (write_wrong_cell_of_a_right_base, {})],
    ids=["few problems", "a base model that is right"],
)
def test_a_study_goes_on_with(tmp_path, monkeypatch, write, changes):
    given(monkeypatch, write)
    assert not run(replace(RECIPE, **changes), out=tmp_path / "study").missing


def test_the_command_reports_what_is_there_and_fails(tmp_path, monkeypatch, capsys):
    given(monkeypatch, write_wrong_cell)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.toml").write_text(
        "task = 'mini-sums'\nmodel = 'tiny'\nlams = [0, 1]\nseeds = [0, 1]\nn_train = 16\nn_validation = 2\n"
        f"n_test = {ENOUGH_PROBLEMS}\n[decoding]\nsamples = 2\n"
    )
    assert main(["run", "own.toml"]) == 1
    printed = capsys.readouterr()
    assert "erce: nothing was right in any arm" in printed.err
    assert "right on the test problems" in " ".join(printed.out.split())
    assert "\x1b[2J" not in printed.err + printed.out
    assert main(["run", "own.toml", "--go-on"]) == 0


@pytest.mark.slow
@each_engine
def test_every_engine_stops(tmp_path, monkeypatch, engine, jobs):
    monkeypatch.setenv("PYTHONPATH", FINDS_TOYS["PYTHONPATH"])
    monkeypatch.setattr(erce.study.run, "run_cell", write_wrong_first_round)
    with pytest.raises(AllAlikeError, match="nothing was right"):
        run(RECIPE, out=tmp_path / "study", engine=engine, jobs=jobs)
    assert len(read_study(tmp_path / "study").results) == len(FIRST)


@pytest.mark.parametrize(
    ("fails", "log"),
    [
        ((), ["engine", "train 0", "train 1", "train 2", "no engine", "server", *"b012", "no server"]),
        (
            (0,),
            ["engine", "train 0", "failed", "train 1", "train 2", "no engine", "server", *"b12", "no server"],
        ),
        (
            (1,),
            ["engine", "train 0", "train 1", "train 2", "no engine", "server", *"b02", "no server", "failed"],
        ),
        (
            (0, 1, 2),
            ["engine", *["train 0", "failed", "train 1", "failed", "train 2", "failed"], "no engine"],
        ),
    ],
)
def test_a_server_that_takes_the_trainings_devices_starts_after_all_of_them(tmp_path, fails, log):
    """A failure is told at once until a training succeeds: three of them and no success end a run."""
    base, *trained = cells = [Cell(TASK, None, 0), *(Cell(TASK, 1.0, seed) for seed in range(3))]
    seen = []

    @contextmanager
    def up(what, value=None):
        seen.append(what)
        yield value
        seen.append(f"no {what}")

    def train(wanted):
        for cell in wanted:
            seen.append(f"train {cell.seed}")
            yield Done(cell, "out of memory" if cell.seed in fails else "")

    def sample(wanted):
        for cell in wanted:
            seen.append("b" if cell == base else f"{cell.seed}")
            yield Done(cell)

    work = Work(tmp_path, tiny_recipe(seeds=(0, 1, 2)), print)
    run_cells = trainings_first(
        work, sample, training=lambda: up("engine", train), serving=lambda: up("server")
    )
    for done in run_cells(cells if len(fails) < 3 else trained):
        seen += ["failed"] if done.failure else []
    assert seen == log
