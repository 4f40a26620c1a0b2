"""Every file of a study, deleted, torn or replaced: a sentence, and the same command makes the file again."""

import shutil
from pathlib import Path

import pytest
from toys.recipes import tiny_recipe

import erce
from erce.errors import InputError, RunError
from erce.hf.adapter import README, WEIGHTS
from erce.recipe import Decoding, Recipe, Training
from erce.reporting.pages.model_card import write_card
from erce.study.export import records
from erce.study.folder import LOCKS, RESULT, TIMING, read_study
from erce.study.run import run
from erce.study.samples import COMPLETIONS, VERDICTS

LISTED = tiny_recipe(
    lams=(0.0,),
    n_train=4,
    training=Training(epochs=0.5, learning_rate=1e-3),
    decoding=Decoding(samples=2, max_new_tokens=8),
)
CELL = "mini-sums-lam0-seed0"
DAMAGE = {
    "deleted": lambda path: path.unlink(),
    "halved": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "emptied": lambda path: path.write_bytes(b""),
    "zeroed": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "garbled": lambda path: path.write_bytes(b"\xff{[" + path.read_bytes()),
    "without its last line": lambda path: path.write_bytes(
        b"".join(path.read_bytes().splitlines(keepends=True)[:-1])
    ),
    "a list": lambda path: path.write_bytes(b"[1]\n"),
    "an object": lambda path: path.write_bytes(b"{}\n"),
}
STAGES = {  # where a cell stands → the files that it does not have yet
    "finished": (),
    "judged": (RESULT,),
    "drawn": (RESULT, VERDICTS),
    "trained": (RESULT, VERDICTS, COMPLETIONS),
}


WAYS_OUT = ("makes it again", "makes one", "run the study to its end", "trains a cell again")


def files(root: Path) -> list[str]:
    """All files of a study that erce reads: not the locks, the report and an adapter's README."""
    names = [path.relative_to(root) for path in sorted(root.rglob("*")) if path.is_file()]
    return [
        name.as_posix() for name in names if name.parts[0] not in (LOCKS, "report") and name.name != README
    ]


def contents(root: Path) -> dict[str, bytes]:
    return {name: (root / name).read_bytes() for name in files(root) if not name.endswith(TIMING)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return run(LISTED, out=tmp_path_factory.mktemp("whole") / "study").root


def damaged_copy(whole: Path, root: Path, name: str, *, damage: str, stage: str = "finished") -> Path:
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(whole, root)
    for later in STAGES[stage]:
        next(root.glob(f"cells/{CELL}-*/{later}")).unlink()
    DAMAGE[damage](root / name)
    return root


def wrong_words(root: Path) -> list[str]:
    """What the readers of a study say of it that is no sentence with a way out."""
    wrong = []
    for read in (erce.report, lambda root: list(records(read_study(root))), card):
        try:
            read(root)
        except (InputError, RunError) as sentence:
            if "\n" in str(sentence) or not any(way_out in str(sentence) for way_out in WAYS_OUT):
                wrong.append(f"no way out: {sentence}")
        except Exception as error:  # no sentence of ours; the test lists it beside the damaged file
            wrong.append(repr(error))
    return wrong


def card(root: Path) -> None:
    shutil.rmtree(root.parent / "card", ignore_errors=True)
    write_card(root, root.parent / "card", cell=CELL)


def differences(whole: Path, root: Path, recipe: Recipe) -> list[str]:
    """What the same command leaves different from the whole study."""
    try:
        run(recipe, out=root)
    except Exception as error:  # whatever stops the run; the test lists it beside the damaged file
        return [f"the same command: {error!r}"]
    before, now = contents(whole), contents(root)
    return [name for name in before.keys() | now.keys() if before.get(name) != now.get(name)]


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGE)
def test_any_file_of_a_finished_study_has_a_way_out_that_works(whole, tmp_path, damage):
    wrong = {}
    for name in files(whole):
        if damage == "deleted" and name.endswith(WEIGHTS):
            continue  # weights may go once everything is drawn
        root = damaged_copy(whole, tmp_path / "study", name, damage=damage)
        wrong[name] = wrong_words(root) + differences(whole, root, LISTED)
    assert {name: texts for name, texts in wrong.items() if texts} == {}


@pytest.mark.slow
@pytest.mark.parametrize("damage", sorted({*DAMAGE} - {"emptied", "garbled"}))
@pytest.mark.parametrize("stage", ["judged", "drawn", "trained"])
def test_any_file_of_a_cell_that_was_stopped_is_made_again(whole, tmp_path, damage, stage):
    wrong = {}
    for name in files(whole):
        may_go = damage == "deleted" and stage != "trained" and name.endswith(WEIGHTS)
        if f"/{CELL}-" in name and not name.endswith(STAGES[stage]) and not may_go:
            root = damaged_copy(whole, tmp_path / "study", name, damage=damage, stage=stage)
            wrong[name] = differences(whole, root, LISTED)
    assert {name: texts for name, texts in wrong.items() if texts} == {}
