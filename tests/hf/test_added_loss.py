"""What a model adds to its cross-entropy is added to ours, under whatever name, or refused."""

from typing import Any

import pytest
import torch
from torch import nn
from toys import training as toy
from transformers import AutoConfig, AutoModelForCausalLM

import erce
from erce.hf.head import added_loss_of
from erce.train.trainer import ERCETrainer

EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}
FAMILIES: dict[str, dict[str, Any]] = {
    "mixtral": EXPERTS,  # router_aux_loss_coef
    "jetmoe": EXPERTS | {"kv_channels": 8},  # aux_loss_coef
    "dbrx": {
        "d_model": 32,
        "n_heads": 4,
        "n_layers": 2,
        "max_seq_len": 64,
        "attn_config": {"kv_n_heads": 2, "rope_theta": 10_000.0, "clip_qkv": 8.0},
        "ffn_config": {"ffn_hidden_size": 64, "moe_num_experts": 4, "moe_top_k": 2, "moe_loss_weight": 0.05},
    },
    "bamba": {
        "z_loss_coefficient": 1e-4,  # of all logits, and always on
        "attn_layer_indices": [1],
        "mamba_n_heads": 4,
        "mamba_d_head": 16,
        "mamba_n_groups": 1,
    },
}
IDS = torch.arange(10, 22).view(2, 6)


def family(name: str, **settings: Any) -> Any:
    small = toy.WIDTHS | {"vocab_size": 259, "num_hidden_layers": 2, "pad_token_id": 0}
    small |= {"bos_token_id": 1, "eos_token_id": 2, "initializer_range": 0.25}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = AutoConfig.for_model(name, **small | FAMILIES[name] | settings)
        config._experts_implementation = "eager"  # the others know no float64
        return AutoModelForCausalLM.from_config(config, attn_implementation="eager").double()


@pytest.mark.parametrize("lam", [0.0, 2.0])
@pytest.mark.parametrize("name", FAMILIES)
def test_what_a_model_adds_to_its_cross_entropy_is_added_with_its_gradient(name, lam):
    call = {"input_ids": IDS, "labels": IDS, "use_cache": False}
    call |= {} if name == "bamba" else {"output_router_logits": True}
    plain, attached = family(name), erce.attach(family(name), lam)
    usual = plain(**call)
    ours = erce.entropy_regularized_cross_entropy(usual.logits[:, :-1], IDS[:, 1:], lam=lam).objective
    theirs = nn.functional.cross_entropy(usual.logits[:, :-1].flatten(0, 1), IDS[:, 1:].flatten())
    added = usual.loss.double() - theirs
    assert added > 1e-3
    output = attached(**call)
    assert output.loss.item() == pytest.approx((ours + added).item(), rel=1e-6)  # theirs is made in float32
    assert "logits" not in output
    assert attached.erce.last.objective.item() == pytest.approx(ours.item(), rel=1e-9)
    mine, wanted = toy.gradients(attached, output.loss), toy.gradients(plain, ours + added)
    toy.assert_same(mine, wanted, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_trainer_adds_it_once_per_step(name, tmp_path):
    settings = {} if name == "bamba" else {"output_router_logits": True}
    model = family(name, **settings).float().eval()
    rows = [{"input_ids": row, "labels": row} for row in IDS.tolist()]
    with torch.no_grad():
        wanted = sum(model(input_ids=row[None], labels=row[None]).loss.item() for row in IDS) / 2
    args = {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 2, "learning_rate": 0.0}
    args |= {"per_device_eval_batch_size": 1}
    trainer = toy.trainer(tmp_path, rows, args, policy=model, eval_dataset=rows)
    trainer.train()
    entry = trainer.state.log_history[0]
    assert entry["loss"] == pytest.approx(wanted, rel=1e-5)
    assert entry["loss"] > entry["objective"] + 5e-4
    metrics = trainer.evaluate()
    assert metrics["eval_loss"] == pytest.approx(wanted, rel=1e-5)
    assert ("aux_loss" in entry, "eval_aux_loss" in metrics) == (name == "mixtral",) * 2  # as TRL has it
    if name == "mixtral":
        with torch.no_grad():
            wanted = sum(model(input_ids=row[None], output_router_logits=True).aux_loss for row in IDS) / 2
        assert entry["aux_loss"] == pytest.approx(wanted.item(), rel=1e-5)
        assert metrics["eval_aux_loss"] == pytest.approx(wanted.item(), rel=1e-5)


@pytest.mark.parametrize("own", [0.02, 0.0])
def test_the_trainers_coefficient_takes_the_place_of_the_models_own(own, tmp_path):
    rows = [{"input_ids": row, "labels": row} for row in IDS.tolist()]
    args = {
        "per_device_train_batch_size": 2,
        "learning_rate": 0.0,
        "max_steps": 1,
        "router_aux_loss_coef": 0.5,
    }
    model = family("mixtral", router_aux_loss_coef=own).float().eval()
    with torch.no_grad():
        output = model(input_ids=IDS, labels=IDS, output_router_logits=True)
        alone = model(input_ids=IDS, labels=IDS, output_router_logits=False).loss
    trainer = toy.trainer(tmp_path, rows, args, policy=model)
    trainer.train()
    entry = trainer.state.log_history[0]
    assert entry["aux_loss"] == pytest.approx(output.aux_loss.item(), rel=1e-5)
    assert entry["loss"] == pytest.approx((alone + 0.5 * output.aux_loss).item(), rel=1e-5)


def test_a_coefficient_that_does_not_reach_a_router_is_refused(tmp_path):
    rows = [{"input_ids": row, "labels": row} for row in IDS.tolist()]
    message = r"router_aux_loss_coef = 0\.1 would not reach .* JetMoe.* in the model's"
    with pytest.raises(ValueError, match=message):
        toy.trainer(tmp_path, rows, {"router_aux_loss_coef": 0.1}, policy=family("jetmoe").float())


def test_transformers_trainer_accumulates_it_as_a_mean_over_the_labels(tmp_path):
    how = {"learning_rate": 0.0, "max_steps": 1}
    items = sum(label != toy.IGNORED for row in toy.SCORED[:4] for label in row["labels"][1:])
    for micro, steps in ((1, 4), (2, 2)):
        model = family("mixtral", output_router_logits=True, router_aux_loss_coef=5.0).float()
        trainer = toy.plain_training(tmp_path, erce.attach(model, 2.0), micro=micro, steps=steps, **how)
        loss = trainer.state.log_history[0]["loss"]
        model.eval()
        batches = [toy.batch(toy.SCORED[i : i + micro]) for i in range(0, 4, micro)]
        with torch.no_grad():
            parts = [model(**batch, num_items_in_batch=items).loss.item() for batch in batches]
            alone = [model(**batch).loss.item() for batch in batches]
        assert loss == pytest.approx(sum(parts), rel=1e-5)
        assert min(alone) < loss < max(alone)


def test_a_model_without_more_keeps_no_logits():
    assert added_loss_of(toy.model()) is None
    assert added_loss_of(family("mixtral", router_aux_loss_coef=0.0)) is None
    assert added_loss_of(family("mixtral")).logits_to_keep == 1
    assert added_loss_of(family("bamba")).logits_to_keep == 0
    model = family("mixtral")
    before = set(vars(model)), model.config.output_router_logits
    added_loss_of(model)
    assert (set(vars(model)), model.config.output_router_logits) == before


def test_a_loss_that_is_another_than_cross_entropy_is_refused():
    odd = toy.model()
    odd.loss_function = lambda logits, labels, **_: 2 * logits.logsumexp(-1).mean()
    with pytest.raises(ValueError, match="loss of Qwen2ForCausalLM is not the mean cross-entropy"):
        added_loss_of(odd)
    slightly = toy.model()
    usual = slightly.loss_function
    slightly.loss_function = lambda *given, **named: usual(*given, **named) * 1.0001
    with pytest.raises(ValueError, match="and what else is in it cannot be told apart; leave its own loss"):
        added_loss_of(slightly)


@toy.TRLS_HEAD
def test_trls_head_is_refused_where_it_leaves_out_what_the_model_adds(tmp_path):
    def make(model: Any) -> ERCETrainer:
        rows = [{"input_ids": row, "labels": row} for row in IDS.tolist()]
        return toy.trainer(tmp_path, rows, {"head": "trl", "max_steps": 1}, policy=model)

    make(family("mixtral").float()).train()
    for name in ("jetmoe", "bamba"):
        settings = {} if name == "bamba" else {"output_router_logits": True}
        with pytest.raises(ValueError, match="that head='trl' leaves out; set head='erce'"):
            make(family(name, **settings).float())
