"""The trainer as a whole: what it shares with TRL's bit for bit, resuming, the first command, refusals."""

import contextlib
import hashlib
import inspect
import re
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import DatasetDict
from peft import AdaptionPromptConfig, CPTConfig, LoraConfig, get_peft_model_state_dict
from toys import training as toy
from trl import SFTConfig, SFTTrainer

from erce.train.config import ERCEConfig
from erce.train.trainer import ERCETrainer

ROWS = toy.rows([(3, 4), (2, 9), (6, 2), (1, 7), (4, 4), (5, 6), (2, 3), (8, 5)])
EVALUATED = toy.rows([(3, 4), (2, 2), (5, 8)], seed=1)


def fingerprint(trainer: SFTTrainer) -> str:
    digest = hashlib.sha256()
    for name, weight in sorted(get_peft_model_state_dict(trainer.model).items()):
        digest.update(name.encode() + weight.numpy().tobytes())
    return digest.hexdigest()


def build(trainer: type[SFTTrainer], args: Any, *, tied: bool = True, **named: Any) -> SFTTrainer:
    named = {"train_dataset": toy.dataset(ROWS), "peft_config": toy.lora(lora_dropout=0.05)} | named
    return trainer(toy.model(tied=tied), args, processing_class=toy.tokenizer(), **named)


def trained(args: ERCEConfig, **named: Any) -> SFTTrainer:
    trainer = build(ERCETrainer, args, **named)
    trainer.train()
    return trainer


RISING = {"entropy_penalty": 2.0, "entropy_schedule": "linear", "entropy_warmup": 1.0}
LONG = {"num_train_epochs": 3, "learning_rate": 1e-2, "train_sampling_strategy": "random", "seed": 3}


@toy.TRLS_HEAD
def test_without_a_penalty_trls_head_gives_trls_adapter_bit_for_bit(tmp_path):
    settings = toy.common(tmp_path, **LONG, eval_strategy="steps", eval_steps=2)
    runs = []
    for trainer, args in (
        (SFTTrainer, SFTConfig(**settings, **toy.ON_A_CPU)),
        (ERCETrainer, ERCEConfig(**settings, head="trl")),
    ):
        built = build(trainer, args, eval_dataset=toy.dataset(EVALUATED))
        before = fingerprint(built)
        built.train()
        read = [entry["num_tokens"] for entry in built.state.log_history if "num_tokens" in entry]
        runs.append((before, fingerprint(built), read))
    assert runs[0] == runs[1]
    assert runs[0][0] != runs[0][1]


@toy.TRLS_HEAD
def test_both_heads_train_the_same_adapter_up_to_rounding(tmp_path):
    adapters = [
        get_peft_model_state_dict(
            trained(toy.config(tmp_path, **LONG | RISING | {"learning_rate": 1e-3}, head=head)).model
        )
        for head in ("erce", "trl")
    ]
    for name, weight in adapters[0].items():
        assert torch.allclose(weight, adapters[1][name], rtol=0, atol=2e-5), name


def test_resuming_in_the_middle_gives_the_adapter_of_not_stopping(tmp_path):
    settings = LONG | RISING | {"save_strategy": "steps", "save_steps": 3}  # inside an epoch
    whole = trained(toy.config(tmp_path / "whole", **settings))
    resumed = build(ERCETrainer, toy.config(tmp_path / "resumed", **settings))
    resumed.train(resume_from_checkpoint=str(tmp_path / "whole" / "checkpoint-3"))
    assert whole.state.global_step == resumed.state.global_step == 6
    assert fingerprint(whole) == fingerprint(resumed)
    late = [
        [{k: v for k, v in e.items() if "runtime" not in k and "_second" not in k} for e in log[3:6]]
        for log in (whole.state.log_history, resumed.state.log_history)
    ]
    assert late[0] == late[1]
    assert [entry["step"] for entry in late[0]] == [4, 5, 6]
    assert len({entry["lam"] for entry in late[0]}) == 3


def test_resuming_between_two_logs_counts_every_token_and_says_that_lam_is_another(tmp_path):
    settings = LONG | {"save_strategy": "steps", "save_steps": 3, "logging_steps": 2}
    whole = trained(toy.config(tmp_path / "whole", **settings, entropy_penalty=1.0))
    checkpoint = str(tmp_path / "whole" / "checkpoint-3")
    said = []
    for lam in (1.0, 2.0):
        resumed = build(ERCETrainer, toy.config(tmp_path / "resumed", **settings, entropy_penalty=lam))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            resumed.train(resume_from_checkpoint=checkpoint)
        said.append([str(warning.message) for warning in caught if "checkpoint" in str(warning.message)])
        logs = (trainer.state.log_history for trainer in (whole, resumed))
        counts = [[entry["num_tokens"] for entry in log if "loss" in entry] for log in logs]
        assert counts[0] == counts[1]
    where = f"the checkpoint {checkpoint!r}"
    assert said == [[], [f"{where} was trained with entropy_penalty = 1.0, and goes on with 2.0"]]
    resumed = build(
        ERCETrainer, toy.config(tmp_path / "c", **settings, entropy_penalty=1.0, entropy_schedule="delayed")
    )
    with pytest.warns(UserWarning, match="entropy_schedule = 'constant', and goes on with 'delayed'"):
        resumed.train(resume_from_checkpoint=checkpoint)


def test_gradient_checkpointing_changes_nothing(tmp_path):
    on, off = (
        trained(toy.config(tmp_path, **LONG, entropy_penalty=1.0, gradient_checkpointing=value))
        for value in (True, False)
    )
    assert [getattr(each.model, f"is_{toy.CHECKPOINTING}") for each in (on, off)] == [True, False]
    assert fingerprint(on) == fingerprint(off)


@pytest.mark.skipif(torch.accelerator.is_available(), reason="what it does without an accelerator")
def test_the_first_command_works_without_a_gpu(tmp_path):
    args = ERCEConfig(output_dir=str(tmp_path))
    assert (args.use_cpu, args.bf16, args.gradient_checkpointing) == (True, False, False)
    assert args.device == torch.device("cpu")
    asked = ERCEConfig(output_dir=str(tmp_path), bf16=True, gradient_checkpointing=True)
    assert (asked.use_cpu, asked.bf16, asked.gradient_checkpointing) == (True, True, True)


@pytest.mark.parametrize(
    ("metric", "asked", "higher"),
    [
        ("eval_ce", None, False),
        ("objective", None, False),
        ("eval_held-out_ce", None, False),
        ("eval_ce/math", None, False),
        ("eval_cut_off", None, False),
        ("eval_loss", None, False),
        ("eval_verified", None, True),
        ("eval_ce", True, True),
        (None, None, None),
    ],
)
def test_the_best_checkpoint_is_the_one_with_the_lowest_cross_entropy(tmp_path, metric, asked, higher):
    args = ERCEConfig(output_dir=str(tmp_path), metric_for_best_model=metric, greater_is_better=asked)
    assert args.greater_is_better is higher


USER, MODEL = ({"role": role, "content": "1"} for role in ("user", "assistant"))
PAIR = {"prompt": "1", "completion": "2"}
SHARED = [{"from": "human", "value": "1"}, {"from": "gpt", "value": "2"}]


def warned_of(data: Any, folder: Path, **settings: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        build(ERCETrainer, toy.config(folder, dataset_kwargs=None, **settings), train_dataset=data)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("streamed", [False, True], ids=["data set", "stream"])
@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"messages": [USER, MODEL]}, "messages"),
        ({"messages": [MODEL]}, None),
        ({"conversations": SHARED}, "conversations"),
        ({"prompt": [USER], "completion": [MODEL, USER, MODEL]}, "completion"),
        ({"prompt": [USER], "completion": [MODEL]}, None),
    ],
    ids=str,
)
def test_a_penalty_on_the_users_words_is_said_whatever_the_format(row, name, streamed, tmp_path):
    data: Any = toy.Dataset.from_list([row])
    data = data.to_iterable_dataset() if streamed else data
    said = warned_of(data, tmp_path, entropy_penalty=1.0, max_steps=1)
    assert any(f"every token of {name!r} is scored, so the penalty covers" in each for each in said) is bool(
        name
    )
    assert not any("is scored" in each for each in warned_of(data, tmp_path, max_steps=1))


@pytest.mark.parametrize("scored", [None, True, False])
def test_a_penalty_on_prompts_is_said(scored, tmp_path):
    data, settings = toy.Dataset.from_list([PAIR]), {"entropy_penalty": 1.0, "completion_only_loss": scored}
    said = [each for each in warned_of(data, tmp_path, **settings) if "covers the prompts too" in each]
    assert len(said) == (scored is False)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"prompt": "1", "completion": "2", "text": "3"},
            "a column 'text' gets the end-of-sequence token in pl",
        ),
        (
            {"prompt": "1", "completion": "2", "labels": [1, 2]},
            "TRL takes the column 'labels' for the tokens to",
        ),
    ],
)
def test_a_column_whose_name_means_something_else_to_trl_is_said(row, message, tmp_path):
    assert any(message in each for each in warned_of(toy.Dataset.from_list([row]), tmp_path))
    row = {name: row[name] for name in ("prompt", "completion")}
    assert not any(message in each for each in warned_of(toy.Dataset.from_list([row]), tmp_path))


def test_rows_with_images_are_refused(tmp_path):
    rows = [{"prompt": "What is this?", "completion": "A cat.", "images": ["cat.png"]}]
    with pytest.raises(ValueError, match="the rows have images, which ERCETrainer does not support; use SFT"):
        toy.trainer(tmp_path, rows)


def test_data_of_which_nothing_is_left_are_refused(tmp_path):
    row = {"prompt": "what is one and one", "completion": "2"}
    data = toy.Dataset.from_list([row])
    args = toy.config(tmp_path, dataset_kwargs=None, max_length=4)
    with pytest.raises(ValueError, match=r"no row of the training data .* within max_length = 4; raise"):
        build(ERCETrainer, args, train_dataset=data)
    short = toy.Dataset.from_list([{"prompt": "1", "completion": "2"}])
    with pytest.raises(ValueError, match=r"no row of the evaluation data .* within max_length = 4"):
        build(ERCETrainer, args, train_dataset=short, eval_dataset=data)
    with pytest.raises(ValueError, match="a data set has no rows; give at least one"):
        build(ERCETrainer, args, train_dataset=toy.dataset(ROWS).select([]))
    streamed = toy.config(tmp_path, dataset_kwargs=None, max_length=4, max_steps=1)
    trainer = build(ERCETrainer, streamed, train_dataset=data.to_iterable_dataset())
    with pytest.warns(UserWarning, match="the training took no step: no row was left to train on"):
        trainer.train()


def test_a_log_without_a_scored_token_has_no_means_and_says_so(tmp_path):
    rows = [{"input_ids": [1, 2, 3], "labels": [toy.IGNORED] * 3}] * 4 + ROWS[:4]
    args = toy.config(tmp_path, entropy_penalty=1.0)
    trainer = build(ERCETrainer, args, train_dataset=toy.dataset(rows), eval_dataset=toy.dataset(rows[:4]))
    with pytest.warns(UserWarning, match=r"no token is scored .* \(train\), so it has no means"):
        trainer.train()
    empty, full = trainer.state.log_history[:2]
    assert (empty["scored_tokens"], empty["num_tokens"]) == (0, 12)
    assert {"loss", "ce", "lam", "entropy"}.isdisjoint(empty)
    assert {"loss", "ce", "lam", "entropy"} <= set(full)
    with pytest.warns(UserWarning, match=r"no token is scored in this log's batches \(eval\)"):
        assert "eval_loss" not in trainer.evaluate()


class OutOfMemory(ERCETrainer):
    """A trainer whose second micro-batch does not fit, once."""

    calls = 0

    def training_step(self, *args: Any, **kwargs: Any) -> Any:
        loss = super().training_step(*args, **kwargs)
        self.calls += 1
        if self.calls == 2:
            raise RuntimeError("CUDA out of memory.")
        return loss


def test_an_attempt_that_ran_out_of_memory_is_not_logged(tmp_path):
    settings = {"auto_find_batch_size": True, "per_device_train_batch_size": 4, "learning_rate": 0.0}
    trainer = build(OutOfMemory, toy.config(tmp_path, **settings, max_steps=1))
    trainer.train()
    rows = ROWS[: 2 * trainer._train_batch_size]
    assert trainer._train_batch_size == 3
    scored = sum(label != toy.IGNORED for row in rows for label in row["labels"][1:])
    assert trainer.state.log_history[0]["scored_tokens"] == scored


def test_the_best_checkpoint_may_be_the_one_with_the_best_token_accuracy(tmp_path):
    steps = {"eval_strategy": "steps", "eval_steps": 2, "save_strategy": "steps", "save_steps": 2}
    best = {"load_best_model_at_end": True, "metric_for_best_model": "eval_mean_token_accuracy"}
    args = toy.config(tmp_path, **LONG, entropy_penalty=1.0, **steps, **best)
    trainer = trained(args, eval_dataset=toy.dataset(EVALUATED))
    assert trainer.state.best_metric == trainer.evaluate()["eval_mean_token_accuracy"]


def test_editors_and_help_show_the_parameters_of_trls_trainer():
    assert inspect.signature(ERCETrainer) == inspect.signature(SFTTrainer)


def test_mixed_precision_on_a_cpu_trains(tmp_path):
    log = trained(toy.config(tmp_path, bf16=True, entropy_penalty=1.0)).state.log_history
    exact = trained(toy.config(tmp_path, entropy_penalty=1.0)).state.log_history
    assert log[0]["objective"] == pytest.approx(exact[0]["objective"], rel=2e-2)
    assert log[0]["objective"] != exact[0]["objective"]


def test_logits_for_metrics_are_those_of_the_model(tmp_path):
    seen = []
    trainer = build(
        ERCETrainer,
        toy.config(tmp_path, entropy_penalty=1.0, per_device_eval_batch_size=3),
        eval_dataset=toy.dataset(EVALUATED),
        compute_metrics=lambda prediction: seen.append(prediction.predictions) or {},
    )
    trainer.evaluate()
    row = torch.tensor([EVALUATED[2]["input_ids"]])  # the longest, so that it has no padding
    logits = trainer.model(input_ids=row).logits[0]
    assert torch.allclose(torch.as_tensor(seen[0][2]), logits, atol=1e-5)


TRL_KNOWS = {  # what head='trl' takes only one value of: a setting, and that value
    ("entropy_type", "renyi"): "'shannon'",
    ("normalize", "sequence"): "'token'",
    ("base_loss", "dft"): "'cross-entropy'",
}


def test_a_compiled_model_is_refused(tmp_path):
    model = torch.compile(toy.model(), backend="eager")
    with pytest.raises(ValueError, match="a PeftModel, got a OptimizedModule; leave compiling to torch_comp"):
        ERCETrainer(
            model, toy.config(tmp_path), train_dataset=toy.dataset(ROWS), processing_class=toy.tokenizer()
        )


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        *(({"entropy_penalty": value}, f"got {value!r}; 0") for value in (float("nan"), "much")),
        ({"entropy_penalty": torch.tensor(4.0)}, "must be a finite int or float, got tensor(4.); 0"),
        ({"entropy_penality": 2.0}, "did you mean 'entropy_penalty'"),
        ({"lam": 2.0}, "'lam'; did you mean 'entropy_penalty'"),
        ({"entropy_type": "shanon"}, "did you mean 'shannon'"),
        ({"entropy_type": "renyi", "entropy_order": 0.0}, "order"),
        ({"entropy_schedule": "cosine"}, "'constant' or 'linear' or 'delayed', got 'cosine'"),
        *(({"entropy_warmup": value}, f"entropy_warmup = {value} ") for value in (5, float("nan"))),
        ({"normalize": "batch"}, "'token' or 'sequence', got 'batch'"),
        ({"head": "liger"}, "'erce' or 'trl', got 'liger'"),
        *(
            ({"head": "trl", name: value}, f"{name}={known} only, got {value!r}; set head='erce'")
            for (name, value), known in TRL_KNOWS.items()
        ),
        ({"base_loss": "dtf"}, "did you mean 'dft'"),
        ({"base_loss": "focal:-1"}, "'focal:-1'"),
        *(
            (
                {"packing": True, "normalize": "sequence", "packing_strategy": cut},
                f"{cut!r} cuts them; set pack",
            )
            for cut in ("wrapped", "bfd_split")
        ),
        ({"loss_type": "dft"}, "set base_loss='dft'"),
        ({"label_smoothing_factor": 0.2}, "set base_loss='label-smoothing:0.2'"),
    ],
    ids=str,
)
def test_a_bad_setting_is_one_sentence_with_its_value_and_the_way_out(settings, says, tmp_path):
    with pytest.raises(ValueError, match=re.escape(says)) as refused:
        ERCEConfig(output_dir=str(tmp_path / "new"), **settings)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "new").exists()


def test_an_offloaded_model_is_one_sentence(tmp_path):
    with pytest.raises(ValueError, match="has its embeddings or its output head offloaded"):
        toy.trainer(tmp_path, ROWS, policy=toy.model().to("meta"))


def test_a_setting_that_was_changed_after_the_configuration_was_made_is_checked_too(tmp_path):
    args = toy.config(tmp_path)
    args.label_smoothing_factor = 0.1
    with pytest.raises(ValueError, match="set base_loss='label-smoothing"):
        build(ERCETrainer, args)


@pytest.mark.parametrize(
    "settings", [{"entropy_penalty": 2.0}, {"base_loss": "dft"}, {"normalize": "sequence"}], ids=str
)
def test_our_settings_are_refused_by_trainers_that_would_train_without_them(settings, tmp_path):
    ((name, value),) = settings.items()
    with pytest.raises(ValueError, match=f"^SFTTrainer knows no {name} = {value!r} and would train without"):
        build(SFTTrainer, toy.config(tmp_path, **settings))
    build(SFTTrainer, toy.config(tmp_path))  # has nothing to train without
    assert toy.config(tmp_path, **settings).get_process_log_level() > 0  # asked by a script, not a trainer


@pytest.mark.parametrize(
    ("columns", "refused"),
    [
        (("question", "answer"), True),
        (("prompt", "answer"), True),
        (("prompt", "completion"), False),
        (("text",), False),
    ],
)
def test_columns_that_trl_does_not_train_on_are_a_sentence(columns, refused, tmp_path):
    rows = toy.dataset([dict.fromkeys(columns, "ab")])
    args = toy.config(tmp_path, dataset_kwargs=None)
    refusal = pytest.raises(ValueError, match=rf"the columns {', '.join(columns)}, which TRL does not train")
    with refusal if refused else contextlib.nullcontext():
        build(ERCETrainer, args, train_dataset=rows)


def test_splits_in_place_of_a_data_set_are_trls_sentence(tmp_path):
    splits = DatasetDict({"train": toy.dataset([{"text": "ab"}])})
    with pytest.raises(TypeError, match="`train_dataset` must be a `Dataset` or `IterableDataset`"):
        build(ERCETrainer, toy.config(tmp_path, dataset_kwargs=None), train_dataset=splits)


@pytest.mark.filterwarnings("ignore:.compute_loss_func. is deprecated:FutureWarning")
def test_what_would_train_something_else_is_refused(tmp_path):
    args = toy.config(tmp_path)
    with pytest.raises(ValueError, match="needs an ERCEConfig, got SFTConfig; it takes the same fields"):
        build(ERCETrainer, SFTConfig(str(tmp_path), **toy.ON_A_CPU))
    with pytest.raises(ValueError, match="compute_loss_func would replace the objective; leave it out"):
        build(ERCETrainer, args, compute_loss_func=lambda *anything, **more: None)
    on_the_head = LoraConfig(task_type="CAUSAL_LM", target_modules=["q_proj", "lm_head"], use_dora=True)
    with pytest.raises(ValueError, match=r"adapter 'default' on the output head has a Dora.* leave the head"):
        build(ERCETrainer, args, tied=False, peft_config=on_the_head)
    on_the_head.use_dora = False
    plain = SFTConfig(str(tmp_path), **toy.ON_A_CPU)  # TRL is left as it was
    with pytest.raises(ValueError, match="adapter to `lm_head` is not supported"):
        build(SFTTrainer, plain, tied=False, peft_config=on_the_head)


def test_adapters_with_a_forward_or_a_loss_of_their_own(tmp_path):
    tokens = {"cpt_token_ids": [1, 2], "cpt_mask": [1, 1], "cpt_tokens_type_mask": [1, 2]}
    args = toy.config(tmp_path, max_steps=1)
    with pytest.raises(ValueError, match=r"PEFT's CPT replaces the loss .*; take another"):
        build(ERCETrainer, args, peft_config=CPTConfig(task_type="CAUSAL_LM", **tokens, num_virtual_tokens=2))
    llama = toy.AutoConfig.for_model("llama", **toy.WIDTHS, vocab_size=259, num_hidden_layers=2)
    prompts = AdaptionPromptConfig(task_type="CAUSAL_LM", adapter_len=2, adapter_layers=1)
    rows, tokenizer = toy.dataset(ROWS), toy.tokenizer()
    model = toy.AutoModelForCausalLM.from_config(llama)
    trainer = ERCETrainer(model, args, train_dataset=rows, processing_class=tokenizer, peft_config=prompts)
    trainer.train()
    assert trainer.state.log_history[0]["scored_tokens"] > 0


@toy.TRLS_HEAD
def test_trls_head_takes_no_adapter_of_its_own(tmp_path):
    on_the_head = LoraConfig(task_type="CAUSAL_LM", target_modules=["q_proj", "lm_head"])
    with pytest.raises(ValueError, match="adapter to `lm_head` is not supported"):
        build(ERCETrainer, toy.config(tmp_path, head="trl"), tied=False, peft_config=on_the_head)


def test_trls_head_needs_a_trl_whose_head_was_tested(tmp_path, monkeypatch):
    monkeypatch.setattr("erce.train.config.version", lambda package: "1.15.0")
    with pytest.raises(ValueError, match=r"needs TRL 1\.16 or newer, got 1\.15\.0; upgrade it, or set head="):
        toy.config(tmp_path, head="trl")


def test_a_folder_is_all_that_a_training_touches(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    build(ERCETrainer, None)
    assert {path.name for path in Path().iterdir()} == {"trainer_output"}


def objective_of(folder: Path) -> str:
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert text.count("## Objective") == 1
    return text.partition("## Objective")[2].strip()


def test_a_saved_adapters_readme_names_lam_penalty_and_version(tmp_path):
    kind = {"entropy_type": "renyi", "entropy_order": 0.5, "base_loss": "dft"}
    trainer = trained(
        toy.config(tmp_path / "out", entropy_penalty=2.0, save_strategy="steps", save_steps=1, **kind)
    )
    trainer.save_model(str(tmp_path / "saved"))
    trainer.save_model(str(tmp_path / "saved"))
    minimised = "`dft` + λ · entropy, with λ = 2 and Rényi’s entropy of order 0.5"
    sentence = f"Trained with erce {version('erce')} to minimise {minimised}."
    for folder in (tmp_path / "saved", tmp_path / "out", tmp_path / "out" / "checkpoint-1"):
        assert objective_of(folder).startswith(sentence)
    assert "peft" in (tmp_path / "saved" / "README.md").read_text(encoding="utf-8")
    plain = trained(toy.config(tmp_path / "plain"))
    plain.save_model(str(tmp_path / "plain"))
    assert "`cross-entropy` alone, without a penalty (λ = 0)" in objective_of(tmp_path / "plain")


def test_a_model_that_is_nowhere_is_one_sentence(tmp_path):
    with pytest.raises(ValueError, match=r"no model '/nowhere' could be loaded \(there is no such folder\)"):
        ERCETrainer("/nowhere", toy.config(tmp_path), train_dataset=toy.dataset(ROWS))


def test_a_folder_that_cannot_be_written_is_not_taken_for_a_missing_model(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        ERCETrainer("tiny", toy.config(tmp_path / "file" / "out"), train_dataset=toy.dataset(ROWS))


def test_an_embedded_model_is_known_by_its_name(tmp_path):
    trainer = ERCETrainer(
        "tiny", ERCEConfig(**toy.common(tmp_path), head="erce"), train_dataset=toy.dataset(ROWS)
    )
    assert trainer.model.config.name_or_path.endswith("tiny")


@pytest.mark.parametrize("name", ["normalize", "base_loss", "entropy_type"])
def test_what_is_fixed_when_the_trainer_is_made_cannot_be_changed_after_it(name, tmp_path):
    trainer = toy.trainer(tmp_path, toy.SCORED[:2], {"max_steps": 1})
    setattr(trainer.args, name, {"normalize": "sequence", "base_loss": "dft", "entropy_type": "renyi"}[name])
    with pytest.raises(ValueError, match=f"{name} was .* when the trainer was made; make another to change"):
        trainer.train()


def test_quantised_layers_train_after_an_evaluation(tmp_path):
    policy = toy.model()
    layer = policy.model.layers[1].mlp
    layer.down_proj = toy.Packing(layer.down_proj)
    settings = {"max_steps": 3, "eval_strategy": "steps", "eval_steps": 1, "logging_steps": 1}
    trainer = toy.trainer(tmp_path, toy.SCORED[:2], settings, policy=policy, eval_dataset=toy.SCORED[:2])
    trainer.train()
    assert not layer.down_proj.is_packed
