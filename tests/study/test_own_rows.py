"""`erce sample`: a model's own right answers as rows that trainers take."""

import json
import shutil
from dataclasses import replace

import pytest
from toys.recipes import tiny_recipe

import erce.study.run
from erce.cli.main import main
from erce.errors import CellsFailedError, DivergedError, InputError
from erce.files import read_json, write_json
from erce.hf.models import load_tokenizer
from erce.hf.prompt import training_rows
from erce.recipe import OwnSamples
from erce.study.demonstrations import cell_splits, demonstrations
from erce.study.folder import cell_folder
from erce.study.freshness import refuse_other_adapter
from erce.study.own_rows import OwnRows, sample
from erce.study.provenance import weights_digest
from erce.study.run import run

RECIPE = tiny_recipe(
    lams=(0.0,), methods=("self",), n_train=24, n_validation=1, n_test=1, own=OwnSamples(samples=3, keep=2)
)


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def sampled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sample")
    return folder, sample(RECIPE, folder / "rows.jsonl", out=folder / "runs")


def test_rows_are_what_the_arm_self_learns_and_a_study_reads_the_same_samples(sampled):
    folder, written = sampled
    cells = folder / "runs" / "cells"
    assert [path.name.rpartition("-")[0] for path in cells.iterdir()] == ["mini-sums-own"]
    completions = next(cells.iterdir()) / "completions.jsonl"
    before = completions.stat().st_mtime_ns
    [cell] = [cell for cell in RECIPE.cells() if cell.method == "self"]
    learned = demonstrations(folder / "runs", RECIPE, cell, cell_splits(RECIPE, "mini-sums"))
    rows = read(folder / "rows.jsonl")
    assert [(row["prompt"][0]["content"], row["completion"][0]["content"]) for row in rows] == [
        (problem.prompt, problem.demonstration) for problem in learned
    ]
    assert {row["source"] for row in rows} == {"own"}
    assert written.rows == len(rows) > 0
    run(RECIPE, out=folder / "runs")
    assert completions.stat().st_mtime_ns == before


def test_rows_have_the_tokens_that_a_study_trains_on(sampled):
    folder, _ = sampled
    tokenizer = load_tokenizer("tiny")
    [cell] = [cell for cell in RECIPE.cells() if cell.method == "self"]
    learned = demonstrations(folder / "runs", RECIPE, cell, cell_splits(RECIPE, "mini-sums"))
    for row, ours in zip(read(folder / "rows.jsonl"), training_rows(tokenizer, learned, None), strict=True):
        text = tokenizer.apply_chat_template([*row["prompt"], *row["completion"]], tokenize=False)
        ids = tokenizer.encode(text, add_special_tokens=False)
        assert ids[: len(ours["input_ids"])] == ours["input_ids"]


def test_the_command_adds_the_given_demonstrations_and_says_what_was_sampled(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    sizes = ["--set", "n_train=12", "--set", "n_test=1", "--set", "n_validation=1"]
    command = [
        "sample",
        "mini",
        "rows.jsonl",
        *sizes,
        "--samples",
        "2",
        "--keep",
        "1",
        "--with-demonstrations",
    ]
    assert main(command) == 0
    rows = read(tmp_path / "rows.jsonl")
    assert [row["source"] for row in rows].count("given") == 12
    printed = " ".join(capsys.readouterr().out.split())
    assert "Of 24 samples (" in printed
    assert f"{len(rows)} rows in rows.jsonl" in printed
    assert main(["sample", "mini", "rows.json"]) == 2
    assert "'rows.json' does not end in .jsonl" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("with_one", "advice"),
    [(0.7, "own answers alone"), (0.5, "--with-demonstrations"), (0.2, "sample from that model (--adapter)")],
)
def test_the_advice_goes_by_how_many_problems_have_a_right_answer(with_one, advice):
    assert advice in str(OwnRows(rows=1, samples=8, tokens=None, right=0.1, with_one=with_one, mixed=0.1))


def test_samples_that_are_all_cut_off_are_said_to_be_and_write_no_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    sizes = ["--set", "n_train=3", "--set", "n_test=1", "--set", "n_validation=1", "--samples", "2"]
    assert main(["sample", "mini", "rows.jsonl", *sizes, "--set", "decoding.max_new_tokens=2"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "no sample is right, so 'rows.jsonl' was not written. Of 6 samples (12 tokens) 0.0 %" in said
    assert "100.0 % were cut off at max_new_tokens" in said
    assert "Raise max_new_tokens in [decoding] first" in said
    assert not (tmp_path / "rows.jsonl").exists()


def test_sampling_leaves_the_grid_of_a_finished_study_as_it_is(sampled, tmp_path):
    folder = shutil.copytree(sampled[0], tmp_path / "copy")
    settings = folder / "runs" / "study.json"
    write_json(settings, read_json(settings) | {"methods": ["self", "dft"], "seeds": [0, 1]})
    before = settings.read_bytes()
    sample(RECIPE, folder / "again.jsonl", out=folder / "runs")
    assert settings.read_bytes() == before
    assert read(folder / "again.jsonl") == read(folder / "rows.jsonl")


def test_an_adapter_samples_in_the_base_models_place(sampled, tmp_path):
    folder, _ = sampled
    run(RECIPE, out=folder / "runs")
    [adapter] = (folder / "runs").glob("cells/mini-sums-self-*/adapter")
    recipe = tiny_recipe(
        lams=(0.0,),
        methods=("self",),
        n_train=24,
        n_validation=1,
        n_test=1,
        own=OwnSamples(samples=3, keep=2, adapter=str(adapter)),
    )
    sample(recipe, tmp_path / "rows.jsonl", out=tmp_path / "runs")
    [cell] = (tmp_path / "runs" / "cells").iterdir()
    trained = json.loads((adapter.parent / "cell.json").read_text(encoding="utf-8"))
    assert json.loads((cell / "cell.json").read_text(encoding="utf-8"))["adapter"] == trained["adapter"]


def test_a_file_that_is_no_json_lines_is_refused_before_anything_is_sampled(tmp_path):
    with pytest.raises(InputError, match=r"does not end in \.jsonl"):
        sample(RECIPE, tmp_path / "rows.csv", out=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_an_adapter_that_changed_after_it_sampled_is_refused_and_no_cell_of_the_study_is_touched(
    sampled, tmp_path
):
    root = shutil.copytree(sampled[0] / "runs", tmp_path / "runs")
    (tmp_path / "adapter").mkdir()
    recipe = replace(RECIPE, own=replace(RECIPE.own, adapter=str(tmp_path / "adapter")))
    with pytest.raises(InputError, match=r"adapter' is no folder with an adapter_config\.json; correct it"):
        refuse_other_adapter(
            tmp_path, replace(RECIPE, own=replace(RECIPE.own, adapter=str(tmp_path / "adapter")))
        )
    (tmp_path / "adapter" / "adapter_config.json").write_text("{}")
    (tmp_path / "adapter" / "adapter_model.safetensors").write_bytes(b"1")
    folder = cell_folder(root, recipe, recipe.own_cells[0])
    write_json(folder / "cell.json", {"adapter": weights_digest(tmp_path / "adapter")})
    refuse_other_adapter(root, recipe)
    (tmp_path / "adapter" / "adapter_model.safetensors").write_bytes(b"2")
    with pytest.raises(InputError, match=r"has changed since it sampled for .*; name another, or delete"):
        run(recipe, out=root)


def test_sampling_alone_leaves_verdicts_of_another_verifier_to_the_run_that_verifies_them_again(
    tmp_path, capsys
):
    study = run(replace(RECIPE, methods=("self",)), out=tmp_path / "runs")
    [cell] = [cell for cell in study.results if cell.lam == 0 and cell.method != "self"]
    path = study.folder(cell) / "cell.json"
    write_json(path, read_json(path) | {"verifier": "an older one"})
    sample(RECIPE, tmp_path / "rows.jsonl", out=tmp_path / "runs")
    assert "verified again" not in capsys.readouterr().err
    assert (study.folder(cell) / "result.json").is_file()


def test_a_model_that_diverged_is_named_again_by_the_second_command(tmp_path, monkeypatch):
    def training(*given, **settings):
        raise DivergedError("the training diverged at step 3: objective nan")

    monkeypatch.setattr(erce.study.run, "run_cell", training)
    recipe = replace(RECIPE, lams=(0.0, 8.0), own=OwnSamples(samples=3, lam=8.0))
    with pytest.raises(CellsFailedError, match="lam8-seed0: DivergedError"):
        sample(recipe, tmp_path / "rows.jsonl", out=tmp_path / "runs")
    with pytest.raises(InputError, match=r"a model that \[own\] lam names diverged in training"):
        sample(recipe, tmp_path / "rows.jsonl", out=tmp_path / "runs")
