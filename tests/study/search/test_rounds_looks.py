"""A search that prunes: what its looks leave on disk, what they save, and that a kill changes nothing."""

import json
from dataclasses import replace

import pytest
from toys.searched_study import (
    AUTO,
    IDS,
    TASK,
    WHOLE,
    KilledError,
    drive,
    judged,
    peak,
    write_cell,
    write_look,
)

import erce.study.run
from erce.errors import DivergedError
from erce.files import read_json, read_rows, write_json
from erce.recipe import Cell, Decoding, Look, Recipe, Training
from erce.recipe.searching import Searching
from erce.reporting import report
from erce.study.cell import COMPLETIONS, JOURNAL, TRAINING, cell_splits, run_cell
from erce.study.folder import (
    LOOKS,
    RESULT,
    SEARCH,
    TIMING,
    VERDICTS,
    cell_folder,
    cell_outcomes,
    is_done,
    read_looks,
    read_study,
)
from erce.study.search import Run, Search, Settings, Stop, plain
from erce.study.search.choose import best_lam
from erce.study.search.rounds import rounds

SPREAD = {0.0: 0.74, 0.3: 0.1, 1.0: 0.3, 3.0: 0.7, 8.0: 0.8}


def spread(lam):
    return SPREAD.get(lam, 0.2)


@pytest.fixture(scope="module")
def looked(tmp_path_factory):
    root = tmp_path_factory.mktemp("looks") / "study"
    drive(root, AUTO, spread)
    return root


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    root = tmp_path_factory.mktemp("looks") / "whole"
    drive(root, WHOLE, spread)
    return root


def counts(root):
    """(lam, seed) → how many validation problems its looks have judged."""
    keys = {(lam, seed) for lam in (*AUTO.lams, 16.0, 32.0) for seed in AUTO.seeds}
    folders = {key: cell_folder(root, AUTO, Cell(TASK, *key)) for key in keys}
    return {key: len(read_looks(folder)) for key, folder in folders.items() if (folder / LOOKS).is_file()}


def test_a_search_that_prunes_does_what_one_that_does_not_would(looked, whole):
    pruned, full = (read_json(root / SEARCH)["step"] for root in (looked, whole))
    for name in ("winner", "leader", "spent", "spent_by_lam", "tests", "why"):
        assert pruned[name] == full[name]
    kept = [[each["kept"] for each in step["rounds"]] for step in (pruned, full)]
    assert kept[0] == kept[1]


def test_its_test_is_paired_problem_by_problem(looked):
    """Whatever the order in which each round has judged them."""
    search, outcomes = Search(Settings(prune=0.0)), {}
    step = search.next(outcomes)
    while isinstance(step, Run):
        outcomes |= {key: judged(Cell(TASK, *key), spread).astype(int) for key in step.cells}
        step = search.next(outcomes)
    assert isinstance(step, Stop)
    assert plain(step)["tests"] == read_json(looked / SEARCH)["step"]["tests"]


def test_a_lam_that_cannot_go_on_is_judged_on_a_part_alone(looked):
    found = counts(looked)
    assert 0 < found[0.3, 0] < len(IDS)
    assert found[0.0, 0] == found[8.0, 0] == len(IDS)


def test_the_looks_of_one_round_judge_the_same_problems(looked):
    cells = [Cell(TASK, lam, 0) for lam in (0.3, 1.0, 8.0)]
    few, more, all_of_them = (list(read_looks(cell_folder(looked, AUTO, cell))) for cell in cells)
    assert few == more[: len(few)] == all_of_them[: len(few)]
    assert few != sorted(few)


def test_only_the_lams_of_the_end_are_evaluated_on_the_test_problems(looked):
    study = read_study(looked)
    assert study.missing == []
    told = read_json(looked / SEARCH)["step"]
    last = {None, 0.0, *(each["lam"] for each in told["tests"])}
    assert {cell.lam for cell in study.results if cell.task == TASK} == last
    assert {path.parent.name for path in looked.rglob(RESULT)} == {
        cell_folder(looked, AUTO, cell).name for cell in study.results
    }
    assert best_lam(study).lam == told["winner"]


def test_the_time_of_cells_that_were_left_counts(looked):
    before = read_study(looked).seconds
    path = cell_folder(looked, AUTO, Cell(TASK, 0.3, 0)) / TIMING
    write_json(path, {"training": 10.0, "generation": 2.5})
    assert read_study(looked).seconds == before + 12.5
    path.unlink()


@pytest.mark.parametrize("steps", [0, 3, 7, 12, 20, 25])
def test_a_search_killed_between_looks_ends_in_the_same_bytes(looked, tmp_path, steps):
    root = tmp_path / "study"
    with pytest.raises(KilledError):
        drive(root, AUTO, spread, cells=steps, order=-1)
    drive(root, AUTO, spread)
    for path in looked.rglob("*.json*"):
        assert (root / path.relative_to(looked)).read_bytes() == path.read_bytes()


def test_no_look_is_asked_for_twice_and_each_goes_further(tmp_path):
    before: dict[tuple, int] = {}
    for now in rounds(tmp_path, AUTO, IDS):
        for cell in now.cells:
            if is_done(tmp_path, AUTO, cell):
                continue
            if isinstance(cell, Look):
                key = (cell.lam, cell.seed)
                assert len(cell.problems) > before.get(key, 0)
                before[key] = len(cell.problems)
                write_look(tmp_path, AUTO, cell, spread)
            else:
                write_cell(tmp_path, AUTO, cell, spread)
    assert before == counts(tmp_path)


def test_what_a_look_decided_is_said_before_the_next(tmp_path):
    said = []
    for now in rounds(tmp_path, AUTO, IDS):
        said += now.said
        for cell in now.cells:
            (write_look if isinstance(cell, Look) else write_cell)(tmp_path, AUTO, cell, spread)
    assert any(line.startswith("No longer in question: λ = 0.3") for line in said)
    assert f"Next: up to 60 of {len(IDS)} validation problems." in " ".join(said)


def test_a_search_takes_over_the_cells_of_a_grid(tmp_path, looked):
    grid = replace(AUTO, search=None, lams=(0.0, 0.3, 8.0), seeds=(0,))
    drive(tmp_path / "study", grid, spread)
    drive(tmp_path / "study", AUTO, spread)
    assert counts(tmp_path / "study").keys() == counts(looked).keys() - {(0.0, 0), (0.3, 0), (8.0, 0)}
    assert read_json(tmp_path / "study" / SEARCH)["step"] == read_json(looked / SEARCH)["step"]


def test_what_a_look_has_seen_stays_decided(looked, tmp_path):
    """Programs are judged again for the whole cell, and a verdict at the limit of its time may differ."""
    root = tmp_path / "study"
    drive(root, AUTO, spread)
    for cell in read_study(root).results:
        path = cell_folder(root, AUTO, cell) / VERDICTS
        path.write_text(path.read_text().replace("true", "false", 40))
    assert drive(root, AUTO, spread) == []
    assert (root / SEARCH).read_bytes() == (looked / SEARCH).read_bytes()


def test_a_strength_that_diverges_at_its_first_look_goes_no_further(tmp_path, monkeypatch):
    def running(root, recipe, cell, **given):
        begun.append(cell)
        if cell.lam == 8.0:
            raise DivergedError("the training diverged at step 3: objective nan")
        (write_look if isinstance(cell, Look) else write_cell)(root, recipe, cell, peak)

    begun, root, recipe = [], tmp_path / "study", replace(AUTO, control=None)
    monkeypatch.setattr(erce.study.run, "run_cell", running)
    study = erce.study.run.run(recipe, out=root)
    assert (study.missing, best_lam(study).lam) == ([], 3.0)
    assert [cell.seed for cell in begun if cell.lam == 8.0] == [0]
    begun.clear()
    erce.study.run.run(recipe, out=root)
    assert begun == []


REAL = Recipe(
    task=TASK,
    lams=AUTO.lams,
    seeds=(0,),
    n_train=16,
    n_validation=8,
    n_test=4,
    training=Training(epochs=1.0),
    decoding=Decoding(samples=2, batch_size=4),
    search=Searching(),
)


def test_a_look_is_the_beginning_of_its_cell(tmp_path):
    """Trained once, drawn once, judged as the whole cell is, and as one that nobody looked at."""
    ids = [problem.id for problem in cell_splits(REAL, TASK).validation]
    cell, seen = Cell(TASK, 1.0, 0), tuple(reversed(ids[2:5]))
    folder = cell_folder(tmp_path, REAL, cell)
    for problems in (seen[:1], seen):
        look = Look(TASK, 1.0, 0, problems=problems)
        assert not is_done(tmp_path, REAL, look)
        run_cell(tmp_path, REAL, look)
        assert is_done(tmp_path, REAL, look)
        assert tuple(read_looks(folder)) == problems
    assert not (folder / COMPLETIONS).exists()
    trained = (folder / TRAINING).stat().st_mtime_ns
    drawn = len((folder / JOURNAL).read_bytes().splitlines())
    run_cell(tmp_path, REAL, cell)
    assert ((folder / TRAINING).stat().st_mtime_ns, drawn) == (trained, 2)
    outcomes = dict(zip(sorted(ids), cell_outcomes(folder)["validation", "sampled"].tolist(), strict=True))
    assert {name: list(map(int, said)) for name, said in read_looks(folder).items()} == {
        name: outcomes[name] for name in seen
    }
    run_cell(tmp_path / "whole", REAL, cell)
    other = cell_folder(tmp_path / "whole", REAL, cell)
    texts = [[row["text"] for row in read_rows(each / COMPLETIONS)] for each in (folder, other)]
    assert texts[0] == texts[1]
    assert (folder / RESULT).is_file()


def test_a_look_at_a_cell_with_completions_finishes_the_cell(tmp_path):
    """It was killed between its completions and its result, as a cell of a grid."""
    cell = Cell(TASK, 1.0, 0)
    run_cell(tmp_path, REAL, cell)
    folder = cell_folder(tmp_path, REAL, cell)
    (folder / RESULT).unlink()
    run_cell(tmp_path, REAL, Look(TASK, 1.0, 0, problems=("sum-1",)))
    assert is_done(tmp_path, REAL, cell)
    assert not (folder / LOOKS).exists()


@pytest.mark.slow
def test_a_search_by_looks_from_a_recipe_to_a_report(tmp_path, capsys):
    recipe = replace(REAL, seeds=(0, 1), n_validation=40, n_train=32)
    alone = erce.study.run.run(recipe, out=tmp_path / "alone")
    several = erce.study.run.run(recipe, out=tmp_path / "several", jobs=2)
    told = [read_json(study.root / SEARCH) for study in (alone, several)]
    assert told[0] == told[1]
    assert [study.missing for study in (alone, several)] == [[], []]
    page = report(alone.root, json=tmp_path / "numbers.json").read_text()
    assert "How λ was chosen" in page
    for lam in (0.3, 1.0, 3.0, 8.0):
        assert f"λ = {lam:g}" in page
    assert json.loads((tmp_path / "numbers.json").read_text())["search"] == told[0]
