"""A file that describes one cell's fine-tuning becomes its adapter, trained by several processes.

    accelerate launch --multi_gpu --num_processes 8 -m erce.train.launch CELL.json

does what `fine_tune` does; the first process writes the adapter, then its summary to CELL.summary.json.
`launch` writes the file, starts the processes and returns the summary.
"""

import json
import os
import re
import subprocess
import sys
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from erce.errors import DivergedError, InputError
from erce.files import write_json
from erce.recipe import RegularizedObjective, Resources, Training
from erce.types import Problem

SHARDED = {
    "fsdp_version": "2",
    "fsdp_auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
    "fsdp_reshard_after_forward": "true",
    "fsdp_cpu_ram_efficient_loading": "false",  # every process loads the checkpoint by itself
}
# Named to the launcher, which would read ~/.cache/huggingface/accelerate/default_config.yaml without it.
PLAIN = {"compute_environment": "LOCAL_MACHINE", "distributed_type": "NO"}
# With what a process begins the line that `launch` finds in the log.
SAID = {DivergedError: "erce.train.launch, diverged: ", ValueError: "erce.train.launch: "}
LAUNCHED = "ERCE_LAUNCHED"  # set where stdin is the pipe from `launch`, which outlives no killed one
INHERITED = re.compile(
    r"ACCELERATE_|FSDP_|TORCHELASTIC_|(LOCAL_|GROUP_)?(RANK|WORLD_SIZE)$|MASTER_(ADDR|PORT)$"
)


@dataclass(frozen=True, kw_only=True)
class FineTuning:
    """One call of `fine_tune`, in what JSON can hold; `model` is a name for `erce.hf.models.load_model`."""

    model: str
    problems: tuple[Problem, ...]
    objective: RegularizedObjective
    training: Training
    seed: int
    folder: str
    dtype: str = "auto"

    @staticmethod
    def read(file: Path) -> "FineTuning":
        row = json.loads(file.read_text(encoding="utf-8"))
        return FineTuning(
            **row
            | {
                "problems": tuple(_problem(problem) for problem in row["problems"]),
                "objective": RegularizedObjective(**row["objective"]),
                "training": Training(**row["training"]),
            }
        )


def launch(work: FineTuning, *, resources: Resources) -> dict[str, Any]:
    """Train with several processes of this machine, a GPU each or none, and return what `fine_tune` returns.

    The output of all processes goes to `{folder}.launch.log`. A batch is `batch_size` demonstrations whatever
    the number of processes. Without `resources.threads` the processes share those of this one. The user's own
    accelerate config is not read. ValueError: a folder that exists, FSDP on a CPU, a training that failed.
    """
    folder = Path(work.folder).absolute()
    if folder.exists():
        raise InputError(f"{str(folder)!r} exists; delete it to train again, or name another folder")
    if resources.fsdp and not resources.gpus:
        raise InputError("accelerate shards nothing on a CPU; leave out fsdp, or set gpus")
    file, log = (folder.with_name(f"{folder.name}.launch.{end}") for end in ("json", "log"))
    summary = _summary(file)
    summary.unlink(missing_ok=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(asdict(work) | {"folder": str(folder)}), encoding="utf-8")
    _config(file).write_text(json.dumps(PLAIN), encoding="utf-8")
    with (
        log.open("w", encoding="utf-8") as output,
        subprocess.Popen(
            _command(file, resources),
            env=_environment(resources),
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as launcher,
    ):
        code = launcher.wait()
    if code or not summary.exists():
        kind, why = _reason(log.read_text(encoding="utf-8", errors="replace"))
        raise kind(
            f"the training over {resources.training_processes} processes failed: {why} (all of it: {log})"
        )
    found = json.loads(summary.read_text(encoding="utf-8"))
    for done in (file, summary, _config(file)):
        done.unlink()
    return found


def run(file: Path) -> None:
    """Trains the cell that the file describes, as one of the launcher's processes."""
    from accelerate import PartialState

    from erce.hf.models import BasePolicy, load_model, load_tokenizer
    from erce.train.fine_tune import fine_tune

    state = PartialState()  # before the model is loaded: it names this process's GPU
    work = FineTuning.read(file)
    summary = fine_tune(
        BasePolicy(load_model(work.model, dtype=work.dtype), load_tokenizer(work.model)),
        work.problems,
        objective=work.objective,
        training=work.training,
        seed=work.seed,
        folder=Path(work.folder),
    )
    if state.is_main_process:
        write_json(_summary(file), summary)


def main() -> None:
    """`run` of the one argument; a ValueError is a line that `launch` finds in the log."""
    from accelerate import PartialState

    if os.environ.get(LAUNCHED):
        threading.Thread(target=_leave_with_the_launch, daemon=True).start()
    try:
        run(Path(sys.argv[1]))
    except (DivergedError, ValueError) as error:
        kind = DivergedError if isinstance(error, DivergedError) else ValueError
        print(f"{SAID[kind]}{error}", file=sys.stderr, flush=True)
        sys.exit(1)
    PartialState().destroy_process_group()  # or its threads may outlive the interpreter, and abort


def _summary(file: Path) -> Path:
    return file.with_suffix(".summary.json")


def _config(file: Path) -> Path:
    """Where the launcher reads its settings, those that no flag names."""
    return file.with_suffix(".accelerate.json")


def _problem(row: dict[str, Any]) -> Problem:
    fields: dict[str, Any] = {name: tuple(x) if isinstance(x, list) else x for name, x in row.items()}
    return Problem(**fields)


def _command(file: Path, resources: Resources) -> list[str]:
    processes, fsdp = resources.training_processes, resources.fsdp
    threads = resources.threads or max(1, torch.get_num_threads() // processes)
    flags = {
        "config_file": str(_config(file)),
        "num_processes": str(processes),
        "num_machines": "1",
        "num_cpu_threads_per_process": str(threads),
        "mixed_precision": "no",
        "dynamo_backend": "no",
        "main_process_port": "0",
        "gpu_ids": "all",
        **(SHARDED if fsdp else {}),
    }
    # accelerate's --cpu starts one process, whatever their number; --multi_gpu without a GPU starts them all.
    cpu = resources.gpus == 0
    switches = ["--use_fsdp"] if fsdp else ["--multi_gpu"] if processes > 1 else ["--cpu"] if cpu else []
    values = [part for name, value in flags.items() for part in (f"--{name}", value)]
    launcher = [sys.executable, "-m", "accelerate.commands.launch", *switches, *values]
    return [*launcher, "-m", "erce.train.launch", str(file)]


def _environment(resources: Resources) -> dict[str, str]:
    """Ours without what a training in this process, or a launcher of it, has left for others to read."""
    found = {name: value for name, value in os.environ.items() if not INHERITED.match(name)}
    found[LAUNCHED] = "1"
    cpu = {"ACCELERATE_USE_CPU": "true", "CUDA_VISIBLE_DEVICES": ""}
    return found | (cpu if resources.gpus == 0 else {})


def _leave_with_the_launch() -> None:
    """Ends the process where the one that called `launch` is killed: its end of our stdin closes then."""
    while os.read(0, 1):
        pass
    os._exit(1)


def _reason(log: str) -> tuple[type[ValueError], str]:
    """What a process said of its error, or else the log's last lines."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    for line in lines:
        for kind, said in SAID.items():
            if line.startswith(said):
                return kind, line.removeprefix(said)
    errors = [line for line in lines if re.match(r"(\[rank\d+\]: )?[\w.]+(Error|Exception)\b", line)]
    return ValueError, errors[0] if errors else " | ".join(lines[-5:]) or "it said nothing"


if __name__ == "__main__":
    main()
