"""vLLM, which `erce run` starts → whether it writes the greedy texts that transformers writes.

One recipe runs twice, with and without the server: the base model and two adapters answer 48 problems each.
"""

import json
import shutil
import socket
from collections.abc import Iterator

from scripts.integrations.claims import Claim
from scripts.integrations.environments import Environment

PROBLEMS = 48
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
    """Check texts and entropies of a study whose server is vLLM, started and stopped by erce."""
    server = f'server.url = "http://127.0.0.1:{_free_port()}/v1"\nserver.start = true\n'
    ours, theirs = _drawn(environment, "here", RECIPE), _drawn(environment, "served", RECIPE + server)
    equal = sum(theirs[place][0] == text for place, (text, _) in ours.items())
    apart = max(abs(theirs[place][1] - entropy) for place, (_, entropy) in ours.items())
    text = f"{equal} of {len(ours)} greedy texts of base and two adapters are as transformers writes them"
    yield Claim(text, equal == len(ours) == 3 * PROBLEMS)
    yield Claim(f"their entropies are within {apart:.0e} nats", apart < SAME_ENTROPY)


def _drawn(environment: Environment, name: str, recipe: str) -> Texts:
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
