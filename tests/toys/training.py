"""What the trainer's tests share: a random two-layer Qwen2, a byte tokenizer, rows of unequal length."""

import gc
import random
from pathlib import Path
from typing import Any

import pytest
import torch
import trl
from datasets import Dataset
from packaging.version import Version
from peft import LoraConfig, get_peft_model
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from torch import nn
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
    Trainer,
    TrainingArguments,
)

from erce.train.config import FIRST_TRL_HEAD, ERCEConfig
from erce.train.trainer import ERCETrainer

CHAT = (
    "{% for message in messages %}<|start|>{{ message['role'] }}\n{{ message['content'] }}<|end|>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)
IGNORED = -100
CHECKPOINTING = "activation_checkpointing"  # transformers below 5.23 has the older name alone
if CHECKPOINTING not in TrainingArguments.__dataclass_fields__:
    CHECKPOINTING = "gradient_checkpointing"
ON_A_CPU = {"use_cpu": True, "bf16": False, CHECKPOINTING: False}  # for TRL, whose defaults want a GPU
TRLS_HEAD = pytest.mark.skipif(
    Version(trl.__version__) < Version(FIRST_TRL_HEAD), reason="head='trl' refuses this TRL"
)
WIDTHS = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4, "num_key_value_heads": 2}

torch.set_num_threads(1)  # these models are so small that more threads only wait for each other
gc.freeze()  # every training collects garbage, and would spend most of its time on what was only imported


def tokenizer(*, chat: bool = True) -> PreTrainedTokenizerFast:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    specials = ["<|pad|>", "<|start|>", "<|end|>"]
    bpe = Tokenizer(models.BPE({letter: i for i, letter in enumerate(letters)}, []))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    bpe.add_special_tokens(specials)
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe, pad_token="<|pad|>", eos_token="<|end|>", chat_template=CHAT if chat else None
    )


def model(*, tied: bool = True, bias: bool = False) -> Qwen2ForCausalLM:
    tokens = tokenizer()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = Qwen2Config(
            **WIDTHS,
            vocab_size=len(tokens),
            num_hidden_layers=2,
            max_position_embeddings=128,
            tie_word_embeddings=tied,
            initializer_range=0.25,  # logits far from uniform, so that the entropy has a gradient to speak of
            eos_token_id=tokens.eos_token_id,
            pad_token_id=tokens.pad_token_id,
        )
        made = Qwen2ForCausalLM(config).eval()
        if bias:
            made.lm_head.bias = nn.Parameter(torch.randn(len(tokens)))
        return made


FAMILIES: dict[str, dict[str, Any]] = {  # what each does to the logits of its head
    "qwen2": {},
    "gemma2": {"final_logit_softcapping": 5.0, "head_dim": 8},
    "cohere": {"logit_scale": 0.25},
    "granite": {"logits_scaling": 4.0},  # divides
    "hyperclovax": {"logits_scaling": 2.5},  # multiplies
}


def family(name: str, **settings: Any) -> PreTrainedModel:
    """A random causal LM of one layer, in float64, with logits that its head alone does not give."""
    small = WIDTHS | {"vocab_size": 259, "num_hidden_layers": 1, "initializer_range": 0.25}
    small |= {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = AutoConfig.for_model(name, **small | FAMILIES[name] | settings)
        return AutoModelForCausalLM.from_config(config).double().eval()


def adapter_on(base: PreTrainedModel, **settings: Any) -> Any:
    """Return the model under LoRA, all of it in float64."""
    settings = {"init_lora_weights": False} | settings
    return get_peft_model(base, lora(**settings), autocast_adapter_dtype=False).double()


def gradients(model: nn.Module, objective: torch.Tensor) -> dict[str, torch.Tensor]:
    model.zero_grad()
    objective.backward()
    return {name: w.grad.clone() for name, w in model.named_parameters() if w.grad is not None}


def assert_same(mine: dict[str, torch.Tensor], wanted: dict[str, torch.Tensor], **tolerance: float) -> None:
    """Assert that the gradients of everything that learns are the same."""
    assert mine.keys() == wanted.keys() != set()
    for name, gradient in wanted.items():
        torch.testing.assert_close(mine[name], gradient, **{"rtol": 1e-7, "atol": 1e-9} | tolerance, msg=name)


def batch(some: list[dict[str, list[int]]]) -> dict[str, torch.Tensor]:
    """The rows as a collator gives them, padded on the right."""
    longest = max(len(row["input_ids"]) for row in some)

    def padded(name: str, value: int) -> torch.Tensor:
        return torch.tensor([row[name] + [value] * (longest - len(row[name])) for row in some])

    ids = padded("input_ids", 0)
    mask = torch.tensor([[i < len(row["input_ids"]) for i in range(longest)] for row in some]).long()
    return {"input_ids": ids, "attention_mask": mask, "labels": padded("labels", IGNORED)}


def rows(lengths: list[tuple[int, int]], seed: int = 0) -> list[dict[str, list[int]]]:
    """Return a row for each (prompt tokens, response tokens)."""
    draw = random.Random(seed)
    drawn = []
    for prompt, response in lengths:
        ids = [draw.randrange(256) for _ in range(prompt + response)]
        drawn.append({"input_ids": ids, "labels": [IGNORED] * prompt + ids[prompt:]})
    return drawn


UNEQUAL = rows([(5, 3), (2, 17), (9, 1), (4, 8), (11, 5), (3, 0), (0, 12), (6, 2), (1, 6), (7, 10), (2, 4)])


SCORED = [row for row in UNEQUAL if any(label != IGNORED for label in row["labels"][1:])][:8]


def plain_training(folder: Path, model: Any, *, micro: int, steps: int, **settings: Any) -> Trainer:
    """Take two steps of plain gradient descent with transformers' trainer, in the order of `SCORED`."""
    common = {"output_dir": str(folder), "use_cpu": True, "max_steps": 2, "learning_rate": 0.1, "seed": 1}
    common |= {"optim": "sgd", "lr_scheduler_type": "constant", "max_grad_norm": 1e9, "logging_steps": 1}
    common |= {
        "save_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
        "remove_unused_columns": False,
    }
    common |= {"train_sampling_strategy": "sequential", "weight_decay": 0.0}
    common |= {"per_device_train_batch_size": micro, "gradient_accumulation_steps": steps}
    others = {name: settings.pop(name) for name in ("compute_loss_func",) if name in settings}
    args = TrainingArguments(**common | settings)
    trainer = Trainer(model, args, train_dataset=SCORED, data_collator=batch, **others)
    trainer.train()
    return trainer


def dataset(some: list[dict[str, list[int]]]) -> Dataset:
    return Dataset.from_list(some)


def lora(**settings: Any) -> LoraConfig:
    """`init_lora_weights=False` draws B as well, so that A has a gradient from the first step."""
    shape = {"task_type": "CAUSAL_LM", "target_modules": "all-linear", "r": 4, "lora_alpha": 8}
    return LoraConfig(**shape | settings)


def common(folder: Path, **settings: Any) -> dict[str, Any]:
    """Settings that keep a training short, silent, in the order of its rows and without files."""
    quiet = {
        "output_dir": str(folder),
        "dataset_kwargs": {"skip_prepare_dataset": True},
        "train_sampling_strategy": "sequential",
        "per_device_train_batch_size": 2,
        "gradient_accumulation_steps": 2,
        "num_train_epochs": 1,
        "logging_steps": 1,
        "save_strategy": "no",
        "report_to": "none",
        "disable_tqdm": True,
    }
    return quiet | settings


def config(folder: Path, **settings: Any) -> ERCEConfig:
    return ERCEConfig(**common(folder, **settings))


def trainer(
    folder: Path, rows: Any, settings: dict[str, Any] | None = None, *, policy: Any = None, **named: Any
) -> ERCETrainer:
    """Return a trainer on the rows; `settings` are the configuration's, `named` its own arguments."""
    for name, data in {"train_dataset": rows, "eval_dataset": named.get("eval_dataset")}.items():
        named[name] = Dataset.from_list(data) if isinstance(data, list) else data
    return ERCETrainer(
        model() if policy is None else policy,
        config(folder, **settings or {}),
        processing_class=tokenizer(),
        **named,
    )


class Packing(nn.Linear):
    """A quantised layer as bitsandbytes' is on a CPU: run in eval mode, it gives no gradient ever after."""

    is_packed = False

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__(layer.in_features, layer.out_features, bias=layer.bias is not None)
        self.weight, self.bias = nn.Parameter(layer.weight.to(torch.int8), requires_grad=False), layer.bias

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.is_packed |= not self.training
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.is_packed):
            return nn.functional.linear(x, self.weight.to(x.dtype), self.bias)
