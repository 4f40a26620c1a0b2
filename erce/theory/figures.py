"""The numbers of the theory page → its figures as SVG; what differs in colour differs in form or label."""

from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from erce.reporting.pages.figures import DASHED, DOTTED, NEUTRAL, SETTINGS, svg, svg_in_page
from erce.theory.counterexample import H, U, advantage, support_size

PALETTE = NEUTRAL | {
    "red": "#b3441e",
    "blue": "#1f5c88",
    "green": "#2c6b48",
    "gold": "#b58a1b",
    "plum": "#74558c",
}
INK, MUTED, PANEL = (PALETTE[name] for name in ("ink", "muted", "panel"))
RED, BLUE, GREEN, GOLD, PLUM = (PALETTE[name] for name in ("red", "blue", "green", "gold", "plum"))
RULES = {
    "paper": ("mostly fresh prompts, N = ⌈m(m−1)/2⌉ (paper)", RED, "-", "o"),
    "corrected": ("mostly fresh prompts, N = m² (corrected)", GOLD, DASHED, "s"),
    "fixed": ("the same 100 prompts again and again", BLUE, "-", "^"),
}


@matplotlib.rc_context(SETTINGS | {"lines.linewidth": 1.7})
def drawings(numbers: dict[str, Any]) -> dict[str, str]:
    """Return every figure as SVG that the page's style sheet colours, with a description to read out."""
    said = {
        "policies": "Two policies where answer 1 was shown: the wrong one fits it better",
        "failure": "Probability that cross-entropy picks a wrong policy, by m",
        "switch": "Difference of the objectives against λ",
        "sizes": "S against its order; its gap to the support",
        "learning": "Risk against m, measured and promised",
        "token": "The next token's distribution at five λ",
        "sharpening": "Equivalent temperature, a tie, and the push on a logit against λ",
    }
    figures = {
        "policies": _policies(),
        "failure": _failure(numbers["counterexample"]),
        "switch": _switch(numbers["switch_lambda"]),
        "sizes": _sizes(numbers["lemma"]),
        "learning": _learning(numbers["learning"]),
        "token": _token(numbers["token"]),
        "sharpening": _sharpening(numbers["token"]),
    }
    texts = {name: svg(figure, salt="erce.theory") for name, figure in figures.items()}
    return {name: svg_in_page(text, said[name], PALETTE) for name, text in texts.items()}


def _panels(number: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels side by side, each `width` by `height` inches."""
    figure = Figure(figsize=(width * number, height), layout="constrained")
    row = list(figure.subplots(1, number, squeeze=False)[0])
    for axes in row:
        axes.grid(axis="y", linewidth=0.6)
        axes.set_axisbelow(True)
    return figure, row


def _policies() -> Figure:
    """Draw both kinds of policy at a prompt whose demonstration says answer 1."""
    figure, both = _panels(2, 3.7, 2.9)
    names = ["answer 1\n(shown)", "answer 2", "answer 3\n(wrong)"]
    rows = (("u, which wrote the data", U), ("h, which follows it", H[0]))
    for axes, (title, row) in zip(both, rows, strict=True):
        bars = axes.bar(names, row, color=[GREEN, GREEN, RED], width=0.62)
        for bar, p in zip(bars, row, strict=True):
            if p > 0 and bar is bars[2]:
                bar.set_hatch("///")
                bar.set_edgecolor(PANEL)
            axes.text(bar.get_x() + bar.get_width() / 2, p + 0.015, f"{p:g}", ha="center", fontsize=9)
        axes.set(ylim=(0, 0.8), title=f"{title}\n−log p(shown) = {-np.log(row[0]):.3f}")
    both[0].set_ylabel("probability")
    return figure


def _failure(numbers: dict[str, Any]) -> Figure:
    """Draw how often cross-entropy returns a wrong policy, against m."""
    figure, (axes,) = _panels(1, 7.4, 3.9)
    for rule, (label, colour, line, marker) in RULES.items():
        axes.plot(numbers["m"], numbers["wrong"][rule], color=colour, linestyle=line, label=label)
        rows = [row for row in numbers["simulated"] if row["rule"] == rule]
        at, wrong = [row["m"] for row in rows], [row["wrong"] for row in rows]
        reach = [[abs(row[end] - row["wrong"]) for row in rows] for end in ("low", "high")]
        mark: Any = {"marker": marker, "markersize": 5, "markerfacecolor": PANEL, "capsize": 2.5}
        axes.errorbar(at, wrong, yerr=reach, color=colour, linestyle="", **mark)
        if rule in numbers["distinct"]:
            axes.plot(numbers["m"], numbers["distinct"][rule], color=colour, linestyle=DOTTED, linewidth=1.2)
    for rule, label in (("corrected", "N = m²"), ("paper", "paper")):
        at = numbers["distinct"][rule][-1] + 0.02
        axes.text(1000, at, f"all prompts differ ({label})", ha="right", fontsize=9)
    axes.axhline(1 / 8, color=MUTED, linewidth=1, linestyle=DASHED)
    axes.text(1000, 0.14, "1/8, which the proof needs", ha="right", fontsize=9, color=MUTED)
    axes.set(xscale="log", xlabel="demonstrations m", ylim=(0, 1.04))
    axes.set(ylabel="P(cross-entropy picks a wrong policy)")
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def _switch(lams: dict[str, float | None]) -> Figure:
    """Draw u's objective minus the wrong policy's against λ; where it falls below 0 the learner picks u."""
    figure, (axes,) = _panels(1, 7.4, 3.9)
    kinds = {
        "S_0": ("|supp|", GREEN),
        "S_0.5": ("S of order 0.5", GOLD),
        "S_1": ("exp H", RED),
        "R_0.5": ("R of order 0.5", PLUM),
        "R_1": ("H (Shannon)", BLUE),
        "R_2": ("R of order 2", INK),
    }
    grid = np.linspace(0, 4, 9)
    for kind, (name, colour) in kinds.items():
        gap = [float(advantage(1, 0, lam=lam, kind=kind)) for lam in grid]
        line, lam = DASHED if kind.startswith("R") else "-", lams[kind] or 0.0
        axes.plot(grid, gap, color=colour, linestyle=line, label=f"{name}: λ = {lam:.4f}")
        axes.plot(lam, 0.0, marker="o", color=colour, markersize=6, zorder=4)
    axes.axhline(0, color=INK, linewidth=1)
    axes.axhspan(0, 0.3, color=RED, alpha=0.07, linewidth=0)
    axes.axhspan(-0.3, 0, color=GREEN, alpha=0.07, linewidth=0)
    axes.text(3.95, 0.27, "picks a wrong policy", ha="right", va="top", color=RED)
    axes.text(3.95, -0.27, "picks u, which is right", ha="right", va="bottom", color=GREEN)
    axes.set(xlim=(0, 4), ylim=(-0.3, 0.3), xlabel="penalty strength λ")
    axes.set(ylabel="objective of u − of the wrong policy")
    figure.legend(loc="outside lower center", ncols=3, title="switches at", title_fontsize=9)
    return figure


def _sizes(numbers: dict[str, Any]) -> Figure:
    """Draw S against its order for four distributions, and how far it falls short of the support."""
    figure, (left, right) = _panels(2, 4.7, 3.7)
    rows = {
        "flat on 4": ([0.25] * 4, GREEN, "-"),
        "1/2, 1/2": ([0.5, 0.5], GOLD, DOTTED),
        "5/8, 1/4, 1/8": ([5 / 8, 1 / 4, 1 / 8], RED, "-"),
        "0.97, and 3 × 0.01": ([0.97, 0.01, 0.01, 0.01], BLUE, DASHED),
    }
    grid, orders = np.linspace(0, 3, 121), numbers["order"]
    for name, (row, colour, line) in rows.items():
        size = [support_size(row, order) for order in grid]
        left.plot(grid, size, color=colour, linestyle=line, label=name)
    left.axvline(1, color=MUTED, linewidth=0.8, linestyle=DASHED)
    left.text(1.04, 4.2, "exp H", fontsize=9, color=MUTED)
    left.set(xlabel="order α", ylabel="S(p), in answers", ylim=(0.9, 4.4))
    left.set(title="A smooth count of the answers")
    left.legend(loc="center right")
    right.plot(orders, numbers["lemma"], color=MUTED, linestyle=DASHED, label="the lemma’s bound")
    right.plot(orders, numbers["sharper"], color=GOLD, linestyle="-", label="the sharper bound, k = 3")
    true: Any = {"linestyle": "-", "linewidth": 2.4, "label": "true, for 5/8, 1/4, 1/8"}
    right.plot(orders, numbers["gap"], color=RED, **true)
    right.set(xlabel="order α", ylabel="|supp p| − S(p)", title="How far it falls short of the support")
    right.legend(loc="upper left")
    return figure


def _learning(numbers: dict[str, Any]) -> Figure:
    """Draw the measured risk against m, alone and beside what the corollaries promise."""
    figure, (left, right) = _panels(2, 5.2, 4.3)
    m, limits, until = numbers["m"], numbers["bounds"], numbers["vacuous_until"]
    colours, lines = (RED, GOLD, PLUM, INK, BLUE, GREEN), ("-", "-", "-", DOTTED, DASHED, "-")
    for (name, curve), colour, marker, line in zip(
        numbers["risk"].items(), colours, "os^xDv", lines, strict=True
    ):
        mark: Any = {"marker": marker, "markersize": 4.5, "linestyle": line, "label": name}
        left.plot(m, curve["mean"], color=colour, **mark)
        left.fill_between(m, curve["low"], curve["high"], color=colour, alpha=0.15, linewidth=0)
    left.set(xscale="log", ylim=(-0.02, 1), xlabel="demonstrations m", ylabel="risk")
    left.set(title="Measured: mean, 95 % band")
    measured = numbers["risk"]["step 3: λ = m, α = 1/m"]["q95"]
    right.plot(m, measured, color=GREEN, marker="v", markersize=4.5)
    right.text(350, 0.06, "measured: 95 %\nof samples stay\nbelow", fontsize=8.5, color=GREEN)
    for step, colour, line in ((1, INK, DOTTED), (2, BLUE, DASHED), (3, GREEN, "-")):
        bound = limits[f"step_{step}"]
        right.plot(limits["m"], bound, color=colour, linestyle=line, label=f"bound of step {step}")
    right.axvspan(1, until, color=MUTED, alpha=0.12, linewidth=0)
    right.text(1.3, 1.04, f"vacuous: every bound is 1 or more up to m = {until:,}", fontsize=8.5, color=MUTED)
    right.legend(loc="center right", bbox_to_anchor=(1.0, 0.62))
    right.set(xscale="log", ylim=(-0.02, 1.1), xlim=(1, 1e8), xlabel="demonstrations m")
    right.set(title="Promised, at δ = 0.05")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _token(numbers: dict[str, Any]) -> Figure:
    """Draw the next token's distribution at several λ: bars, and open marks for the temperature 1/(1+λ)."""
    names = list(numbers["tokens"])[::-1]
    figure, parts = _panels(len(numbers["optimum"]), 2.15, 2.9)
    for axes, (lam, p) in zip(parts, numbers["optimum"].items(), strict=True):
        axes.barh(names, p[::-1], color=BLUE, height=0.6)
        powers = numbers["first_order"][lam][::-1]
        axes.plot(powers, names, "D", color=RED, markersize=5, markerfacecolor=PANEL)
        axes.grid(visible=False)
        axes.grid(axis="x", linewidth=0.6)
        axes.set(xlim=(0, 1.04), xticks=[0, 0.5, 1], xticklabels=["0", "½", "1"], title=f"λ = {lam}")
        if axes is not parts[0]:
            axes.set_yticklabels([])
    figure.supxlabel("probability of the next token", fontsize=10)
    return figure


def _sharpening(numbers: dict[str, Any]) -> Figure:
    """Draw the optimum's equivalent temperature, two tied tokens, and the push on a demonstrated token."""
    figure, (warm, tie, push) = _panels(3, 3.75, 3.6)
    lams, tops = np.array(numbers["lambda"]), np.array(numbers["tie"])
    warm.plot(lams, numbers["temperature"], color=BLUE, label="exact optimum")
    warm.plot(lams, 1 / (1 + lams), color=RED, linestyle=DASHED, label="first order, 1/(1+λ)")
    warm.set(xlabel="λ", ylabel="temperature", ylim=(0, 1.03), title="It is like a lower temperature")
    warm.legend(loc="upper right")
    tie.plot(lams, tops, color=BLUE, label="one token")
    tie.plot(lams, 1 - tops, color=GOLD, linestyle=DASHED, label="the other")
    tie.axvline(1, color=MUTED, linewidth=0.8, linestyle=DOTTED)
    tie.set(xlabel="λ", ylabel="probability", ylim=(0, 1.03), title="Above λ = 1 it breaks ties")
    tie.legend(loc="center right")
    styles = ((INK, "-"), (GREEN, "-"), (GOLD, DASHED), (BLUE, "-"), (RED, "-"))
    for (lam, force), (colour, line) in zip(numbers["push"].items(), styles, strict=True):
        push.plot(numbers["p"], force, color=colour, linestyle=line, label=f"λ = {float(lam):.3g}")
    push.axhline(0, color=INK, linewidth=1)
    push.axhspan(-1.1, 0, color=RED, alpha=0.07, linewidth=0)
    push.set(xlabel="p of the demonstrated token", ylabel="push on its logit", ylim=(-1.1, 3.4), xlim=(0, 1))
    push.set_title("Above λ = 3.59 some are pushed down")
    push.legend(loc="upper center", fontsize=8.5, ncols=2)
    return figure
