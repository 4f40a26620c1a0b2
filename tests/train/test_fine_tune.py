"""One cell's fine-tuning: the seed decides, the base model stays, the folder is whole or absent."""

import json
import math
import os
import random
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from peft import PeftModel, get_peft_model_state_dict
from safetensors.torch import load_file
from toys import FINDS_TOYS
from toys import training as toy
from transformers import TrainerCallback
from transformers.integrations import integration_utils

from erce.errors import DivergedError
from erce.events import listening
from erce.hf.models import BasePolicy, adapted
from erce.hf.prompt import training_rows
from erce.recipe import Objective, Training
from erce.train.fine_tune import fine_tune
from erce.types import Problem

PROBLEMS = [
    Problem(id=str(i), prompt=f"{i}+{i}=", demonstration=f"{2 * i} #{'#' * (i % 5)} {2 * i}")
    for i in range(11)
]
TRAINING = Training(
    epochs=2.0, learning_rate=1e-2, batch_size=4, micro_batch_size=2, rank=4, lora_alpha=8, max_length=64
)


def tune(folder: Path, *, model: Any = None, problems: Any = PROBLEMS, seed: int = 0, **changes: Any):
    training = replace(TRAINING, **changes.pop("training", {}))
    return fine_tune(
        BasePolicy(toy.model() if model is None else model, toy.tokenizer()),
        problems,
        objective=Objective(**{"lam": 1.0} | changes),
        training=training,
        seed=seed,
        folder=folder,
    )


@pytest.fixture(scope="module")
def usual(tmp_path_factory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("usual") / "adapter"
    return tune(folder) | {"folder": folder}


def bits(folder: Path) -> bytes:
    return (folder / "adapter_model.safetensors").read_bytes()


def test_a_tracker_gets_every_log_entry_under_the_cells_name(tmp_path, monkeypatch):
    seen = []

    class Tracker(TrainerCallback):
        def on_log(self, args, state, control, logs=None, **_):
            seen.append((args.run_name, args.project, logs.get("objective")))

    monkeypatch.setitem(integration_utils.INTEGRATION_TO_CALLBACK, "trackio", Tracker)
    summary = tune(tmp_path / "sums-lam1-seed0" / "adapter", training={"report_to": "trackio"})
    logged = [entry["objective"] for entry in summary["log"]]
    assert seen[: len(logged)] == [("sums-lam1-seed0", "erce", objective) for objective in logged]


def test_the_seed_alone_decides_the_adapter(tmp_path):
    base = toy.model()
    for name, seed in (("a", 1), ("b", 0), ("c", 1)):
        tune(tmp_path / name, model=base, seed=seed)
        torch.rand(7)  # what happens in between has no say
    assert bits(tmp_path / "a") == bits(tmp_path / "c") != bits(tmp_path / "b")


@pytest.mark.slow
def test_a_fresh_process_gives_the_same_adapter(tmp_path):
    for seed in (3, 1):
        tune(tmp_path / str(seed), seed=seed)
    code = "import sys, pathlib, train.test_fine_tune as t; t.tune(pathlib.Path(sys.argv[1]), seed=1)"
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "fresh")],
        env=os.environ | FINDS_TOYS,
        check=True,
        capture_output=True,
    )
    assert bits(tmp_path / "fresh") == bits(tmp_path / "1")


def test_a_stopped_training_goes_on_from_its_checkpoint_with_the_same_bits(tmp_path):
    """Stopped in the middle of an epoch, and once more in the next; then memory is free for more rows."""
    settings = {"dropout": 0.1, "checkpoint_minutes": 1e-9, "epochs": 3.0}
    whole = tune(tmp_path / "whole", training=settings)
    told, stops = [], [2, 5]

    def stop(event):
        told.append(event.done)
        if event.done in stops:
            stops.remove(event.done)
            raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt), listening(stop):
            tune(tmp_path / "stopped", training=settings)
    more_memory = settings | {"micro_batch_size": 4}
    with listening(lambda event: told.append(event.done)):
        stopped = tune(tmp_path / "stopped", training=more_memory)
    assert told == [0, 1, 2, 1, 2, 3, 4, 5, 4, 5, 6, 7, 8, 9]
    assert bits(tmp_path / "stopped") == bits(tmp_path / "whole")
    assert stopped | {"seconds": 0} == whole | {"seconds": 0}
    assert {path.name for path in tmp_path.iterdir()} == {"whole", "stopped"}


@pytest.mark.parametrize("another", ["objective", "model"])
def test_a_checkpoint_of_another_training_is_not_gone_on_from(another, tmp_path, usual):
    def stop(event):
        if event.done == 3:
            raise KeyboardInterrupt

    model = toy.model()
    if another == "model":
        with torch.no_grad():
            model.model.norm.weight[0] += 1e-3
    lam = 2.0 if another == "objective" else 1.0
    with pytest.raises(KeyboardInterrupt), listening(stop):
        tune(tmp_path / "a", model=model, lam=lam, training={"checkpoint_minutes": 1e-9})
    assert any(".checkpoint-" in path.name for path in tmp_path.iterdir())
    tune(tmp_path / "a", training={"checkpoint_minutes": 0.0})
    assert bits(tmp_path / "a") == bits(usual["folder"])
    assert {path.name for path in tmp_path.iterdir()} == {"a"}


def test_the_base_model_and_the_random_generators_are_left_as_they_were(tmp_path):
    base = toy.model()

    def state() -> list[Any]:
        weights = {
            name: (w.data_ptr(), w.requires_grad, w.detach().clone()) for name, w in base.named_parameters()
        }
        modules = [
            (name, type(m), m.training, sorted(vars(m)), len(m._forward_hooks))
            for name, m in base.named_modules()
        ]
        generators = [random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()]
        return [str(weights), modules, base.config.to_dict(), base.generation_config.to_dict(), generators]

    before = state()
    tune(tmp_path / "a", model=base)
    assert state() == before
    with pytest.raises(DivergedError, match="diverged"):
        tune(tmp_path / "b", model=base, training={"learning_rate": 1e30, "max_grad_norm": 1e30})
    assert state() == before


def test_a_training_stops_at_the_first_step_that_is_not_finite(tmp_path, monkeypatch):
    with pytest.raises(DivergedError, match="diverged at step 1: objective inf"):
        tune(tmp_path / "a", lam=1e38)
    monkeypatch.setattr("erce.train.fine_tune._refuse_divergence", lambda log: None)
    assert tune(tmp_path / "b", lam=1e38)["steps"] == 1


def test_the_objective_of_a_cell_is_trained_on(usual, tmp_path):
    told = tune(tmp_path / "a", base_loss="dft")
    first, plain = told["log"][0], usual["log"][0]
    assert (first["ce"], first["entropy"]) == (plain["ce"], plain["entropy"])
    assert first["objective"] < plain["objective"]
    assert bits(tmp_path / "a") != bits(usual["folder"])


def test_a_problems_weight_multiplies_its_loss_and_the_divisor_stays(usual, tmp_path):
    one = {"epochs": 1.0, "batch_size": 12, "learning_rate": 1e-9}
    plain = tune(tmp_path / "plain", training=one)["log"][0]
    twice = [replace(problem, weight=2.0) for problem in PROBLEMS]
    entry = tune(tmp_path / "twice", problems=twice, training=one)["log"][0]
    assert entry["loss"] == pytest.approx(2 * plain["loss"], rel=1e-5)
    for name in ("objective", "ce", "entropy", "scored_tokens"):
        assert entry[name] == pytest.approx(plain[name], rel=1e-5), name
    first = [replace(problem, weight=float(at == 0)) for at, problem in enumerate(PROBLEMS)]
    entry = tune(tmp_path / "first", problems=first, training=one)["log"][0]
    alone = tune(tmp_path / "alone", problems=PROBLEMS[:1], training=one | {"micro_batch_size": 1})["log"][0]
    weighed = alone["objective"] * alone["scored_tokens"] / plain["scored_tokens"]
    assert entry["loss"] == pytest.approx(weighed, rel=1e-5)


def test_what_is_returned_adds_up(tmp_path):
    frozen = {"learning_rate": 1e-30, "dropout": 0.0, "max_length": 30}
    told = tune(tmp_path / "a", training=frozen, lam=2.0)
    tokens, base, nll, entropy = toy.tokenizer(), toy.model().double(), [], []
    for row in training_rows(tokens, PROBLEMS, 30):
        log_p = base(input_ids=torch.tensor([row["input_ids"]])).logits[0, :-1].log_softmax(-1)
        kept = torch.tensor(row["completion_mask"][1:]) == 1
        nll.append(-log_p[kept].gather(-1, torch.tensor(row["input_ids"][1:])[kept, None]))
        entropy.append(-(log_p[kept].exp() * log_p[kept]).sum(-1))
    ce, h = torch.cat(nll).mean().item(), torch.cat(entropy).mean().item()
    wanted = {"ce": ce, "entropy": h, "objective": ce + 2 * h}
    assert {name: told[name] for name in wanted} == pytest.approx(wanted, rel=1e-6)
    assert told["truncated"] == sum(len(p.demonstration) + 1 > 30 - 19 - len(p.prompt) for p in PROBLEMS) == 9
    assert told["tokens"] == 2 * len(torch.cat(nll))
    assert (told["steps"], len(told["log"])) == (6, 6)  # two epochs of ⌈11 / 4⌉
    assert told["seconds"] > 0
    json.dumps(told, allow_nan=False)


def test_the_training_is_adamw_with_a_cosine_schedule_and_clipping(tmp_path):
    """Against a plain loop in float64, on batches of all problems, so that their order does not matter."""
    settings = {"epochs": 6.0, "warmup": 0.34, "max_grad_norm": 0.5, "dropout": 0.0}
    settings |= {"batch_size": 11, "micro_batch_size": 11}
    tune(tmp_path / "start", training=settings | {"learning_rate": 1e-30})
    told = tune(tmp_path / "end", training=settings)
    policy = PeftModel.from_pretrained(toy.model(), tmp_path / "start", is_trainable=True).double()
    weights = {name: weight for name, weight in policy.named_parameters() if weight.requires_grad}
    optimizer = torch.optim.AdamW(weights.values(), weight_decay=0.0)
    rows = training_rows(toy.tokenizer(), PROBLEMS, None)
    for step in range(6):
        rate = (
            step / 3 if step < 3 else 0.5 * (1 + math.cos(math.pi * (step - 3) / 3))
        )  # ⌈0.34 · 6⌉ to warm up
        assert told["log"][step]["learning_rate"] == pytest.approx(1e-2 * rate)
        optimizer.param_groups[0]["lr"] = 1e-2 * rate
        objective, tokens = torch.zeros((), dtype=torch.float64), 0
        for row in rows:
            ids, start = torch.tensor(row["input_ids"]), row["completion_mask"].index(1)
            log_p = policy(input_ids=ids[None]).logits[0, start - 1 : -1].log_softmax(-1)
            objective = objective - log_p.gather(-1, ids[start:, None]).sum() - (log_p.exp() * log_p).sum()
            tokens += len(log_p)
        optimizer.zero_grad()
        (objective / tokens).backward()
        norm = torch.nn.utils.clip_grad_norm_(weights.values(), 0.5)
        assert told["log"][step]["grad_norm"] == pytest.approx(norm.item(), rel=1e-3)
        optimizer.step()
    saved = load_file(tmp_path / "end" / "adapter_model.safetensors")
    for name, weight in get_peft_model_state_dict(policy).items():
        assert torch.allclose(saved[name].double(), weight, atol=1e-4), name


def test_the_last_epoch_alone_is_summed_up(tmp_path):
    told = tune(tmp_path / "a", training={"epochs": 3.0})
    last = told["log"][6:]
    tokens = sum(entry["scored_tokens"] for entry in last)
    assert tokens == told["tokens"] / 3
    assert told["ce"] == pytest.approx(sum(e["ce"] * e["scored_tokens"] for e in last) / tokens)


def test_the_adapter_is_what_the_training_made(tmp_path):
    base = toy.model()
    told = tune(tmp_path / "a", model=base, training={"epochs": 12.0})
    rows = training_rows(toy.tokenizer(), PROBLEMS, None)

    def ce(policy: Any) -> float:
        with torch.no_grad():
            logits = [policy(input_ids=torch.tensor([row["input_ids"]])).logits[0, :-1] for row in rows]
        masks = [torch.tensor(row["completion_mask"][1:]) == 1 for row in rows]
        targets = [torch.tensor(row["input_ids"][1:])[mask] for row, mask in zip(rows, masks, strict=True)]
        kept = [logit[mask] for logit, mask in zip(logits, masks, strict=True)]
        return torch.nn.functional.cross_entropy(torch.cat(kept), torch.cat(targets)).item()

    before = ce(base)
    with adapted(base, tmp_path / "a") as policy:
        assert ce(policy) == pytest.approx(told["ce"], rel=0.05)
        assert ce(policy) < 0.8 * before
    with adapted(base, None) as policy:
        assert ce(policy) == before
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == [
        "README.md",
        "adapter_config.json",
        "adapter_model.safetensors",
    ]
    text = (tmp_path / "a" / "README.md").read_text(encoding="utf-8")
    assert f"## Objective\n\nTrained with erce {version('erce')} to minimise `cross-entropy`" in text
    weights = load_file(tmp_path / "a" / "adapter_model.safetensors")
    assert len(weights) == 2 * 7 * 2  # A and B of the seven projections of two layers


@pytest.mark.slow
def test_an_adapter_half_written_is_no_adapter(tmp_path, monkeypatch):
    def full(*_: Any) -> None:
        raise OSError("No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr("erce.train.fine_tune.save_file", full)
        with pytest.raises(OSError, match="No space"):
            tune(tmp_path / "a")
    assert not (tmp_path / "a").exists()
    tune(tmp_path / "a")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize(
    "changes",
    [
        {"learning_rate": 1e-3},
        pytest.param({"warmup": 0.5}, marks=pytest.mark.slow),
        pytest.param({"max_grad_norm": 1e-4}, marks=pytest.mark.slow),
        {"dropout": 0.0},
        pytest.param({"rank": 2}, marks=pytest.mark.slow),
        pytest.param({"lora_alpha": 2}, marks=pytest.mark.slow),
        {"normalize": "sequence"},
        pytest.param({"head": "trl"}, marks=toy.TRLS_HEAD),
        pytest.param({"gradient_checkpointing": True}, marks=pytest.mark.slow),
        pytest.param({"micro_batch_size": 4}, marks=pytest.mark.slow),
        {"epochs": 1.5},
        {"max_length": None},
    ],
    ids=str,
)
def test_every_setting_reaches_the_training(changes, usual, tmp_path):
    told = tune(tmp_path / "a", training=changes)
    assert (told["log"] == usual["log"]) == (
        changes in ({"gradient_checkpointing": True}, {"max_length": None})
    )
    assert told["steps"] == (5 if "epochs" in changes else 6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"problems": []}, "there is no problem to train on; give at least one"),
        ({"training": {"batch_size": 5}}, "batch_size = 5 is not a multiple of micro_batch_size = 2"),
        ({"training": {"max_length": 23}}, "problem '0' has 23 tokens and fills max_length = 23; raise"),
        ({"penalty": "entropy"}, "no penalty 'entropy'"),
    ],
)
def test_what_cannot_be_trained_is_one_sentence_and_leaves_nothing(call, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        tune(tmp_path / "a", **call)
    assert list(tmp_path.iterdir()) == []


def test_an_adapter_that_is_there_is_not_trained_over(tmp_path):
    tune(tmp_path / "a")
    before = bits(tmp_path / "a")
    with pytest.raises(ValueError, match="exists; delete it to train again"):
        tune(tmp_path / "a", seed=1)
    assert bits(tmp_path / "a") == before
