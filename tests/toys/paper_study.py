"""Studies on disk of a task that the paper has, their verdicts drawn by chance: no model, no training."""

import hashlib

import numpy as np

from erce.files import write_json, write_rows
from erce.recipe import Recipe
from erce.study.folder import cell_folder, open_study, read_study


def make_study(root, *, accuracy=0.5, skip=(), samples=2, **settings):
    """The study of that recipe; a verdict is right with the chance `accuracy(task, arm, decoding)`."""
    recipe = Recipe(**{"n_test": 40, **settings})
    open_study(root, recipe)
    for cell in recipe.cells():
        if (cell.task, cell.lam, cell.seed) in skip:
            continue
        folder = cell_folder(root, recipe, cell)
        rows = [
            row
            for decoding, drawn in (("greedy", 1), ("sampled", samples))
            for row in _verdicts(cell, decoding, drawn, (recipe.n_test, accuracy))
        ]
        write_rows(folder / "verdicts.jsonl", rows)
        write_json(folder / "result.json", {"scores": {}})
    return read_study(root)


def _verdicts(cell, decoding, drawn, problems_and_accuracy):
    problems, accuracy = problems_and_accuracy
    chance = accuracy(cell.task, cell.lam, decoding) if callable(accuracy) else accuracy
    rng = np.random.default_rng(int.from_bytes(hashlib.sha256(cell.name.encode()).digest()[:4], "big"))
    accepted = rng.random((problems, drawn)) < chance
    return [
        {"split": "test", "decoding": decoding, "problem": f"test-{at:04}", "sample": sample}
        | {
            "accepted": bool(accepted[at, sample]),
            "reason": "numeric" if accepted[at, sample] else "different",
        }
        for at in range(problems)
        for sample in range(drawn)
    ]
