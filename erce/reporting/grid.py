"""What the whole grid of a study says: its numbers, and the sentences for them."""

from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from erce.reporting.format import counted, fixed, interval, p_value, points, strength
from erce.stats import Covers
from erce.types import Arm

LEVEL = 0.05


@dataclass(frozen=True)
class Compared:
    """One arm against cross-entropy, in fractions of 1; intervals are [low, high].

    `ci` and `p` are its own, over what `covers` says, `ci_grid` and `p_max_t` allow for all arms together
    (max-T), `p_holm` for each as if it were alone. `welch_ci` and `p_dunnett` ask about other seeds on these
    very problems; None where one seed or equal ones cannot tell.
    """

    arm: Arm
    gain: float
    ci: list[float]
    p: float
    covers: Covers
    p_holm: float
    p_max_t: float
    ci_grid: list[float]
    p_dunnett: float | None
    welch_ci: list[float] | None


@dataclass(frozen=True)
class Slope:
    """Page's test over the seeds that all λ have: "rises", "falls", or None for neither; p is two-sided."""

    direction: str | None
    p: float
    lams: int
    seeds: int


@dataclass(frozen=True)
class Same:
    """Whether an arm and cross-entropy are the same within the margin, with the 90 % interval of its gain.

    Fewer than `fewest` problems cannot show it, whatever comes of them.
    """

    arm: Arm
    equivalent: bool
    p: float
    ci: list[float]
    margin: float
    covers: Covers
    problems: int
    fewest: int


@dataclass(frozen=True)
class Needed:
    """`problems` with which so many seeds and samples find the wanted gain; None: no number is enough."""

    seeds: int
    samples: int
    problems: int | None


@dataclass(frozen=True)
class Plan:
    """What varied in `arm` and cross-entropy, taken as a pilot: with 80 % power at 5 %, two-sided."""

    arm: Arm
    detectable: float  # the smallest gain that a study of this size finds
    wanted: float
    sizes: tuple[Needed, ...]


@dataclass(frozen=True)
class Picked:
    """The λ with the best test row, its gain there, and what is left of it on problems it was not picked on.

    shown = corrected + bias, in fractions of 1; `won` is the share of random halves of the problems it wins.
    """

    lam: float
    shown: float
    corrected: float
    bias: float
    won: float


@dataclass(frozen=True)
class Grid:
    """One decoding; what cannot be said is None (one seed, one problem, too few λ, nothing chosen)."""

    decoding: str
    arms: tuple[Compared, ...]
    trend: Slope | None
    same: Same | None
    plan: Plan | None
    picked: Picked | None


@dataclass(frozen=True)
class Inference:
    """What the grid says of the study's own task; `chosen` is the λ that validation chose, None if none."""

    task: str
    chosen: Arm | None
    sampled: Grid | None
    greedy: Grid | None

    def as_json(self) -> dict[str, Any]:
        """Plain values, as JSON has them; None where something cannot be said."""
        return _plain(self)


def grid_sentences(found: Inference | None) -> list[str]:
    """The same in words, samples first; empty where there is nothing to say."""
    if found is None:
        return []
    grids = [grid for grid in (found.sampled, found.greedy) if grid is not None]
    said = [text for grid in grids for text in (_gainers(grid), _slope(grid))]
    if found.greedy is not None:
        said.append(_same(found.greedy))
    if found.sampled is not None:
        said += [
            _both_questions(found.sampled, found.chosen),
            _planned(found.sampled),
            _best_row(found.sampled),
        ]
    return [text for text in said if text]


def _gainers(grid: Grid) -> str:
    """Nothing for a single arm: then the headline has said it."""
    if len(grid.arms) < 2:
        return ""
    number, alone = len(grid.arms), grid.arms[0].p_dunnett is None
    everything = "both" if number == 2 else f"all {number}"
    how = f"max-T, allowing for {everything}" + (", over problems alone" if alone else "")
    better = [row for row in grid.arms if row.p_max_t <= LEVEL and row.gain > 0]
    worse = [row for row in grid.arms if row.p_max_t <= LEVEL and row.gain < 0]
    opening = _where(grid.decoding)
    if not better and not worse:
        return f"{opening} none of {number} arms is shown to differ from cross-entropy ({how})."
    said = []
    for rows, word in ((better, "better"), (worse, "worse")):
        if rows:
            kept = [row for row in rows if row.p_holm <= LEVEL]
            holm = "" if len(kept) == len(rows) else f"; Holm, which is stricter, keeps {len(kept)}"
            be = "is" if len(rows) == 1 else "are"
            said.append(f"{len(rows)} of {number} arms {be} {word} than cross-entropy: {_names(rows)}{holm}")
    return f"{opening} {', and '.join(said)} ({how})."


def _slope(grid: Grid) -> str:
    if grid.trend is None:
        return ""
    test = f"Page's test, {_p(grid.trend.p)}"
    seeds = counted(grid.trend.seeds, "seed")
    if grid.trend.direction is None:
        no_trend = f"accuracy neither rises nor falls steadily with λ as far as {seeds} show"
        return f"{_where(grid.decoding)} {no_trend} ({test})."
    over = f"over {seeds} on these very problems"
    return f"{_where(grid.decoding)} accuracy {grid.trend.direction} with λ, {over} ({test})."


def _same(grid: Grid) -> str:
    same = grid.same
    if same is None:
        return ""
    are = "are the same" if same.equivalent else "are not shown to be the same"
    margin = f"{fixed(100 * same.margin, 0)} points"
    few = f"; fewer than {same.fewest} problems cannot show it" if same.problems < same.fewest else ""
    return (
        f"{_where(grid.decoding)} {same.arm.label} and cross-entropy {are} within {margin} (90 % interval "
        f"of the gain {interval(same.ci)}, over {same.covers}{few})."
    )


def _both_questions(grid: Grid, chosen: Arm | None) -> str:
    """The two intervals of the chosen λ, each with what it is about; nothing with one seed."""
    row = next((row for row in grid.arms if row.arm == chosen), None)
    if row is None or row.welch_ci is None:
        return ""
    return (
        f"Other seeds on these very problems would give {row.arm.label} a gain of {interval(row.welch_ci)} "
        f"points (Welch); other problems like these as well, {interval(row.ci)}, the interval to quote."
    )


def _planned(grid: Grid) -> str:
    plan = grid.plan
    if plan is None:
        return ""
    enough = [size for size in plan.sizes if size.problems is not None]
    wanted = f"{fixed(100 * plan.wanted, 0)} points"
    if enough:
        sizes = ", or ".join(f"{size.seeds} seeds with {size.problems} problems" for size in enough)
        needs = f"for {wanted} it takes {sizes} ({counted(enough[0].samples, 'sample')} a problem)"
    else:
        needs = f"for {wanted} runs differ too much: {plan.sizes[-1].seeds} seeds are too few for any number"
    smallest = fixed(100 * plan.detectable, 1)
    return f"In samples a study of this size finds a gain of {smallest} points in 4 of 5 cases; {needs}."


def _best_row(grid: Grid) -> str:
    """Nothing where cross-entropy has the best row."""
    picked = grid.picked
    if picked is None or picked.lam == 0:
        return ""
    left = "as much" if picked.bias < 0.0005 else points(picked.corrected)
    return (
        f"Picked on the test problems, λ = {strength(picked.lam)} shows {points(picked.shown)} points; "
        f"picking on one half of them and looking at the other leaves {left}."
    )


def _where(decoding: str) -> str:
    return "In samples" if decoding == "sampled" else "With greedy decoding"


def _names(rows: list[Compared]) -> str:
    """λ = 1, 2, dft."""
    lams = [row.arm.short_label for row in rows if not row.arm.has_other_objective]
    others = [row.arm.label for row in rows if row.arm.has_other_objective]
    return ", ".join([f"λ = {', '.join(lams)}"] * bool(lams) + others)


def _p(p: float) -> str:
    """p = .031, or p < .001."""
    text = p_value(p)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def _plain(value: Any) -> Any:
    if isinstance(value, Arm):
        return value.objective if value.has_other_objective else value.lam
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
