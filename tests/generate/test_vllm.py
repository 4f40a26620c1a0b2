"""`[server] start = true`: vLLM runs as long as the study, and nothing of it longer."""

import json
import os
import socket
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from toys import FINDS_TOYS
from toys import vllm as toy
from toys.process_trees import parents
from toys.recipes import tiny_recipe
from toys.waiting import until

from erce.errors import InputError, ServerError
from erce.generate import vllm
from erce.generate.backend import backend_of
from erce.generate.server import served_names
from erce.generate.vllm import LOG, PROCESS, StartedServer
from erce.recipe import Serving, Training
from erce.study.folder import LOCKS
from erce.study.run import run

ASKS_PROC = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks /proc who is alive")


@pytest.fixture(autouse=True)
def command(tmp_path, monkeypatch):
    """The only vllm on PATH is the toy, and it ends without delay."""
    path = toy.command(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{path.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", FINDS_TOYS["PYTHONPATH"])
    monkeypatch.setenv("RECORD", str(tmp_path / "record.jsonl"))
    monkeypatch.setattr(vllm, "POLL_SECONDS", 0.02)


def started(how: str = "", **settings) -> StartedServer:
    serving = Serving(start=True, args=("--how", how) if how else (), **settings)
    backend = backend_of(tiny_recipe(server=serving, training=Training(rank=9)))
    assert isinstance(backend, StartedServer)
    return backend


def records(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "record.jsonl").read_text().splitlines()]


def all_ended(folder: Path) -> bool:
    return not parents().keys() & {process for record in records(folder) for process in record["processes"]}


@ASKS_PROC
@pytest.mark.parametrize("gpus", [None, "6,7"])
def test_vllm_gets_the_recipe_s_words_answers_in_the_block_and_is_gone_after_a_failure_too(tmp_path, gpus):
    backend = started("answers", gpus=gpus)
    backend.check()
    assert not (tmp_path / "record.jsonl").exists()

    def fail():
        assert served_names(backend.base()) == ["tiny"]
        raise KeyError

    with pytest.raises(KeyError), backend.running(tmp_path / "files"):
        fail()
    until(lambda: all_ended(tmp_path))
    (record,) = records(tmp_path)
    words, option = record["words"], dict(pairwise(record["words"]))
    assert words[0] == "serve"
    assert (Path(words[1]) / "config.json").is_file()
    assert backend.recipe.server.url == f"http://127.0.0.1:{option['--port']}/v1"
    assert option["--max-lora-rank"] == "16"
    assert "--enable-lora" in words
    assert ("--gpu-memory-utilization" in words) == (gpus is None)
    assert option["--dtype"] == ("bfloat16" if torch.cuda.is_available() else "float32")  # as training here
    assert record["variables"]["VLLM_ALLOW_RUNTIME_LORA_UPDATING"] == "True"
    assert record["variables"]["CUDA_VISIBLE_DEVICES"] == (gpus or os.environ.get("CUDA_VISIBLE_DEVICES"))
    assert [path.name for path in (tmp_path / "files").iterdir()] == [LOG]


def test_two_studies_at_a_time_have_two_ports(tmp_path):
    with started().running(tmp_path / "one"), started().running(tmp_path / "two"):
        assert len({dict(pairwise(record["words"]))["--port"] for record in records(tmp_path)}) == 2


DRIVER = """
import sys, time
from pathlib import Path
from types import SimpleNamespace

sys.modules["erce.hf.models"] = SimpleNamespace(  # torch is not needed for this, and would take its time
    dtype_here=lambda dtype, model: "float32", pretrained_name=lambda model: model
)
from toys.recipes import tiny_recipe
from erce.generate.backend import backend_of
from erce.recipe import Serving

backend = backend_of(tiny_recipe(server=Serving(start=True, args=("--how", sys.argv[2]))))
with backend.running(Path(sys.argv[1])):
    print("up", flush=True)
    time.sleep(600)
"""


def killed_run(folder: Path, how: str) -> None:
    """Start a server in a process that is then killed with signal 9."""
    command = [sys.executable, "-c", DRIVER, str(folder), how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        process.kill()


@ASKS_PROC
def test_a_killed_run_takes_its_server_along(tmp_path):
    killed_run(tmp_path / "files", "answers")
    until(lambda: all_ended(tmp_path))


@ASKS_PROC
def test_a_server_that_outlived_a_killed_run_is_ended_by_the_next_one(tmp_path, monkeypatch):
    monkeypatch.setattr(vllm, "STOP_SECONDS", 0.2)
    killed_run(tmp_path / "files", "stubborn")
    assert not all_ended(tmp_path)
    with started().running(tmp_path / "files"):
        first, second = records(tmp_path)
        until(lambda: not parents().keys() & {*first["processes"]})
        assert {*second["processes"]} <= parents().keys()
    until(lambda: all_ended(tmp_path))


@ASKS_PROC
@pytest.mark.parametrize(
    "content", ['{"process": %d, "started": "1"}', '{"process": %d, "started": ""}', "{"]
)
def test_another_process_that_has_the_number_now_is_left_alone(tmp_path, content):
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as other:
        try:
            (tmp_path / PROCESS).write_text(content.replace("%d", str(other.pid)))
            vllm.end_leftover(tmp_path)
            assert other.poll() is None
        finally:
            other.kill()


@pytest.mark.parametrize(
    ("how", "timeout", "sentence"),
    [
        (
            "fails",
            60.0,
            r"vllm ended with exit status 3: loading \| no such device; see .*vllm\.log, and",
        ),
        ("silent", 0.2, r"^vllm gave no answer within 0\.2 s: it printed nothing; see .*longer timeout$"),
    ],
)
def test_a_server_that_does_not_come_up_is_a_sentence_with_the_end_of_its_log(
    tmp_path, how, timeout, sentence
):
    with (
        pytest.raises(ServerError, match=sentence),
        started(how, timeout=timeout).running(tmp_path / "files"),
    ):
        pytest.fail("it came up")
    assert [path.name for path in (tmp_path / "files").iterdir()] == [LOG]


def test_a_second_server_at_one_address_is_refused(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with (
        started(url=url).running(tmp_path / "one"),
        pytest.raises(InputError, match=f"{url} answers already, .*; leave start out"),
        started(url=url).running(tmp_path / "two"),
    ):
        pytest.fail("it started")


def test_what_cannot_be_started_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    backend = backend_of(tiny_recipe(server=Serving(start=True), training=Training(rank=1024)))
    with pytest.raises(InputError, match=r"rank = 1024 is above 512, .*; lower it"):
        backend.check()
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(InputError, match="needs the command vllm; install vLLM, or leave start out"):
        run(started().recipe, out=tmp_path / "study")
    assert not (tmp_path / "study").exists()


RECIPE = """
task = "mini-sums"
lams = [0, 1]
seeds = [0]
n_train = 16
n_validation = 1
n_test = 2

[training]
epochs = 1
learning_rate = 1e-3

[decoding]
samples = 2
max_new_tokens = 12

[server]
start = true
args = ["--how", "samples"]
"""


@ASKS_PROC
@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_study_killed_in_the_middle_goes_on_with_another_server_and_leaves_none(tmp_path, jobs):
    recipe, root = tmp_path / "recipe.toml", tmp_path / "study"
    recipe.write_text(RECIPE, encoding="utf-8")
    words = ["run", str(recipe), "--out", str(root), "--jobs", str(jobs)]
    with subprocess.Popen([sys.executable, "-m", "erce.cli.main", *words]) as process:
        until(lambda: process.poll() is not None or any(root.glob("cells/*/result.json")))
        process.kill()
    assert len(list(root.glob("cells/*/result.json"))) < 3
    study = run(recipe, out=root, jobs=jobs)
    assert study.missing == []
    assert study.recipe.server.url == ""  # the port is not of the study
    assert len(records(tmp_path)) == 2
    until(lambda: all_ended(tmp_path))
    assert not (root / LOCKS / PROCESS).exists()
    run(recipe, out=root, jobs=jobs)  # nothing is to sample
    assert len(records(tmp_path)) == 2


@ASKS_PROC
@pytest.mark.slow
@pytest.mark.parametrize(("gpus", "jobs"), [(None, 1), (None, 2), ("0", 1)])
def test_a_server_without_devices_of_its_own_starts_after_all_trainings(tmp_path, gpus, jobs):
    recipe, root = tmp_path / "recipe.toml", tmp_path / "study"
    recipe.write_text(RECIPE + (f'gpus = "{gpus}"\n' if gpus else ""), encoding="utf-8")
    study = run(recipe, out=root, jobs=jobs)
    assert study.missing == []
    [record] = records(tmp_path)
    trained = [path.stat().st_mtime for path in root.glob("cells/*/training.json")]
    assert len(trained) == 2
    assert [record["time"] > seconds for seconds in trained] == [gpus is None] * 2
    assert all(path.stat().st_mtime > record["time"] for path in root.glob("cells/*/completions.jsonl"))
