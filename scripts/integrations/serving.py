"""vLLM as a recipe's server → whether it writes the greedy texts that transformers writes.

One recipe runs twice, with and without the server: the base model and two adapters answer 48 problems each.
"""

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from erce.catalog import model_folder
from scripts.integrations.claims import Claim
from scripts.integrations.environments import BrokenError, Environment

PROBLEMS = 48
START_SECONDS = 600.0  # in which vLLM must answer
SAME_ENTROPY = 1e-3  # in nats a token; the server sends the 20 likeliest tokens of a step alone
RECIPE = f"""\
task = "mini-sums"
model = "tiny"
lams = [0, 2]
seeds = [0]
n_train = 64
n_validation = 1
n_test = {PROBLEMS}
training.learning_rate = 3e-3
decoding.samples = 1
"""
Texts = dict[tuple[str, str], tuple[str, float]]  # arm and problem → completion and its mean entropy


def check_vllm(environment: Environment) -> Iterator[Claim]:
    """Check texts and entropies of a study whose server is vLLM."""
    ours = _sampled(environment, "here", RECIPE)
    with _vllm(environment) as url:
        theirs = _sampled(environment, "served", f'{RECIPE}server.url = "{url}"\n')
    equal = sum(theirs[place][0] == text for place, (text, _) in ours.items())
    apart = max(abs(theirs[place][1] - entropy) for place, (_, entropy) in ours.items())
    text = f"{equal} of {len(ours)} greedy texts of base and two adapters are as transformers writes them"
    yield Claim(text, equal == len(ours) == 3 * PROBLEMS)
    yield Claim(f"their entropies are within {apart:.0e} nats", apart < SAME_ENTROPY)


@contextmanager
def _vllm(environment: Environment) -> Iterator[str]:
    """Serve the embedded model until the block ends; yield the server's address."""
    port, vllm = _free_port(), environment.folder / "venv" / "bin" / "vllm"
    options = {
        "--port": port,
        "--served-model-name": "tiny",
        "--dtype": "float32",
        "--max-lora-rank": 16,
        "--max-logprobs": 20,
    }
    words = [str(word) for option in options.items() for word in option]
    url, deadline = f"http://127.0.0.1:{port}/v1", time.monotonic() + START_SECONDS
    with (
        (environment.runs / "vllm.log").open("wb") as log,
        subprocess.Popen(
            [vllm, "serve", model_folder("tiny"), "--enable-lora", *words],
            env=os.environ | {"VLLM_ALLOW_RUNTIME_LORA_UPDATING": "True"},
            stdout=log,
            stderr=subprocess.STDOUT,
        ) as server,
    ):
        try:
            while not _answers(url):
                if server.poll() is not None or time.monotonic() > deadline:
                    raise BrokenError(f"vLLM does not answer; see {log.name}")
                time.sleep(1.0)
            yield url
        finally:
            server.terminate()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/models", timeout=5.0):
            return True
    except OSError:
        return False


def _sampled(environment: Environment, name: str, recipe: str) -> Texts:
    """Run a recipe and return the greedy texts of the test problems."""
    path, study, rows = (environment.runs / file for file in (f"{name}.toml", name, f"{name}.jsonl"))
    path.write_text(recipe, encoding="utf-8")
    shutil.rmtree(study, ignore_errors=True)
    rows.unlink(missing_ok=True)
    environment.erce("run", path, "--out", study, "--go-on")
    environment.erce("records", study, rows)
    samples = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
    return {
        (row["arm"], row["problem"]): (row["completion"], row["entropy"])
        for row in samples
        if (row["split"], row["decoding"]) == ("test", "greedy")
    }


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]
