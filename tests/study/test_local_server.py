"""`[server] start`: vLLM runs as long as the study, and nothing of it longer."""

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
from toys.process_trees import parents
from toys.recipes import tiny_recipe
from toys.waiting import until

from erce.errors import InputError, ServerError
from erce.recipe import Recipe, Serving, Training
from erce.study.policy import running_server, served_base, served_names

FAKE_VLLM = f"""#!{sys.executable}
import json, os, subprocess, sys, time
from http.server import BaseHTTPRequestHandler, HTTPServer

words = sys.argv[1:]
option = dict(zip(words, words[1:]))
if option.get("--seed") == "13":
    sys.exit("no such device")
if option.get("--seed") == "14":
    time.sleep(60)
# vLLM's engine is a process of its own, too
engine = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
with open(os.environ["RECORD"], "w") as record:
    json.dump([words, os.environ.get("VLLM_ALLOW_RUNTIME_LORA_UPDATING"), [os.getpid(), engine.pid]], record)

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        text = json.dumps({{"data": [{{"id": option["--served-model-name"]}}]}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def log_message(self, *words):
        pass

HTTPServer((option["--host"], int(option["--port"])), Handler).serve_forever()
"""


@pytest.fixture
def recipe(tmp_path, monkeypatch) -> Recipe:
    """A recipe that starts the vLLM on PATH: a stand-in that lists one model and takes note of its words."""
    vllm = tmp_path / "bin" / "vllm"
    vllm.parent.mkdir()
    vllm.write_text(FAKE_VLLM, encoding="utf-8")
    vllm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{vllm.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("RECORD", str(tmp_path / "record.json"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return tiny_recipe(
        server=Serving(url=f"http://127.0.0.1:{port}/v1", start=True, top_logprobs=5),
        training=Training(rank=9),
    )


def words_and_processes(tmp_path: Path) -> tuple[list[str], str, list[int]]:
    return json.loads((tmp_path / "record.json").read_text(encoding="utf-8"))


def test_vllm_gets_the_recipes_words_answers_in_the_block_and_is_gone_after_a_failure_too(recipe, tmp_path):
    def fail():
        assert served_names(served_base(recipe, recipe.server)) == ["tiny"]
        raise KeyError

    with pytest.raises(KeyError), running_server(recipe, tmp_path / "runs" / "log"):
        fail()
    words, updating, processes = words_and_processes(tmp_path)
    option = dict(pairwise(words))
    assert words[0] == "serve"
    assert (Path(words[1]) / "config.json").is_file()
    assert (option["--max-lora-rank"], option["--max-logprobs"], updating) == ("16", "5", "True")
    assert "--enable-lora" in words
    assert option["--dtype"] == ("bfloat16" if torch.cuda.is_available() else "float32")  # as training here
    until(lambda: not parents().keys() & {*processes})


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks /proc who is alive")
def test_a_killed_study_takes_its_server_along(recipe, tmp_path):
    lines = (
        "import sys, time\nfrom pathlib import Path\nfrom erce.study.policy import running_server\n"
        "from toys.recipes import tiny_recipe\nfrom erce.recipe import Serving\n"
        "recipe = tiny_recipe(server=Serving(url=sys.argv[1], start=True))\n"
        "with running_server(recipe, Path(sys.argv[2])):\n    print('up', flush=True)\n    time.sleep(60)\n"
    )
    command = [sys.executable, "-c", lines, recipe.server.url, str(tmp_path / "log")]
    environment = os.environ | FINDS_TOYS
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as study:
        assert study.stdout is not None
        assert study.stdout.readline() == "up\n"
        study.kill()
    server, _ = words_and_processes(tmp_path)[2]
    until(lambda: server not in parents())


@pytest.mark.parametrize(
    ("arguments", "timeout", "sentence"),
    [
        (("--seed", "13"), 60.0, r"^vllm ended with exit status 1 \(no such device\); see .*log$"),
        (("--seed", "14"), 0.2, r"^vllm gave no answer at .* within 0.2 s; see .*log, or raise"),
    ],
)
def test_a_server_that_does_not_come_up_is_a_sentence(recipe, tmp_path, arguments, timeout, sentence):
    serving = Serving(url=recipe.server.url, start=True, arguments=arguments, timeout=timeout)
    with (
        pytest.raises(ServerError, match=sentence),
        running_server(tiny_recipe(server=serving), tmp_path / "log"),
    ):
        pytest.fail("it came up")


def test_a_second_server_at_one_address_is_refused(recipe, tmp_path):
    with (
        running_server(recipe, tmp_path / "log"),
        pytest.raises(InputError, match="answers already"),
        running_server(recipe, tmp_path / "log2"),
    ):
        pytest.fail("it started")


def test_without_vllm_the_sentence_says_what_to_do(recipe, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with (
        pytest.raises(InputError, match="needs the command vllm; install it"),
        running_server(recipe, tmp_path / "log"),
    ):
        pytest.fail("it started")
