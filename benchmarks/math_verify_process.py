"""A reference and a text → whether Math-Verify accepts it, asked in a process that is killed when late.

Math-Verify runs for hours on some short texts, in C code that no signal handler and no thread interrupts.
"""

import logging
import resource
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.connection import Connection, Pipe
from multiprocessing.process import BaseProcess

START_SECONDS = 60.0  # in which a fresh process must have imported Math-Verify
SECONDS = 10.0  # Math-Verify's own limits are 5 s for reading and 5 s for comparing
MEMORY_BYTES = 2 << 30  # of the process's address space
_running: list[tuple[BaseProcess, Connection]] = []  # at most one


def is_installed() -> bool:
    return find_spec("math_verify") is not None


def accepts(gold: str, text: str) -> bool:
    """Ask Math-Verify as its README does; TimeoutError if it is late, RuntimeError if it raises or dies."""
    if not _running:
        _start()
    channel = _running[0][1]
    try:
        channel.send((gold, text))
        reply = channel.recv() if channel.poll(SECONDS) else None
    except (EOFError, OSError):
        stop()
        reply = "its process ended"
    if isinstance(reply, bool):
        return reply
    if reply is None:
        stop()
        raise TimeoutError(f"over {SECONDS:g} s")
    raise RuntimeError(reply)


def stop() -> None:
    """End the process, if one is running."""
    while _running:
        _running.pop()[0].kill()


def _start() -> None:
    context = get_context("spawn")
    ours, theirs = Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    _running.append((process, ours))
    if ours.poll(START_SECONDS):
        with suppress(EOFError):
            ours.recv()  # that it is ready


def _serve(channel: Connection) -> None:
    """Answer requests until the other side closes the channel."""
    package = import_module("math_verify")
    logging.disable(logging.WARNING)  # it logs each answer that it cannot parse
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    channel.send("ready")
    with suppress(EOFError):
        while True:
            gold, text = channel.recv()
            try:
                reply = bool(package.verify(package.parse(f"${gold}$"), package.parse(text)))
            except Exception as error:  # whatever it is, the text alone caused it
                reply = f"it raised {type(error).__name__}"
            channel.send(reply)
