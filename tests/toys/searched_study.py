"""Studies of `lams = "auto"` whose cells are written by a table of accuracies: no model, no training."""

from dataclasses import asdict

import numpy as np

from erce.files import write_json, write_rows
from erce.recipe import GRID, Recipe, SearchSettings
from erce.study.demonstrations import cell_splits
from erce.study.folder import RESULT, cell_folder, is_done, open_study
from erce.study.rounds import rounds
from erce.study.samples import VERDICTS

TASK, CONTROL = "mini-sums", "mini-sums-answer-only"
AUTO = Recipe(
    task=TASK, lams=GRID, seeds=(0, 1, 2, 3), control=CONTROL, n_validation=150, search=SearchSettings()
)
PEAK = {0.0: 0.3, 0.3: 0.35, 1.0: 0.45, 3.0: 0.6, 8.0: 0.4}
IDS = sorted(problem.id for problem in cell_splits(AUTO, TASK).validation)


def judged(cell, right):
    """Stands in for a fine-tuning: a chance of being right, on problems that are hard or easy for every λ."""
    rng = np.random.default_rng([round(1000 * (cell.lam or 0)), cell.seed])
    ease = np.random.default_rng(0).normal(0, 0.1, len(IDS))
    return rng.random((len(IDS), 4)) < (right(cell.lam or 0.0) + ease)[:, None]


def peak(lam):
    return PEAK.get(lam, 0.5)


def write_cell(root, recipe, cell, right=peak):
    """On the test problems every verdict is the other one, so that who reads those finds another λ."""
    folder, accepted = cell_folder(root, recipe, cell), judged(cell, right)
    rows = [
        {
            "split": split,
            "decoding": "sampled",
            "problem": IDS[at],
            "sample": sample,
            "accepted": bool(fine) == (split == "validation"),
        }
        for split in ("validation", "test")
        for (at, sample), fine in np.ndenumerate(accepted)
    ]
    write_rows(folder / VERDICTS, rows)
    scores = {"sampled": {"pass@1": float(accepted.mean())}}
    write_json(folder / RESULT, {"cell": asdict(cell), "scores": {"validation": scores, "test": scores}})


class KilledError(Exception):
    """Ends a driver after so many cells."""


def drive(root, recipe, right=peak, *, cells=10_000, order=1):
    """A study without a model: the cells that it ran until none is asked for or it is killed."""
    open_study(root, recipe)
    trained = []
    for now in rounds(root, recipe):
        for cell in now.cells[::order]:
            if is_done(root, recipe, cell):
                continue
            if len(trained) == cells:
                raise KilledError
            write_cell(root, recipe, cell, right)
            trained.append(cell)
    return trained
