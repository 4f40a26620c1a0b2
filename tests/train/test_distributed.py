"""Two processes that accelerate starts, with DDP or FSDP 2, train what one process does."""

import json
from typing import Any

import pytest
import torch
from accelerate import Accelerator
from toys import row_processes
from toys import train_processes as processes
from toys import training as toy
from toys.launch import launched

from erce.train.trainer import _refuse_dispatch, _refuse_sharding

NUMBERS = ("loss", "ce", "entropy", "objective", "lam", "grad_norm", "scored_tokens")


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("alone")
    return {name: processes.train(folder, case, sharded=False) for name, case in processes.CASES.items()}


@pytest.mark.slow
@pytest.mark.parametrize("sharded", [False, True], ids=["DDP", "FSDP2"])
def test_two_processes_train_what_one_does(sharded, alone, tmp_path):
    launched(processes.__file__, tmp_path, sharded=sharded)
    for trained in [torch.load(tmp_path / f"trained-{rank}.pt") for rank in (0, 1)]:
        for name, wanted in alone.items():
            assert trained[name]["kind"] == ("FSDP" if sharded else "MULTI_CPU")
            assert trained[name]["sharded"] == (sorted(wanted["weights"]) if sharded else [])
            for entry, other in zip(trained[name]["log"], wanted["log"], strict=True):
                assert {key: entry[key] for key in NUMBERS} == pytest.approx(
                    {key: other[key] for key in NUMBERS}, rel=1e-4
                ), name
            for weight, w in zip(trained[name]["weights"].values(), wanted["weights"].values(), strict=True):
                torch.testing.assert_close(weight, w, rtol=0, atol=1e-6, msg=name)


@pytest.mark.slow
def test_two_processes_train_on_and_evaluate_every_row_once_in_every_kind_of_batch(tmp_path):
    launched(row_processes.__file__, tmp_path, sharded=False)
    alone = {
        by: row_processes.train(tmp_path, {"normalize": by, "per_device_train_batch_size": 5})["loss"]
        for by in ("token", "sequence")
    }
    for rank in (0, 1):
        read = json.loads((tmp_path / f"rows-{rank}.json").read_text())
        for name, case in row_processes.CASES.items():
            wanted = pytest.approx(alone[case.get("normalize", "token")], rel=1e-5)
            assert read[name] == {
                "scored": row_processes.SCORED,
                "loss": wanted,
                "scored_tokens": row_processes.SCORED,
            }, name


def test_batches_that_one_process_cuts_for_all_are_refused(tmp_path):
    args = toy.config(tmp_path, accelerator_config={"dispatch_batches": True})
    with pytest.raises(ValueError, match="dispatch_batches=True would train on rows twice; leave it out"):
        _refuse_dispatch(args)
    args = toy.config(tmp_path)
    _refuse_dispatch(args)
    assert args.accelerator_config.dispatch_batches is False


@pytest.mark.parametrize("version", [1, None], ids=["FSDP 1", "DeepSpeed"])
def test_a_head_that_nothing_gathers_is_refused(version, tmp_path, monkeypatch):
    from accelerate import DistributedType

    kind = DistributedType.DEEPSPEED if version is None else DistributedType.FSDP
    monkeypatch.setattr(Accelerator, "is_fsdp2", False)
    monkeypatch.setattr(Accelerator, "distributed_type", kind)

    with pytest.raises(ValueError, match="an output head that DeepSpeed or FSDP 1 has sharded"):
        _refuse_sharding(Accelerator(cpu=True))
