"""The paper's tables → which of its gains a test supports, as sentences.

The tables hold one accuracy a seed, so every test here is over seeds and takes the paper's test problems as
given: a significant gain is shown for those very problems, and other problems would add their own chance.
"""

import math
from statistics import fmean, variance
from typing import NamedTuple

import numpy as np
from scipy.special import fdtrc

from erce.errors import InputError
from erce.paper.tables import PaperRow, PaperTable, lookup, tables
from erce.stats import Gain, difference, holm, paper, welch

LEVEL = 0.05
MINUS = "−"


class LamTest(NamedTuple):
    """Welch's test of one λ, of one order, against λ = 0; `holm` is its p after Holm over the table."""

    order: float
    lam: float
    gain: Gain
    holm: float


def against_baseline(label: str, decoding: str = "greedy") -> list[LamTest]:
    """Test every λ > 0 of a printed table; its orders, if several, are one family for Holm.

    >>> [test.lam for test in against_baseline("tab:mbpp_entropy_main_results") if test.holm < 0.05]
    [0.7, 1.0, 1.5, 2.0]
    """
    family: list[tuple[float, float, Gain]] = []
    for table in _printed(label, decoding):
        source = _with_seeds(table)
        baseline = source.scores(0)
        family += [(table.order, lam, welch(source.scores(lam), baseline)) for lam in table.lams if lam]
    adjusted = holm([gain.p for _, _, gain in family]).tolist()
    return [LamTest(order, lam, gain, p) for (order, lam, gain), p in zip(family, adjusted, strict=True)]


def sentences() -> list[str]:
    """Say, with numbers, what tests show of the paper's tables and of its claims about them."""
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
    """Say which of a printed table's gains over λ = 0 are significant after Holm, and which are not.

    >>> table_sentence("tab:mbpp_entropy_main_results", "greedy")
    'mbpp, greedy (Welch, 5 seeds; 7 tests): significant after Holm: λ = 0.7, 1, 1.5, 2; not: 0.3, 3, 6.'
    """
    tests, table = against_baseline(label, decoding), _printed(label, decoding)[0]
    significant = _listed([test for test in tests if test.holm < LEVEL])
    others = _listed([test for test in tests if test.holm >= LEVEL])
    name = table.task if table.order == tests[-1].order else "gsm8k by Rényi order"
    text = f"significant after Holm: {significant}" if significant else "none significant after Holm"
    if others and significant:
        text += f"; not: {others.removeprefix('λ = ')}"
    return f"{name}, {decoding} (Welch, {table.n_seeds} seeds; {len(tests)} tests): {text}."


def _weakest_math() -> str:
    """Test MATH's smallest gain; the paper says "well outside seed variation" of the smallest λ."""
    tests = against_baseline("tab:math7b")
    weakest = min(tests, key=lambda test: test.gain.gain)
    last = tests[-1]
    return (
        f"MATH's smallest gain is at λ = {weakest.lam:g}, {_points(weakest.gain)}, p = {weakest.gain.p:.2f}: "
        f"not outside seed variation; λ = {last.lam:g} has p = {last.holm:.3f} after Holm."
    )


def _answer_only_interval() -> str:
    """Compare the paper's "95 % Welch interval", which is normal, with one by Student's t."""
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
    """Test the gain with a chain of thought minus that without, which the paper does not compare."""
    cot, control = (lookup(task, "greedy") for task in ("gsm8k", "gsm8k-answer-only"))
    gain = difference(*(welch(table.scores(lam), table.scores(0)) for table in (cot, control)))
    return (
        f"With a chain of thought the gain at λ = {lam:g} is larger than without: {_points(gain)}, "
        f"p = {gain.p:.2g}; the paper does not test this."
    )


def _trend() -> str:
    """Test the trend over the whole grid, which single steps say little about."""
    table = lookup("gsm8k", "greedy")
    from scipy.stats import page_trend_test  # 0.5 s to import, for this alone

    by_seed = np.array([table.scores(lam) for lam in sorted(table.lams)]).T
    p = float(page_trend_test(by_seed).pvalue)
    return f"GSM8K's accuracy rises with λ over the grid: Page's trend test over seeds has p = {p:.0e}."


def _steps() -> str:
    """Test each λ above 1 against the λ before it."""
    table = lookup("gsm8k", "greedy")
    pairs = [(low, high) for low, high in zip(table.lams, table.lams[1:], strict=False) if low >= 1]
    p_values = [welch(table.scores(high), table.scores(low)).p for low, high in pairs]
    steps = ", ".join(
        f"{low:g} to {high:g} p = {p:.2f}" for (low, high), p in zip(pairs, p_values, strict=True)
    )
    count = sum(p < LEVEL for p in p_values)
    return f"GSM8K's single steps above λ = 1, before any correction: {steps}; {count or 'none'} significant."


def _orders_are_one_curve() -> str:
    """Compute the paper's "σ", a range of three means over the error of a difference, and an F test."""
    shannon = next(table for table in _printed("tab:renyi-main", "greedy") if table.order == 1)
    orders = [shannon, *(lookup("gsm8k", "greedy", penalty="renyi", order=order) for order in (0.5, 2.0))]
    n, texts = shannon.n_seeds, []
    for lam in (1.0, 3.0, 8.0):
        rows = [table.row(lam) for table in orders]
        top, bottom = max(rows, key=lambda row: row.mean), min(rows, key=lambda row: row.mean)
        # The paper's sd divides by n; dividing by n − 1 instead makes the error of a mean sd / √(n − 1).
        by_n, by_n_less_1 = (
            (top.mean - bottom.mean) / math.sqrt((top.sd**2 + bottom.sd**2) / count) for count in (n, n - 1)
        )
        texts.append(f"{by_n:.2f} ({by_n_less_1:.2f}; {_anova_p(rows, n):.2f}) at λ = {lam:g}")
    return (
        f"Rényi orders 0.5, 1 and 2, highest minus lowest in the paper's σ (with sample deviations; p of an "
        f"analysis of variance): {', '.join(texts)}. No difference is shown; that there is none is not "
        "shown either."
    )


def _anova_p(rows: list[PaperRow], n: int) -> float:
    """Return p of a one-way analysis of variance over rows of n seeds each."""
    between = n * variance([row.mean for row in rows])
    within = fmean(row.sd**2 * n / (n - 1) for row in rows)
    return float(fdtrc(len(rows) - 1, len(rows) * (n - 1), between / within))


def _small_order() -> str:
    """Test the smallest Rényi order, which the paper says "never separates from the baseline"."""
    tests = {(test.order, test.lam): test for test in against_baseline("tab:renyi-main")}
    test = tests[0.1, 8.0]
    return (
        f"Rényi order {test.order:g} at λ = {test.lam:g}: {_points(test.gain)}, p = {test.gain.p:.2f} alone "
        f"and {test.holm:.2f} after Holm."
    )


def _edge() -> str:
    table = lookup("gsm8k", "greedy")
    best = max(table.rows, key=lambda row: row.mean)
    assert best.lam == max(table.lams)
    return f"GSM8K's best λ = {best.lam:g} is the strongest tried: where accuracy peaks is not known."


def _sampled_gsm8k() -> str:
    """Compare GSM8K's sampled gain with the greedy gain over 5 seeds and with that of the Rényi sweep.

    The sampled runs have the seeds and the grid of the Rényi sweep, which used 200 problems.
    """
    sampled = lookup("gsm8k", "sampled")
    sweep = next(table for table in _printed("tab:renyi-main", "greedy") if table.order == 1)
    gains = [
        100 * (table.row(8).mean - table.row(0).mean) for table in (sampled, sweep, lookup("gsm8k", "greedy"))
    ]
    return (
        f"GSM8K's sampled gain at λ = 8, +{gains[0]:.2f} over {sampled.n_seeds} seeds, is "
        f"{gains[0] / gains[2]:.2f} times the greedy one over 5; beside the greedy runs with the same "
        f"{sweep.n_seeds} seeds and grid, +{gains[1]:.2f} on {sweep.n_test} problems, it is "
        f"{gains[0] / gains[1]:.2f} times."
    )


def _on_test() -> str:
    return (
        "Every best λ of the paper was chosen on the problems that its gain is reported on, and no interval "
        "covers other problems: both make gains look larger and surer than they are."
    )


def _printed(label: str, decoding: str) -> list[PaperTable]:
    printed = [table for table in tables() if (table.label, table.decoding) == (label, decoding)]
    if not printed:
        labels = ", ".join(dict.fromkeys(table.label for table in tables()))
        raise InputError(f"the paper has no {decoding} table {label!r}; it has {labels}")
    return printed


def _with_seeds(table: PaperTable) -> PaperTable:
    """Return the per-seed table of the same runs, if there is one."""
    return table if table.label == "tab:renyi-main" else lookup(table.task, table.decoding)


def _listed(tests: list[LamTest]) -> str:
    """List the λ, by order if there are several orders."""
    texts: dict[float, list[str]] = {}
    for test in tests:
        loss = " (a loss)" if test.gain.gain < 0 and test.holm < LEVEL else ""
        texts.setdefault(test.order, []).append(f"{test.lam:g}{loss}")
    if set(texts) <= {1.0}:
        return "λ = " + ", ".join(texts[1.0]) if texts else ""
    return "; ".join(f"order {order:g} at λ = {', '.join(lams)}" for order, lams in texts.items())


def _width(gain: Gain) -> float:
    return gain.high - gain.low


def _points(gain: Gain) -> str:
    """Write a gain with its interval, in points.

    >>> _points(welch([0.2, 0.3], [0.2, 0.3]))
    '+0.00 points [−30.42, +30.42]'
    """
    low, middle, high = (
        f"{100 * value:+.2f}".replace("-", MINUS) for value in (gain.low, gain.gain, gain.high)
    )
    return f"{middle} points [{low}, {high}]"
