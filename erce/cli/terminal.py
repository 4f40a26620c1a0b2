"""What will run, verdicts, disagreements, errors and the sandbox's examination → text for a terminal.

Text of models, servers and files is shown with escapes as `repr` has them, so that it cannot move the cursor
or colour a verdict.
"""

import os
import platform
import re
import shutil
import signal
import sys
import textwrap
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from erce.errors import counted
from erce.types import Verdict

if TYPE_CHECKING:
    from erce.cli.examination import SandboxFinding
    from erce.cli.side_by_side import Reverified

WIDTH = 80  # characters in a line of a terminal
HALF = 48  # at most, of the characters before the last column
KEPT_CELLS = "finished cells"  # what a stopped run leaves
KEPT = f"{KEPT_CELLS}, finished batches of completions and each training's last checkpoint"


def print_lines(lines: Iterable[str]) -> None:
    """Print the lines, each within 80 columns."""
    print("\n".join(fitted(line) for line in lines), flush=True)


def fitted(line: str) -> str:
    """Break a line that is too long for a terminal; the rest of the line stands below its last column.

    A column begins after two blanks, in the first half of the terminal: further on they belong to a text.

    >>> print(fitted("  ok   seccomp   " + "allowed " * 12))
      ok   seccomp   allowed allowed allowed allowed allowed allowed allowed allowed
                     allowed allowed allowed allowed
    """
    if len(line) <= WIDTH:
        return line
    columns = (gap.end() for gap in re.finditer(r"^\s*(?:- )?|\S\s{2,}", line))
    last = max((column for column in columns if column <= HALF), default=0)
    head, text = line[:last], line[last:]
    below = " " * last
    return textwrap.fill(text, WIDTH, initial_indent=head, subsequent_indent=below, break_on_hyphens=False)


def shown(text: str, width: int = 100) -> str:
    """Return one printable line, cut at `width` characters.

    >>> shown("two\\nlines, \\x1b[31mred")
    'two\\\\nlines, \\\\x1b[31mred'
    """
    plain = _plain(text[: width + 1])
    return plain if len(plain) <= width else plain[: width - 1] + "…"


def error_text(error: Exception) -> str:
    """Return an error's message, every line of it, with nothing that could steer a terminal.

    An error of the system that names a path gets the way out.

    >>> print(error_text(ValueError("no model '\\x1b[2Jm'; take another")))
    no model '\\x1b[2Jm'; take another
    >>> print(error_text(FileNotFoundError(2, "No such file", "rows")))
    'rows' cannot be read or written (No such file); give another path, or repair this one
    """
    text = str(error) or type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror
        if error.filename is not None:
            named = str(error.filename)
            text = f"{named!r} cannot be read or written ({text}); give another path, or repair this one"
    return "\n".join(_plain(line) for line in text.split("\n"))


def nobody_reads() -> bool:
    """Return whether standard output is a pipe whose reader has left; if so, drop what is left to print."""
    try:
        print(flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return True
    return False


def verdict_lines(verdict: Verdict, *, explain: bool, condition: str = "") -> list[str]:
    """Return the verdict as a line; with `explain` also what was read, why, and how long it took."""
    lines = [f"{'accepted' if verdict.accepted else 'not accepted'}{condition}: {verdict.reason}"]
    if explain:
        extracted = "nothing" if verdict.extracted is None else shown(verdict.extracted)
        lines.append(f"  read     {extracted}")
        if verdict.detail:
            lines.append(f"  because  {shown(verdict.detail, 300)}")
        lines.append(f"  in       {verdict.elapsed * 1000:.2f} ms")
    if verdict.warning:
        lines.append(f"  WARNING  {verdict.warning}")
    return lines


def reverify_lines(
    rows: "Sequence[Reverified]", totals: Sequence[Mapping[str, Any]], *, limit: int
) -> list[str]:
    """Return our strict verdicts, and a line for each reading of `side_by_side.summary`.

    Of the rows that are not accepted, at most `limit` are listed.
    """
    rejected = [row for row in rows if not row.verdicts["strict"].accepted]
    lines = [f"{len(rows) - len(rejected)} of {counted(len(rows), 'row')} accepted"]
    if any("flexible" in row.verdicts for row in rows):
        lines[0] += f", {sum(row.misses_format for row in rows)} more if the format is ignored"
    for row in rejected[:limit]:
        verdict = row.verdicts["strict"]
        extracted = "" if verdict.extracted is None else f": {shown(verdict.extracted, 60)}"
        reference = shown(row.reference, 60)
        lines.append(f"  {shown(row.where)}: reference {reference}, {verdict.reason}{extracted}")
    if len(rejected) > limit:
        lines.append(f"… and {len(rejected) - limit} more; --json FILE writes them all")
    lines += [
        "",
        f"{'reading':14}{'rows':>8}{'accepted':>10}{'labelled':>10}{'right':>8}{'false accepts':>15}",
    ]
    for total in totals:
        numbers = f"{total['rows']:8}{total['accepted']:10}{total['labelled']:10}"
        lines.append(f"{total['reading']:14}{numbers}{total['right']:8}{total['false accepts']:15}")
    return lines


def examination_lines(rows: "Sequence[SandboxFinding]") -> list[str]:
    """Return the findings of `examination.examine`: the tiers, and what was tried in the chosen one."""
    tried = [row for row in rows if row.kind == "attempt"]
    chosen = next((row.name for row in rows if row.kind == "chosen"), None)
    lines = ["tiers, each set up and made to verify a program:"]
    lines += [f"  {_sign(row)} {row.name:12} {row.detail}" for row in rows if row.kind == "tier"]
    if chosen is None:
        return [*lines, "no sandbox: programs are not run here"]
    lines += ["", f"programs run in the tier {chosen!r}; what a program tried there:"]
    lines += [f"  {_sign(row)} {row.name:36} {shown(row.detail)}" for row in tried]
    return [*lines, "", "What a sandbox does not cover stands in docs/sandbox.md."]


def machine_lines() -> list[str]:
    """Return the versions, the device, what its kernels' check found, and the free disk of this machine."""
    import torch

    from erce.loss.gpu_self_check import doctor_lines

    device = torch.accelerator.current_accelerator()
    name = torch.cuda.get_device_name() if torch.cuda.is_available() else device or "none: the CPU is used"
    lines = ["this machine:", f"  {'python':14} {platform.python_version()}"]
    for package in ("erce", "torch", "transformers", "trl", "peft", "ray"):
        lines.append(f"  {package:14} {_version(package)}")
    free = shutil.disk_usage(Path.cwd()).free / 1e9
    lines += [f"  {'device':14} {name}", f"  {'disk':14} {free:.0f} GB free here"]
    card = torch.device("cuda", torch.cuda.current_device()) if torch.cuda.is_available() else None
    return [*lines, *(f"  {'kernels':14} {text}" for text in doctor_lines(card))]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return f"not installed; pip install 'erce[{'ray' if package == 'ray' else 'study'}]'"


def _plain(text: str) -> str:
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def _sign(row: "SandboxFinding") -> str:
    return "ok  " if row.good else "FAIL" if row.kind == "attempt" else "--  "


def announce(path: Path, out: Path, jobs: int, *, takes: str = "", **overrides: Any) -> None:
    """Print the first line of a study's output: what will run, where the results go, how long it `takes`."""
    from erce.recipe import load_recipe
    from erce.study.schedule import planned_cells

    recipe = load_recipe(path, **overrides)
    cells = counted(len(planned_cells(recipe)), "cell")
    side_by_side = f", {jobs} at a time" if jobs > 1 else ""
    time_needed = f", {takes}" if takes else ""
    tasks = " and ".join(recipe.tasks)
    print(f"{tasks}: {cells} into {out}{side_by_side}{time_needed}", flush=True)


class Terminated(KeyboardInterrupt):
    """SIGTERM, which then ends a command as Ctrl-C does: workers are stopped, nothing is half written."""


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Raise `Terminated` in the block on SIGTERM; where the signal is ignored it stays so."""
    on_main_thread = threading.current_thread() is threading.main_thread()
    if not on_main_thread or signal.getsignal(signal.SIGTERM) is signal.SIG_IGN:
        yield
        return
    before = signal.signal(signal.SIGTERM, _raise_terminated)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _raise_terminated(number: int, frame: FrameType | None) -> None:
    raise Terminated


def say_stopped(stop: KeyboardInterrupt, *, kept: str) -> int:
    """Print how the command was stopped and what is `kept`; return the exit code, 143 or 130."""
    word, code = ("terminated", 143) if isinstance(stop, Terminated) else ("interrupted", 130)
    way_on = f"; {kept} are kept, and the same command goes on from there" if kept else ""
    print(f"erce: {word}{way_on}", file=sys.stderr)
    return code
