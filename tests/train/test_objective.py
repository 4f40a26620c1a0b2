"""The trainer's objective, gradients and log against a float64 reference that shares no code with it."""

import copy
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from peft import AdaLoraConfig, PrefixTuningConfig, PromptTuningConfig, get_peft_model
from torch import Tensor
from toys import training as toy
from toys.losses import Counted
from transformers import TrainerCallback

from erce.loss import BaseLoss
from erce.train.trainer import ERCETrainer


class Truncated(BaseLoss):
    """A user's own base loss."""

    def __init__(self, ceiling: float) -> None:
        self.ceiling = ceiling

    def value_and_slope(self, nll: Tensor, gate: Tensor | None) -> tuple[Tensor, Tensor]:
        return nll.clamp(max=self.ceiling), (nll < self.ceiling).to(nll.dtype)

    @classmethod
    def of(cls, parameter: float | None) -> "Truncated":
        assert parameter is not None
        return cls(parameter)


BASE_LOSSES = {  # of the target's and of all log-probabilities (n,) and (n, v)
    "cross-entropy": lambda picked, log_p: -picked,
    "dft": lambda picked, log_p: -picked.exp().detach() * picked,
    "focal:3": lambda picked, log_p: -((1 - picked.exp()) ** 3) * picked,
    f"{__name__}:Truncated:5": lambda picked, log_p: -picked.clamp(min=-5),
}


PENALTIES = {
    "shannon": (1.0, lambda log_p: -(log_p.exp() * log_p).sum(-1)),
    "renyi": (0.5, lambda log_p: (0.5 * log_p).logsumexp(-1) / 0.5),
    "toys.losses:Gini": (1.0, lambda log_p: 1 - log_p.exp().square().sum(-1)),
}
LORA = toy.lora(init_lora_weights=False)
WINDOWS = [toy.UNEQUAL[0:4], toy.UNEQUAL[4:8], toy.UNEQUAL[8:11]]  # 2 × 2 rows a step, the last one short


class Gradients(TrainerCallback):
    """A callback that keeps each step's gradients as the optimizer gets them."""

    def __init__(self) -> None:
        self.steps: list[dict[str, Tensor]] = []

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **objects: Any) -> None:
        weights = objects["model"].named_parameters()
        self.steps.append({name: w.grad.double().clone() for name, w in weights if w.grad is not None})


def reference(
    policy: Any,
    window: list[dict],
    *,
    lam: float,
    normalize: str = "token",
    penalty: str = "shannon",
    base_loss: str = "cross-entropy",
) -> dict[str, Any]:
    """Sequence by sequence, without padding, from full logits, by autograd, in float64."""
    policy.zero_grad()
    value = PENALTIES[penalty][1]
    nlls, entropies, formed, weighed, shares = [], [], [], [], []
    for row in window:
        logits = policy(input_ids=torch.tensor([row["input_ids"]]), use_cache=False).logits[0, :-1]
        log_p, labels = logits.log_softmax(-1), torch.tensor(row["labels"][1:])
        kept = labels != toy.IGNORED
        picked = log_p[kept].gather(-1, labels[kept, None])[:, 0]
        entropy = value(log_p[kept])
        nlls.append(-picked)
        entropies.append(entropy)
        formed.append(BASE_LOSSES[base_loss](picked, log_p[kept]) + lam * entropy)
        weight = torch.tensor(row.get("weight", 1.0), dtype=torch.float64).expand(len(row["input_ids"]))
        weighed.append(weight[1:][kept] * formed[-1])
        if kept.any():
            shares.append(weighed[-1].mean())
    nll, entropy, mean = torch.cat(nlls), torch.cat(entropies), torch.cat(formed).mean()
    loss = torch.stack(shares).mean() if normalize == "sequence" else torch.cat(weighed).mean()
    loss.backward()
    return {
        "loss": loss.item(),
        "ce": nll.mean().item(),
        "entropy": entropy.mean().item(),
        "objective": mean.item(),
        "scored_tokens": len(nll),
        "gradients": {n: w.grad.clone() for n, w in policy.named_parameters() if w.grad is not None},
    }


def trained(
    folder: Path,
    rows: list[dict],
    *,
    head: dict[str, bool] | None = None,
    peft_config: Any = None,
    **named: Any,
) -> tuple[ERCETrainer, list[dict[str, Tensor]], Any]:
    """A trainer that has trained at a learning rate of 0, its gradients at each step, and its policy in
    float64, with a forward that nobody patched."""
    seen, head = Gradients(), head or {}
    settings = {"entropy_penalty": 2.0, "learning_rate": 0.0, "max_grad_norm": 0.0} | named.pop(
        "settings", {}
    )
    named |= {"callbacks": [seen], "peft_config": peft_config}
    trainer = toy.trainer(folder, rows, settings, policy=toy.model(**head), **named)
    policy = toy.model(**head) if peft_config is None else get_peft_model(toy.model(**head), peft_config)
    policy.load_state_dict(trainer.model.state_dict())
    trainer.train()
    return trainer, seen.steps, policy.double().eval()


def assert_close(gradients: dict[str, Tensor], wanted: dict[str, Tensor]) -> None:
    assert gradients.keys() == wanted.keys()
    for name, gradient in wanted.items():
        error, size = (gradients[name] - gradient).abs().max(), gradient.abs().max()
        assert error <= 2e-5 * size + 1e-9, f"{name}: {error:.1e} of {size:.1e}"


def assert_step(entry: dict[str, float], gradients: dict[str, Tensor], wanted: dict[str, Any]) -> None:
    assert_close(gradients, wanted.pop("gradients"))
    assert {name: entry[name] for name in wanted} == pytest.approx(wanted, rel=1e-6)


def steps(trainer: ERCETrainer) -> list[dict[str, float]]:
    return [entry for entry in trainer.state.log_history if "loss" in entry]


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("lam", [0.0, 8.0])
@pytest.mark.parametrize("normalize", ["token", pytest.param("sequence", marks=pytest.mark.slow)])
def test_objective_and_gradients_are_those_of_the_whole_accumulated_window(normalize, lam, penalty, tmp_path):
    settings = {"entropy_penalty": lam, "entropy_type": penalty, "entropy_order": PENALTIES[penalty][0]}
    settings |= {"normalize": normalize}
    trainer, seen, policy = trained(tmp_path, toy.UNEQUAL, peft_config=LORA, settings=settings)
    for window, entry, gradients in zip(WINDOWS, steps(trainer), seen, strict=True):
        wanted = reference(policy, window, lam=lam, penalty=penalty, normalize=normalize)
        assert_step(entry, gradients, wanted)


@pytest.mark.parametrize("base_loss", list(BASE_LOSSES)[1:])
@pytest.mark.parametrize("normalize", ["token", "sequence"])
def test_every_base_loss_is_trained_on_and_logged_as_it_is(normalize, base_loss, tmp_path):
    settings = {"base_loss": base_loss, "normalize": normalize}
    evaluation = {"settings": settings | {"per_device_eval_batch_size": 3}, "eval_dataset": toy.UNEQUAL}
    trainer, seen, policy = trained(tmp_path, WINDOWS[0], head={"tied": False}, **evaluation)
    assert_step(trainer.state.log_history[0], seen[0], reference(policy, WINDOWS[0], lam=2.0, **settings))
    wanted, evaluated = reference(policy, toy.UNEQUAL, lam=2.0, **settings), trainer.evaluate()
    del wanted["gradients"]
    assert {name: evaluated[f"eval_{name}"] for name in wanted} == pytest.approx(wanted, rel=1e-6)


def with_columns(some: list[dict], *, per_token: bool) -> list[dict]:
    """The rows with weights from 0 to 2, a number per row or per token, and two sources."""
    made = []
    for number, row in enumerate(some):
        weight = [(number + at) % 5 / 2 for at in range(len(row["input_ids"]))]
        made.append(row | {"weight": weight if per_token else number % 3, "source": "ab"[number % 2]})
    return made


@pytest.mark.parametrize(
    ("per_token", "base_loss", "normalize"),
    [
        (False, "cross-entropy", "token"),
        (True, "cross-entropy", "sequence"),
        (True, "dft", "token"),
        (False, "focal:3", "sequence"),
    ],
)
def test_a_weight_multiplies_objective_and_penalty_and_each_source_has_its_means(
    per_token, base_loss, normalize, tmp_path
):
    some, settings = (
        with_columns(toy.UNEQUAL, per_token=per_token),
        {"base_loss": base_loss, "normalize": normalize},
    )
    evaluation = {"settings": settings | {"per_device_eval_batch_size": 3}, "eval_dataset": some}
    trainer, seen, policy = trained(tmp_path, some, **evaluation)
    logged = steps(trainer)
    windows = [some[0:4], some[4:8], some[8:11]]
    for window, entry, gradients in zip(windows, logged, seen, strict=True):
        assert_step(entry, gradients, reference(policy, window, lam=2.0, **settings))
        assert entry["loss"] != pytest.approx(entry["objective"], rel=1e-3)
    evaluated = trainer.evaluate()
    whole = reference(policy, some, lam=2.0, **settings)
    assert evaluated["eval_objective"] == pytest.approx(whole["objective"], rel=1e-6)
    for source in "ab":
        for window, means in [*((w, logged[i]) for i, w in enumerate(windows)), (some, None)]:
            of_source = [row for row in window if row["source"] == source]
            wanted = reference(policy, of_source, lam=2.0)
            for name in ("ce", "entropy"):
                key = f"{name}/{source}"
                mean = evaluated[f"eval_{key}"] if means is None else means[key]
                assert mean == pytest.approx(wanted[name], rel=1e-6), key


ON_THE_HEAD = {"target_modules": ["q_proj", "lm_head"], "init_lora_weights": False}
BESIDE = {"target_modules": ["q_proj"], "modules_to_save": ["lm_head"]}
HEADS = {  # → how many of its parameters learn
    "tied": ({}, None, 0),
    "untied": ({"tied": False}, None, 1),
    "with a bias": ({"tied": False, "bias": True}, None, 2),
    "adapted": ({"tied": False}, toy.lora(**ON_THE_HEAD), 2),
    "saved beside an adapter": ({"tied": False}, toy.lora(**BESIDE), 1),
}


@pytest.mark.parametrize(("head", "adapter", "learns"), HEADS.values(), ids=HEADS)
@pytest.mark.parametrize("normalize", ["token", "sequence"])
def test_a_head_that_learns_gets_its_exact_gradient(normalize, head, adapter, learns, tmp_path):
    settings = {"normalize": normalize}
    trainer, seen, policy = trained(tmp_path, WINDOWS[0], head=head, peft_config=adapter, settings=settings)
    wanted = reference(policy, WINDOWS[0], lam=2.0, normalize=normalize)
    assert sum("lm_head" in name for name in wanted["gradients"]) == learns
    assert_step(trainer.state.log_history[0], seen[0], wanted)


@pytest.mark.parametrize("normalize", ["token", "sequence"])
def test_what_an_adapter_adds_to_the_loss_is_a_mean_over_micro_batches(normalize, tmp_path):
    adapter = AdaLoraConfig(task_type="CAUSAL_LM", target_modules=["q_proj"], total_step=9, tinit=1, tfinal=1)
    trainer, seen, policy = trained(
        tmp_path, WINDOWS[0], peft_config=adapter, settings={"normalize": normalize}
    )
    wanted = reference(policy, WINDOWS[0], lam=2.0, normalize=normalize)
    policy.zero_grad()
    only = SimpleNamespace(loss=torch.zeros(()).double())
    policy.base_model.model.forward = lambda: only  # PEFT adds its part to this
    policy.base_model().loss.backward()
    for name, weight in policy.named_parameters():
        if weight.grad is not None:
            wanted["gradients"][name] = wanted["gradients"].get(name, 0) + weight.grad
    wanted["loss"] += only.loss.item()
    assert_step(trainer.state.log_history[0], seen[0], wanted)


def is_of_the_vocabulary(func: Any, args: Any, out: Any) -> bool:
    is_matmul = func.overloadpacket.__name__ in ("mm", "addmm", "addmm_")
    return is_matmul and any(259 in x.shape for x in args if isinstance(x, Tensor))


@pytest.mark.parametrize("normalize", ["token", "sequence"])
@pytest.mark.parametrize(("learns", "matmuls"), [(False, 2), (True, 3)])
def test_a_step_costs_no_more_matmuls_than_it_must(learns, matmuls, normalize, tmp_path):
    settings = {"entropy_penalty": 2.0, "normalize": normalize}
    adapter = None if learns else toy.lora()
    trainer = toy.trainer(tmp_path, WINDOWS[0], settings, policy=toy.model(tied=False), peft_config=adapter)
    batch = next(iter(trainer.get_train_dataloader()))
    with Counted(is_of_the_vocabulary) as counted:
        trainer.compute_loss(
            trainer.model.train(), dict(batch), num_items_in_batch=torch.tensor(4)
        ).backward()
    assert counted.count == matmuls


def likely_rows() -> list[dict[str, list[int]]]:
    """Return rows in which every other target is the token that the model finds likeliest."""
    rows = copy.deepcopy(toy.UNEQUAL)
    for row in rows:
        likeliest = toy.model()(input_ids=torch.tensor([row["input_ids"]])).logits[0].argmax(-1).tolist()
        for i in range(1, len(row["labels"]), 2):
            row["labels"][i] = likeliest[i - 1] if row["labels"][i] != toy.IGNORED else toy.IGNORED
    return rows


def test_the_token_accuracy_is_an_exact_mean(tmp_path):
    rows, hits = likely_rows(), []
    trainer, _, policy = trained(tmp_path, rows, settings={"logging_steps": 3})
    for row in rows:
        likeliest = policy(input_ids=torch.tensor([row["input_ids"]])).logits[0, :-1].argmax(-1)
        labels = torch.tensor(row["labels"][1:])
        hits.append((likeliest == labels)[labels != toy.IGNORED])
    wanted = float(torch.cat(hits).double().mean())
    assert trainer.state.log_history[0]["mean_token_accuracy"] == pytest.approx(wanted, rel=1e-6)
    assert 0 < wanted < 1


def test_the_logged_gradient_norm_is_the_one_before_clipping(tmp_path):
    settings = {"max_grad_norm": 1e-3}
    trainer, seen, policy = trained(tmp_path, WINDOWS[0], peft_config=LORA, settings=settings)
    wanted = reference(policy, WINDOWS[0], lam=2.0)["gradients"]

    def norm(gradients: dict[str, Tensor]) -> float:
        return math.sqrt(sum(float(gradient.square().sum()) for gradient in gradients.values()))

    assert trainer.state.log_history[0]["grad_norm"] == pytest.approx(norm(wanted), rel=1e-5)
    assert norm(seen[0]) == pytest.approx(1e-3, rel=1e-3)


@pytest.mark.parametrize("head", ["erce", pytest.param("trl", marks=toy.TRLS_HEAD)])
def test_a_log_over_several_steps_weighs_every_token_the_same(head, tmp_path):
    settings = {"head": head, "logging_steps": 2}
    trainer, _, policy = trained(tmp_path, toy.UNEQUAL, peft_config=LORA, settings=settings)
    wanted = reference(policy, toy.UNEQUAL[:8], lam=2.0)
    entry = trainer.state.log_history[0]
    assert entry["step"] == 2
    names = ("ce", "entropy", "objective", "scored_tokens")
    assert {name: entry[name] for name in names} == pytest.approx({n: wanted[n] for n in names}, rel=1e-6)
    assert entry["num_tokens"] == sum(len(row["input_ids"]) for row in toy.UNEQUAL[:8])
    last = trainer.state.log_history[-1]  # after a third step
    assert {"train_loss", "ce", "entropy", "objective"} <= set(last)
    assert "loss" not in last
    rest = reference(policy, toy.UNEQUAL[8:], lam=2.0)
    assert last["ce"] == pytest.approx(rest["ce"], rel=1e-6)
    assert last["num_tokens"] == sum(len(row["input_ids"]) for row in toy.UNEQUAL)


def test_an_evaluation_between_two_logs_has_all_tokens_that_were_read(tmp_path):
    settings = {"logging_steps": 3, "eval_strategy": "steps", "eval_steps": 2}
    trainer = toy.trainer(tmp_path, toy.UNEQUAL, settings, eval_dataset=toy.UNEQUAL[:2])
    trainer.train()
    counts = [entry["eval_num_tokens"] for entry in trainer.state.log_history if "eval_loss" in entry]
    assert counts == [sum(len(row["input_ids"]) for row in toy.UNEQUAL[:n]) for n in (8, 11)]


@pytest.mark.parametrize("columns", [{}, {"weight": 2.0, "source": "x"}], ids=["plain", "columns"])
@pytest.mark.parametrize("kind", [PromptTuningConfig, PrefixTuningConfig])
@pytest.mark.parametrize("normalize", ["token", "sequence"])
def test_every_token_that_virtual_tokens_predict_is_counted(normalize, kind, columns, tmp_path):
    rows = [{"input_ids": row["input_ids"], "labels": row["input_ids"]} | columns for row in toy.UNEQUAL[:4]]
    adapter = kind(task_type="CAUSAL_LM", num_virtual_tokens=3)
    settings = {"entropy_penalty": 2.0, "normalize": normalize, "learning_rate": 0.0}
    trainer = toy.trainer(tmp_path, rows, settings, peft_config=adapter, eval_dataset=rows)
    trainer.train()
    entry, metrics = trainer.state.log_history[0], trainer.evaluate()
    first = int(kind is PromptTuningConfig)
    assert entry["scored_tokens"] == sum(len(row["input_ids"]) - 1 + first for row in rows)
    assert entry["loss"] == pytest.approx(metrics["eval_loss"], rel=1e-5)
    if normalize == "token":
        assert entry["loss"] == pytest.approx(entry["objective"] * columns.get("weight", 1.0), rel=1e-5)


def test_a_loss_computed_outside_a_training_is_in_no_log(tmp_path):
    settings = {"entropy_penalty": 1.0}
    trainer = toy.trainer(tmp_path, WINDOWS[0], settings, eval_dataset=toy.UNEQUAL[:1])
    batch = next(iter(trainer.get_train_dataloader()))
    trainer.compute_loss(trainer.model.train(), dict(batch))
    trainer.train()
    assert trainer.state.log_history[0]["scored_tokens"] == 3 + 17 + 1 + 8
    trainer.compute_loss(trainer.model.eval(), dict(batch))
    assert trainer.evaluate()["eval_scored_tokens"] == 3


@pytest.mark.parametrize("normalize", ["token", "sequence"])
def test_a_loss_without_a_window_is_a_mean_over_its_batch(normalize, tmp_path):
    settings = {"entropy_penalty": 2.0, "normalize": normalize}
    trainer = toy.trainer(tmp_path, toy.UNEQUAL[4:6], settings)
    batch = next(iter(trainer.get_train_dataloader()))  # one of its sequences has nothing to score
    loss = trainer.compute_loss(trainer.model.train(), dict(batch)).item()
    wanted = reference(toy.model().double(), toy.UNEQUAL[4:6], lam=2.0, normalize=normalize)["loss"]
    assert loss == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(
    ("head", "normalize"),
    [("erce", "token"), ("erce", "sequence"), pytest.param("trl", "token", marks=toy.TRLS_HEAD)],
)
def test_evaluation_is_exact_whatever_its_batch_size(head, normalize, tmp_path):
    evaluations = []
    data = {"all": toy.dataset(toy.UNEQUAL), "few": toy.dataset(toy.UNEQUAL[:3])}
    for size in (1, 3, 8):
        settings = {
            "entropy_penalty": 2.0,
            "head": head,
            "normalize": normalize,
            "per_device_eval_batch_size": size,
        }
        evaluations.append(toy.trainer(tmp_path, WINDOWS[0], settings, eval_dataset=data).evaluate())
    for name, part in (("all", toy.UNEQUAL), ("few", toy.UNEQUAL[:3])):
        wanted = reference(toy.model().double(), part, lam=2.0, penalty="shannon", normalize=normalize)
        del wanted["gradients"]
        for metrics in evaluations:
            mine = {key: metrics[f"eval_{name}_{key}"] for key in wanted}
            assert mine == pytest.approx(wanted, rel=1e-6)
