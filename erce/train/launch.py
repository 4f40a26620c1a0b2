"""One cell's fine-tuning by several processes: a file that describes it → an adapter.

    accelerate launch --multi_gpu --num_processes 8 -m erce.train.launch CELL.pickle

does what `fine_tune` does; the first process writes the adapter, then the summary to CELL.outcome.
`launch` writes the file, starts the processes and returns the summary.
"""

import os
import pickle
import re
import subprocess
import sys
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from erce.errors import DivergedError, InputError, RunError, sendable
from erce.files import write_json
from erce.hf.collector import uncollected
from erce.recipe import RegularizedObjective, Resources, Training
from erce.types import Problem

if TYPE_CHECKING:
    from erce.train.fine_tune import TrainingSummary

FSDP_FLAGS = {
    "fsdp_version": "2",
    "fsdp_auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
    "fsdp_reshard_after_forward": "true",
    "fsdp_cpu_ram_efficient_loading": "false",  # every process loads the checkpoint by itself
}
# Without a file the launcher would read ~/.cache/huggingface/accelerate/default_config.yaml.
LAUNCHER_CONFIG = {"compute_environment": "LOCAL_MACHINE", "distributed_type": "NO"}
LAUNCHED = "ERCE_LAUNCHED"  # the variable that is set where stdin is a pipe from `launch`
INHERITED = re.compile(
    r"ACCELERATE_|FSDP_|TORCHELASTIC_|(LOCAL_|GROUP_)?(RANK|WORLD_SIZE)$|MASTER_(ADDR|PORT)$"
)


@dataclass(frozen=True, kw_only=True)
class FineTuning:
    """One call of `fine_tune`; `model` is a name for `erce.hf.models.load_model`."""

    model: str
    problems: tuple[Problem, ...]
    objective: RegularizedObjective
    training: Training
    seed: int
    folder: str
    dtype: str = "auto"


def launch(work: FineTuning, *, resources: Resources) -> "TrainingSummary":
    """Train with several processes of this machine, a GPU each or none, and return what `fine_tune` returns.

    The output of all processes goes to `{folder}.launch.log`. A batch is `batch_size` demonstrations whatever
    the number of processes. Without `resources.threads` the processes share those of this one. The user's own
    accelerate config is not read. InputError: a folder that exists, FSDP on a CPU, what `fine_tune` refuses.
    DivergedError and RunError: a training that diverged, or failed in another way.
    """
    folder = Path(work.folder).absolute()
    if folder.exists():
        raise InputError(f"{str(folder)!r} exists; delete it to train again, or name another folder")
    if resources.fsdp and not resources.gpus:
        raise InputError("accelerate shards nothing on a CPU; leave out fsdp, or set gpus")
    file, log = (folder.with_name(f"{folder.name}.launch.{end}") for end in ("pickle", "log"))
    _outcome(file).unlink(missing_ok=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(pickle.dumps(replace(work, folder=str(folder))))
    write_json(_config(file), LAUNCHER_CONFIG)
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
    outcome = pickle.loads(_outcome(file).read_bytes()) if _outcome(file).exists() else None
    if code or outcome is None or isinstance(outcome, Exception):
        failure = outcome if isinstance(outcome, Exception) else _last_words(log)
        processes = resources.training_processes
        raise type(failure)(f"the training over {processes} processes failed: {failure} (all of it: {log})")
    for outdated in (file, _outcome(file), _config(file)):
        outdated.unlink()
    return outcome


def run(file: Path) -> None:
    """Train the cell that the file describes, as one of the launcher's processes."""
    with uncollected():
        from accelerate import PartialState

        from erce.hf.models import BasePolicy, load_model, load_tokenizer
        from erce.train.fine_tune import fine_tune

    state = PartialState()  # before the model is loaded: it names this process's GPU
    work = pickle.loads(file.read_bytes())
    summary = fine_tune(
        BasePolicy(load_model(work.model, dtype=work.dtype), load_tokenizer(work.model)),
        work.problems,
        objective=work.objective,
        training=work.training,
        seed=work.seed,
        folder=Path(work.folder),
    )
    if state.is_main_process:
        _tell(file, summary)


def main() -> None:
    """Run the file that is the one argument, and leave `launch` an error that the user can mend."""
    from accelerate import PartialState

    if os.environ.get(LAUNCHED):
        threading.Thread(target=_exit_with_the_launch, daemon=True).start()
    file = Path(sys.argv[1])
    try:
        run(file)
    except (DivergedError, InputError) as error:
        _tell(file, sendable(error, str(error)))
        sys.exit(f"erce.train.launch: {error}")
    PartialState().destroy_process_group()  # its threads could outlive the interpreter and abort


def _outcome(file: Path) -> Path:
    return file.with_suffix(".outcome")


def _tell(file: Path, outcome: "TrainingSummary | Exception") -> None:
    half = file.with_suffix(f".{os.getpid()}")  # other processes may tell of the same error
    half.write_bytes(pickle.dumps(outcome))
    half.replace(_outcome(file))


def _config(file: Path) -> Path:
    """Return the file of the launcher's settings that no flag names."""
    return file.with_suffix(".accelerate.json")


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
        **(FSDP_FLAGS if fsdp else {}),
    }
    # accelerate's --cpu starts one process only; --multi_gpu without a GPU starts as many as are asked for.
    if fsdp:
        switches = ["--use_fsdp"]
    elif processes > 1:
        switches = ["--multi_gpu"]
    else:
        switches = ["--cpu"] if resources.gpus == 0 else []
    values = [part for name, value in flags.items() for part in (f"--{name}", value)]
    launcher = [sys.executable, "-m", "accelerate.commands.launch", *switches, *values]
    return [*launcher, "-m", "erce.train.launch", str(file)]


def _environment(resources: Resources) -> dict[str, str]:
    """Return this process's variables without those that a training or a launcher has set in it."""
    variables = {name: value for name, value in os.environ.items() if not INHERITED.match(name)}
    on_the_cpu = {"ACCELERATE_USE_CPU": "true", "CUDA_VISIBLE_DEVICES": ""}
    return variables | {LAUNCHED: "1"} | (on_the_cpu if resources.gpus == 0 else {})


def _exit_with_the_launch() -> None:
    """End this process when the one that called `launch` is killed, which closes this one's stdin."""
    while os.read(0, 1):
        pass
    os._exit(1)


def _last_words(log: Path) -> RunError:
    """Return the first error that a log has, or else its last lines."""
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
    errors = [line for line in lines if re.match(r"(\[rank\d+\]: )?[\w.]+(Error|Exception)\b", line)]
    return RunError(errors[0] if errors else " | ".join(filter(None, lines[-5:])))


if __name__ == "__main__":
    main()
