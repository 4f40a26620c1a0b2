"""The first round of a study → the error that ends the study where nothing was right in it, or everything.

The first round is the base model and one seed of every λ, on the study's own task; with a list of λ, one seed
of the other objectives too.
"""

from dataclasses import dataclass
from pathlib import Path

from erce.errors import AllAlikeError
from erce.recipe import Cell, Recipe
from erce.study.folder import cell_folder, is_done
from erce.study.rounds import is_lost
from erce.study.samples import JudgedSample, read_outcomes, read_samples

ENOUGH_PROBLEMS = 40  # test problems; fewer cannot tell, and the study goes on
NOTHING = "nothing was right in any arm: the model cannot do this task, or its verifier rejects everything"
EVERYTHING = (
    "everything was right in every arm: the task is too easy to show a difference, or its verifier accepts "
    "everything"
)
EXAMPLES, LONGEST = 3, 160  # completions that the error shows, and characters of each


@dataclass
class FirstRound:
    """The watch over a study's first round; once `settled` it looks no more."""

    root: Path
    recipe: Recipe
    settled: bool = False

    def check(self) -> None:
        """Raise an AllAlikeError if the round is done and all its completions have the same verdict."""
        if self.settled:
            return
        cells = [cell for cell in self._cells() if not is_lost(self.root, self.recipe, cell)]
        if not all(is_done(self.root, self.recipe, cell) for cell in cells):
            return
        self.settled = True
        folders = [cell_folder(self.root, self.recipe, cell) for cell in cells]
        drawn = [arrays for folder in folders for arrays in read_outcomes(folder).items()]
        problems = min(len(outcomes) for (split, _), outcomes in drawn if split == "test")
        if problems < ENOUGH_PROBLEMS:
            return
        if not any(outcomes.any() for _, outcomes in drawn):
            raise AllAlikeError(_sentence(NOTHING, cells, folders))
        if all(outcomes.all() for _, outcomes in drawn):
            raise AllAlikeError(_sentence(EVERYTHING, cells, folders))

    def _cells(self) -> list[Cell]:
        recipe = self.recipe
        others = recipe.other_arms if recipe.search is None else ()  # a search trains them last
        arms = [*map(recipe.grid_arm, recipe.lams), *others]
        trained = [Cell(recipe.task, arm.lam, recipe.seeds[0], arm.objective) for arm in arms]
        return [Cell(recipe.task, None, 0), *trained]


def _sentence(why: str, cells: list[Cell], folders: list[Path]) -> str:
    shown = list(zip(cells, folders, strict=True))[-EXAMPLES:]
    lines = [_line(cell, read_samples(folder), at) for at, (cell, folder) in enumerate(shown)]
    return (
        f"{why}. The study stopped after its first round, and what is done is kept; to go on all the same, "
        f"repeat the command with --go-on (in Python go_on=True). {len(lines)} completions:"
        + "".join(f"\n  {line}" for line in lines)
    )


def _line(cell: Cell, samples: list[JudgedSample], at: int) -> str:
    """Describe one completion of a test problem and its verdict; `repr` leaves nothing hidden in a text."""
    test = [sample for sample in samples if sample.drawn_set.split == "test"]
    _, completion, verdict = test[at % len(test)]
    read = "" if verdict.extracted is None else f", read as {_short(verdict.extracted)}"
    judged = f"{'accepted' if verdict.accepted else 'rejected'} ({verdict.reason}{read})"
    return f"{cell.arm.label}, problem {_short(completion.problem)}, {judged}: {_short(completion.text)}"


def _short(text: str) -> str:
    return repr(text) if len(text) <= LONGEST else f"{text[:LONGEST]!r} …"
