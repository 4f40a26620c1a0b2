"""What a dry run says: equal to what a run then does, computed from what is here, and silent on disk."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from toys.recipes import tiny_recipe
from transformers import Qwen2Config, Qwen2ForCausalLM

from erce.cli.main import main
from erce.errors import InputError
from erce.files import read_json, read_rows
from erce.hf.models import load_model
from erce.recipe import Decoding, OwnSamples, Recipe, Training
from erce.study.folder import cell_folder
from erce.study.plan import Speed, counts, limits, plan
from erce.study.plan.architecture import PUBLIC, Architecture, find_architecture
from erce.study.plan.counts import steps
from erce.study.plan.lines import plan_lines
from erce.study.plan.needs import (
    DEVICES,
    drawing_flops,
    drawing_memory,
    layer_bytes,
    reading_flops,
    training_flops,
    training_memory,
)
from erce.study.run import run
from erce.tasks import TASKS
from erce.types import BASE_MODEL, BASELINE, Arm, Pools, Problem

RECIPE = tiny_recipe(
    control="mini-sums-answer-only",
    n_train=13,
    n_validation=3,
    training=Training(epochs=2.0, batch_size=8, micro_batch_size=4, max_length=40),
    decoding=Decoding(samples=2, temperatures=(0.5,), max_new_tokens=6, batch_size=5),
)
BIG = Recipe(task="gsm8k", lams=(0.0, 8.0), seeds=(0,), model="nobody/has-this")
BIG_HERE = replace(RECIPE, control=None, model=BIG.model)  # problems of this machine


@pytest.fixture(autouse=True)
def known_but_not_here(monkeypatch):
    """The paper's model under a name that no machine has in its cache."""
    monkeypatch.setitem(PUBLIC, BIG.model, PUBLIC["Qwen/Qwen2.5-1.5B-Instruct"])


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return run(RECIPE, out=tmp_path_factory.mktemp("plan") / "mini")


def test_the_cells_steps_and_trained_tokens_are_those_of_the_run(finished):
    planned = plan(RECIPE)
    assert (
        planned.cells == 6
    )  # of which the control's at the chosen λ does not run where validation chooses 0
    assert len(list((finished.root / "cells").iterdir())) == len(finished.expected) in (5, 6)
    for task in planned.tasks:
        assert task.arms == {BASE_MODEL: 1, BASELINE: 1, Arm(1.0): 1}
        for cell in finished.expected:
            if cell.task != task.task or cell.lam is None:
                continue
            trained = read_json(cell_folder(finished.root, RECIPE, cell) / "training.json")
            done = (trained["steps"], trained["tokens"], trained["truncated"])
            assert (task.training.steps, task.training.scored, task.training.truncated) == done
    assert sum(task.training.truncated for task in planned.tasks) > 0


def test_the_completions_are_those_of_the_run_and_within_the_tokens_at_most(finished):
    for task in plan(RECIPE).tasks:
        for cell in (cell for cell in finished.expected if cell.task == task.task):
            rows = list(read_rows(cell_folder(finished.root, RECIPE, cell) / "completions.jsonl"))
            has_frontier = any(row["decoding"] == "T0.5" for row in rows)
            work = task.frontier if has_frontier else task.drawing
            assert len(rows) == work.completions
            assert sum(row["tokens"] for row in rows) <= work.most


def test_own_answers_are_counted_as_if_each_kept_sample_were_accepted():
    plain = tiny_recipe(n_train=16)
    arms = replace(plain, objectives=("rft + 1", "self"), own=OwnSamples(samples=6, keep=3))
    (before,), (task,) = plan(plain).tasks, plan(arms).tasks
    assert (before.own, before.trained) == (None, 2)
    assert task.own.completions == 16 * 6
    assert task.trained == 2 + (1 + 3) + 3
    assert [cells for cells, _ in task.drawings] == [5, 1]
    lines = plan_lines(plan(arms), Path("runs/none"))
    assert "  own       before training: 96 completions" in "\n".join(lines)
    assert "rft and self: counted as if every problem had 3 accepted samples, the most" in lines[-1]
    assert plan(replace(arms, own=OwnSamples(samples=2))).tasks[0].trained == 2 + 3 + 2


def test_it_says_how_many_cells_are_done(finished, tmp_path):
    planned = plan(RECIPE)
    cells = len(finished.expected)
    assert f"{cells} cells, {cells} of them done" in plan_lines(planned, finished.root)[0]
    assert "6 cells; a dry run" in plan_lines(planned, tmp_path / "none")[0]


def test_on_a_cpu_the_time_is_that_of_the_cells_that_are_done(finished, tmp_path):
    more = replace(RECIPE, seeds=(0, 1))
    lines = [line for line in plan_lines(plan(more, device="cpu"), finished.root) if "  time  " in line]
    done = sum(cell.lam is not None for cell in finished.expected)
    assert len(lines) == 1
    assert re.search(rf"\d s for \d cells trained: {done} finished ones took \d+ s each", lines[0]), lines
    unknown = plan_lines(plan(more, device="cpu"), tmp_path / "none")
    assert "  time      unknown for this device; measure it and give --tokens-per-second" in unknown


def test_of_many_texts_some_are_counted_with_the_longest(monkeypatch):
    whole = plan(RECIPE)
    monkeypatch.setattr(counts, "MOST_COUNTED", 6)
    some = plan(RECIPE)
    for all_texts, part in zip(whole.tasks, some.tasks, strict=True):
        assert part.sizes == all_texts.sizes
        assert (part.training.steps, part.training.longest) == (
            all_texts.training.steps,
            all_texts.training.longest,
        )
        assert part.training.read == pytest.approx(all_texts.training.read, rel=0.1)
    assert any("texts the tokens of about 6 are counted" in note for note in some.notes)
    assert not any("are counted" in note for note in whole.notes)


@pytest.mark.parametrize(
    ("demonstrations", "epochs", "batch", "micro", "expected"),
    [
        (1000, 3.0, 16, 8, 189),
        (126, 3.0, 16, 8, 24),
        (17, 1.0, 16, 8, 2),
        (16, 1.5, 16, 2, 2),
        (9, 1.0, 8, 8, 2),
    ],
)
def test_the_last_batch_of_an_epoch_is_a_step(demonstrations, epochs, batch, micro, expected):
    training = Training(epochs=epochs, batch_size=batch, micro_batch_size=micro)
    assert steps(replace(RECIPE, training=training), demonstrations) == expected


def test_the_weights_are_counted_as_the_model_has_them():
    model = load_model("tiny")
    of = find_architecture("tiny").architecture
    assert of is not None
    assert of.weights == sum(weight.numel() for weight in model.parameters())
    adapted = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", target_modules="all-linear", r=3))
    assert of.adapter(3) == sum(w.numel() for w in adapted.parameters() if w.requires_grad)


def kept_bytes(of: Architecture, *, layers: int, rank: int, rows: int) -> int:
    """What autograd saves in a bfloat16 model with LoRA in float32, under autocast, of `rows` · 32 tokens."""
    widths: dict[str, Any] = {
        "hidden_size": of.hidden,
        "intermediate_size": of.intermediate,
        "num_hidden_layers": layers,
        "num_attention_heads": of.heads,
        "num_key_value_heads": of.kv_heads,
        "head_dim": of.head_width,
        "vocab_size": of.vocabulary,
    }
    lora = LoraConfig(task_type="CAUSAL_LM", target_modules="all-linear", r=rank, lora_dropout=0.05)
    model: Any = Qwen2ForCausalLM(Qwen2Config(**widths))
    model = get_peft_model(model.to(torch.bfloat16), lora).train()
    own = {weight.untyped_storage().data_ptr() for weight in model.parameters()}
    kept: dict[int, torch.Tensor] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.untyped_storage().data_ptr() not in own:
            kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x), torch.autocast("cpu", torch.bfloat16):
        model.get_base_model().model(torch.zeros(rows, 32, dtype=torch.long))
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values())


@pytest.mark.parametrize(
    ("hidden", "intermediate", "kv_heads", "rank"), [(128, 512, 2, 16), (64, 384, 1, 8), (256, 512, 4, 4)]
)
def test_the_activations_are_what_autograd_keeps_of_a_token_in_a_layer(hidden, intermediate, kv_heads, rank):
    widths = {"hidden": hidden, "intermediate": intermediate, "kv_heads": kv_heads}
    of = replace(PUBLIC[BIG.model], heads=4, head_width=hidden // 4, vocabulary=64, **widths)
    kept = {
        (layers, rows): kept_bytes(of, layers=layers, rank=rank, rows=rows)
        for layers in (1, 2)
        for rows in (2, 4)
    }
    a_layer = [kept[2, rows] - kept[1, rows] for rows in (2, 4)]  # with the adapter's weights, rounded once
    assert (a_layer[1] - a_layer[0]) / 64 == layer_bytes(of, rank)


def test_checkpointing_trades_activations_for_operations():
    of, often = PUBLIC[BIG.model], replace(BIG, training=Training(gradient_checkpointing=True))
    less, more = (training_memory(of, each, longest=700, width=2, sequences=8) for each in (often, BIG))
    assert less.activations < more.activations / 10
    assert (less.weights, less.adapter, less.head) == (more.weights, more.adapter, more.head)
    work = plan(BIG_HERE).tasks[0].training
    assert training_flops(of, often, work) > training_flops(of, BIG, work)


def test_the_loss_head_never_has_more_than_its_chunk_of_logits():
    of = PUBLIC[BIG.model]
    sizes = [
        training_memory(of, BIG, longest=longest, width=2, sequences=8).head for longest in (10, 500, 700)
    ]
    assert sizes == [80 * of.vocabulary * 4, 512 * 2**20, 512 * 2**20]


def test_operations_are_about_two_a_weight_and_token_forward_and_two_backward():
    of, task = PUBLIC[BIG.model], plan(BIG_HERE).tasks[0]
    trained = training_flops(of, BIG, task.training)
    assert 4 * of.body < trained / task.training.read < 4.6 * of.body
    drawn = drawing_flops(of, BIG, task.drawing, tokens=task.drawing.expected)
    assert 2 * (of.body + of.head) < drawn / task.drawing.expected < 2.2 * (of.body + of.head)
    assert 2 * of.body < reading_flops(of, BIG, task.drawing) / task.drawing.read < 2.2 * of.body


def test_the_cache_has_keys_and_values_of_every_row_and_token():
    of = PUBLIC["Qwen/Qwen2.5-7B-Instruct"]
    memory = drawing_memory(of, BIG, longest=1000, rows=64, width=2)
    assert memory.cache == 64 * 1000 * 57_344  # 2 · 28 layers · 4 heads · 128 · 2 bytes
    assert memory.total == memory.weights + memory.adapter + memory.cache + memory.step


def test_what_is_not_here_is_assumed_in_a_line_of_its_own():
    planned = plan(BIG_HERE)
    assert planned.model.where.startswith("the public values")
    assert [note for note in planned.notes if "characters a token" in note] == list(planned.notes)
    unknown = plan(replace(BIG_HERE, model="nobody/nothing"))
    assert (unknown.training_memory, unknown.drawing_memory, unknown.hours) == (None, None, None)
    assert any("no config.json of 'nobody/nothing'" in note for note in unknown.notes)


def test_problems_that_are_not_here_are_assumed_from_their_means(monkeypatch):
    def offline(*_, **__):
        raise ConnectionError("offline")

    monkeypatch.setattr("datasets.load_dataset", offline)
    planned = plan(BIG)
    assert planned.tasks[0].sizes == (1000, 200, 500)
    assert planned.tasks[0].training.steps == 189
    assert planned.tasks[0].training.longest == 768
    assert planned.notes[0].startswith(
        "gsm8k: openai/gsm8k cannot be loaded from the hub, so every prompt is assumed to have 299 "
        "characters and every demonstration 245, the data set's means; --data FOLDER counts the real texts"
    )


def test_sizes_that_a_run_would_refuse_are_never_assumed_away(monkeypatch):
    pool = tuple(
        Problem(id=f"{n}", prompt=f"{n} {'+' * n} 2?", demonstration="#### 2", answer="2") for n in range(8)
    )
    monkeypatch.setitem(TASKS, "gsm8k", replace(TASKS["gsm8k"], pools=lambda _: Pools(pool[:6], pool[6:])))
    with pytest.raises(InputError, match="100"):
        plan(replace(BIG, n_train=100, n_validation=1, n_test=1))


def test_a_refused_demonstration_is_never_assumed_away(monkeypatch):
    wrong = Problem(id="1", prompt="1 + 1?", demonstration="#### 3", answer="2")
    pool = tuple(replace(wrong, id=f"{n}", prompt=f"{n} {'+' * n} 2?") for n in range(8))
    monkeypatch.setitem(TASKS, "gsm8k", replace(TASKS["gsm8k"], pools=lambda _: Pools(pool[:6], pool[6:])))
    with pytest.raises(ValueError, match="'gsm8k': its verifier refuses the demonstration of problem"):
        plan(replace(BIG, n_train=1, n_validation=1, n_test=1))


def programs(folder: Path, *, answer: int) -> Recipe:
    """MBPP with three problems in its own form; the programs to train on give `answer` in place of 7."""
    asked = {
        601: ("that counts how many days there are from one Monday to the next", "days", answer),
        603: ("giving back the number of hills on which the city of Rome was built", "hills", answer),
        11: ("whose value is the fourth prime after an even one has been left out", "prime", 7),
    }
    rows = [
        {
            "task_id": number,
            "prompt": f"Write a function {what}.",
            "code": f"def {name}():\n    return {given}",
            "test_imports": [],
            "test_list": [f"assert {name}() == 7"],
        }
        for number, (what, name, given) in asked.items()
    ]
    (folder / "sanitized-mbpp.json").write_text(json.dumps(rows), encoding="utf-8")
    sizes = {"n_train": 1, "n_validation": 1, "n_test": 1}
    return replace(RECIPE, task="mbpp", control=None, data=str(folder), training=Training(), **sizes)


def own(folder: Path, *, answer: int) -> Recipe:
    """A file and a function of one's own; demonstrations give `answer` in place of 7."""
    what = (
        "gives seven",
        "days of a week",
        "2 · 2 + 3",
        "the wonders of antiquity",
        "pi · 2 + 0.72 …",
        "VII",
    )
    rows = [{"prompt": each, "demonstration": f"{answer}", "answer": "7"} for each in what]
    judge = "def judge(problem, completion):\n    return completion.text == problem.answer\n"
    (folder / "plan_own.py").write_text(judge, encoding="utf-8")
    (folder / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    sizes = {"n_train": None, "n_validation": None, "n_test": None}
    data = str(folder / "own.jsonl")
    return replace(RECIPE, task="plan_own:judge", control=None, data=data, training=Training(), **sizes)


@pytest.mark.filterwarnings("ignore::erce.tasks.source.ChecksumWarning")
@pytest.mark.parametrize("given", [programs, own])
def test_a_demonstration_that_a_run_would_refuse_a_dry_run_refuses_in_the_same_words(
    given, tmp_path, monkeypatch
):
    right, wrong = tmp_path / "right", tmp_path / "wrong"
    right.mkdir()
    wrong.mkdir()
    monkeypatch.syspath_prepend(right)
    assert plan(given(right, answer=7)).cells == 3
    recipe, messages = given(wrong, answer=8), []
    for door in (plan, lambda recipe: run(recipe, out=tmp_path / "study")):
        with pytest.raises(ValueError, match="its verifier refuses the demonstration of problem") as refused:
            door(recipe)
        messages.append(str(refused.value))
    assert messages[0] == messages[1]
    assert "8" in messages[0]
    assert not (tmp_path / "study").exists()


def test_a_measured_speed_replaces_the_assumed_one():
    task = plan(BIG_HERE).tasks[0]
    hours = plan(BIG_HERE, speed=Speed(training=10.0, drawing=2.0)).hours
    assert hours is not None
    assert hours.training == pytest.approx(2 * task.training.read / 10 / 3600)
    drawn = sum(cells * work.expected for cells, work in task.drawings)
    assert sum(cells for cells, _ in task.drawings) == 3
    assert hours.drawing == pytest.approx(drawn / 2 / 3600)
    assert plan(RECIPE, device="cpu").hours is None


def test_a_faster_device_takes_fewer_hours():
    slow, fast = (plan(BIG_HERE, device=name).hours for name in ("a100", "h100"))
    assert slow is not None
    assert fast is not None
    assert slow.training / fast.training == pytest.approx(989 / 312)
    with pytest.raises(ValueError, match="no device 'h1000'; there are a100"):
        plan(RECIPE, device="h1000")


def test_a_mixture_of_experts_has_no_formula(tmp_path):
    config = json.loads((Path(__file__).parents[3] / "erce/tiny/config.json").read_text(encoding="utf-8"))
    (tmp_path / "config.json").write_text(json.dumps(config | {"num_experts": 8}), encoding="utf-8")
    assert "mixture of experts" in find_architecture(str(tmp_path)).where
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    assert "fields of a dense decoder" in find_architecture(str(tmp_path)).where


def test_a_limit_bounds_all_three_sizes_of_all_tasks():
    mini = Path(__file__).parents[3] / "recipes" / "mini.toml"
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


def test_the_help_names_every_device(capsys):
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    printed = " ".join(capsys.readouterr().out.split())
    assert f"{', '.join(DEVICES)} or cpu (h100)" in printed


def test_what_a_run_would_refuse_a_dry_run_refuses(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert main(["run", "mini", "--set", "training.max_length=5", "--dry-run"]) == 2
    assert "raise max_length" in capsys.readouterr().err
    assert main(["run", "gsm8k", "--data", "nowhere", "--dry-run"]) == 2
    assert "has no file train.jsonl" in capsys.readouterr().err
