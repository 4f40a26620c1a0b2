"""The loss inside a model: what a loop that reads `outputs.loss` gets, and what would take it away."""

import copy
import os
import pickle
import subprocess
import sys
import types
from typing import Any

import pytest
import torch
from peft import AdaptionPromptConfig, CPTConfig, PeftModel, get_peft_model
from torch import Tensor, nn
from toys import FINDS_TOYS
from toys import training as toy
from toys.waiting import DEADLINE_SECONDS
from transformers.modeling_outputs import CausalLMOutputWithPast

import erce
from erce.hf import attach
from erce.loss import Loss, make_base_loss, make_penalty

BATCH = toy.batch(toy.UNEQUAL[:4])
TOKENS = sum(label != toy.IGNORED for row in toy.UNEQUAL[:4] for label in row["labels"][1:])


def by_hand(model: Any, given: dict[str, Tensor] = BATCH, **how: Any) -> Loss:
    """Return the loss of the logits that the model itself gives."""
    how = {"lam": 3.0} | how
    inputs = {name: x for name, x in given.items() if name != "labels"}
    logits = model(**inputs).logits[:, :-1]
    return erce.entropy_regularized_cross_entropy(logits, given["labels"][:, 1:], **how)


def assert_same(model: Any, loss: Tensor, attached: Any, wanted: Tensor) -> None:
    torch.testing.assert_close(loss, wanted, rtol=1e-9, atol=0)
    toy.assert_same(toy.gradients(attached, loss), toy.gradients(model, wanted))


@pytest.mark.parametrize("name", ["qwen2", "gemma2", "cohere", "granite"])
@pytest.mark.parametrize("adapter", [None, ["q_proj"], ["q_proj", "lm_head"]], ids=str)
@pytest.mark.filterwarnings("ignore:.*tie_word_embeddings")
def test_the_loss_of_a_model_is_the_objective_of_its_own_logits(name, adapter):
    def made() -> Any:
        base = toy.family(name)
        if adapter is None:
            return base
        with torch.random.fork_rng():
            torch.manual_seed(1)
            return toy.adapter_on(base, target_modules=adapter)

    plain, attached = made().train(), erce.attach(made(), 3.0).train()
    output, wanted = attached(**BATCH), by_hand(plain)
    assert_same(plain, output.loss, attached, wanted.objective)
    last = attached.erce.last
    torch.testing.assert_close((last.nll, last.entropy), (wanted.nll, wanted.entropy), rtol=1e-9, atol=0)
    assert not any(x is not None and x.requires_grad for x in last)


@pytest.mark.parametrize(
    "settings",
    [
        {"entropy_type": "renyi", "entropy_order": 0.5},
        {"base_loss": "focal:3"},
        {"entropy_penalty": -0.2},
    ],
    ids=str,
)
def test_every_setting_reaches_the_loss(settings):
    plain = toy.family("qwen2")
    attached = erce.attach(toy.family("qwen2"), **{"entropy_penalty": 3.0} | settings)
    how = {
        "lam": settings.get("entropy_penalty", 3.0),
        "penalty": make_penalty(settings.get("entropy_type", "shannon"), settings.get("entropy_order", 1.0)),
        "base_loss": make_base_loss(settings.get("base_loss", "cross-entropy")),
    }
    assert_same(plain, attached(**BATCH).loss, attached, by_hand(plain, **how).objective)


def test_the_normaliser_and_the_labels_are_those_that_were_given():
    plain, attached = toy.family("qwen2"), erce.attach(toy.family("qwen2"), 3.0)
    total = by_hand(plain, reduction="sum").objective.detach()
    for items in (7, 7.0, torch.tensor(7)):
        torch.testing.assert_close(attached(**BATCH, num_items_in_batch=items).loss.detach(), total / 7)
    torch.testing.assert_close(attached(**BATCH).loss.detach(), total / TOKENS)

    ids, labels = BATCH["input_ids"], BATCH["labels"]
    shifted = nn.functional.pad(labels[:, 1:], (0, 1), value=toy.IGNORED)
    loss = attached(input_ids=ids, shift_labels=shifted, labels=torch.zeros_like(labels)).loss
    torch.testing.assert_close(loss.detach(), total / TOKENS)
    shifted[:, -1] = ids[:, 0]  # the last position has a target as well: nothing is shifted away
    moved = attached(input_ids=ids, shift_labels=shifted).loss.item()
    assert moved != pytest.approx(float(total / TOKENS), rel=1e-3)

    other = erce.attach(toy.family("qwen2"), 3.0, ignore_index=-1)
    mine = labels.masked_fill(labels == toy.IGNORED, -1)
    torch.testing.assert_close(other(input_ids=ids, labels=mine).loss.detach(), total / TOKENS)
    loss = attached(input_ids=ids, labels=mine, ignore_index=-1).loss
    torch.testing.assert_close(loss.detach(), total / TOKENS)


def test_nothing_to_predict_is_a_differentiable_zero():
    attached = erce.attach(toy.family("qwen2"), 3.0).train()
    empty = BATCH | {"labels": torch.full_like(BATCH["labels"], toy.IGNORED)}
    slopes = [toy.gradients(attached, attached(**empty, num_items_in_batch=torch.tensor(3)).loss)]
    for items in (None, torch.tensor(0)):  # as a plain loop and as transformers.Trainer
        with pytest.warns(UserWarning, match="no label of this batch is scored, so its loss is 0"):
            loss = attached(**empty, num_items_in_batch=items).loss
        slopes.append(toy.gradients(attached, loss))
        assert loss == 0
    assert all(not gradient.any() for each in slopes for gradient in each.values())


def test_labels_of_another_length_than_the_tokens_are_one_sentence():
    attached = erce.attach(toy.family("qwen2"), 3.0)
    short = BATCH | {"labels": BATCH["labels"][:, :-1]}
    with pytest.raises(
        ValueError, match=r"labels have the shape \(4, 18\) and the tokens \(4, 19\); give one"
    ):
        attached(**short)
    with pytest.raises(ValueError, match=r"labels have the shape \(19,\) and the tokens \(4, 19\)"):
        attached(**BATCH | {"labels": BATCH["labels"][0]})
    embedded = {"inputs_embeds": attached.get_input_embeddings()(BATCH["input_ids"])}
    with pytest.raises(ValueError, match="give one label per token, -100 where it is not trained on"):
        attached(**embedded, shift_labels=short["labels"])


def test_logits_that_were_not_made_are_a_sentence_once_they_are_used():
    output = erce.attach(toy.family("qwen2"), 3.0)(**BATCH)
    for use in (lambda logits: logits[:, -1], lambda logits: logits.argmax(-1)):
        with pytest.raises(ValueError, match="a call with labels makes no logits after erce"):
            use(output.logits)
    copied = pickle.loads(pickle.dumps(copy.deepcopy(output.logits)))
    assert type(copied) is attach.NoLogits


def test_the_output_is_the_usual_one_without_logits():
    plain, attached = toy.family("qwen2"), erce.attach(toy.family("qwen2"), 0.0)
    calls = []
    attached.lm_head.register_forward_hook(lambda *_: calls.append(1))
    asked = {"output_hidden_states": True, "use_cache": True}
    wanted, output = plain(**BATCH, **asked), attached(**BATCH, **asked)
    assert type(output) is type(wanted) is CausalLMOutputWithPast
    assert set(wanted) - set(output) == {"logits"}
    assert not calls
    torch.testing.assert_close(output.loss.float(), wanted.loss)  # theirs is computed in float32
    torch.testing.assert_close(output.hidden_states, wanted.hidden_states)
    loss, *_ = attached(**BATCH, return_dict=False)
    assert loss == output.loss
    ids, mask, labels = BATCH.values()
    assert attached(ids, mask, None, None, None, labels).loss == output.loss  # by position
    with pytest.raises(ValueError, match="logits_to_keep has no meaning with labels; leave it out"):
        attached(**BATCH, logits_to_keep=1)


def test_without_labels_all_is_as_before():
    plain, attached = toy.family("qwen2"), erce.attach(toy.family("qwen2"), 3.0)
    ids = BATCH["input_ids"]
    assert torch.equal(attached(ids).logits, plain(ids).logits)
    assert torch.equal(
        attached.generate(ids[:1], max_new_tokens=4, do_sample=False),
        plain.generate(ids[:1], max_new_tokens=4, do_sample=False),
    )
    with torch.no_grad():
        assert torch.equal(attached.train()(ids).logits, plain.train()(ids).logits)


class Deaf(toy.Qwen2ForCausalLM):
    """A model, as transformers has some, whose loss would be divided by the number of micro-batches."""

    accepts_loss_kwargs = False


@pytest.mark.parametrize("deaf", [False, True])
def test_transformers_trainer_accumulates_exactly(deaf, tmp_path):
    trainings = []
    for micro, steps in ((4, 1), (1, 4)):
        model = toy.family("qwen2")
        if deaf:
            model.__class__ = Deaf
        start = copy.deepcopy(model.state_dict())
        trainer = toy.plain_training(tmp_path, erce.attach(model, 3.0), micro=micro, steps=steps)
        trainings.append((trainer.state.log_history, model.state_dict()))
    plain = toy.family("qwen2")
    plain.load_state_dict(start)
    for step in range(2):
        wanted = by_hand(plain, toy.batch(toy.SCORED[4 * step : 4 * step + 4])).objective
        slopes = toy.gradients(plain, wanted)
        for log, _ in trainings:
            assert log[step]["loss"] == pytest.approx(wanted.item(), rel=1e-6)  # kept in float32
        with torch.no_grad():
            for name, weight in plain.named_parameters():
                weight.sub_(0.1 * slopes[name])
    for _, state in trainings:
        for name, weight in plain.state_dict().items():
            torch.testing.assert_close(state[name], weight, rtol=1e-8, atol=1e-10, msg=name)


def test_attaching_again_replaces_and_detaching_leaves_nothing():
    model = toy.model()
    before, hooks = set(vars(model)), len(model.model._forward_pre_hooks)
    assert erce.detach(model) is model
    first = erce.attach(model, 1.0)(**BATCH).loss
    assert erce.attach(model, 2.0) is model
    second, plain = model(**BATCH).loss, model.erce.last
    assert second > first
    torch.testing.assert_close(second, plain.nll + 2 * plain.entropy)
    assert len(model.model._forward_pre_hooks) == hooks + 1
    erce.detach(model)
    assert (set(vars(model)), len(model.model._forward_pre_hooks)) == (before, hooks)
    torch.testing.assert_close(model.train()(**BATCH).loss, plain.nll)

    own = types.MethodType(toy.Qwen2ForCausalLM.forward, model)  # as accelerate leaves on a model in parts
    model.forward = own
    assert erce.detach(erce.attach(model, 1.0)).forward is own


def test_what_others_do_to_the_loss_leaves_the_last_numbers_alone():
    model = erce.attach(toy.model(), 2.0)
    output = model(**BATCH)
    output.loss /= 4  # as transformers' evaluation and AdaLoRA do
    last = model.erce.last
    torch.testing.assert_close(last.objective, last.nll + 2 * last.entropy)
    torch.testing.assert_close(output.loss, last.objective / 4)


def test_an_adapter_that_keeps_the_first_forward_is_given_ours():
    llama = toy.AutoConfig.for_model("llama", **toy.WIDTHS, vocab_size=259, num_hidden_layers=2)
    prompts = AdaptionPromptConfig(task_type="CAUSAL_LM", adapter_len=2, adapter_layers=1)
    model = get_peft_model(toy.AutoModelForCausalLM.from_config(llama), prompts)
    plain = model(**BATCH).loss.item()
    assert erce.attach(model, 2.0)(**BATCH).loss.item() > plain
    torch.testing.assert_close(model.erce.last.nll.item(), plain)
    assert erce.detach(model)(**BATCH).loss.item() == plain


def test_an_adapter_with_a_loss_of_its_own_is_refused():
    tokens = {"cpt_token_ids": [1, 2], "cpt_mask": [1, 1], "cpt_tokens_type_mask": [1, 2]}
    model = get_peft_model(toy.model(), CPTConfig(task_type="CAUSAL_LM", **tokens, num_virtual_tokens=2))
    with pytest.raises(ValueError, match=r"PEFT's CPT replaces the loss .*; take another"):
        erce.attach(model, 1.0)


def test_a_copy_has_its_own():
    model = erce.attach(toy.model(), 1.0)
    twin = copy.deepcopy(model).train()
    value = model(**BATCH).loss.item()
    with torch.no_grad():
        for weight in model.parameters():
            weight.zero_()
    assert twin(**BATCH).loss.item() == pytest.approx(value)
    assert twin.erce.last is not model.erce.last
    with pytest.raises(ValueError, match="put into this model is bypassed"):
        twin.model(input_ids=BATCH["input_ids"])
    erce.detach(twin)
    assert twin(**BATCH).logits is not None
    assert "logits" not in model(**BATCH)


def test_an_adapter_that_comes_later_is_part_of_it():
    base = erce.attach(toy.family("qwen2", tie_word_embeddings=False), 3.0)
    model = toy.adapter_on(base, target_modules=["q_proj", "lm_head"]).train()
    assert isinstance(model, PeftModel)
    loss, wanted = model(**BATCH).loss, by_hand(model.eval()).objective
    assert_same(model, loss, model, wanted)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")  # at a graph break
def test_a_compiled_model_with_the_loss_inside_is_the_same():
    model = erce.attach(toy.model(), 3.0).train()
    wanted = model(**BATCH).loss
    slopes = toy.gradients(model, wanted)
    loss = torch.compile(model, backend="aot_eager")(**BATCH).loss
    torch.testing.assert_close(loss, wanted)
    toy.assert_same(toy.gradients(model, loss), slopes, rtol=1e-5, atol=1e-6)


TWO_PROCESSES = """
import os, torch, erce
from toys import training as toy
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rows, rank = toy.UNEQUAL[:4], dist.get_rank()
made = lambda: erce.attach(toy.model(tied=False), 2.0).train()
one = made()
one(**toy.batch(rows)).loss.backward()
items = torch.tensor(sum(label != toy.IGNORED for row in rows for label in row["labels"][1:]))
mine = toy.batch(rows[2 * rank : 2 * rank + 2])
sharded = made()
for layer in sharded.model.layers:
    fully_shard(layer)
fully_shard(sharded)
for wrapped, model in ((DistributedDataParallel(copied := made()), copied), (sharded, sharded)):
    (2 * wrapped(**mine, num_items_in_batch=items).loss).backward()  # the gradients are averaged
    for (name, weight), wanted in zip(model.named_parameters(), one.parameters(), strict=True):
        gradient = getattr(weight.grad, "full_tensor", lambda grad=weight.grad: grad)()
        torch.testing.assert_close(gradient, wanted.grad, rtol=1e-4, atol=1e-5, msg=name)
os._exit(0)  # on a busy machine torch 2.13 sometimes aborts while it takes its threads down
"""


@pytest.mark.slow
def test_two_processes_with_ddp_and_with_fsdp_are_one(tmp_path):
    (tmp_path / "two.py").write_text(TWO_PROCESSES)
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    subprocess.run(
        [*launcher, str(tmp_path / "two.py")],
        env=os.environ | FINDS_TOYS | {"OMP_NUM_THREADS": "1"},
        check=True,
        capture_output=True,
        timeout=DEADLINE_SECONDS,
    )
