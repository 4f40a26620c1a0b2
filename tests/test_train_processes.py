"""Two processes that accelerate starts, with DDP or FSDP 2, train what one process does."""

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
import train_processes as processes
import train_toy as toy
from accelerate import Accelerator
from safetensors.torch import load_file

from erce.models import load_model, load_tokenizer
from erce.train import ERCETrainer, fine_tune
from erce.train.launched import SHARDED, Cell, _reason, launch
from erce.types import Problem

NUMBERS = ("loss", "ce", "entropy", "objective", "lam", "grad_norm", "scored_tokens")


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("alone")
    return {name: processes.train(folder, case, sharded=False) for name, case in processes.CASES.items()}


def launched(folder: Path, *, sharded: bool) -> list[dict[str, dict[str, Any]]]:
    """What each of two processes found."""
    switches = ["--use_fsdp"] if sharded else ["--multi_gpu"]
    flags = {"num_processes": "2", "num_machines": "1", "mixed_precision": "no", "dynamo_backend": "no"}
    flags |= {"main_process_port": "0"} | (SHARDED if sharded else {})
    values = [part for name, value in flags.items() for part in (f"--{name}", value)]
    command = [sys.executable, "-m", "accelerate.commands.launch", *switches, *values]
    done = subprocess.run(
        [*command, str(Path(processes.__file__)), str(folder)],
        env=os.environ | {"ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [torch.load(folder / f"found-{rank}.pt") for rank in (0, 1)]


@pytest.mark.slow
@pytest.mark.parametrize("sharded", [False, True], ids=["DDP", "FSDP2"])
def test_two_processes_train_what_one_does(sharded, alone, tmp_path):
    for found in launched(tmp_path, sharded=sharded):
        for name, wanted in alone.items():
            assert found[name]["kind"] == ("FSDP" if sharded else "MULTI_CPU")
            assert found[name]["sharded"] == (sorted(wanted["weights"]) if sharded else [])
            for entry, other in zip(found[name]["log"], wanted["log"], strict=True):
                assert {key: entry[key] for key in NUMBERS} == pytest.approx(
                    {key: other[key] for key in NUMBERS}, rel=1e-4
                ), name
            for weight, w in zip(found[name]["weights"].values(), wanted["weights"].values(), strict=True):
                torch.testing.assert_close(weight, w, rtol=0, atol=1e-6, msg=name)


@dataclass(frozen=True)
class Settings:
    epochs: float = 2.0
    learning_rate: float = 1e-2
    warmup: float = 0.03
    batch_size: int = 4
    micro_batch_size: int = 2
    max_grad_norm: float = 1.0
    rank: int = 4
    lora_alpha: int = 8
    dropout: float = 0.0
    normalize: str = "token"
    head: str = "erce"
    gradient_checkpointing: bool = False
    max_length: int | None = 128


PROBLEMS = tuple(
    Problem(id=str(i), prompt=f"{i}+{i}=", demonstration=f"{2 * i} #{'#' * (i % 5)} {2 * i}", tests=("x",))
    for i in range(11)
)


def cell(folder: Path, **changes: Any) -> Cell:
    settings = asdict(Settings()) | changes.pop("settings", {})
    point: dict[str, Any] = {"lam": 1.0, "penalty": "shannon", "order": 1.0, "seed": 3}
    point |= {"lam_schedule": "linear", "lam_warmup": 0.5}
    return Cell(
        **{"model": "tiny", "problems": PROBLEMS, "settings": settings, "folder": str(folder)}
        | point
        | changes
    )


@pytest.mark.slow
def test_a_launched_cell_is_what_fine_tune_makes_in_one_process(tmp_path):
    given = cell(tmp_path / "two")
    told = launch(given, processes=2, cpu=True)
    point = {name: getattr(given, name) for name in ("lam", "penalty", "order", "seed")}
    point |= {"lam_schedule": given.lam_schedule, "lam_warmup": given.lam_warmup}
    base, tokenizer = load_model("tiny"), load_tokenizer("tiny")
    wanted = fine_tune(
        base,
        tokenizer,
        PROBLEMS,
        settings=Settings(),
        folder=tmp_path / "one",
        **point,
        objective="cross-entropy",
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
def test_a_batch_that_the_processes_cannot_share_is_one_sentence(tmp_path):
    with pytest.raises(
        ValueError, match=r"failed: batch_size = 6 must be a multiple of micro_batch_size = 2 "
    ) as e:
        launch(cell(tmp_path / "two", settings={"batch_size": 6}), processes=2, cpu=True)
    assert "times 2 processes (all of it: " in str(e.value)
    assert not (tmp_path / "two").exists()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"processes": 0}, "processes = 0 train nothing; give 1 or more"),
        (
            {"processes": 2, "cpu": True, "fsdp": True},
            "accelerate shards nothing on a CPU; leave out fsdp, or cpu",
        ),
    ],
    ids=str,
)
def test_what_cannot_be_launched_is_refused_before_anything_is_written(how, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        launch(cell(tmp_path / "two"), **how)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "two").mkdir()
    with pytest.raises(ValueError, match="exists; delete it to train again"):
        launch(cell(tmp_path / "two"), processes=2, cpu=True)


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("started\nerce.train.launched: lower λ\nelastic: exit 1\n", "lower λ"),
        (
            "started\n[rank1]: torch.OutOfMemoryError: 9 GiB\nelastic: 1\n",
            "[rank1]: torch.OutOfMemoryError: 9 GiB",
        ),
        ("a\nb\n\nc\n", "a | b | c"),
        ("", "it said nothing"),
    ],
    ids=str,
)
def test_the_reason_of_a_failure_is_what_a_process_said(log, reason):
    assert _reason(log) == reason


@pytest.mark.parametrize("version", [1, None], ids=["FSDP 1", "DeepSpeed"])
def test_a_head_that_nothing_gathers_is_refused(version, tmp_path, monkeypatch):
    from accelerate import DistributedType

    kind = DistributedType.DEEPSPEED if version is None else DistributedType.FSDP
    monkeypatch.setattr(Accelerator, "is_fsdp2", False)
    monkeypatch.setattr(Accelerator, "distributed_type", kind)
    from erce.train.processes import refuse_sharding

    with pytest.raises(
        ValueError, match="does not gather an output head that DeepSpeed or FSDP 1 has sharded"
    ):
        refuse_sharding(Accelerator(cpu=True))


def test_one_process_trains_on_every_row(tmp_path):
    trainer = ERCETrainer(
        toy.model(),
        toy.config(tmp_path, num_train_epochs=1),
        train_dataset=toy.dataset(toy.UNEQUAL),
        processing_class=toy.tokenizer(),
        peft_config=toy.lora(),
    )
    trainer.train()
    scored = sum(label != toy.IGNORED for row in toy.UNEQUAL for label in row["labels"][1:])
    assert sum(e["scored_tokens"] for e in trainer.state.log_history if "lam" in e) == scored
