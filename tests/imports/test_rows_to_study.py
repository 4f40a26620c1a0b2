"""Rows become a study with the numbers of the study that they were exported from."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from toys.logs import write_lm_eval

from erce.cli.main import main
from erce.files import write_json, write_rows
from erce.imports import import_study, study_of_rows
from erce.recipe import Decoding, Recipe
from erce.reporting.numbers.gains import summary
from erce.score import summarize
from erce.study.export import export, records
from erce.study.folder import RESULT, cell_folder, open_study, read_study
from erce.types import Completion, Verdict

RECIPE = Recipe(
    task="mini-sums",
    control="mini-sums-answer-only",
    lams=(2.0, 0.0),
    seeds=(0, 3),
    objectives=("dft",),
    penalty="renyi",
    order=0.5,
    decoding=Decoding(temperature=0.7, samples=3, max_new_tokens=9, frontier=(0.2,), frontier_samples=2),
)


DRAWS = {"greedy": (0.0, 1), "T0.2": (0.2, 2), "sampled": (0.7, 3)}


def fill(root, recipe, cell, rng):
    """A finished cell with verdicts by chance, and cell.json as a run writes it."""
    folder = cell_folder(root, recipe, cell)
    completions, verdicts, scores = [], [], {}
    for split in ("validation", "test"):
        for decoding, (_, samples) in DRAWS.items():
            if decoding == "T0.2" and cell.task != recipe.task:
                continue
            drawn = [
                Completion(
                    problem=str(problem),
                    sample=sample,
                    text=f"is {problem}\u2028</script>",
                    tokens=int(rng.integers(1, 9)),
                    finished=bool(rng.integers(2)),
                    logprob=-float(rng.random()),
                    entropy=float(rng.random()),
                )
                for problem in range(12)
                for sample in range(samples)
            ]
            judged = [
                Verdict(bool(ok), "exact" if ok else "different", "4")
                for ok in rng.integers(2, size=len(drawn))
            ]
            place = {"split": split, "decoding": decoding}
            completions += [place | asdict(each) for each in drawn]
            verdicts += [
                place
                | {"problem": each.problem, "sample": each.sample}
                | {"accepted": verdict.accepted, "reason": verdict.reason, "extracted": verdict.extracted}
                for each, verdict in zip(drawn, judged, strict=True)
            ]
            scores.setdefault(split, {})[decoding] = summarize(drawn, judged)
    write_rows(folder / "completions.jsonl", completions)
    write_rows(folder / "verdicts.jsonl", verdicts)
    drawing = {name: {"temperature": degree, "max_new_tokens": 9} for name, (degree, _) in DRAWS.items()}
    write_json(folder / "cell.json", {"key": "k", "study": "s", "verifier": "v", "decoding": drawing})
    write_json(folder / RESULT, {"cell": asdict(cell), "scores": scores, "versions": {}})


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    root = tmp_path_factory.mktemp("ours") / "study"
    problems = [
        {"task": task, "split": split, "problem": str(at), "prompt": f"{at}?", "demonstration": ""}
        | {"answer": str(at), "tests": []}
        for task in RECIPE.tasks
        for split in ("validation", "test")
        for at in range(12)
    ]
    open_study(root, RECIPE, problems)
    rng = np.random.default_rng(0)
    for cell in RECIPE.cells():
        fill(root, RECIPE, cell, rng)
    return read_study(root)


@pytest.fixture(scope="module")
def again(ours):
    """The same study, exported and imported."""
    root = ours.root.parent
    export(ours, root / "rows.jsonl")
    assert main(["import", str(root / "again"), "--rows", str(root / "rows.jsonl")]) == 0
    return read_study(root / "again")


def test_our_own_rows_become_a_study_with_the_same_numbers(ours, again):
    assert json.dumps(summary(again).gains_as_json()) == json.dumps(summary(ours).gains_as_json())
    ones, others = summary(ours), summary(again)
    assert others.rows == ones.rows
    assert others.choice == ones.choice
    assert others.interaction == ones.interaction
    assert [result["scores"] for result in again.results.values()] == [
        result["scores"] for result in ours.results.values()
    ]
    assert again.missing == []


def test_our_own_rows_come_back_as_they_were_but_for_what_only_the_run_knew(ours, again):
    lost = {"key", "prompt_hash"}
    before, after = (
        [{name: value for name, value in vars(row).items() if name not in lost} for row in records(study)]
        for study in (ours, again)
    )
    assert after == before
    assert {getattr(row, name) for row in records(again) for name in lost} == {None}


def test_the_recipe_says_what_the_rows_say(again):
    assert replace(again.recipe, imported=()) == RECIPE
    assert again.recipe.cells() == RECIPE.cells()


def test_an_unfinished_study_has_nothing_missing_that_no_row_is_of(ours, tmp_path):
    rows = [row for row in records(ours) if row.arm != "base" and (row.arm, row.seed) != ("dft", 3)]
    again = study_of_rows(tmp_path / "again", rows)
    assert again.missing == []
    assert len(again.recipe.cells()) == len(RECIPE.cells()) - 4


@pytest.mark.parametrize("name", ["a/../../../../x", "..", "/etc", "a b", ""])
def test_an_arm_cannot_be_a_path(tmp_path, name):
    log = write_lm_eval(tmp_path / "log", [[1], [0]])
    rows = list(records(import_study(tmp_path / "study", {"baseline": [log], "dpo": [log]})))
    renamed = [replace(row, objective=name, arm=name) if row.arm == "dpo" else row for row in rows]
    with pytest.raises(ValueError, match="no arm can be called"):
        study_of_rows(tmp_path / "again", renamed)
    assert not (tmp_path / "again").exists()
