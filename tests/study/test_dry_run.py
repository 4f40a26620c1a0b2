"""What a dry run says: equal to what a run then does, computed from what is here, and silent on disk."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import huggingface_hub.constants
import pytest
from toys.recipes import tiny_recipe

from erce.cli.main import main
from erce.errors import InputError
from erce.files import read_json, read_rows
from erce.recipe import Decoding, OwnSamples, Recipe, Resources, Training
from erce.study import forecast
from erce.study.budget import limits, steps
from erce.study.dry_run import dry_run as of_device
from erce.study.folder import cell_folder
from erce.study.forecast import Speed
from erce.study.memory import PUBLIC
from erce.study.run import run
from erce.tasks import TASKS
from erce.types import Pools, Problem

RECIPE = tiny_recipe(
    control="mini-sums-answer-only",
    n_train=13,
    n_validation=3,
    training=Training(epochs=2.0, batch_size=8, micro_batch_size=4, max_length=40),
    decoding=Decoding(samples=2, temperatures=(0.5,), max_new_tokens=6, batch_size=5),
)
BIG = Recipe(task="gsm8k", lams=(0.0, 8.0), seeds=(0,), model="nobody/has-this")
BIG_HERE = replace(RECIPE, control=None, model=BIG.model)  # problems of this machine
NOWHERE = Path("runs/none")


def dry_run(*args, device: str | None = "h100", speed: Speed | None = None, **settings) -> list[str]:
    """A dry run for a GPU that is elsewhere, of this speed if there is one."""
    with pytest.MonkeyPatch.context() as patch:
        if speed is not None:
            patch.setattr(forecast, "_known_speed", lambda *_, **__: speed)
        return of_device(*args, device=device, **settings)


@pytest.fixture(autouse=True)
def known_but_not_here(monkeypatch):
    """The paper's model under a name that no machine has in its cache, and no hub to wait for."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setitem(PUBLIC, BIG.model, PUBLIC["Qwen/Qwen2.5-1.5B-Instruct"])


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return run(RECIPE, out=tmp_path_factory.mktemp("plan") / "mini")


def numbers(line: str) -> list[int]:
    """The whole numbers in a line, λ and temperatures aside."""
    return [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", line)]


def lines_of(lines: list[str], word: str) -> list[str]:
    return [line for line in lines if line.startswith(f"  {word} ")]


def test_the_cells_steps_and_trained_tokens_are_those_of_the_run(finished):
    lines = dry_run(RECIPE, NOWHERE)
    # of the 6 cells the control's at the chosen λ does not run where validation chooses 0
    assert lines[0] == f"{NOWHERE}: 6 cells; a dry run, nothing is written"
    assert len(list((finished.root / "cells").iterdir())) == len(finished.expected) in (5, 6)
    planned = dict(zip(RECIPE.tasks, lines_of(lines, "training"), strict=True))
    for cell in finished.expected:
        if cell.lam is not None:
            trained = read_json(cell_folder(finished.root, RECIPE, cell) / "training.json")
            of_steps, scored, _, _, *truncated = numbers(planned[cell.task])
            done = (trained["steps"], trained["tokens"], trained["truncated"])
            assert (of_steps, scored, sum(truncated)) == done
    assert any("cut off there" in line for line in planned.values())


def test_the_completions_are_those_of_the_run_and_within_the_tokens_at_most(finished):
    planned = [numbers(line) for line in lines_of(dry_run(RECIPE, NOWHERE), "sampling")]
    plain, swept = (planned[0], planned[1]) if len(planned) == 3 else (None, planned[0])
    for cell in finished.expected:
        rows = list(read_rows(cell_folder(finished.root, RECIPE, cell) / "completions.jsonl"))
        has_sweep = any(row["decoding"] == "T0.5" for row in rows)
        of_cell = (swept if has_sweep else plain) if cell.task == RECIPE.task else planned[-1]
        _, completions, _, most = of_cell or planned[-1]
        assert len(rows) == completions
        assert sum(row["tokens"] for row in rows) <= most


def test_own_answers_are_counted_as_if_each_kept_sample_were_accepted():
    plain = tiny_recipe(n_train=16)
    arms = replace(plain, methods=("rft + 1", "self"), own=OwnSamples(samples=6, keep=3))
    before, after = dry_run(plain, NOWHERE), dry_run(arms, NOWHERE)
    of_training = numbers(lines_of(before, "training")[0])[0]
    assert numbers(lines_of(before, "in all")[0])[0] == 2 * of_training
    assert numbers(lines_of(after, "in all")[0])[0] == (2 + (1 + 3) + 3) * of_training
    assert "  sampling  1 cell of training problems, each: 96 completions" in "\n".join(after)
    [cells] = lines_of(after, "cells")
    assert cells.startswith("  cells     6: own samples, the base model, and λ = 0, 1 and rft + 1 and self")
    assert after[0].startswith(f"{NOWHERE}: 6 cells")
    assert "rft and self: counted as if every problem had 3 accepted samples, the most" in after[-1]
    fewer = dry_run(replace(arms, own=OwnSamples(samples=2)), NOWHERE)
    assert numbers(lines_of(fewer, "in all")[0])[0] == (2 + 3 + 2) * of_training


def test_only_what_is_not_done_takes_time_and_as_long_as_what_is_done_took(finished):
    cells = len(finished.expected)
    done = dry_run(RECIPE, finished.root, device="cpu")
    assert f"{cells} cells, {cells} of them done" in done[0]
    assert not lines_of(done, "time")
    more = replace(RECIPE, seeds=(0, 1))
    lines = dry_run(more, finished.root, device="cpu")
    [line] = lines_of(lines, "time")
    assert re.search(r"on this machine for the \d cells that are not done: training \d", line)
    assert f"as fast as the {cells} cells that are done" in lines[lines.index(line) + 1]


def test_a_temperature_that_no_cell_was_sampled_at_yet_does_not_make_the_done_cells_faster(
    finished, monkeypatch
):
    speeds, known = [], forecast._known_speed
    monkeypatch.setattr(forecast, "_known_speed", lambda *a, **k: speeds.append(known(*a, **k)) or speeds[-1])
    for temperatures in (0.5,), (0.5, 1.0):
        decoding = replace(RECIPE.decoding, temperatures=temperatures)
        dry_run(replace(RECIPE, seeds=(0, 1), decoding=decoding), finished.root, device="cpu")
    assert speeds[0] == speeds[1]


def test_a_folder_that_a_run_would_refuse_is_refused(finished):
    with pytest.raises(InputError, match=r"holds another study .*choose another folder with --out"):
        dry_run(replace(RECIPE, decoding=replace(RECIPE.decoding, samples=7)), finished.root)


def test_the_time_of_a_half_done_study_is_that_of_the_tokens_that_are_left(finished, tmp_path):
    root = tmp_path / "mini"
    shutil.copytree(finished.root, root)
    read = numbers(lines_of(dry_run(RECIPE, NOWHERE), "training")[0])[2]
    cell = next(cell for cell in finished.expected if cell.lam is not None and cell.task == RECIPE.task)
    hours = []
    for name in ("result.json", "training.json"):  # sampling is left, and then the training too
        (cell_folder(root, RECIPE, cell) / name).unlink()
        [line] = lines_of(dry_run(RECIPE, root, speed=Speed(read / 36_000, 1)), "time")
        hours += [float(number or 0) for _, number in re.findall(r"training (0 s|([\d.]+) h)", line)]
    assert hours[1] - hours[0] == pytest.approx(10, abs=0.2)
    [whole] = lines_of(dry_run(RECIPE, NOWHERE, speed=Speed(read / 36_000, 1)), "time")
    assert "not done" not in whole
    assert float(re.findall(r"training ([\d.]+) h", whole)[0]) > hours[1] + 10


def test_a_cpus_hours_are_not_known_before_a_cell_is_done():
    [line] = lines_of(dry_run(RECIPE, NOWHERE, device="cpu"), "time")
    assert "unknown: a CPU's speed is known once a cell is trained; --device names a GPU" in line


@pytest.mark.parametrize(
    ("demonstrations", "epochs", "batch", "expected"),
    [(1000, 3.0, 16, 189), (126, 3.0, 16, 24), (17, 1.0, 16, 2), (16, 1.5, 16, 2), (9, 1.0, 8, 2)],
)
def test_the_last_batch_of_an_epoch_is_a_step(demonstrations, epochs, batch, expected):
    training = Training(epochs=epochs, batch_size=batch, micro_batch_size=1)
    assert steps(replace(RECIPE, training=training), demonstrations) == expected


def test_hours_are_tokens_over_a_measured_speed():
    lines = dry_run(BIG_HERE, NOWHERE)
    read = numbers(lines_of(lines, "in all")[0])[1]
    assert read == 2 * numbers(lines_of(lines, "training")[0])[2]
    sampled = [numbers(line) for line in lines_of(lines, "sampling")]
    expected, most = (sum(of[0] * of[at] for of in sampled) for at in (2, 3))
    measured = dry_run(BIG_HERE, NOWHERE, speed=Speed(read / 7200, expected / 10_800))
    [line] = lines_of(measured, "time")
    assert "5.0 h on one h100: training 2.0 h, generation 3.0 h" in line
    assert f"({3 * most / expected:.1f} h if every completion is cut off at its limit)" in line


def test_an_h100s_hours_are_those_that_one_showed_and_other_devices_go_by_their_peaks():
    (slow, basis), (fast, _) = (dry_run(BIG, NOWHERE, device=name)[-4:-2] for name in ("l4", "h100"))
    assert "on one l4: training" in slow
    assert numbers(slow)[0] > numbers(fast)[0]
    assert "from what one H100 did with a model of 1.5 B weights" in basis
    eagerly = replace(BIG, decoding=replace(BIG.decoding, compile=False))
    [eager] = lines_of(dry_run(eagerly, NOWHERE, device="h100"), "time")
    [as_measured] = lines_of(dry_run(BIG, NOWHERE, speed=Speed(4362, 589)), "time")
    assert eager.partition(" on one")[0] == as_measured.partition(" on one")[0]


@pytest.mark.parametrize(
    ("name", "time"),
    [
        ("NVIDIA H100 80GB HBM3", "on this machine: training"),
        ("NVIDIA GeForce RTX 4090", "on this machine: training"),
        ("NVIDIA GeForce RTX 3090", "unknown: no peak of"),
        ("NVIDIA L40", "unknown: no peak of"),
    ],
)
def test_a_gpu_of_this_machine_has_the_memory_that_is_free(name, time, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.get_device_name", lambda: name)
    monkeypatch.setattr("torch.cuda.mem_get_info", lambda: (20e9, 80e9))
    recipe = replace(BIG_HERE, training=Training(), decoding=Decoding())
    lines = dry_run(recipe, NOWHERE, device=None)
    assert lines_of(lines, "memory")[0].endswith(f"; {name} has 20.0 GB")
    assert "(fitted to 20.0 GB)" in lines_of(lines, "batches")[0]
    assert time in lines_of(lines, "time")[0]


@pytest.mark.parametrize(("gpus", "cards", "fitted"), [(0, 1, 20), (1, 4, 80), (0.5, 2, 40), (0.25, 1, 20)])
def test_jobs_share_the_hours_on_the_cards_whose_memory_they_share(gpus, cards, fitted):
    recipe = replace(BIG, training=Training(), decoding=Decoding(), resources=Resources(gpus=gpus))
    runs = [dry_run(recipe, NOWHERE, jobs=jobs, speed=Speed(50, 50)) for jobs in (1, 4)]
    alone, together = (lines_of(lines, "time")[0] for lines in runs)
    hours, shared = (float(re.search(r"([\d.]+) h", line)[1]) for line in (alone, together))
    assert shared == pytest.approx(hours / cards, abs=0.1)
    where = f"{cards} × h100 ({hours:.1f} h one after the other)" if cards > 1 else "one h100:"
    assert f"on {where}" in together
    assert f"(fitted to {fitted}.0 GB)" in lines_of(runs[1], "batches")[0]


def test_what_is_not_here_is_assumed_in_a_line_of_its_own():
    [note] = [line for line in dry_run(BIG_HERE, NOWHERE) if line.startswith("note")]
    assert "3 characters per token" in note
    unknown = dry_run(replace(BIG_HERE, model="nobody/nothing"), NOWHERE)
    assert not lines_of(unknown, "memory")
    assert "unknown: the size of the model is not known" in lines_of(unknown, "time")[0]
    assert "no config.json of 'nobody/nothing'" in unknown[-1]


def test_demonstrations_that_are_longer_than_an_answer_may_be_are_counted():
    short = tiny_recipe(decoding=Decoding(max_new_tokens=2))
    [note] = [line for line in dry_run(short, NOWHERE) if "longer than max_new_tokens = 2, at which" in line]
    count, of = re.search(r"mini-sums: (\d+) of (\d+) demonstrations", note).groups()
    assert count == of


def test_problems_that_are_not_here_are_assumed_from_their_means(monkeypatch):
    def offline(*_, **__):
        raise ConnectionError("offline")

    monkeypatch.setattr("datasets.load_dataset", offline)
    lines = dry_run(BIG, NOWHERE)
    assert lines[1] == "gsm8k: 1000 train, 200 validation, 500 test problems"
    assert lines_of(lines, "training")[0].startswith("  training  per cell: 189 steps")
    assert lines_of(lines, "training")[0].endswith("the longest has 768")
    note = next(line for line in lines if line.startswith("note"))
    assert "a prompt of 299 characters and a demonstration of 245, the data set's means, are assumed" in note
    assert "--data FOLDER counts the real texts" in note


def test_sizes_that_a_run_would_refuse_are_never_assumed_away(monkeypatch):
    pool = tuple(
        Problem(id=f"{n}", prompt=f"{n} {'+' * n} 2?", demonstration="#### 2", answer="2") for n in range(8)
    )
    monkeypatch.setitem(TASKS, "gsm8k", replace(TASKS["gsm8k"], pools=lambda _: Pools(pool[:6], pool[6:])))
    with pytest.raises(InputError, match="100"):
        dry_run(replace(BIG, n_train=100, n_validation=1, n_test=1), NOWHERE)


def test_a_limit_bounds_all_three_sizes_of_all_tasks():
    mini = Path(__file__).parents[2] / "recipes" / "mini.toml"
    assert limits(mini, 32) == {"n_train": 32, "n_validation": 32, "n_test": 32}
    assert limits(mini, 350) == {"n_train": 320, "n_validation": 200, "n_test": 350}
    with pytest.raises(ValueError, match="limit = 0 leaves no problems"):
        limits(mini, 0)


def test_a_limit_on_a_file_of_ones_own_goes_by_what_the_file_has(tmp_path):
    rows = [{"prompt": f"Word {n}?", "demonstration": f"{n}"} for n in range(12)]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "own.toml").write_text(
        'task = "erce.verify:verify_number"\nlams = [0]\nseeds = [0]\n', encoding="utf-8"
    )
    sizes = limits(tmp_path / "own.toml", 5, data=str(tmp_path / "own.jsonl"))
    assert sizes["n_train"] == 5
    assert 0 < sizes["n_validation"] < 5
    assert 0 < sizes["n_test"] < 5


def test_a_dry_run_prints_and_writes_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert main(["run", "mini", "--limit", "8", "--dry-run"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("runs/mini-limit8: 37 cells; a dry run, nothing is written\n")
    assert "mini-sums: 8 train, 8 validation, 8 test problems" in printed
    assert list(tmp_path.iterdir()) == []


def test_what_a_run_would_refuse_a_dry_run_refuses(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert main(["run", "mini", "--set", "training.max_length=5", "--dry-run"]) == 2
    assert "raise max_length" in capsys.readouterr().err
    assert main(["run", "gsm8k", "--data", "nowhere", "--dry-run"]) == 2
    assert "has no file train.jsonl" in capsys.readouterr().err


def test_a_missing_file_is_refused_before_the_tokenizer_is_loaded(monkeypatch):
    def loaded(model: str) -> None:
        raise AssertionError("the tokenizer is loaded first")

    monkeypatch.setattr("erce.study.dry_run.cached_tokenizer", loaded)
    recipe = replace(RECIPE, control=None, task="erce.verify.program:verify_program", data="nowhere.jsonl")
    with pytest.raises(ValueError, match=r"no file 'nowhere\.jsonl'"):
        dry_run(recipe, NOWHERE)
