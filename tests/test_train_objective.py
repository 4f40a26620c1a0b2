"""The trainer's objective, gradients and log against a float64 reference that shares no code with it."""

import math
from typing import Any

import pytest
import torch
import train_toy as toy
from peft import PeftModel, get_peft_model
from torch import Tensor
from transformers import TrainerCallback

from erce.train import ERCETrainer

PENALTIES = {
    "shannon": (1.0, lambda log_p: -(log_p.exp() * log_p).sum(-1)),
    "renyi": (0.5, lambda log_p: (0.5 * log_p).logsumexp(-1) / 0.5),
}
WINDOWS = [toy.UNEQUAL[0:4], toy.UNEQUAL[4:8], toy.UNEQUAL[8:11]]  # 2 × 2 rows a step, the last one short


class Gradients(TrainerCallback):
    """What the optimizer is about to be given, once a step."""

    def __init__(self) -> None:
        self.steps: list[dict[str, Tensor]] = []

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **found: Any) -> None:
        weights = found["model"].named_parameters()
        self.steps.append({name: w.grad.double().clone() for name, w in weights if w.grad is not None})


def reference(policy: Any, window: list[dict], *, lam: float, penalty: str, normalize: str) -> dict[str, Any]:
    """Sequence by sequence, without padding, from full logits, by autograd, in float64."""
    policy.zero_grad()
    value = PENALTIES[penalty][1]
    nlls, entropies, shares = [], [], []
    for row in window:
        logits = policy(input_ids=torch.tensor([row["input_ids"]]), use_cache=False).logits[0, :-1]
        log_p, labels = logits.log_softmax(-1), torch.tensor(row["labels"][1:])
        kept = labels != toy.IGNORED
        nll = -log_p[kept].gather(-1, labels[kept, None])[:, 0]
        entropy = value(log_p[kept])
        nlls.append(nll)
        entropies.append(entropy)
        if kept.any():
            shares.append((nll + lam * entropy).mean())
    nll, entropy = torch.cat(nlls), torch.cat(entropies)
    objective = (nll + lam * entropy).mean()
    loss = torch.stack(shares).mean() if normalize == "sequence" else objective
    loss.backward()
    return {
        "loss": loss.item(),
        "ce": nll.mean().item(),
        "entropy": entropy.mean().item(),
        "objective": objective.item(),
        "scored_tokens": len(nll),
        "gradients": {n: w.grad.clone() for n, w in policy.named_parameters() if w.grad is not None},
    }


def adapted(base: Any) -> Any:
    return get_peft_model(base, toy.lora(init_lora_weights=False))


def exact_copy(trainer: ERCETrainer, base: Any) -> Any:
    """The trainer's policy in float64, with a forward that nobody patched; `base` is as the trainer's was."""
    policy = adapted(base) if isinstance(trainer.model, PeftModel) else base
    policy.load_state_dict(trainer.model.state_dict())
    return policy.double().eval()


def assert_close(found: dict[str, Tensor], wanted: dict[str, Tensor]) -> None:
    assert found.keys() == wanted.keys()
    for name, gradient in wanted.items():
        error, size = (found[name] - gradient).abs().max(), gradient.abs().max()
        assert error <= 2e-5 * size + 1e-9, f"{name}: {error:.1e} of {size:.1e}"


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("lam", [0.0, 1.0, 8.0])
@pytest.mark.parametrize("normalize", ["token", "sequence"])
def test_objective_and_gradients_are_those_of_the_whole_accumulated_window(normalize, lam, penalty, tmp_path):
    settings = {"entropy_penalty": lam, "entropy_type": penalty, "entropy_order": PENALTIES[penalty][0]}
    settings |= {"normalize": normalize, "learning_rate": 0.0, "max_grad_norm": 0.0}
    seen = Gradients()
    trainer = ERCETrainer(
        toy.model(),
        toy.config(tmp_path, **settings),
        train_dataset=toy.dataset(toy.UNEQUAL),
        processing_class=toy.tokenizer(),
        peft_config=toy.lora(init_lora_weights=False),
        callbacks=[seen],
    )
    policy = exact_copy(trainer, toy.model())
    trainer.train()
    logged = [entry for entry in trainer.state.log_history if "loss" in entry]
    assert len(logged) == len(seen.steps) == len(WINDOWS)
    for window, entry, found in zip(WINDOWS, logged, seen.steps, strict=True):
        wanted = reference(policy, window, lam=lam, penalty=penalty, normalize=normalize)
        assert_close(found, wanted.pop("gradients"))
        assert {name: entry[name] for name in wanted} == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("head", [{}, {"tied": False}, {"tied": False, "bias": True}], ids=str)
@pytest.mark.parametrize("normalize", ["token", "sequence"])
def test_a_head_that_learns_gets_its_exact_gradient(normalize, head, tmp_path):
    seen = Gradients()
    trainer = ERCETrainer(
        toy.model(**head),
        toy.config(tmp_path, entropy_penalty=2.0, normalize=normalize, learning_rate=0.0, max_grad_norm=0.0),
        train_dataset=toy.dataset(toy.UNEQUAL[:4]),
        processing_class=toy.tokenizer(),
        callbacks=[seen],
    )
    policy = exact_copy(trainer, toy.model(**head))
    trainer.train()
    wanted = reference(policy, WINDOWS[0], lam=2.0, penalty="shannon", normalize=normalize)
    learns = {name for name in wanted["gradients"] if name.startswith("lm_head")}
    assert len(learns) == len(head)
    assert_close(seen.steps[0], wanted["gradients"])


def test_the_logged_gradient_norm_is_the_one_before_clipping(tmp_path):
    seen = Gradients()
    trainer = ERCETrainer(
        toy.model(),
        toy.config(tmp_path, entropy_penalty=1.0, learning_rate=0.0, max_grad_norm=1e-3),
        train_dataset=toy.dataset(toy.UNEQUAL[:4]),
        processing_class=toy.tokenizer(),
        peft_config=toy.lora(init_lora_weights=False),
        callbacks=[seen],
    )
    policy = exact_copy(trainer, toy.model())
    trainer.train()
    wanted = reference(policy, WINDOWS[0], lam=1.0, penalty="shannon", normalize="token")["gradients"]

    def norm(gradients: dict[str, Tensor]) -> float:
        return math.sqrt(sum(float(gradient.square().sum()) for gradient in gradients.values()))

    assert trainer.state.log_history[0]["grad_norm"] == pytest.approx(norm(wanted), rel=1e-5)
    assert norm(seen.steps[0]) == pytest.approx(1e-3, rel=1e-3)


@pytest.mark.parametrize("head", ["erce", "trl"])
def test_a_log_over_several_steps_weighs_every_token_the_same(head, tmp_path):
    trainer = ERCETrainer(
        toy.model(),
        toy.config(tmp_path, entropy_penalty=1.0, head=head, learning_rate=0.0, logging_steps=2),
        train_dataset=toy.dataset(toy.UNEQUAL),
        processing_class=toy.tokenizer(),
        peft_config=toy.lora(init_lora_weights=False),
    )
    policy = exact_copy(trainer, toy.model())
    trainer.train()
    wanted = reference(policy, toy.UNEQUAL[:8], lam=1.0, penalty="shannon", normalize="token")
    entry = trainer.state.log_history[0]
    assert entry["step"] == 2
    names = ("ce", "entropy", "objective", "scored_tokens")
    assert {name: entry[name] for name in names} == pytest.approx({n: wanted[n] for n in names}, rel=1e-6)
    assert "mean_token_accuracy" not in entry  # TRL's, a mean of means


def test_a_loss_computed_outside_a_training_is_in_no_log(tmp_path):
    trainer = ERCETrainer(
        toy.model(),
        toy.config(tmp_path, entropy_penalty=1.0),
        train_dataset=toy.dataset(toy.UNEQUAL[:4]),
        eval_dataset=toy.dataset(toy.UNEQUAL[:1]),
        processing_class=toy.tokenizer(),
    )
    batch = next(iter(trainer.get_train_dataloader()))
    trainer.compute_loss(trainer.model.train(), dict(batch))
    trainer.train()
    assert trainer.state.log_history[0]["scored_tokens"] == 3 + 17 + 1 + 8
    trainer.compute_loss(trainer.model.eval(), dict(batch))
    assert trainer.evaluate()["eval_scored_tokens"] == 3


@pytest.mark.parametrize(("head", "normalize"), [("erce", "token"), ("erce", "sequence"), ("trl", "token")])
def test_evaluation_is_exact_whatever_its_batch_size(head, normalize, tmp_path):
    found = []
    for size in (1, 3, 8):
        settings = {"entropy_penalty": 2.0, "head": head, "normalize": normalize}
        trainer = ERCETrainer(
            toy.model(),
            toy.config(tmp_path, **settings, per_device_eval_batch_size=size),
            train_dataset=toy.dataset(toy.UNEQUAL[:2]),
            eval_dataset={"all": toy.dataset(toy.UNEQUAL), "few": toy.dataset(toy.UNEQUAL[:3])},
            processing_class=toy.tokenizer(),
        )
        found.append(trainer.evaluate())
    for name, part in (("all", toy.UNEQUAL), ("few", toy.UNEQUAL[:3])):
        wanted = reference(toy.model().double(), part, lam=2.0, penalty="shannon", normalize=normalize)
        del wanted["gradients"]
        for metrics in found:
            mine = {key: metrics[f"eval_{name}_{key}"] for key in wanted}
            assert mine == pytest.approx(wanted, rel=1e-6)
