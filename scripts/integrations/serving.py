"""vLLM, started by a recipe → whether it writes the texts that transformers writes, and ends with its run.

One recipe runs twice, with and without the server: the base model and two adapters answer 48 problems each. A
third run is killed while vLLM samples, and repeated.
"""

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress

from scripts.integrations.claims import Claim
from scripts.integrations.environments import BrokenError, Environment

PROBLEMS = 48
START_SECONDS = 600.0  # in which vLLM must answer, and a run must begin to sample
END_SECONDS = 60.0  # in which vLLM must end after its run
SAME_LOGPROB = 1e-3  # in nats a token
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
SERVED = f"{RECIPE}server.start = true\nserver.timeout = {START_SECONDS}\n"
Texts = dict[tuple[str, str], tuple[str, float]]  # arm and problem → completion and its mean log p


def check_vllm(environment: Environment) -> Iterator[Claim]:
    """Check texts and log p of a study whose server is vLLM, and what a kill leaves of vLLM."""
    ours = _sampled(environment, "here", RECIPE)
    theirs = _sampled(environment, "served", SERVED)
    equal = sum(theirs[place][0] == text for place, (text, _) in ours.items())
    apart = max(abs(theirs[place][1] - log_p) for place, (_, log_p) in ours.items())
    text = f"{equal} of {len(ours)} greedy texts of base and two adapters are as transformers writes them"
    yield Claim(text, equal == len(ours) == 3 * PROBLEMS)
    yield Claim(f"their log p are within {apart:.0e} nats a token", apart < SAME_LOGPROB)
    has_ended = _ends_with_a_killed_run(environment)
    yield Claim("nothing of vLLM outlives a run that is killed with signal 9", has_ended)
    again = _sampled(environment, "killed", SERVED, anew=False)
    same = sum(again[place][0] == text for place, (text, _) in theirs.items())
    yield Claim(
        f"the same command then ends the study, with {same} of {len(theirs)} of its texts",
        again.keys() == theirs.keys() and same == len(theirs),
    )


def _ends_with_a_killed_run(environment: Environment) -> bool:
    """Kill a run while vLLM samples, and return whether all of vLLM's processes have ended soon after."""
    path, study = (environment.runs / name for name in ("killed.toml", "killed"))
    path.write_text(SERVED, encoding="utf-8")
    shutil.rmtree(study, ignore_errors=True)
    deadline = time.monotonic() + START_SECONDS
    with environment.begun_erce("run", path, "--out", study, "--go-on") as run:
        while not any(study.glob("cells/*/completions.journal")):
            if run.poll() is not None or time.monotonic() > deadline:
                run.kill()
                raise BrokenError(f"the run in {study} did not begin to sample")
            time.sleep(0.1)
        group = json.loads((study / ".locks" / "vllm.json").read_text(encoding="utf-8"))["process"]
        run.kill()
    deadline = time.monotonic() + END_SECONDS
    with suppress(ProcessLookupError):
        while time.monotonic() < deadline:
            os.killpg(group, 0)
            time.sleep(0.1)
    return time.monotonic() < deadline


def _sampled(environment: Environment, name: str, recipe: str, *, anew: bool = True) -> Texts:
    """Run a recipe, from its beginning if `anew`, and return the greedy texts of the test problems."""
    path, study, rows = (environment.runs / file for file in (f"{name}.toml", name, f"{name}.jsonl"))
    path.write_text(recipe, encoding="utf-8")
    if anew:
        shutil.rmtree(study, ignore_errors=True)
    rows.unlink(missing_ok=True)
    environment.erce("run", path, "--out", study, "--go-on")
    environment.erce("records", study, rows)
    samples = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
    return {
        (row["arm"], row["problem"]): (row["completion"], row["logprob"] / row["tokens"])
        for row in samples
        if (row["split"], row["decoding"]) == ("test", "greedy")
    }
