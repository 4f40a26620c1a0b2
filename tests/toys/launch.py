"""A script → two processes on this CPU that accelerate starts, with DDP or FSDP 2."""

import os
import subprocess
import sys
from pathlib import Path

from toys import FINDS_TOYS
from toys.waiting import DEADLINE_SECONDS

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


def launched(script: str | Path, folder: Path, *, sharded: bool) -> None:
    """Run the script in two processes on this CPU, with the folder as their argument.

    The home of Hugging Face's libraries has a user's own answers to `accelerate config`, which do not count.
    """
    home = folder / "home"
    (home / "accelerate").mkdir(parents=True)
    (home / "accelerate" / "default_config.yaml").write_text(HOSTILE, encoding="utf-8")
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
