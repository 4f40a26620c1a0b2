"""A study whose every outcome a test chooses, so that its gains can be computed by hand."""

from pathlib import Path
from typing import Any

import numpy as np

from erce.files import write_json, write_rows
from erce.recipe import Recipe, parse_recipe
from erce.study.folder import Study, cell_folder, open_study, read_study
from erce.types import Arm

Outcomes = dict[Arm, dict[str, np.ndarray]]  # arm → decoding → 0 or 1, (seeds, problems, samples)


def first_right(*counts: int, problems: int, samples: int = 1) -> np.ndarray:
    """Outcomes in which a seed's first so many problems are right in all samples."""
    right = [np.arange(problems) < count for count in counts]
    return np.repeat(np.stack(right)[..., None], samples, axis=2).astype(int)


def study_of(
    root: Path, test: Outcomes, validation: dict[Arm, float], *, steps: int = 10, **settings: Any
) -> Study:
    """The finished study; `validation` is each arm's score there, under every decoding."""
    lams = [arm.lam for arm in test if arm.lam is not None and arm.method == "cross-entropy"]
    seeds = [*range(max(len(array) for by in test.values() for array in by.values()))]
    recipe: Recipe = parse_recipe({"task": "mini-sums", "lams": lams, "seeds": seeds} | settings)
    open_study(root, recipe)
    for cell in recipe.cells():
        rows, scores = [], {"validation": {}, "test": {}}
        for decoding, array in test[cell.arm].items():
            outcomes, score = array[0 if cell.lam is None else cell.seed], validation[cell.arm]
            of_split = {"validation": score, "test": float(outcomes.mean())}
            for split, mean in of_split.items():
                scores[split][decoding] = {
                    "pass@1": mean,
                    "problems": len(outcomes),
                    "samples": outcomes.shape[1],
                    "reasons": {"numeric": mean, "different": 1 - mean},
                    "tokens": 9.0,
                    "entropy": 0.2,
                }
                rows += [
                    {"split": split, "decoding": decoding, "problem": f"{problem:05}", "sample": sample}
                    | {"accepted": bool(outcomes[problem, sample]), "reason": "numeric", "extracted": "1"}
                    for problem, sample in np.ndindex(*outcomes.shape)
                ]
        folder = cell_folder(root, recipe, cell)
        folder.mkdir(parents=True)
        write_rows(folder / "verdicts.jsonl", rows)
        said = {"text": "1", "tokens": 9, "finished": True, "logprob": -1.0, "entropy": 0.2}
        places = ({name: row[name] for name in ("split", "decoding", "problem", "sample")} for row in rows)
        write_rows(folder / "completions.jsonl", (place | said for place in places))
        trained = {} if cell.lam is None else {"training": {"steps": steps}}
        write_json(folder / "result.json", {"scores": scores} | trained)
    for cell in recipe.own_cells:
        counts = {"problems": 9, "with_one": 5, "accepted": 5, "samples": 72, "tokens": 50_000}
        scores = {"train": {"sampled": {"pass@1": 0.5}}}
        write_json(cell_folder(root, recipe, cell) / "result.json", {"scores": scores, "own": counts})
    return read_study(root)
