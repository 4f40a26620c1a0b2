"""The theory in numbers → the page and the JSON file that `python -m scripts.theory` writes."""

import math
from pathlib import Path
from typing import Any

from erce.files import write_json, write_text
from erce.reporting.pages.templates import environment
from scripts.theory import counterexample, learning, tokens
from scripts.theory.counterexample import ETA, SUPPORTS
from scripts.theory.figures import drawings

EPSILON, DELTA = 0.1, 0.05
SWITCHES = [f"{family}_{order}" for family in "SR" for order in ("0", "0.1", "0.25", "0.5", "1", "2")]


def write(page: Path, json: Path | None) -> list[str]:
    """Write the page on the theory, and its numbers to the file `json` if it is given; return lines to print.

    The same versions of numpy, scipy and matplotlib with the same number of threads give the same bytes.
    """
    numbers = findings()
    template = environment().from_string(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))
    write_text(page, template.render(numbers=numbers, drawings=drawings()))
    if json is not None:
        write_json(json, numbers)
    return [*table(numbers), "", f"The page with the figures: {page}"]


def findings() -> dict[str, Any]:
    """Compute the numbers of the page's text and tables; its figures compute their own."""
    family = learning.example()
    vacuous = min(
        learning.sample_size(step, family.eta, family.supports, 1.0, DELTA) for step in learning.STEPS
    )
    return {
        "epsilon": EPSILON,
        "delta": DELTA,
        "switch_lambda": {kind: counterexample.switch_lam(kind) for kind in SWITCHES},
        "last_order": counterexample.last_order(),
        "critical_lambda": tokens.critical_lam(),
        "critical_p": 1 / (1 + tokens.critical_lam()),  # of the token that is pushed down first
        "sample_complexity_bound": _promised(ETA, SUPPORTS),
        "learning": {
            "eta": family.eta,
            "supports": family.supports,
            "promised": _promised(family.eta, family.supports),
            "vacuous_until": math.ceil(vacuous) - 1,
        },
    }


def table(numbers: dict[str, Any]) -> list[str]:
    """Return the most telling numbers, one on each line."""
    return [
        "The counter-example: the learner is right from λ =",
        *(f"  {kind:<22} {lam:>11.4f}" for kind, lam in numbers["switch_lambda"].items()),
        f"  above order {numbers['last_order']:.2f} no λ helps",
        "",
        f"Samples for a risk of at most {EPSILON:g} with probability {1 - DELTA:g}, there",
        *(
            f"  {'bound of ' + step.replace('_', ' '):<22} {m:>11,}"
            for step, m in numbers["sample_complexity_bound"].items()
        ),
        "",
        f"Up to λ = {numbers['critical_lambda']:.6f}, 1 / W(1/e), no demonstrated token's logit falls",
        "",
        "S_α: the support size of order α, a smooth count of the answers in play",
        "R_α: log S_α, in nats, which is the Rényi entropy; R_1 is Shannon's, the usual penalty",
        "W: Lambert's function, the inverse of w·exp(w)",
    ]


def _promised(eta: float, supports: int) -> dict[str, int]:
    sizes = {step: learning.sample_size(step, eta, supports, EPSILON, DELTA) for step in learning.STEPS}
    return {f"step_{step}": math.ceil(size) for step, size in sizes.items()}
