"""The whole walk on the embedded model: recipe → cells → results; stopped, gone on with, refused."""

import pickle
import shutil
from dataclasses import replace
from functools import partial
from unittest.mock import Mock

import pytest
import torch
from peft import PeftModel
from toys.recipes import tiny_recipe
from toys.studies import files, named

import erce.study.run
from erce.errors import CellsFailedError
from erce.files import read_json, read_rows
from erce.generate.transformers import generate
from erce.hf.models import load_model, load_tokenizer
from erce.recipe import Cell, Decoding, Resources, Training
from erce.study.cell import run_cell
from erce.study.demonstrations import cell_splits
from erce.study.engines import Work
from erce.study.folder import cell_folder, open_study, read_study
from erce.study.run import run
from erce.tasks import splits
from erce.types import Arm

RECIPE = tiny_recipe(n_train=32, n_validation=1, n_test=3)
BRIEF = replace(RECIPE, decoding=Decoding(samples=2, max_new_tokens=2))  # where no answer matters


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return run(RECIPE, out=tmp_path_factory.mktemp("study") / "mini")


def test_every_cell_is_trained_decoded_and_verified(finished):
    assert finished.missing == []
    assert len(finished.results) == 3
    greedy = finished.outcomes("mini-sums", Arm(1.0), split="test", decoding="greedy")
    sampled = finished.outcomes("mini-sums", Arm(1.0), split="validation", decoding="sampled")
    assert (greedy.shape, sampled.shape) == ((1, 3, 1), (1, 1, 2))


def test_the_scores_are_those_of_the_verdicts(finished):
    for cell, result in finished.results.items():
        outcomes = finished.outcomes(cell.task, cell.arm, split="test", decoding="sampled")
        assert result["scores"]["test"]["sampled"]["pass@1"] == pytest.approx(outcomes.mean())


def test_lambda_reaches_the_training_and_the_adapter_the_completions(finished):
    def folder(lam):
        return cell_folder(finished.root, RECIPE, Cell("mini-sums", lam, 0))

    def logprobs(lam):
        return [row["logprob"] for row in read_rows(folder(lam) / "completions.jsonl")]

    plain, penalised = (read_json(folder(lam) / "training.json")["log"][0] for lam in (0.0, 1.0))
    assert plain["objective"] == pytest.approx(plain["ce"])
    assert penalised["objective"] == pytest.approx(penalised["ce"] + penalised["entropy"])
    assert plain["ce"] == pytest.approx(penalised["ce"], rel=1e-5)
    assert logprobs(None) != pytest.approx(logprobs(0.0))
    assert logprobs(0.0) != pytest.approx(logprobs(1.0))


@pytest.mark.slow
def test_plain_peft_and_transformers_write_the_greedy_texts_of_the_study(finished):
    tokenizer, base = load_tokenizer("tiny"), load_model("tiny")
    prompts = {row["problem"]: row["prompt"] for row in read_rows(finished.root / "problems.jsonl")}

    def greedy(cell):
        rows = read_rows(cell_folder(finished.root, RECIPE, cell) / "completions.jsonl")
        return {row["problem"]: row["text"] for row in rows if row["decoding"] == "greedy"}

    def written(policy, prompt):
        turn = [{"role": "user", "content": prompt}]
        ids = tokenizer.apply_chat_template(turn, add_generation_prompt=True, return_tensors="pt").input_ids
        drawn = policy.generate(ids, max_new_tokens=64, do_sample=False)[0, ids.shape[1] :]
        return tokenizer.decode(drawn, skip_special_tokens=True)

    cell = Cell("mini-sums", 1.0, 0)
    adapter = cell_folder(finished.root, RECIPE, cell) / "adapter"
    policy = PeftModel.from_pretrained(base, str(adapter)).eval()
    assert {problem: written(policy, prompts[problem]) for problem in greedy(cell)} == greedy(cell)
    assert greedy(cell) != greedy(Cell("mini-sums", None, 0))


def test_the_cells_seed_reaches_the_samples(tmp_path, monkeypatch):
    seeds = []

    def noted(*args, seed, **kwargs):
        seeds.append(seed)
        return generate(*args, seed=seed, **kwargs)

    monkeypatch.setattr("erce.generate.transformers.generate", noted)
    run(replace(BRIEF, lams=(0.0,), seeds=(7,)), out=tmp_path / "mini")
    assert set(seeds) == {0, 7}  # the base model's cell has seed 0


@pytest.mark.slow
def test_a_negative_lam_and_every_other_method_reach_the_training(tmp_path):
    methods = ("label-smoothing:0.1", "dft", "eaft", "focal:2")
    changes = {"lams": (0.0, -0.1), "methods": methods, "n_train": 16}
    recipe = replace(BRIEF, n_test=2, n_validation=1, **changes)
    study = run(recipe, out=tmp_path / "mini")
    assert study.missing == []
    first = {
        named(cell.arm): read_json(cell_folder(study.root, recipe, cell) / "training.json")["log"][0]
        for cell in study.results
        if cell.lam is not None
    }
    ce, entropy = first[0.0]["ce"], first[0.0]["entropy"]
    assert all(entry["ce"] == pytest.approx(ce, rel=1e-5) for entry in first.values())
    over = {arm: entry["objective"] - ce for arm, entry in first.items()}
    assert over[-0.1] == pytest.approx(-0.1 * entropy, rel=1e-3)
    assert over["label-smoothing:0.1"] > 0 > max(over[arm] for arm in methods[1:])
    assert len({round(value, 4) for value in over.values()}) == len(over)


@pytest.mark.parametrize("stage", ["training.json", "verdicts.jsonl"])
def test_an_interrupted_run_goes_on_to_the_same_files(finished, tmp_path, monkeypatch, stage):
    """Stopped right after the stage: what it left is used, what is missing is made, nothing differs."""
    root = tmp_path / "mini"
    open_study(root, RECIPE)
    stages = ("adapter", "training.json", "cell.json", "completions.jsonl", "verdicts.jsonl")
    kept = stages[: stages.index(stage) + 1]
    for cell in finished.results:
        source, target = (cell_folder(each, RECIPE, cell) for each in (finished.root, root))
        for path in source.rglob("*"):
            if path.is_file() and path.relative_to(source).parts[0] in kept:
                (target / path.relative_to(source)).parent.mkdir(parents=True, exist_ok=True)
                (target / path.relative_to(source)).write_bytes(path.read_bytes())
    monkeypatch.setattr("erce.train.fine_tune.fine_tune", None)
    if stage == "verdicts.jsonl":
        monkeypatch.setattr("erce.generate.transformers.generate", None)
    run(RECIPE, out=root)
    assert files(root) == files(finished.root)


def test_a_schedule_and_the_threads_of_the_recipe_reach_the_training(tmp_path, monkeypatch):
    seen = []

    def noted(*args, training, **kwargs):
        seen.append((torch.get_num_threads(), training.lam_schedule, training.lam_warmup))
        raise ValueError("seen")

    monkeypatch.setattr("erce.train.fine_tune.fine_tune", noted)
    before = torch.get_num_threads()
    training = replace(RECIPE.training, lam_schedule="linear", lam_warmup=0.5)
    recipe = replace(RECIPE, training=training, resources=Resources(threads=before + 1))
    with pytest.raises(ValueError, match="seen"):
        run_cell(tmp_path, recipe, recipe.cells()[2])
    assert seen == [(before + 1, "linear", 0.5)]
    assert torch.get_num_threads() == before


def test_a_study_with_failed_cells_raises_their_names_and_the_others_are_there_to_report(
    finished, tmp_path, monkeypatch
):
    root, recipe = tmp_path / "mini", replace(RECIPE, lams=(0.0, 1.0, 4.0))
    shutil.copytree(finished.root, root)

    def failing(root, recipe, cell, **given):
        raise RuntimeError("no such luck")

    monkeypatch.setattr(erce.study.run, "run_cell", failing)
    with pytest.raises(CellsFailedError, match=r"1 of 4 cells failed(.*\n)*  mini-sums-lam4-seed0: Runtime"):
        run(recipe, out=root)
    left = read_study(root)
    assert ([cell.lam for cell in left.missing], len(left.results)) == ([4.0], 3)
    assert erce.report(root).is_file()


def test_a_finished_study_needs_no_model_and_a_grown_grid_only_what_is_new(finished, tmp_path, monkeypatch):
    ran = []
    monkeypatch.setattr(erce.study.run, "run_cell", lambda root, recipe, cell, **given: ran.append(cell))
    with monkeypatch.context() as without_a_model:
        without_a_model.setattr(erce.study.run, "base_policy", Mock(side_effect=AssertionError))
        run(RECIPE, out=finished.root)
    assert ran == []
    run(replace(RECIPE, lams=(0.0, 1.0, 4.0), methods=("dft",)), out=finished.root)
    assert [(named(cell.arm), cell.seed) for cell in ran] == [(4.0, 0), ("dft", 0)]
    run(RECIPE, out=finished.root)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"task": "mini-sumz"}, "no task 'mini-sumz'; did you mean 'mini-sums'?"),
        ({"task": "gsm8k", "data": "no/such/folder"}, "no/such/folder"),
        ({"model": "no/such/model"}, "no/such/model"),
        ({"n_test": 10**6}, "1000000"),
        ({"training": Training(report_to="wandb")}, "needs the package wandb; run: pip install wandb"),
    ],
)
def test_what_cannot_run_is_refused_before_anything_is_written(tmp_path, change, sentence):
    with pytest.raises(ValueError, match=r"\A[^\n]*\Z") as refused:
        run(replace(RECIPE, **change), out=tmp_path / "mini")
    assert sentence in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_no_cell_reads_the_tasks_source_again(tmp_path, monkeypatch):
    """The problems travel with the work: a node of a cluster has no folder of ours."""
    loaded = []

    def counted(*args, **kwargs):
        loaded.append(args)
        return splits(*args, **kwargs)

    monkeypatch.setattr("erce.study.demonstrations.splits", counted)
    cell_splits.cache_clear()
    problems = {"mini-sums": cell_splits(RECIPE, "mini-sums")}
    cell_splits.cache_clear()
    work = pickle.loads(pickle.dumps(Work(tmp_path, RECIPE, partial(run_cell, problems=problems))))
    work.run(work.root, work.recipe, RECIPE.cells()[0])
    assert len(loaded) == 1
