"""VerifiedAccuracy logs what `evaluate` measures, in three trainers, and leaves the training as it was."""

import json
import random
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from toys import training as toy
from transformers import EarlyStoppingCallback, Trainer, TrainingArguments
from trl import SFTConfig, SFTTrainer

import erce
from erce.errors import InputError
from erce.evaluation.callback import VerifiedAccuracy
from erce.types import Completion, Problem

ASKED = [{"prompt": [{"role": "user", "content": f"Say {number}."}], "answer": number} for number in range(3)]
GENERATES = {"samples": 2, "max_new_tokens": 6}
EVALUATES = {"eval_strategy": "steps", "eval_steps": 1, "max_steps": 3, "learning_rate": 1e-2}
ROWS = toy.SCORED[:4]


def is_even(problem: Problem, completion: Completion) -> bool:
    return len(completion.text) % 2 == 0


def trainer_of(kind: str, folder: Path, *, policy: Any = None, **settings: Any) -> Any:
    """A trainer of three, on the same rows."""
    policy = toy.model() if policy is None else policy
    data = {"train_dataset": toy.dataset(ROWS), "eval_dataset": settings.pop("eval_data", toy.dataset(ROWS))}
    if kind == "transformers":
        quiet = {name: settings.pop(name, value) for name, value in toy.common(folder).items()}
        quiet.pop("dataset_kwargs")
        args = TrainingArguments(**quiet | settings, use_cpu=True, remove_unused_columns=False)
        return Trainer(policy, args, data_collator=toy.batch, processing_class=toy.tokenizer(), **data)
    if kind == "TRL":
        args = SFTConfig(**toy.common(folder, **settings), **toy.ON_A_CPU)
        return SFTTrainer(policy, args, processing_class=toy.tokenizer(), **data)
    return erce.ERCETrainer(
        policy, toy.config(folder, entropy_penalty=1.0, **settings), processing_class=toy.tokenizer(), **data
    )


@pytest.mark.parametrize("kind", ["ERCE", "TRL", "transformers"])
def test_every_evaluation_logs_what_evaluate_measures(kind, tmp_path):
    trainer = trainer_of(kind, tmp_path, **EVALUATES, eval_on_start=True)
    verified = VerifiedAccuracy(trainer, ASKED, is_even, **GENERATES)
    trainer.add_callback(verified)
    trainer.train()
    logged = [entry for entry in trainer.state.log_history if "eval_verified" in entry]
    assert [entry["step"] for entry in logged] == [0, 1, 2, 3]
    wanted = erce.evaluate(trainer.model, toy.tokenizer(), ASKED, is_even, **GENERATES)
    measured = {f"eval_{name}": number for name, number in wanted.metrics().items()}
    assert list(measured) == [
        *("eval_verified", "eval_verified_sampled", "eval_pass@2"),
        *("eval_mixed", "eval_cut_off", "eval_mean_tokens"),
    ]
    assert {name: logged[-1][name] for name in measured} == measured
    assert verified.last.verified == wanted.verified
    returned = trainer.evaluate()
    assert {name: returned[name] for name in measured} == measured


def test_completions_with_their_verdicts_are_in_the_output_folder(tmp_path):
    trainer = trainer_of("ERCE", tmp_path, **EVALUATES)
    trainer.add_callback(VerifiedAccuracy(trainer, ASKED, is_even, **GENERATES))
    trainer.train()
    files = sorted((tmp_path / "completions").iterdir())
    assert [file.name for file in files] == [f"step-00000{step}.jsonl" for step in (1, 2, 3)]
    rows = [json.loads(line) for line in files[-1].read_text(encoding="utf-8").splitlines()]
    assert [(row["step"], row["decoding"], row["problem"]) for row in rows[:2]] == [
        (3, "greedy", "row-1"),
        (3, "greedy", "row-2"),
    ]
    assert len(rows) == len(ASKED) * (1 + GENERATES["samples"])
    assert all(row["accepted"] is (len(row["completion"]) % 2 == 0) for row in rows)


@pytest.mark.parametrize("kind", ["ERCE", "TRL", "transformers"])
def test_a_training_has_the_bits_that_it_has_without_the_callback(kind, tmp_path):
    def meddling(problem: Problem, completion: Completion) -> bool:
        torch.manual_seed(0)
        random.seed(0)
        return True

    trained = []
    for name in ("with", "without"):
        torch.manual_seed(3)
        policy = toy.adapter_on(toy.model(), lora_dropout=0.5).float()
        trainer = trainer_of(kind, tmp_path / name, policy=policy, **EVALUATES, seed=5)
        if name == "with":
            trainer.add_callback(VerifiedAccuracy(trainer, ASKED, meddling, **GENERATES))
        trainer.train()
        losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
        trained.append((losses, {n: w.detach().clone() for n, w in policy.named_parameters()}))
    assert len(trained[0][0]) == 3
    assert trained[0][0] == trained[1][0]
    for weight, other in zip(trained[0][1].values(), trained[1][1].values(), strict=True):
        assert torch.equal(weight, other)


RIGHT = {1: 1, 2: 3, 3: 0, 4: 2, 5: 0, 6: 0}  # step → how many problems the verifier accepts


@pytest.mark.parametrize("kind", ["ERCE", "TRL", "transformers"])
def test_the_best_checkpoint_and_early_stopping_follow_eval_verified(kind, tmp_path):
    settings = EVALUATES | {
        "max_steps": 6,
        "save_strategy": "steps",
        "save_steps": 1,
        "metric_for_best_model": "eval_verified",
        "load_best_model_at_end": True,
    }
    trainer = trainer_of(kind, tmp_path, **settings)
    trainer.add_callback(EarlyStoppingCallback(early_stopping_patience=2))  # before ours, as in any script

    def as_planned(problem: Problem, completion: Completion) -> bool:
        return int(problem.answer) < RIGHT.get(trainer.state.global_step, 3)

    trainer.add_callback(VerifiedAccuracy(trainer, ASKED, as_planned, max_new_tokens=2))
    trainer.train()
    assert trainer.state.best_model_checkpoint.endswith("checkpoint-2")
    assert trainer.state.best_metric == 1.0
    assert trainer.state.global_step == 4  # two evaluations after the best
    best = type(trainer.model).from_pretrained(tmp_path / "checkpoint-2")
    assert torch.equal(trainer.model.lm_head.weight, best.lm_head.weight)


def test_several_evaluation_sets_are_one_evaluation_of_the_problems(tmp_path):
    sets = {"first": toy.dataset(ROWS[:2]), "second": toy.dataset(ROWS[2:])}
    trainer = trainer_of("ERCE", tmp_path, **EVALUATES, eval_data=sets)
    trainer.add_callback(VerifiedAccuracy(trainer, ASKED, is_even, max_new_tokens=2))
    trainer.train()
    assert len([entry for entry in trainer.state.log_history if "eval_verified" in entry]) == 3
    assert {"eval_first_loss", "eval_second_loss", "eval_verified"} <= trainer.evaluate().keys()
    assert "eval_verified" not in trainer.evaluate(sets["first"], metric_key_prefix="test")


def test_trackers_with_tables_get_the_completions(tmp_path, monkeypatch):
    logged: list[Any] = []
    wandb = SimpleNamespace(Table=lambda columns, data: (columns, data), log=logged.append)
    experiment = SimpleNamespace(log_table=lambda name, **table: logged.append({name: table}))
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    monkeypatch.setitem(sys.modules, "comet_ml", SimpleNamespace(get_running_experiment=lambda: experiment))
    trainer = trainer_of("ERCE", tmp_path)
    trainer.add_callback(VerifiedAccuracy(trainer, ASKED, is_even, max_new_tokens=2))
    trainer.args.report_to = ["wandb", "comet_ml"]
    trainer.evaluate()
    (columns, values), table = logged[0]["completions"], logged[1]["completions.csv"]
    assert columns[:4] == ["step", "decoding", "problem", "sample"]
    assert len(values) == len(ASKED)
    assert table == {"tabular_data": values, "headers": columns}


def test_what_cannot_be_verified_is_refused_before_any_step(tmp_path):
    trainer = trainer_of("ERCE", tmp_path)
    with pytest.raises(InputError, match="row-1', which has no answer and no tests"):
        VerifiedAccuracy(trainer, [{"prompt": "a"}], "number")
    with pytest.raises(InputError, match="no setting 'sample'; did you mean 'samples'"):
        VerifiedAccuracy(trainer, ASKED, is_even, sample=2)
    trainer.add_callback(VerifiedAccuracy(trainer, ASKED, is_even, max_new_tokens=2))
    with pytest.raises(InputError, match="has a VerifiedAccuracy, which logs by the same names; keep one"):
        VerifiedAccuracy(trainer, ASKED, is_even)
    trainer.pop_callback(VerifiedAccuracy)
    trainer.is_fsdp_enabled = True
    with pytest.raises(
        InputError, match=r"FSDP and DeepSpeed ZeRO-3 shard the weights, .*; use DDP, or eval"
    ):
        VerifiedAccuracy(trainer, ASKED, is_even)
    trainer.is_fsdp_enabled, trainer.processing_class = False, None
    with pytest.raises(InputError, match="the trainer has no tokenizer; give it processing"):
        VerifiedAccuracy(trainer, ASKED, is_even)


@pytest.mark.parametrize("columns", [{"prompt": ASKED[0]["prompt"]}, {"messages": ASKED[0]["prompt"]}])
def test_texts_are_warned_of_where_training_has_messages(tmp_path, columns):
    trainer, texts = trainer_of("ERCE", tmp_path, max_steps=1), [{"prompt": "Say 1.", "answer": 1}]
    VerifiedAccuracy(
        trainer, texts, is_even, **GENERATES
    )  # without a column it is not known what training has
    trainer.train_dataset = toy.dataset([ROWS[0] | columns])
    VerifiedAccuracy(trainer, ASKED, is_even, **GENERATES)
    with pytest.warns(UserWarning, match="training's prompts are messages and these problems' are texts"):
        VerifiedAccuracy(trainer, texts, is_even, **GENERATES)
    trainer.train_dataset = toy.dataset([ROWS[0] | {"prompt": "Say 1."}])
    VerifiedAccuracy(trainer, texts, is_even, **GENERATES)


def test_a_training_that_never_evaluates_is_told_so(tmp_path):
    trainer = trainer_of("ERCE", tmp_path, max_steps=1)
    trainer.add_callback(VerifiedAccuracy(trainer, ASKED, is_even, max_new_tokens=2))
    with pytest.warns(UserWarning, match="VerifiedAccuracy has nothing to do in a training with eval_strat"):
        trainer.train()
