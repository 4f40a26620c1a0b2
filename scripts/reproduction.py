"""A study's folder → its rows for the table of reproductions in docs/real.md, one for each arm beside λ = 0.

    python -m scripts.reproduction runs/smollm2-mbpp

A row names the commit of this checkout, with a + behind it if files have changed since; your name goes to its
end. Gains are over λ = 0, in points with 95 % intervals, on the main task's test problems, as in the report:
the interval of the arm that validation prefers allows for the choice.
"""

import argparse
import subprocess
from pathlib import Path

from erce.errors import InputError
from erce.reporting.format import interval, one_line, points
from erce.reporting.numbers.gains import Summary, TableRow, summary
from erce.reporting.numbers.verdict import gains
from erce.study.folder import read_study
from erce.types import Arm


def rows(made: Summary, *, commit: str) -> list[str]:
    """Return a row of the table for each finished arm beside the base model and λ = 0.

    No finished λ = 0, or no other arm, is an InputError.
    """
    arms = [arm for arm in made.arms(made.task) if not arm.is_base and arm != made.baseline]
    if made.baseline not in made.arms(made.task) or not arms:
        raise InputError(f"{made.study.root}: there is no gain over λ = 0 yet; `erce run` finishes the study")
    return [_row(made, arm, commit) for arm in arms]


def _row(made: Summary, arm: Arm, commit: str) -> str:
    name, by_decoding = made.name(arm), [made.row(made.task, arm, how) for how in ("sampled", "greedy")]
    what = one_line(made.task) + ("" if name.startswith("λ") else f", `{one_line(name)}`")
    lam = f"{arm.lam:g}".replace("-", "−")
    seeds = max(row.n_seeds for row in by_decoding if row is not None)
    texts = [one_line(made.study.recipe.model), what, lam, *(_gain(made, row) for row in by_decoding)]
    return "| " + " | ".join([*(text.replace("|", r"\|") for text in texts), str(seeds), commit, "…"]) + " |"


def _gain(made: Summary, row: TableRow | None) -> str:
    gain = None if row is None else gains(made, row)[1]
    return "–" if gain is None else f"{points(gain.gain)} ({interval(gain)})"


def _commit() -> str:
    def git(*words: str) -> str:
        here = Path(__file__).parent
        return subprocess.run(["git", *words], cwd=here, capture_output=True, text=True, check=True).stdout

    return git("rev-parse", "--short=8", "HEAD").strip() + "+" * bool(git("status", "--porcelain"))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("runs", type=Path, help="the study's folder")
    try:
        made = summary(read_study(parser.parse_args().runs))
        print("\n".join(rows(made, commit=_commit())))
    except InputError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
