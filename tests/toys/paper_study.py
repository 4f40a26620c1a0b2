"""Studies on disk of a task that the paper has, their verdicts drawn by chance: no model, no training."""

import zlib

import numpy as np

from erce.files import write_json, write_rows
from erce.recipe import Recipe
from erce.study.folder import cell_folder, open_study, read_study


def make_study(root, *, chance=lambda task: 0.5, skip=(), samples=2, **settings):
    """The study of that recipe; a verdict is right with the chance `chance(task)`."""
    recipe = Recipe(**{"n_test": 40, **settings})
    open_study(root, recipe)
    for cell in recipe.cells():
        if (cell.task, cell.lam, cell.seed) not in skip:
            rng = np.random.default_rng(zlib.crc32(cell.name.encode()))
            rows = [
                {"split": "test", "decoding": decoding, "problem": f"test-{at:04}", "sample": sample}
                | {"accepted": bool(rng.random() < chance(cell.task)), "reason": "numeric"}
                for decoding, drawn in (("greedy", 1), ("sampled", samples))
                for at in range(recipe.n_test)
                for sample in range(drawn)
            ]
            folder = cell_folder(root, recipe, cell)
            write_rows(folder / "verdicts.jsonl", rows)
            write_json(folder / "result.json", {"scores": {}})
    return read_study(root)
