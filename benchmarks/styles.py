"""What the penalty does to the choice between two styles, over λ and over training: docs/when.md's mechanism.

    python benchmarks/styles.py     # 5 minutes on one core

Fine-tunes tiny-styles on mini-styles with one seed an arm. Prints how likely the policy is to go on worked
where the styles part and, of what it writes after training, the share of each style, its accuracy and its
entropy.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from peft import LoraConfig
from transformers import TrainerCallback
from transformers.trainer_callback import PrinterCallback
from when import percent, style

from erce.generate.decoding import GenerationSettings
from erce.generate.transformers import generate
from erce.hf.head import IGNORED
from erce.hf.models import load_model, load_tokenizer
from erce.hf.prompt import prompt_ids, training_rows
from erce.loss import entropy_regularized_cross_entropy
from erce.tasks import load_task, splits
from erce.tasks.verdicts import verdict
from erce.train.config import ERCEConfig
from erce.train.trainer import ERCETrainer
from erce.types import Problem

LAMS = (0.0, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 8.0, 16.0)
MEASURED_STEPS = 10
STYLES = ("worked", "shortcut", "mixed")


class Leanings(TrainerCallback):
    """The mean chance of going on worked, before training and after every few steps."""

    def __init__(self, tokenizer: Any, problems: Sequence[Problem]) -> None:
        self.tokenizer, self.problems = tokenizer, problems
        self.worked: list[float] = []

    def measure(self, model: Any) -> None:
        training = model.training
        model.eval()
        self.worked.append(chance_of_working(model, self.tokenizer, self.problems))
        model.train(training)

    def on_step_end(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        if state.global_step % MEASURED_STEPS == 0:
            self.measure(model)


def main() -> None:
    problems = splits(load_task("mini-styles"), seed=2, n_train=320, n_validation=100, n_test=200)
    for share in (0.5, 0.75):
        demonstrations = splits(load_task(f"mini-styles:{share:g}"), seed=2, n_train=160).train
        at = switch(demonstrations)
        print(f"With {share:g} shortcuts a first step leaves the choice alone at λ = {at:.1f}.")
    print("\nChance in % of going on worked, before training and every 10 steps:\n")
    print("| arm | " + " | ".join(f"{step}" for step in range(0, 61, MEASURED_STEPS)) + " |")
    print("|---" * 8 + "|")
    written = {"base": measured_texts(load_model("tiny-styles", dtype="float32"), problems.test)}
    for name, lam, base_loss in [
        *((f"λ = {lam:g}", lam, "cross-entropy") for lam in LAMS),
        ("dft", 0.0, "dft"),
        ("eaft", 0.0, "eaft"),
    ]:
        trainer, leanings = trained(lam, base_loss, problems.train, problems.validation)
        print(f"| {name} | {' | '.join(f'{100 * p:.0f}' for p in leanings.worked)} |")
        assert trainer.model is not None
        written[name] = measured_texts(trainer.model.eval(), problems.test)
    print(
        "\nWhat is written, greedy and in samples at temperature 1: share of the completions in % (of these"
    )
    print("right in %, mean entropy of their tokens in nats)\n")
    print("| arm |" + "".join(f" {how}, {name} |" for how in ("greedy", "sampled") for name in STYLES))
    print("|---" * 7 + "|")
    for name, texts in written.items():
        print(f"| {name} | {' | '.join(texts)} |")


def trained(
    lam: float, base_loss: str, demonstrated: Sequence[Problem], held_out: Sequence[Problem]
) -> tuple[ERCETrainer, Leanings]:
    """Train with the settings of recipes/mini-styles.toml."""
    model, tokenizer = load_model("tiny-styles", dtype="float32"), load_tokenizer("tiny-styles")
    rows = training_rows(tokenizer, demonstrated, None)
    labels = [
        [
            token if scored else IGNORED
            for token, scored in zip(row["input_ids"], row["completion_mask"], strict=True)
        ]
        for row in rows
    ]
    arguments = ERCEConfig(
        entropy_penalty=lam,
        base_loss=base_loss,
        output_dir="runs/styles",
        num_train_epochs=3,
        per_device_train_batch_size=16,
        learning_rate=3e-4,
        lr_scheduler_type="cosine",
        warmup_steps=0.03,
        weight_decay=0.0,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        dataset_kwargs={"skip_prepare_dataset": True},
    )
    leanings = Leanings(tokenizer, held_out)
    trainer = ERCETrainer(
        model,
        arguments,
        train_dataset=Dataset.from_dict({"input_ids": [row["input_ids"] for row in rows], "labels": labels}),
        processing_class=tokenizer,
        peft_config=LoraConfig(
            task_type="CAUSAL_LM", target_modules="all-linear", r=16, lora_alpha=32, lora_dropout=0.0
        ),
        callbacks=[leanings],
    )
    trainer.remove_callback(PrinterCallback)
    leanings.measure(trainer.model)
    trainer.train()
    return trainer, leanings


def switch(demonstrations: Sequence[Problem]) -> float:
    """Return −⟨∇z, ∇CE⟩ / ⟨∇z, ∇H⟩ at the base model, with z the log-odds of going on worked."""
    model, tokenizer = load_model("tiny-styles", dtype="float32"), load_tokenizer("tiny-styles")
    weights = [weight.requires_grad_() for weight in model.parameters()]
    gradients = []
    for lam in (0.0, 1.0):
        total = torch.zeros(())
        for row in training_rows(tokenizer, demonstrations, None):
            ids, scored = torch.tensor(row["input_ids"]), torch.tensor(row["completion_mask"]).bool()
            logits, targets = model(ids[None]).logits[0, :-1], ids.where(scored, IGNORED)[1:]
            loss = entropy_regularized_cross_entropy(logits, targets, lam=lam, reduction="sum")
            total = total + loss.objective
        gradients.append(torch.autograd.grad(total, weights))
    odds = torch.stack([log_odds_of_working(model, tokenizer, problem) for problem in demonstrations[:60]])
    towards = torch.autograd.grad(odds.sum(), weights)
    plain, both = (
        sum(float((a * b).sum()) for a, b in zip(towards, of_loss, strict=True)) for of_loss in gradients
    )
    return -plain / (both - plain)


@torch.no_grad()
def measured_texts(model: Any, problems: Sequence[Problem]) -> list[str]:
    """Return a cell a decoding and style: share (accuracy, entropy)."""
    task, tokenizer = load_task("mini-styles"), load_tokenizer("tiny-styles")
    by_id = {problem.id: problem for problem in problems}
    cells = []
    for temperature in (0.0, 1.0):
        decoding = GenerationSettings(temperature=temperature, samples=1, max_new_tokens=40, batch_size=256)
        completions = generate(model, tokenizer, problems, decoding=decoding, seed=0)
        by_style = defaultdict(list)
        for completion in completions:
            by_style[style(completion.text)].append(completion)
        for name in STYLES:
            of_style = by_style[name]
            right = sum(verdict(task, by_id[one.problem], one).accepted for one in of_style)
            entropy = f", {np.mean([one.entropy for one in of_style]):.2f}" if of_style else ""
            cells.append(
                f"{percent(len(of_style), len(completions))} ({percent(right, len(of_style))}{entropy})"
            )
    return cells


def log_odds_of_working(model: Any, tokenizer: Any, problem: Problem) -> torch.Tensor:
    """Return the log-odds of going on worked where the two styles part, after the first two numbers."""
    numbers = problem.prompt.removeprefix("Work out ").removesuffix(".").replace("-", "+-").split("+")
    first_two = tokenizer.encode("+".join(numbers[:2]).replace("+-", "-"))
    logits = model(torch.tensor([prompt_ids(tokenizer, problem.prompt) + first_two])).logits[0, -1]
    equals, third = (tokenizer.encode(sign)[0] for sign in ("=", "-" if numbers[2][0] == "-" else "+"))
    return logits[equals] - logits[third]


@torch.no_grad()
def chance_of_working(model: Any, tokenizer: Any, problems: Iterable[Problem]) -> float:
    odds = [log_odds_of_working(model, tokenizer, problem) for problem in problems]
    return torch.stack(odds).sigmoid().mean().item()


if __name__ == "__main__":
    main()
