"""λ over a training: constant or warmed up, the same in a step, in the log and after resuming."""

from pathlib import Path
from typing import Any

import pytest
import torch
from toys import training as toy

from erce.train.trainer import ERCETrainer

RISING = {"entropy_penalty": 2.0, "entropy_schedule": "linear", "entropy_warmup": 0.5}
STEPS = 6  # two epochs of 11 rows, 4 a step


def trained(folder: Path, **settings: Any) -> ERCETrainer:
    settings = {"num_train_epochs": 2, "learning_rate": 1e-2} | settings
    evaluated, adapter = toy.UNEQUAL[:3], toy.lora(init_lora_weights=False)
    trainer = toy.trainer(folder, toy.UNEQUAL, settings, eval_dataset=evaluated, peft_config=adapter)
    trainer.train()
    return trainer


def logged(trainer: ERCETrainer) -> list[dict[str, float]]:
    return [entry for entry in trainer.state.log_history if "lam" in entry]


@pytest.mark.parametrize("normalize", ["token", "sequence"])
@pytest.mark.parametrize("every", [1, 4])
def test_the_logged_lam_is_what_the_logged_objective_was_made_with(every, normalize, tmp_path):
    log = logged(trained(tmp_path, **RISING, logging_steps=every, normalize=normalize, max_grad_norm=0.0))
    for entry in log:
        wanted = entry["ce"] + entry["lam"] * entry["entropy"]
        assert entry["objective"] == pytest.approx(wanted, rel=1e-6)
    if every == 1:
        assert [entry["lam"] for entry in log] == [0.0, 2 / 3, 4 / 3, 2.0, 2.0, 2.0]
    else:
        assert 0.9 < log[0]["lam"] < 1.1  # of 0, 2/3, 4/3 and 2, near enough


def test_a_delayed_lam_trains_the_objective_alone_and_then_all_of_lam(tmp_path):
    delayed = RISING | {"entropy_schedule": "delayed", "entropy_warmup": 0.5}
    log = logged(trained(tmp_path, max_steps=4, **delayed))
    assert [entry["lam"] for entry in log] == [0.0, 0.0, 2.0, 2.0]
    plain = logged(trained(tmp_path, max_steps=4))
    assert [entry["ce"] for entry in log[:3]] == [entry["ce"] for entry in plain[:3]]
    assert log[3]["ce"] != plain[3]["ce"]


def test_evaluations_weigh_the_penalty_alike_at_every_step(tmp_path):
    history = trained(tmp_path, **RISING, eval_strategy="steps", eval_steps=1).state.log_history
    evaluations = [entry for entry in history if "eval_objective" in entry]
    assert len(evaluations) == STEPS
    for entry in evaluations:
        wanted = entry["eval_ce"] + 2.0 * entry["eval_entropy"]
        assert entry["eval_objective"] == pytest.approx(wanted, rel=1e-6)
    assert [entry["lam"] for entry in history if "lam" in entry][1] == 2 / 3  # and training goes on as it was


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")  # at a graph break
def test_another_lam_compiles_nothing_again(tmp_path):
    from torch._dynamo.utils import counters

    graphs = []
    for schedule in ("constant", "linear"):
        torch._dynamo.reset()
        counters.clear()
        how = {"torch_compile": True, "torch_compile_backend": "eager", "max_steps": 4}
        log = logged(trained(tmp_path, **how, **RISING | {"entropy_schedule": schedule}))
        graphs.append(counters["stats"]["unique_graphs"])
    assert graphs[0] == graphs[1] > 0
    assert [entry["lam"] for entry in log] == [0.0, 1.0, 2.0, 2.0]
    plain = logged(trained(tmp_path, max_steps=4, **RISING))
    for entry, other in zip(log, plain, strict=True):
        assert entry["objective"] == pytest.approx(other["objective"], rel=1e-5)
