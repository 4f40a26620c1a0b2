"""Two processes that accelerate starts, with DDP or FSDP 2, train what one process does."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from accelerate import Accelerator
from toys import FINDS_TOYS, row_processes
from toys import train_processes as processes
from toys import training as toy
from toys.waiting import DEADLINE_SECONDS

from erce.train.trainer import _refuse_dispatch, _refuse_sharding

HOSTILE = """
compute_environment: LOCAL_MACHINE
distributed_type: FSDP
dynamo_config: {dynamo_backend: INDUCTOR}
fsdp_config: {fsdp_version: 1, fsdp_auto_wrap_policy: SIZE_BASED_WRAP, fsdp_offload_params: true}
gpu_ids: '5'
machine_rank: 2
mixed_precision: bf16
num_machines: 3
num_processes: 7
"""
# accelerate's --cpu starts one process only; --multi_gpu without a GPU starts as many as are asked for.
FLAGS = [
    "--num_processes=2",
    "--num_machines=1",
    "--num_cpu_threads_per_process=1",
    "--mixed_precision=no",
    "--dynamo_backend=no",
    "--main_process_port=0",
    "--gpu_ids=all",
]
FSDP = [
    "--fsdp_version=2",
    "--fsdp_auto_wrap_policy=TRANSFORMER_BASED_WRAP",
    "--fsdp_reshard_after_forward=true",
    "--fsdp_cpu_ram_efficient_loading=false",
]
NUMBERS = ("loss", "ce", "entropy", "objective", "lam", "grad_norm", "scored_tokens")


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("alone")
    return {name: processes.train(folder, case, sharded=False) for name, case in processes.CASES.items()}


@pytest.fixture
def hostile(tmp_path) -> Path:
    """A home for Hugging Face's libraries, with a user's own answers to `accelerate config` in it."""
    config = tmp_path / "home" / "accelerate" / "default_config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(HOSTILE, encoding="utf-8")
    return tmp_path / "home"


def launched(script: str | Path, folder: Path, *, sharded: bool, home: Path) -> None:
    """The script, run by two processes on this CPU with the folder as their argument."""
    config = folder / "accelerate.json"
    config.write_text('{"compute_environment": "LOCAL_MACHINE", "distributed_type": "NO"}', encoding="utf-8")
    switch = ["--use_fsdp", *FSDP] if sharded else ["--multi_gpu"]
    command = [sys.executable, "-m", "accelerate.commands.launch", *switch, f"--config_file={config}", *FLAGS]
    done = subprocess.run(
        [*command, str(script), str(folder)],
        env=os.environ | FINDS_TOYS | {"ACCELERATE_USE_CPU": "true", "HF_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE_SECONDS,
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.slow
@pytest.mark.parametrize("sharded", [False, True], ids=["DDP", "FSDP2"])
def test_two_processes_train_what_one_does(sharded, alone, tmp_path, hostile):
    launched(processes.__file__, tmp_path, sharded=sharded, home=hostile)
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
def test_two_processes_train_on_and_evaluate_every_row_once_in_every_kind_of_batch(tmp_path, hostile):
    launched(row_processes.__file__, tmp_path, sharded=False, home=hostile)
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
