"""Two processes that accelerate starts, with DDP or FSDP 2, train what one process does."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from accelerate import Accelerator
from safetensors.torch import load_file
from toys import FINDS_TOYS, row_processes
from toys import train_processes as processes
from toys import training as toy
from toys.waiting import DEADLINE_SECONDS

from erce.errors import DivergedError, InputError
from erce.hf.models import BasePolicy, load_model, load_tokenizer
from erce.recipe import RegularizedObjective, Resources, Training
from erce.train.fine_tune import fine_tune
from erce.train.launch import LAUNCHER_CONFIG, FineTuning, _command, _config, _last_words, launch
from erce.train.trainer import _refuse_dispatch, _refuse_sharding
from erce.types import Problem

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
    """The script, run as `launch` runs a cell, by two processes with the folder as their argument."""
    file = folder / "cell.json"
    _config(file).write_text(json.dumps(LAUNCHER_CONFIG), encoding="utf-8")
    *command, _, _, _ = _command(file, Resources(processes=2, fsdp=sharded, threads=1))
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


TRAINING = Training(
    epochs=2.0,
    learning_rate=1e-2,
    batch_size=4,
    micro_batch_size=2,
    rank=4,
    lora_alpha=8,
    dropout=0.0,
    max_length=128,
    lam_schedule="linear",
    lam_warmup=0.5,
)


PROBLEMS = tuple(
    Problem(id=str(i), prompt=f"{i}+{i}=", demonstration=f"{2 * i} #{'#' * (i % 5)} {2 * i}", tests=("x",))
    for i in range(11)
)


TWO = Resources(processes=2)


def work(folder: Path, **training: Any) -> FineTuning:
    return FineTuning(
        model="tiny",
        problems=PROBLEMS,
        objective=RegularizedObjective(lam=1.0),
        training=replace(TRAINING, **training),
        seed=3,
        folder=str(folder),
    )


@pytest.mark.slow
def test_a_launched_cell_is_what_fine_tune_makes_in_one_process(tmp_path):
    told = launch(work(tmp_path / "two"), resources=TWO)
    wanted = fine_tune(
        BasePolicy(load_model("tiny"), load_tokenizer("tiny")),
        PROBLEMS,
        objective=RegularizedObjective(lam=1.0),
        training=TRAINING,
        seed=3,
        folder=tmp_path / "one",
    )
    assert told.keys() == wanted.keys()
    for name in ("steps", "tokens", "truncated"):
        assert told[name] == wanted[name]
    for name in ("ce", "entropy", "objective"):
        assert told[name] == pytest.approx(wanted[name], rel=1e-5)
    adapters = [load_file(tmp_path / name / "adapter_model.safetensors") for name in ("one", "two")]
    for name, weight in adapters[0].items():
        torch.testing.assert_close(adapters[1][name], weight, rtol=0, atol=1e-5, msg=name)
    both = [json.loads((tmp_path / name / "adapter_config.json").read_text()) for name in ("one", "two")]
    assert {k: sorted(v) if isinstance(v, list) else v for k, v in both[0].items()} == {
        k: sorted(v) if isinstance(v, list) else v for k, v in both[1].items()
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two", "two.launch.log"]


@pytest.mark.slow
def test_a_launched_training_that_diverges_is_an_error_of_its_own_kind(tmp_path):
    with pytest.raises(DivergedError, match="the training diverged at step"):
        launch(work(tmp_path / "two", learning_rate=1e30, max_grad_norm=1e30), resources=TWO)


@pytest.mark.slow
def test_a_batch_that_the_processes_cannot_share_is_one_sentence(tmp_path):
    with pytest.raises(InputError, match=r"batch_size = 6 must be a multiple of micro_batch_size = 2") as e:
        launch(work(tmp_path / "two", batch_size=6), resources=TWO)
    assert "times 2 processes; write 4, for instance (all of it: " in str(e.value)
    assert not (tmp_path / "two").exists()


@pytest.mark.parametrize(("threads", "each"), [(2, "2"), (None, "3")], ids=str)
def test_each_process_has_the_threads_that_are_asked_for_or_its_share_of_ours(threads, each, monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 7)
    command = _command(Path("cell.json"), Resources(processes=2, threads=threads))
    assert command[command.index("--num_cpu_threads_per_process") + 1] == each


def test_what_cannot_be_launched_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(InputError, match="accelerate shards nothing on a CPU; leave out fsdp"):
        launch(work(tmp_path / "two"), resources=Resources(processes=2, fsdp=True))
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "two").mkdir()
    with pytest.raises(InputError, match="exists; delete it to train again"):
        launch(work(tmp_path / "two"), resources=TWO)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "started\n[rank1]: torch.OutOfMemoryError: 9 GiB\nelastic: 1\n",
            "[rank1]: torch.OutOfMemoryError: 9 GiB",
        ),
        ("a\nb\n\nc\n", "a | b | c"),
    ],
)
def test_what_a_launch_that_ended_otherwise_says_is_in_its_log(text, sentence, tmp_path):
    (tmp_path / "log").write_text(text, encoding="utf-8")
    assert str(_last_words(tmp_path / "log")) == sentence


@pytest.mark.parametrize("version", [1, None], ids=["FSDP 1", "DeepSpeed"])
def test_a_head_that_nothing_gathers_is_refused(version, tmp_path, monkeypatch):
    from accelerate import DistributedType

    kind = DistributedType.DEEPSPEED if version is None else DistributedType.FSDP
    monkeypatch.setattr(Accelerator, "is_fsdp2", False)
    monkeypatch.setattr(Accelerator, "distributed_type", kind)

    with pytest.raises(ValueError, match="an output head that DeepSpeed or FSDP 1 has sharded"):
        _refuse_sharding(Accelerator(cpu=True))
