"""The paper's tables → which of its gains a test supports, as sentences.

Every test here is over seeds alone and takes the paper's test problems as given: tables have nothing else.
So what passes is shown for those very problems, and other problems would add their own chance.
"""

import math
from statistics import fmean, variance
from typing import NamedTuple

from scipy.special import fdtrc

from erce.paper.tables import PaperRow, PaperTable, lookup, tables
from erce.stats import Gain, difference, holm, paper, trend, welch

LEVEL = 0.05
MINUS = "−"


class Compared(NamedTuple):
    """One λ (of one order) against λ = 0: Welch's gain, and its p after Holm over the printed table."""

    order: float
    lam: float
    gain: Gain
    holm: float


def against_baseline(label: str, decoding: str = "greedy") -> list[Compared]:
    """Every λ > 0 of a printed table; one family for Holm, also where it holds several orders.

    >>> [each.lam for each in against_baseline("tab:mbpp_entropy_main_results") if each.holm < 0.05]
    [0.7, 1.0, 1.5, 2.0]
    """
    family = [
        (table.order, lam, welch(source.scores(lam), source.scores(0)))
        for table in _printed(label, decoding)
        for source in [_with_seeds(table)]
        for lam in table.lams
        if lam
    ]
    adjusted = holm([gain.p for _, _, gain in family]).tolist()
    return [Compared(*each, p) for each, p in zip(family, adjusted, strict=True)]


def sentences() -> list[str]:
    """What tests say of the paper's tables and of its claims about them, each with its number."""
    return [
        *map(table_sentence, *zip(*TABLES, strict=True)),
        _weakest_math(),
        _answer_only_interval(),
        *map(_interaction, (2.0, 8.0)),
        _trend(),
        _steps(),
        _small_order(),
        _orders_are_one_curve(),
        _edge(),
        _sampled_gsm8k(),
        _on_test(),
    ]


TABLES = (  # the label of a table, its decoding
    ("tab:entropy_main_results", "greedy"),
    ("tab:mbpp_entropy_main_results", "greedy"),
    ("tab:math7b", "greedy"),
    ("tab:gsm8k-greedy-vs-sampled", "sampled"),
    ("tab:mbpp-greedy-vs-sampled", "sampled"),
    ("tab:math-greedy-vs-sampled", "sampled"),
    ("tab:answeronly", "greedy"),
    ("tab:renyi-main", "greedy"),
)


def table_sentence(label: str, decoding: str) -> str:
    """Which of a printed table's gains over λ = 0 are significant after Holm, and which are not.

    >>> table_sentence("tab:mbpp_entropy_main_results", "greedy")
    'mbpp, greedy (Welch, 5 seeds; 7 tests): significant after Holm: λ = 0.7, 1, 1.5, 2; not: 0.3, 3, 6.'
    """
    compared, first = against_baseline(label, decoding), _printed(label, decoding)[0]
    found = _names([each for each in compared if each.holm < LEVEL])
    missed = _names([each for each in compared if each.holm >= LEVEL])
    name = first.task if first.order == compared[-1].order else "gsm8k by Rényi order"
    text = f"significant after Holm: {found}" if found else "none significant after Holm"
    if missed and found:
        text += f"; not: {missed.removeprefix('λ = ')}"
    return f"{name}, {decoding} (Welch, {first.n_seeds} seeds; {len(compared)} tests): {text}."


def _weakest_math() -> str:
    """The paper: "well outside seed variation", of the smallest λ, which is not the smallest gain."""
    compared = against_baseline("tab:math7b")
    weakest = min(compared, key=lambda each: each.gain.gain)
    last = compared[-1]
    return (
        f"MATH's smallest gain is at λ = {weakest.lam:g}, {_points(weakest.gain)}, p = {weakest.gain.p:.2f}: "
        f"not outside seed variation; λ = {last.lam:g} has p = {last.holm:.3f} after Holm."
    )


def _answer_only_interval() -> str:
    """The paper's "95 % Welch interval" is normal; at λ = 1 it leaves 0 out, with Student's t it does not."""
    table = lookup("gsm8k-answer-only", "greedy")
    arms = [(table.scores(lam), table.scores(0)) for lam in table.lams if lam]
    wider = [100 * (_width(welch(*pair)) / _width(paper.welch(*pair)) - 1) for pair in arms]
    gain, printed = welch(table.scores(1), table.scores(0)), table.row(1).change
    assert printed is not None
    return (
        "Answer-only intervals are printed with the normal quantile; Student's t makes them "
        f"{min(wider):.0f} to {max(wider):.0f} % wider. At λ = 1 the printed +{printed.low:.2f} to "
        f"+{printed.high:.2f} leaves 0 out, and Welch's does not: {_points(gain)}."
    )


def _interaction(lam: float) -> str:
    """The gain with a chain of thought minus that without, which the paper does not compare."""
    cot, control = (lookup(task, "greedy") for task in ("gsm8k", "gsm8k-answer-only"))
    gain = difference(*(welch(table.scores(lam), table.scores(0)) for table in (cot, control)))
    return (
        f"With a chain of thought the gain at λ = {lam:g} is larger than without: {_points(gain)}, "
        f"p = {gain.p:.2g}; the paper does not test this."
    )


def _trend() -> str:
    """Over the whole grid at once, where single steps say little."""
    table = lookup("gsm8k", "greedy")
    p = trend({lam: table.scores(lam) for lam in table.lams}).p
    return f"GSM8K's accuracy rises with λ over the grid: Page's trend test over seeds has p = {p:.0e}."


def _steps() -> str:
    """Whether each λ above 1 is better than the one before it."""
    table = lookup("gsm8k", "greedy")
    pairs = [(low, high) for low, high in zip(table.lams, table.lams[1:], strict=False) if low >= 1]
    p = [welch(table.scores(high), table.scores(low)).p for low, high in pairs]
    steps = ", ".join(
        f"{low:g} to {high:g} p = {each:.2f}" for (low, high), each in zip(pairs, p, strict=True)
    )
    clear = sum(each < LEVEL for each in p)
    return f"GSM8K's single steps above λ = 1, before any correction: {steps}; {clear or 'none'} significant."


def _orders_are_one_curve() -> str:
    """The paper's "σ", a range of three means over the error of a difference, and an analysis of variance."""
    shannon = next(table for table in _printed("tab:renyi-main", "greedy") if table.order == 1)
    orders = [shannon, *(lookup("gsm8k", "greedy", penalty="renyi", order=order) for order in (0.5, 2.0))]
    n, texts = shannon.n_seeds, []
    for lam in (1.0, 3.0, 8.0):
        rows = [table.row(lam) for table in orders]
        top, bottom = max(rows, key=lambda row: row.mean), min(rows, key=lambda row: row.mean)
        off = top.mean - bottom.mean
        sigma, larger = (off / math.sqrt((top.sd**2 + bottom.sd**2) / (n - dof)) for dof in (0, 1))
        texts.append(f"{sigma:.2f} ({larger:.2f}; {_anova_p(rows, n):.2f}) at λ = {lam:g}")
    return (
        f"Rényi orders 0.5, 1 and 2, highest minus lowest in the paper's σ (with sample deviations; p of an "
        f"analysis of variance): {', '.join(texts)}. No difference is shown; that there is none is not "
        "shown either."
    )


def _anova_p(rows: list[PaperRow], n: int) -> float:
    """Whether means over n seeds each differ at all."""
    between = n * variance([row.mean for row in rows])
    within = fmean(row.sd**2 * n / (n - 1) for row in rows)
    return float(fdtrc(len(rows) - 1, len(rows) * (n - 1), between / within))


def _small_order() -> str:
    """The paper: "never separates from the baseline"."""
    order, lam = 0.1, 8.0
    found = next(
        each for each in against_baseline("tab:renyi-main") if (each.order, each.lam) == (order, lam)
    )
    return (
        f"Rényi order {order:g} at λ = {lam:g}: {_points(found.gain)}, p = {found.gain.p:.2f} alone and "
        f"{found.holm:.2f} after Holm."
    )


def _edge() -> str:
    table = lookup("gsm8k", "greedy")
    best = max(table.rows, key=lambda row: row.mean)
    assert best.lam == max(table.lams)
    return f"GSM8K's best λ = {best.lam:g} is the strongest tried: where accuracy peaks is not known."


def _sampled_gsm8k() -> str:
    """The sampled runs have the Rényi sweep's seeds and grid, and that used 200 problems."""
    sampled = lookup("gsm8k", "sampled")
    like = next(table for table in _printed("tab:renyi-main", "greedy") if table.order == 1)
    gains = [
        100 * (table.row(8).mean - table.row(0).mean) for table in (sampled, like, lookup("gsm8k", "greedy"))
    ]
    return (
        f"GSM8K's sampled gain at λ = 8, +{gains[0]:.2f} over {sampled.n_seeds} seeds, is "
        f"{gains[0] / gains[2]:.2f} times the greedy one over 5; beside the greedy runs with the same "
        f"{like.n_seeds} seeds and grid, +{gains[1]:.2f} on {like.n_test} problems, it is "
        f"{gains[0] / gains[1]:.2f} times."
    )


def _on_test() -> str:
    return (
        "Every best λ of the paper was chosen on the problems that its gain is reported on, and no interval "
        "covers other problems: both make gains look larger and surer than they are."
    )


def _printed(label: str, decoding: str) -> list[PaperTable]:
    found = [table for table in tables() if (table.label, table.decoding) == (label, decoding)]
    if not found:
        labels = ", ".join(dict.fromkeys(table.label for table in tables()))
        raise ValueError(f"the paper has no {decoding} table {label!r}; it has {labels}")
    return found


def _with_seeds(table: PaperTable) -> PaperTable:
    """The per-seed table of the same runs, if there is one."""
    return table if table.label == "tab:renyi-main" else lookup(table.task, table.decoding)


def _names(compared: list[Compared]) -> str:
    """The λ, by order where there are several."""
    texts: dict[float, list[str]] = {}
    for each in compared:
        loss = " (a loss)" if each.gain.gain < 0 and each.holm < LEVEL else ""
        texts.setdefault(each.order, []).append(f"{each.lam:g}{loss}")
    if set(texts) <= {1.0}:
        return "λ = " + ", ".join(texts[1.0]) if texts else ""
    return "; ".join(f"order {order:g} at λ = {', '.join(lams)}" for order, lams in texts.items())


def _width(gain: Gain) -> float:
    return gain.high - gain.low


def _points(gain: Gain) -> str:
    """
    >>> _points(welch([0.2, 0.3], [0.2, 0.3]))
    '+0.00 points [−30.42, +30.42]'
    """
    low, middle, high = (
        f"{100 * value:+.2f}".replace("-", MINUS) for value in (gain.low, gain.gain, gain.high)
    )
    return f"{middle} points [{low}, {high}]"
