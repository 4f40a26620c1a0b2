"""What a check found, as sentences with figures that hold or do not."""

from collections.abc import Sequence
from typing import NamedTuple


class Claim(NamedTuple):
    """A sentence with its figures, and whether they are as they should be."""

    text: str
    holds: bool


class Outcome(NamedTuple):
    """What happened with one tool; `claims` is None if it could not be installed, and `fault` says why."""

    tool: str
    versions: str
    claims: Sequence[Claim] | None
    fault: str = ""

    @property
    def failed(self) -> bool:
        """Whether the tool was there and did not do what it should."""
        return self.claims is not None and (bool(self.fault) or not all(claim.holds for claim in self.claims))

    @property
    def result(self) -> str:
        """The sentences of a table cell.

        >>> Outcome("mine", "mine 1.0", [Claim("a is b", True), Claim("c is d", False)]).result
        'a is b; **wrong:** c is d'
        """
        if self.claims is None:
            return f"not installed: {self.fault}"
        sentences = [claim.text if claim.holds else f"**wrong:** {claim.text}" for claim in self.claims]
        return "; ".join([*sentences, *([f"**stopped:** {self.fault}"] if self.fault else [])])


def table(outcomes: Sequence[Outcome]) -> str:
    """Return a Markdown table with a row a tool."""
    rows = [f"| {outcome.versions} | {outcome.result.replace('|', '/')} |" for outcome in outcomes]
    return "\n".join(["| tool, with | what ran |", "|---|---|", *rows])
