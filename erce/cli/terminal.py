"""Verdicts, disagreements, errors and the sandbox's examination → text for a terminal.

What models, servers and files say is shown with `repr`-like escapes, so that it cannot move the cursor or
colour a verdict.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from erce.types import Verdict

if TYPE_CHECKING:
    from erce.study.regrade import Judged
    from erce.verify.sandbox.host.probes import Finding

WIDTH = 100  # characters of model text in a line


def shown(text: str, width: int = WIDTH) -> str:
    """One line of printable ASCII and letters, cut at `width`.

    >>> shown("two\\nlines, \\x1b[31mred")
    'two\\\\nlines, \\\\x1b[31mred'
    """
    plain = _plain(text[: width + 1])
    return plain if len(plain) <= width else plain[: width - 1] + "…"


def error_text(error: Exception) -> str:
    """What an error says, whole and in its own lines, with nothing in it that steers a terminal.

    Of the system's own errors also the way out, where they name a path.

    >>> print(error_text(ValueError("no model '\\x1b[2Jm'; take another")))
    no model '\\x1b[2Jm'; take another
    >>> print(error_text(FileNotFoundError(2, "No such file", "rows")))
    'rows' cannot be read or written (No such file); give another path, or mend this one
    """
    text = str(error) or type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror
        if error.filename is not None:
            named = str(error.filename)
            text = f"{named!r} cannot be read or written ({text}); give another path, or mend this one"
    return "\n".join(_plain(line) for line in text.split("\n"))


def nobody_reads() -> bool:
    """Whether standard output is a pipe whose reader has left; what is left to print is dropped then."""
    try:
        print(flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return True
    return False


def verdict_lines(verdict: Verdict, *, explain: bool) -> list[str]:
    """The verdict in a line; with `explain`, everything else that it holds."""
    lines = [f"{'accepted' if verdict.accepted else 'not accepted'}: {verdict.reason}"]
    if explain:
        judged = "nothing" if verdict.extracted is None else shown(verdict.extracted)
        lines.append(f"  judged   {judged}")
        if verdict.detail:
            lines.append(f"  because  {shown(verdict.detail, 300)}")
        lines.append(f"  in       {verdict.elapsed * 1000:.2f} ms")
    if verdict.warning:
        lines.append(f"  WARNING  {verdict.warning}")
    return lines


def regrade_lines(rows: "Sequence[Judged]", totals: Sequence[Mapping[str, Any]], *, limit: int) -> list[str]:
    """A line a procedure, from `regrade.summary`, then at most `limit` rows on which they disagree."""
    lines = [f"{'procedure':14}{'rows':>8}{'accepted':>10}{'labelled':>10}{'right':>8}{'false accepts':>15}"]
    for total in totals:
        numbers = f"{total['rows']:8}{total['accepted']:10}{total['labelled']:10}"
        lines.append(f"{total['procedure']:14}{numbers}{total['right']:8}{total['false accepts']:15}")
    if len(totals) == 1:
        return [*lines, "one procedure judged them alone: nothing that it could disagree with"]
    disputed = [row for row in rows if row.disputed]
    lines.append(f"{len(disputed)} of {len(rows)} rows on which they disagree")
    for row in disputed[:limit]:
        lines.append(f"{shown(row.where)}: reference {shown(row.reference, 60)}")
        for name, verdict in row.verdicts.items():
            said = f"{'accepted' if verdict.accepted else 'not accepted'}, {verdict.reason}"
            judged = "" if verdict.extracted is None else f": {shown(verdict.extracted, 60)}"
            lines.append(f"    {name:12} {said}{judged}")
    if len(disputed) > limit:
        lines.append(f"… and {len(disputed) - limit} more; --json FILE writes them all")
    return lines


def examination_lines(rows: "Sequence[Finding]") -> list[str]:
    """The findings of `probes.examine` as lines: tiers, what was tried inside, what is not covered."""
    tried = [row for row in rows if row.kind == "attempt"]
    uncovered = [row for row in rows if row.kind == "uncovered"]
    lines = ["tiers, each set up and made to judge a program:"]
    lines += [f"  {_sign(row)} {row.name:12} {row.detail}" for row in rows if row.kind == "tier"]
    if not uncovered:
        return [*lines, "no sandbox: programs are not run here"]
    lines += ["", f"programs run in the tier {uncovered[0].name!r}; around them:"]
    lines += [f"  {_sign(row)} {row.name:12} {row.detail}" for row in rows if row.kind == "layer"]
    lines += ["", "what a program tried there:"]
    lines += [f"  {_sign(row)} {row.name:36} {shown(row.detail, 90)}" for row in tried]
    return [*lines, "", "not covered:", *(f"  - {row.detail}" for row in uncovered)]


def _plain(text: str) -> str:
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def _sign(row: "Finding") -> str:
    return "ok  " if row.good else "FAIL" if row.kind == "attempt" else "--  "
