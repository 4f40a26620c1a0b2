"""The trainer as a whole: what it shares with TRL's bit for bit, resuming, the first command, refusals."""

import hashlib
import inspect
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model_state_dict
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
            trained(
                toy.config(tmp_path, **LONG | {"learning_rate": 1e-3}, entropy_penalty=2.0, head=head)
            ).model
        )
        for head in ("erce", "trl")
    ]
    for name, weight in adapters[0].items():
        assert torch.allclose(weight, adapters[1][name], rtol=0, atol=2e-5), name


def test_resuming_in_the_middle_gives_the_adapter_of_not_stopping(tmp_path):
    settings = LONG | {"entropy_penalty": 1.0, "save_strategy": "steps", "save_steps": 3}  # inside an epoch
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


def test_gradient_checkpointing_changes_nothing(tmp_path):
    on, off = (
        trained(toy.config(tmp_path, **LONG, entropy_penalty=1.0, gradient_checkpointing=value))
        for value in (True, False)
    )
    assert [getattr(each.model, f"is_{toy.CHECKPOINTING}") for each in (on, off)] == [True, False]
    assert fingerprint(on) == fingerprint(off)


def test_the_penalty_lowers_the_entropy_that_it_names(tmp_path):
    last = {
        lam: trained(
            toy.config(tmp_path, **LONG | {"num_train_epochs": 8}, entropy_penalty=lam)
        ).state.log_history[-2]
        for lam in (-0.2, 0.0, 1.0)
    }
    assert last[1.0]["entropy"] < last[0.0]["entropy"] < last[-0.2]["entropy"]


@pytest.mark.skipif(torch.accelerator.is_available(), reason="what it does without an accelerator")
def test_the_first_command_works_without_a_gpu(tmp_path):
    args = ERCEConfig(output_dir=str(tmp_path))
    assert (args.use_cpu, args.bf16, args.gradient_checkpointing) == (True, False, False)
    assert args.device == torch.device("cpu")
    asked = ERCEConfig(output_dir=str(tmp_path), bf16=True, gradient_checkpointing=True)
    assert (asked.use_cpu, asked.bf16, asked.gradient_checkpointing) == (True, True, True)


def test_text_goes_through_trls_own_preparation(tmp_path):
    texts = [{"prompt": "2+2=", "completion": "4"}, {"prompt": "13+1=", "completion": "14"}]
    trainer = trained(
        toy.config(tmp_path, dataset_kwargs=None, entropy_penalty=1.0),
        train_dataset=toy.Dataset.from_list(texts),
    )
    assert trainer.state.log_history[0]["scored_tokens"] == 1 + 2 + 2  # the digits and two ends


@pytest.mark.parametrize(("opening", "said"), [("<a>", False), ("<think>", True)], ids=["same", "differs"])
def test_a_chat_template_that_opens_answers_otherwise_in_generation_is_said(opening, said, tmp_path, caplog):
    tokenizer = toy.tokenizer()
    turns = "{% for turn in messages %}{{ '<a>' if turn.role == 'assistant' }}{{ turn.content }}{% endfor %}"
    tokenizer.chat_template = turns + f"{{% if add_generation_prompt %}}{opening}{{% endif %}}"
    question, answer = ({"role": role, "content": "1"} for role in ("user", "assistant"))
    talks = toy.Dataset.from_list([{"prompt": [question], "completion": [answer]}])
    args = toy.config(tmp_path, dataset_kwargs=None, entropy_penalty=1.0)
    ERCETrainer(toy.model(), args, processing_class=tokenizer, train_dataset=talks)
    assert ("is not a prefix of the tokenized prompt+completion" in caplog.text) is said


@pytest.mark.parametrize(
    ("settings", "warned"),
    [({"entropy_penalty": 1.0}, True), ({"entropy_penalty": 0.0}, False)],
    ids=["penalty", "none"],
)
def test_a_penalty_on_a_whole_conversation_warns_of_the_users_words(settings, warned, tmp_path):
    talks = toy.Dataset.from_list([{"messages": [{"role": "user", "content": "1"}]}])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with suppress(Exception):  # the toy tokenizer has no chat template
            build(ERCETrainer, toy.config(tmp_path, dataset_kwargs=None, **settings), train_dataset=talks)
    assert any("set assistant_only_loss=True" in str(warning.message) for warning in caught) is warned


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


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"entropy_penalty": float("nan")}, "entropy_penalty must be a finite number, got nan; 0 is plain"),
        ({"entropy_penalty": "much"}, "entropy_penalty must be a finite number, got 'much'"),
        ({"entropy_penality": 2.0}, "no setting 'entropy_penality'; did you mean 'entropy_penalty'"),
        ({"lam": 2.0}, "no setting 'lam'; did you mean 'entropy_penalty'"),
        ({"entropy_type": "shanon"}, "did you mean 'shannon'"),
        ({"entropy_type": "renyi", "entropy_order": 0.0}, "order"),
        ({"normalize": "batch"}, "normalize must be 'token' or 'sequence', got 'batch'"),
        ({"head": "liger"}, "head must be 'erce' or 'trl', got 'liger'"),
        (
            {"head": "trl", "entropy_type": "renyi", "entropy_order": 0.5},
            "head='trl' knows entropy_type='shannon' only, got 'renyi'; set head='erce'",
        ),
        ({"head": "trl", "normalize": "sequence"}, "knows normalize='token' only, got 'sequence'; set head"),
        ({"head": "trl", "objective": "dft"}, "knows objective='cross-entropy' only, got 'dft'; set head"),
        ({"head": "trl", "log_diagnostics": True}, "knows log_diagnostics=False only, got True; set head"),
        ({"objective": "dtf"}, "no objective 'dtf'; did you mean 'dft'"),
        ({"objective": "focal:-1"}, "objective 'focal:-1': Focal needs a number that is 0 or above"),
        ({"packing": True, "normalize": "sequence"}, "cannot tell packed sequences apart; set packing=False"),
        ({"loss_type": "dft"}, "loss_type='dft' is TRL's loss; set objective='dft'"),
        ({"label_smoothing_factor": 0.2}, "would replace the objective; set objective='label-smoothing:0.2'"),
    ],
)
def test_a_bad_setting_is_one_sentence(settings, message, tmp_path):
    with pytest.raises(ValueError, match=message) as refused:
        ERCEConfig(output_dir=str(tmp_path / "new"), **settings)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "new").exists()


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


@toy.TRLS_HEAD
def test_trls_head_takes_no_adapter_of_its_own(tmp_path):
    on_the_head = LoraConfig(task_type="CAUSAL_LM", target_modules=["q_proj", "lm_head"])
    with pytest.raises(ValueError, match="adapter to `lm_head` is not supported"):
        build(ERCETrainer, toy.config(tmp_path, head="trl"), tied=False, peft_config=on_the_head)


def test_trls_head_needs_a_trl_whose_head_was_tested(tmp_path, monkeypatch):
    monkeypatch.setattr("erce.train.config.version", lambda package: "1.15.0")
    with pytest.raises(ValueError, match=r"needs TRL 1\.16 or newer, got 1\.15\.0; upgrade it, or set head="):
        toy.config(tmp_path, head="trl")


@toy.TRLS_HEAD
def test_a_mixture_of_experts_needs_its_own_loss_left_out_or_trls_head(tmp_path):
    from transformers import MixtralConfig, MixtralForCausalLM

    def experts() -> MixtralForCausalLM:
        torch.manual_seed(0)
        small = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "vocab_size": 259}
        heads = {
            "num_attention_heads": 2,
            "num_key_value_heads": 2,
            "num_local_experts": 2,
            "pad_token_id": 256,
        }
        return MixtralForCausalLM(MixtralConfig(**small, **heads, eos_token_id=258, bos_token_id=None))

    def make(**settings: Any) -> ERCETrainer:
        rows = toy.dataset(ROWS[:4])
        return ERCETrainer(
            experts(), toy.config(tmp_path, **settings), train_dataset=rows, processing_class=toy.tokenizer()
        )

    with pytest.raises(
        ValueError, match="load-balancing loss; set router_aux_loss_coef=0 to train without it, or head"
    ):
        make()
    make(router_aux_loss_coef=0.0).train()
    make(head="trl", entropy_penalty=1.0).train()


def test_a_folder_is_all_that_a_training_touches(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    build(ERCETrainer, None)
    assert {path.name for path in Path().iterdir()} == {"trainer_output"}
