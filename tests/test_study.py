"""The whole walk on the embedded model: recipe → cells → results; stopped, gone on with, refused."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import erce.study
from erce.generate.transformers import generate
from erce.recipe import Cell, Decoding, Recipe, Training
from erce.results import RESULT, cell_folder, open_study, read_json, read_rows
from erce.study import run

RECIPE = Recipe(
    task="mini-sums",
    lams=(0.0, 1.0),
    seeds=(0,),
    n_train=32,
    n_validation=5,
    n_test=6,
    training=Training(epochs=1.0, learning_rate=1e-3),
    decoding=Decoding(samples=2),
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return run(RECIPE, out=tmp_path_factory.mktemp("study") / "mini")


def records(root: Path) -> dict[str, bytes]:
    """Everything that must not depend on how often a run was stopped: all but the clock."""
    kept = ("completions.jsonl", "verdicts.jsonl", "adapter_model.safetensors")
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.name in kept
    }


def test_every_cell_is_trained_decoded_and_judged(finished):
    assert finished.missing == []
    assert len(finished.results) == 3
    greedy = finished.outcomes("mini-sums", 1.0, split="test", decoding="greedy")
    sampled = finished.outcomes("mini-sums", 1.0, split="validation", decoding="sampled")
    assert (greedy.shape, sampled.shape) == ((1, 6, 1), (1, 5, 2))


def test_the_scores_are_those_of_the_verdicts(finished):
    for cell, result in finished.results.items():
        outcomes = finished.outcomes(cell.task, cell.lam, split="test", decoding="sampled")
        assert result["scores"]["test"]["sampled"]["pass@1"] == pytest.approx(outcomes.mean())


def test_the_cells_of_a_study_are_judged_on_the_same_problems(finished):
    seen = set()
    for cell in finished.results:
        rows = read_rows(cell_folder(finished.root, RECIPE, cell) / "verdicts.jsonl")
        seen.add(tuple((row["split"], row["decoding"], row["problem"], row["sample"]) for row in rows))
    assert len(seen) == 1


def test_lambda_reaches_the_training(finished):
    logs = {
        cell.lam: json.loads((cell_folder(finished.root, RECIPE, cell) / "training.json").read_text())["log"][
            0
        ]
        for cell in finished.results
        if cell.lam is not None
    }
    assert logs[0.0]["objective"] == pytest.approx(logs[0.0]["ce"])
    assert logs[1.0]["objective"] == pytest.approx(logs[1.0]["ce"] + logs[1.0]["entropy"])
    assert logs[0.0]["ce"] == pytest.approx(logs[1.0]["ce"], rel=1e-5)


def test_completions_come_from_the_adapter(finished):
    def logprobs(lam):
        rows = read_rows(cell_folder(finished.root, RECIPE, Cell("mini-sums", lam, 0)) / "completions.jsonl")
        return [row["logprob"] for row in rows]

    assert logprobs(None) != pytest.approx(logprobs(0.0))
    assert logprobs(0.0) != pytest.approx(logprobs(1.0))


def test_the_cells_seed_reaches_the_samples(tmp_path, monkeypatch):
    seeds = []

    def noted(*args, seed, **kwargs):
        seeds.append(seed)
        return generate(*args, seed=seed, **kwargs)

    monkeypatch.setattr("erce.generate.transformers.generate", noted)
    run(replace(RECIPE, lams=(0.0,), seeds=(7,)), out=tmp_path / "mini")
    assert set(seeds) == {0, 7}  # the base model's cell has seed 0


def test_a_negative_lam_and_every_other_objective_reach_the_training(tmp_path):
    objectives = ("label-smoothing:0.1", "dft", "eaft", "focal:2")
    recipe = replace(RECIPE, lams=(0.0, -0.1), objectives=objectives, n_train=16, n_test=2, n_validation=1)
    study = run(recipe, out=tmp_path / "mini")
    assert study.missing == []
    first = {
        cell.arm: read_json(cell_folder(study.root, recipe, cell) / "training.json")["log"][0]
        for cell in study.results
        if cell.lam is not None
    }
    ce, entropy = first[0.0]["ce"], first[0.0]["entropy"]
    assert all(entry["ce"] == pytest.approx(ce, rel=1e-5) for entry in first.values())
    over = {arm: entry["objective"] - ce for arm, entry in first.items()}
    assert over[-0.1] == pytest.approx(-0.1 * entropy, rel=1e-3)
    assert over["label-smoothing:0.1"] > 0 > max(over[arm] for arm in objectives[1:])
    assert len({round(value, 4) for value in over.values()}) == len(over)


@pytest.mark.parametrize("stage", ["adapter", "completions.jsonl", "verdicts.jsonl"])
def test_an_interrupted_run_goes_on_to_the_same_records(finished, tmp_path, monkeypatch, stage):
    """Stopped right after the stage: what it left is used, what is missing is made, nothing differs."""
    root = tmp_path / "mini"
    open_study(root, RECIPE)
    stages = ("adapter", "training.json", "completions.jsonl", "verdicts.jsonl")
    kept = stages[: max(2, stages.index(stage) + 1)]  # the adapter's log is written with it
    for cell in finished.results:
        source, target = (cell_folder(each, RECIPE, cell) for each in (finished.root, root))
        for path in source.rglob("*"):
            if path.is_file() and path.relative_to(source).parts[0] in kept:
                (target / path.relative_to(source)).parent.mkdir(parents=True, exist_ok=True)
                (target / path.relative_to(source)).write_bytes(path.read_bytes())
    monkeypatch.setattr("erce.train.fine_tune", None)
    if stage != "adapter":
        monkeypatch.setattr("erce.generate.transformers.generate", None)
    run(RECIPE, out=root)
    assert records(root) == records(finished.root)


def test_a_finished_study_runs_nothing_and_a_grown_grid_only_what_is_new(finished, tmp_path, monkeypatch):
    ran = []
    monkeypatch.setattr(erce.study, "run_cell", lambda root, recipe, cell: ran.append(cell))
    run(RECIPE, out=finished.root)
    assert ran == []
    run(replace(RECIPE, lams=(0.0, 1.0, 4.0), objectives=("dft",)), out=finished.root)
    assert [(cell.arm, cell.seed) for cell in ran] == [(4.0, 0), ("dft", 0)]
    run(RECIPE, out=finished.root)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"task": "mini-sumz"}, "no task 'mini-sumz'; did you mean 'mini-sums'?"),
        ({"task": "gsm8k", "data": "no/such/folder"}, "no/such/folder"),
        ({"model": "no/such/model"}, "no/such/model"),
        ({"n_test": 10**6}, "1000000"),
    ],
)
def test_what_cannot_run_is_refused_before_anything_is_written(tmp_path, change, sentence):
    with pytest.raises(ValueError, match=r"\A[^\n]*\Z") as refused:
        run(replace(RECIPE, **change), out=tmp_path / "mini")
    assert sentence in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_result_stops_the_run_and_is_left_for_the_user(finished, tmp_path):
    root = tmp_path / "mini"
    open_study(root, RECIPE)
    folder = cell_folder(root, RECIPE, RECIPE.cells()[1])
    folder.mkdir(parents=True)
    (folder / RESULT).write_text('{"scores":', encoding="utf-8")
    with pytest.raises(ValueError, match="damaged"):
        run(RECIPE, out=root)
    assert [path.name for path in folder.iterdir()] == [RESULT]
