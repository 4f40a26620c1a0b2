"""The figures of the theory page as SVG; what differs in colour differs in form or label."""

import math
from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from erce.reporting.pages.figures import DASHED, DOTTED, NEUTRAL, SETTINGS, svg, svg_in_page
from scripts.theory import counterexample, learning, tokens

RED, BLUE, GREEN, GOLD = "#b3441e", "#1f5c88", "#2c6b48", "#b58a1b"
PALETTE = NEUTRAL | {"red": RED, "blue": BLUE, "green": GREEN, "gold": GOLD}
INK, MUTED, PANEL = (PALETTE[name] for name in ("ink", "muted", "panel"))
NEXT_TOKENS = {"this": 0.03, "hence": 0.05, "we": 0.1, "thus": 0.15, "then": 0.25, "so": 0.42}
RISK_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


@matplotlib.rc_context(SETTINGS | {"lines.linewidth": 1.7})
def drawings(*, runs: int = 100, sizes: Sequence[int] = RISK_SIZES) -> dict[str, Markup]:
    """Return every figure as SVG that the page's style sheet colours, with a description to read out.

    `runs` samples of each of the `sizes` show the risk that each loss leaves.
    """
    figures = {
        "failure": ("Chance that cross-entropy picks a wrong policy, by m", _failure()),
        "learning": ("Risk of what each loss learns, against m", _learning(sizes, runs)),
        "token": ("The next token's distribution at five λ", _token()),
    }
    return {name: Markup(svg_in_page(svg(figure), text, PALETTE)) for name, (text, figure) in figures.items()}


def _panels(number: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels side by side, each `width` by `height` inches."""
    figure = Figure(figsize=(width * number, height), layout="constrained")
    row = list(figure.subplots(1, number, squeeze=False)[0])
    for axes in row:
        axes.grid(axis="y", linewidth=0.6)
        axes.set_axisbelow(True)
    return figure, row


def _failure() -> Figure:
    """Draw how often cross-entropy returns a wrong policy, against m."""
    figure, (axes,) = _panels(1, 7.4, 3.9)
    sizes = sorted({*range(1, 11), *(round(m) for m in np.geomspace(10, 1000, 31))})
    rules = {
        "paper": ("mostly fresh prompts, N = ⌈m(m−1)/2⌉ (paper)", RED, "-"),
        "corrected": ("mostly fresh prompts, N = m² (corrected)", GOLD, DASHED),
        "fixed": ("the same 100 prompts again and again", BLUE, "-"),
    }
    for rule, (label, colour, line) in rules.items():
        wrong = [counterexample.wrong_probability(m, counterexample.PROMPTS[rule](m)) for m in sizes]
        axes.plot(sizes, wrong, color=colour, linestyle=line, label=label)
    for rule, label in (("corrected", "N = m²"), ("paper", "paper")):
        distinct = [counterexample.distinct(m, counterexample.PROMPTS[rule](m)) for m in sizes]
        axes.plot(sizes, distinct, color=rules[rule][1], linestyle=DOTTED, linewidth=1.2)
        axes.text(1000, distinct[-1] + 0.02, f"all prompts differ ({label})", ha="right", fontsize=9)
    axes.axhline(1 / 8, color=MUTED, linewidth=1, linestyle=DASHED)
    axes.text(1000, 0.14, "1/8, which the proof needs", ha="right", fontsize=9, color=MUTED)
    axes.set(xscale="log", xlabel="demonstrations m", ylim=(0, 1.04))
    axes.set(ylabel="P(cross-entropy picks a wrong policy)")
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def _learning(sizes: Sequence[int], runs: int) -> Figure:
    """Draw the mean risk of what each loss learns, with its 95 % band, against m."""
    figure, (axes,) = _panels(1, 7.4, 4.3)
    family, penalised = learning.example(), learning.penalised
    losses = {
        "cross-entropy": (learning.cross_entropy, RED, "o", "-"),
        "fixed λ = 0.05": (penalised(lam=lambda m: 0.05, order=lambda m: 1.0), GOLD, "s", "-"),
        "step 1": (learning.indicator(family.eta), INK, "x", DOTTED),
        "step 2: λ = m": (penalised(lam=float, order=lambda m: 0.0), BLUE, "D", DASHED),
        "step 3: λ = m, α = 1/m": (penalised(lam=float, order=lambda m: 1 / m), GREEN, "v", "-"),
    }
    for name, (loss, colour, marker, line) in losses.items():
        risks = learning.risk_curve(family, loss, sizes, runs=runs, seed=0)
        mean, half = risks.mean(1), 1.96 * risks.std(1, ddof=1) / math.sqrt(runs)
        mark: Any = {"marker": marker, "markersize": 4.5, "linestyle": line, "label": name}
        axes.plot(sizes, mean, color=colour, **mark)
        band = np.clip(mean - half, 0, 1), np.clip(mean + half, 0, 1)
        axes.fill_between(sizes, *band, color=colour, alpha=0.15, linewidth=0)
    axes.set(xscale="log", ylim=(-0.02, 1), xlabel="demonstrations m", ylabel="risk")
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def _token() -> Figure:
    """Draw the next token's distribution at several λ: bars, and open marks for the temperature 1/(1+λ)."""
    names, t, lams = list(NEXT_TOKENS), list(NEXT_TOKENS.values()), (0.0, 0.5, 1.0, 2.0, 8.0)
    figure, parts = _panels(len(lams), 2.15, 2.9)
    for axes, lam in zip(parts, lams, strict=True):
        axes.barh(names, tokens.optimum(t, lam), color=BLUE, height=0.6)
        axes.plot(tokens.first_order(t, lam), names, "D", color=RED, markersize=5, markerfacecolor=PANEL)
        axes.grid(visible=False)
        axes.grid(axis="x", linewidth=0.6)
        axes.set(xlim=(0, 1.04), xticks=[0, 0.5, 1], xticklabels=["0", "½", "1"], title=f"λ = {lam:g}")
        if axes is not parts[0]:
            axes.set_yticklabels([])
    figure.supxlabel("probability of the next token", fontsize=10)
    return figure
