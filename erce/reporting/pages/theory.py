"""The theory → one HTML file that needs nothing else, its numbers as JSON, and lines for a terminal."""

from pathlib import Path
from typing import Any

from markupsafe import Markup

from erce.files import write_json, write_text
from erce.reporting.pages import theory_figures as figures
from erce.reporting.pages.templates import environment
from erce.reporting.pages.theory_figures import inline
from erce.theory import counterexample
from erce.theory.findings import findings


def write(page: Path, json: Path | None) -> list[str]:
    """Write `page`, and every number into `json`; return the lines to print.

    The same versions of numpy, scipy and matplotlib with the same number of threads give the same bytes.
    """
    numbers = findings()
    write_text(page, render(numbers))
    if json is not None:
        write_json(json, numbers)
    return [*table(numbers), "", f"The page with the figures: {page}"]


def render(numbers: dict[str, Any]) -> str:
    """Return the page as HTML; `numbers` is what `findings()` returns."""
    return (
        environment()
        .get_template("theory.html")
        .render(
            numbers=numbers,
            risk=counterexample.RISK,
            smallest_distinct=_smallest_distinct(),
            drawings={name: Markup(text) for name, text in _drawings(numbers).items()},
        )
    )


def table(numbers: dict[str, Any]) -> list[str]:
    """Return the most telling numbers, one on each line."""
    bounds, enough = numbers["sample_complexity_bound"], numbers["samples_enough"]
    lines = ["The counter-example: the learner is right from λ ="]
    for kind, lam in numbers["switch_lambda"].items():
        lines.append(f"  {kind:<22} {'never' if lam is None else format(lam, '.4f'):>11}")
    lines += [f"  above order {numbers['last_order']:.2f} no λ helps", ""]
    epsilon, probability = numbers["epsilon"], 1 - numbers["delta"]
    lines.append(f"Samples for a risk of at most {epsilon:g} with probability {probability:g}, there")
    lines += [f"  bound of {name.replace('_', ' '):<13} {samples:>11,}" for name, samples in bounds.items()]
    lines.append(f"  {'λ_m = m, α_m = 1/m':<22} {_samples(enough):>11}")
    lines.append(f"  {'cross-entropy':<22} {_samples(numbers['samples_enough_cross_entropy']):>11}")
    search = numbers["critical_lambda_found"]
    lines += [
        "",
        "Up to which λ no demonstrated token's logit is pushed down",
        f"  {'1 / W(1/e)':<22} {numbers['critical_lambda']:>11.6f}",
        f"  {'by search':<22} {search['lambda']:>11.6f}, at p = {search['p']:.4f}",
        "",
        "S_α: the support size of order α, a smooth count of the answers in play",
        "R_α: log S_α, in nats, which is the Rényi entropy; R_1 is Shannon's, the usual penalty",
        "λ_m, α_m: λ and order for m demonstrations · W: Lambert's function, the inverse of w·exp(w)",
    ]
    return lines


def _samples(m: int | None) -> str:
    return "over 1,000" if m is None else f"{m:,}"


def _smallest_distinct() -> dict[str, float]:
    """Return the least P(all prompts differ) up to m = 1,000; the paper's N_m needs m ≥ 3."""
    return {
        "paper": min(counterexample.distinct(m, counterexample.paper_prompts(m)) for m in range(3, 1001)),
        "corrected": min(
            counterexample.distinct(m, counterexample.corrected_prompts(m)) for m in range(1, 1001)
        ),
    }


def _drawings(numbers: dict[str, Any]) -> dict[str, str]:
    return {
        "policies": inline(
            figures.policies(), "Two policies where answer 1 was shown: the wrong one fits it better"
        ),
        "failure": inline(
            figures.failure(numbers["counterexample"]),
            "Probability that cross-entropy picks a wrong policy, by m",
        ),
        "switch": inline(figures.switch(numbers["switch_lambda"]), "Difference of the objectives against λ"),
        "sizes": inline(figures.sizes(numbers["lemma"]), "S against its order; its gap to the support"),
        "learning": inline(figures.learning(numbers["learning"]), "Risk against m, measured and promised"),
        "token": inline(figures.token(numbers["token"]), "The next token's distribution at five λ"),
        "sharpening": inline(
            figures.sharpening(numbers["token"]),
            "Equivalent temperature, a tie, and the push on a logit against λ",
        ),
    }
