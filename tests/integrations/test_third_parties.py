"""`make integrations`: what its table says of tools that agree, disagree, break or cannot be installed."""

import json
from dataclasses import dataclass

import pytest

from scripts.integrations import serving
from scripts.integrations.__main__ import TOOLS, Tool, status, tried
from scripts.integrations.claims import Claim, table
from scripts.integrations.environments import BrokenError, Environment, NotInstalledError


@dataclass(frozen=True)
class Toy(Environment):
    """An environment that installs nothing, or cannot."""

    fault: str = ""
    versions = {"toy": "1.0"}  # noqa: RUF012

    def install(self):
        if self.fault:
            raise NotInstalledError(self.fault)


def agrees(environment):
    yield Claim("2 equals 2", True)


def disagrees(environment):
    yield Claim("2 equals 2", True)
    yield Claim("2 equals 3", False)


def breaks(environment):
    yield from agrees(environment)
    raise BrokenError("toy ended with 1: no memory")


CASES = {
    "agrees": (agrees, "", "2 equals 2", 0),
    "disagrees": (disagrees, "", "2 equals 2; **wrong:** 2 equals 3", 1),
    "breaks": (breaks, "", "2 equals 2; **stopped:** toy ended with 1: no memory", 1),
    "is not to be had": (agrees, "ERROR: no toy | no pip", "not installed: ERROR: no toy / no pip", 3),
}


@pytest.mark.parametrize(("check", "fault", "cell", "code"), CASES.values(), ids=CASES)
def test_the_table_says_what_became_of_a_tool(check, fault, cell, code):
    outcome = tried("toy", Tool(Toy("toy", fault=fault), ("toy",), check))
    assert table([outcome]).splitlines()[2:] == [f"| toy 1.0 | {cell} |"]
    assert status([outcome]) == code


@pytest.mark.parametrize("name", TOOLS)
def test_every_version_of_a_tool_is_pinned(name):
    lines = TOOLS[name].environment.lock.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.count("==") != 1] == []
    assert set(TOOLS[name].named) <= TOOLS[name].environment.versions.keys()


@dataclass(frozen=True)
class Served(Toy):
    """An environment whose erce draws the same three arms each time; in `others` one text may differ."""

    text: str = "4"
    logprob: float = -0.5
    others: tuple[str, ...] = ("served", "killed")

    def erce(self, command, path, rows, *_):
        if command == "run":
            return
        changed = {"completion": self.text, "logprob": self.logprob} if rows.stem in self.others else {}
        greedy = {"split": "test", "decoding": "greedy", "completion": "4", "logprob": -0.5, "tokens": 1}
        samples = [
            greedy | {"arm": arm, "problem": str(at)} for arm in ("base", "0", "2") for at in range(48)
        ]
        sampled = {**greedy, "arm": "0", "problem": "1", "decoding": "sampled", "completion": ""}
        lines = [*samples[:-1], samples[-1] | changed, sampled]
        rows.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.mark.parametrize(
    ("served", "ends", "holds"),
    [
        ({}, True, [True, True, True, True]),
        ({"text": "5"}, True, [False, True, True, True]),
        ({"logprob": -0.6}, True, [True, False, True, True]),
        ({}, False, [True, True, False, True]),
        ({"text": "5", "others": ("killed",)}, True, [True, True, True, False]),
    ],
    ids=["same", "another text", "another log p", "outlives its run", "another text after a kill"],
)
def test_a_server_is_held_to_the_texts_and_log_p_drawn_here(tmp_path, monkeypatch, served, ends, holds):
    monkeypatch.setattr(Environment, "runs", tmp_path)
    monkeypatch.setattr(serving, "_ends_with_a_killed_run", lambda environment: ends)
    assert [claim.holds for claim in serving.check_vllm(Served("toy", **served))] == holds
