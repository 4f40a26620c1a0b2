"""The trusted side of a job: tests, and a channel to a candidate → the reason and the detail of a verdict.

The candidate's process learns the arguments of the calls and nothing else. Expected values and the text of
the tests are only here, and comparisons happen only here, between exact builtin types. This process never
runs candidate code: no in-process verdict can be made unforgeable, because everything that a process in which
the candidate ran says may have been chosen by the candidate.
"""

import builtins
import importlib
import json
import random
import secrets
import socket
import sys
from contextlib import suppress
from typing import Any

from erce.verify.sandbox import frames
from erce.verify.sandbox.candidate import PAPER_ALARM
from erce.verify.sandbox.compiled_tests import BrokenTestsError, Plan, plan, require_asserts
from erce.verify.sandbox.judge.remote import Peer, Remote, Stop

Ruling = dict[str, Any]  # "reason", "detail", and "clean": whether this process may judge on
_HEAVY = (MemoryError, RecursionError)  # what may leave the judge short
_RECURSION = sys.getrecursionlimit()


def serve(control: socket.socket) -> None:
    """Judges what comes over `control`, one job after the other, until it is closed."""
    while True:
        size, descriptors, _, _ = socket.recv_fds(control, 4, 1)
        if not size:
            return
        request = json.loads(frames.read(control, int.from_bytes(size, "little")))
        with socket.socket(fileno=descriptors[0]) as channel:
            ruling = judge(Peer(channel), **request)
        frames.send(control, ruling)


def judge(
    peer: Peer, setup: list[str], tests: list[str], entry_points: list[str] | None, mode: str
) -> Ruling:
    """The ruling on one candidate. Whatever the tests do, it returns."""
    random.seed(0)
    sys.setrecursionlimit(_RECURSION)
    try:
        require_asserts(tests, setup)
        if mode != "strict":  # one interpreter for all: no name is closed
            return _in_process(peer, mode, setup, tests)
        closed = None if entry_points is None else tuple(entry_points)
        planned = plan(tuple(setup), tuple(tests), closed)
    except BrokenTestsError as error:
        return _ruling("error", str(error))
    trial = _Trial(peer, planned, tests)
    try:
        trial.run()
    except BaseException as error:
        return trial.explain(error)
    return trial.outcome()


class _Trial:
    """One run of the tests of a plan."""

    def __init__(self, peer: Peer, planned: Plan, sources: list[str]) -> None:
        self._peer, self._plan, self._sources = peer, planned, sources
        self._at = ""  # the test that runs
        self._names: dict[str, Any] = {"__builtins__": dict(vars(builtins)), "__name__": "tests"}
        self._missing: set[str] = set()
        self._loading = True
        self._prepared = False  # whether set-up is over without having needed the program

    def run(self) -> None:
        self._peer.answer()
        self._loading = False
        for module in self._plan.modules:
            with suppress(ImportError):
                self._names[module] = importlib.import_module(module)
        self._ask_for_names()
        if self._missing & self._plan.required:  # also where a builtin of that name would answer for it
            raise NameError(name=min(self._missing & self._plan.required))
        for code in self._plan.setup:
            exec(code, self._names)
        self._prepared = not self._peer.needed
        for source, code in zip(self._sources, self._plan.tests, strict=True):
            if self._prepared and self._plan.independent:
                self._peer.needed = False
            self._at = f"{' '.join(source.split()):.120}: "
            exec(code, self._names)

    def _ask_for_names(self) -> None:
        """A closed list: any other name comes from the tests, or the program could answer for both sides."""
        for name in self._plan.entry_points:
            try:
                self._names[name] = self._peer.value(self._peer.ask("name", name))
            except KeyError:
                self._missing.add(name)
        found = [self._names[name] for name in self._plan.entry_points if name not in self._missing]
        self._peer.needed = bool(self._missing) or not all(isinstance(value, Remote) for value in found)

    def outcome(self) -> Ruling:
        if self._peer.stopped:
            return self.explain(self._peer.stopped)
        if not self._peer.needed:
            return _ruling("error", "the tests hold without a call of the program, so any would pass")
        return _ruling("passed", "")

    def explain(self, error: BaseException) -> Ruling:
        """Whose fault an exception is."""
        stopped = self._peer.stopped
        if stopped is not None:
            return _ruling(stopped.reason, stopped.detail, clean=False)
        fault = self._fault_of_the_tests(error)
        if fault:
            return _ruling("error", fault)
        return _ruling("failed", self._complaint(error), clean=not isinstance(error, _HEAVY))

    def _fault_of_the_tests(self, error: BaseException) -> str:
        if self._loading or error is self._peer.raised:
            return ""
        name = error.name if isinstance(error, NameError) else None
        if name is not None and name not in self._plan.entry_points:
            return f"nobody defines {name!r}, which is no entry point"
        if not self._peer.needed:
            return f"the tests raise before they need the program: {self._at}{_said(error)}"
        return ""

    def _complaint(self, error: BaseException) -> str:
        """What the program did wrong."""
        if self._loading:
            return f"the program raised {_said(error, foreign=True)}"
        if isinstance(error, NameError) and error.name in self._missing:
            return f"the program does not define {error.name!r}"
        return self._at + _said(error, foreign=error is self._peer.raised)


def _in_process(peer: Peer, mode: str, setup: list[str], tests: list[str]) -> Ruling:
    """Program and tests in the candidate's interpreter; what it says is believed if it knows the proof."""
    proof = secrets.token_hex(16)
    try:
        reply = peer.reply()
        if "ok" in reply:
            peer.send("paper" if mode == "paper" else "together", proof, setup, tests)
            reply = peer.reply()
    except Stop as stop:
        return _ruling(stop.reason, stop.detail, clean=False)
    if reply.get("ok") == [proof, len(tests)]:
        return _ruling("passed", "")
    if reply.get("kind") == PAPER_ALARM:
        return _ruling("timeout", "over the paper's 2.0 s of wall time")
    return _ruling("failed", f"{reply.get('kind', 'a malformed reply')}: {reply.get('text', '')}")


def _ruling(reason: str, detail: str, *, clean: bool = True) -> Ruling:
    line = "".join(letter if letter.isprintable() else " " for letter in detail[:300])
    return {"reason": reason, "detail": " ".join(line.split()).removesuffix(":"), "clean": clean}


def _said(error: BaseException, *, foreign: bool = False) -> str:
    """The class and the text of an exception; the text of a foreign one begins with its own class."""
    try:
        text = str(error)[:300]
    except (ValueError, TypeError, RecursionError, MemoryError, Stop):
        text = "its text cannot be read"
    return text if foreign else f"{type(error).__name__}: {text}".removesuffix(": ")
