"""Every number of the theory as plain values → the page and the JSON file that `erce theory` writes."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from scipy.stats import binomtest

from erce.files import write_json, write_text
from erce.reporting.pages.templates import environment
from erce.theory import counterexample, figures, learning, tokens
from erce.theory.counterexample import ETA, SUPPORTS

EPSILON, DELTA = 0.1, 0.05
PROMPTS = {
    "paper": counterexample.paper_prompts,
    "corrected": counterexample.corrected_prompts,
    "fixed": lambda m: 100,
}
SWITCHES = [f"{family}_{order}" for family in "SR" for order in ("0", "0.1", "0.25", "0.5", "1", "2")]
NEXT_TOKENS = {"so": 0.42, "then": 0.25, "thus": 0.15, "we": 0.1, "hence": 0.05, "this": 0.03}
RISK_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def write(page: Path, json: Path | None) -> list[str]:
    """Write `page`, and every number into `json`; return the lines to print.

    The same versions of numpy, scipy and matplotlib with the same number of threads give the same bytes.
    """
    numbers = findings()
    write_text(page, render(numbers))
    if json is not None:
        write_json(json, numbers)
    return [*table(numbers), "", f"The page with the figures: {page}"]


def findings(*, runs: int = 1000, curves: int = 100, sizes: Sequence[int] = RISK_SIZES) -> dict[str, Any]:
    """Compute every number; for each size, `runs` samples of the counter-example and `curves` of the class.

    `switch_lambda` is null if no λ helps. `samples_enough` is the computed m from which the third corollary's
    learner (λ_m = m, α_m = 1/m) has P(risk > ε) ≤ δ at the counter-example, for which that corollary's bound
    is `sample_complexity_counterexample`; `samples_enough_cross_entropy` is the same for λ = 0.
    """
    lams = {kind: counterexample.switch_lam(kind) for kind in (*SWITCHES, "R_inf")}
    found, at = tokens.find_critical_lam()
    bound = _promised(ETA, SUPPORTS)
    enough = counterexample.samples_needed
    return {
        "epsilon": EPSILON,
        "delta": DELTA,
        "switch_lambda": {kind: lam if math.isfinite(lam) else None for kind, lam in lams.items()},
        "last_order": counterexample.last_order(),
        "critical_lambda": tokens.critical_lam(),
        "critical_lambda_found": {"lambda": found, "p": at},
        "sample_complexity_counterexample": bound["step_3"],
        "sample_complexity_bound": bound,
        "samples_enough": enough(float, lambda m: f"S_{1 / m}", delta=DELTA),
        "samples_enough_cross_entropy": enough(lambda m: 0.0, lambda m: "S_0", delta=DELTA),
        "counterexample": _failures(runs),
        "lemma": _lemma(),
        "learning": _learning(sizes, curves),
        "token": _token(),
    }


def render(numbers: dict[str, Any]) -> str:
    """Return the page as HTML; `numbers` is what `findings()` returns."""
    distinct = {name: PROMPTS[name] for name in ("paper", "corrected")}  # the paper's N_m needs m ≥ 3
    least = {
        name: min(counterexample.distinct(m, rule(m)) for m in range(3 if name == "paper" else 1, 1001))
        for name, rule in distinct.items()
    }
    drawings = {name: Markup(text) for name, text in figures.drawings(numbers).items()}
    template = environment().from_string(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))
    return template.render(
        numbers=numbers, risk=counterexample.RISK, smallest_distinct=least, drawings=drawings
    )


def table(numbers: dict[str, Any]) -> list[str]:
    """Return the most telling numbers, one on each line."""
    found = numbers["critical_lambda_found"]
    switches = {
        kind: "never" if lam is None else f"{lam:.4f}" for kind, lam in numbers["switch_lambda"].items()
    }
    bounds = {
        f"bound of {name.replace('_', ' ')}": f"{m:,}"
        for name, m in numbers["sample_complexity_bound"].items()
    }
    learners = {"λ_m = m, α_m = 1/m": "samples_enough", "cross-entropy": "samples_enough_cross_entropy"}
    needed = {
        name: "over 1,000" if numbers[key] is None else f"{numbers[key]:,}" for name, key in learners.items()
    }
    return [
        "The counter-example: the learner is right from λ =",
        *_rows(switches),
        f"  above order {numbers['last_order']:.2f} no λ helps",
        "",
        f"Samples for a risk of at most {EPSILON:g} with probability {1 - DELTA:g}, there",
        *_rows(bounds | needed),
        "",
        "Up to which λ no demonstrated token's logit is pushed down",
        *_rows({"1 / W(1/e)": f"{numbers['critical_lambda']:.6f}"}),
        *_rows({"by search": f"{found['lambda']:>11.6f}, at p = {found['p']:.4f}"}),
        "",
        "S_α: the support size of order α, a smooth count of the answers in play",
        "R_α: log S_α, in nats, which is the Rényi entropy; R_1 is Shannon's, the usual penalty",
        "λ_m, α_m: λ and order for m demonstrations · W: Lambert's function, the inverse of w·exp(w)",
    ]


def _rows(texts: dict[str, str]) -> list[str]:
    return [f"  {name:<22} {text:>11}" for name, text in texts.items()]


def _promised(eta: float, supports: int) -> dict[str, int]:
    sizes = {step: learning.sample_size(step, eta, supports, EPSILON, DELTA) for step in learning.STEPS}
    return {f"step_{step}": math.ceil(size) for step, size in sizes.items()}


def _failures(runs: int) -> dict[str, Any]:
    """Compute and simulate how often cross-entropy returns a wrong policy, against m."""
    sizes = sorted({*range(1, 11), *(round(m) for m in np.geomspace(10, 1000, 31))})
    exact = {
        name: [counterexample.wrong_probability(m, rule(m)) for m in sizes] for name, rule in PROMPTS.items()
    }
    distinct = {
        name: [counterexample.distinct(m, PROMPTS[name](m)) for m in sizes] for name in ("paper", "corrected")
    }
    simulated = []
    for name, rule in PROMPTS.items():
        for m in (1, 2, 3, 5, 10, 30, 100, 300, 1000):
            wrong = counterexample.simulate(m, rule(m), runs=runs, seed=m)
            low, high = binomtest(wrong, runs).proportion_ci(method="wilson")
            row = {"wrong": wrong / runs, "low": float(low), "high": float(high)}
            simulated.append({"rule": name, "m": m, "runs": runs} | row)
    return {"m": sizes, "wrong": exact, "distinct": distinct, "simulated": simulated}


def _lemma() -> dict[str, Any]:
    """Return |supp p| − S of the counter-example's wrong row, and both bounds of it, by order."""
    orders, row = np.linspace(0.005, 0.5, 100).tolist(), counterexample.H[0]
    return {
        "order": orders,
        "gap": [3 - float(counterexample.support_size(row, order)) for order in orders],
        "sharper": [learning.sharper_bound(ETA, order, 3) for order in orders],
        "lemma": [learning.lemma_bound(ETA, order) for order in orders],
    }


def _learning(sizes: Sequence[int], runs: int) -> dict[str, Any]:
    """Measure the risk of each loss's empirical minimiser on `learning.example()`, beside the bounds."""
    family, penalised = learning.example(), learning.penalised
    losses = {
        "cross-entropy": learning.cross_entropy,
        "fixed λ = 0.05": penalised(lam=lambda m: 0.05, order=lambda m: 1.0),
        "slow: λ = m/50, α = 1/√m": penalised(lam=lambda m: m / 50, order=lambda m: m**-0.5),
        "step 1": learning.indicator(family.eta),
        "step 2: λ = m": penalised(lam=float, order=lambda m: 0.0),
        "step 3: λ = m, α = 1/m": penalised(lam=float, order=lambda m: 1 / m),
    }
    risk = {}
    for name, loss in losses.items():
        risks = learning.risk_curve(family, loss, sizes, runs=runs, seed=0)
        mean, half = risks.mean(1), 1.96 * risks.std(1, ddof=1) / math.sqrt(runs)
        risk[name] = {
            "mean": mean.tolist(),
            "low": np.maximum(mean - half, 0).tolist(),
            "high": np.minimum(mean + half, 1).tolist(),
            "q95": np.quantile(risks, 1 - DELTA, axis=1, method="higher").tolist(),
        }
    setting = {"eta": family.eta, "supports": family.supports, "delta": DELTA}
    at = np.geomspace(1, 1e8, 97).tolist()
    bounds = {
        f"step_{step}": [learning.risk_bound(step, round(m), **setting) for m in at]
        for step in learning.STEPS
    }
    vacuous = min(math.ceil(learning.sample_size(step, epsilon=1.0, **setting)) for step in learning.STEPS)
    return {
        "m": list(sizes),
        "eta": family.eta,
        "supports": family.supports,
        "risk": risk,
        "bounds": {"m": at, **bounds},
        "promised": _promised(family.eta, family.supports),
        "vacuous_until": vacuous - 1,
    }


def _token() -> dict[str, Any]:
    """Return what λ makes of the next token, and how it moves a demonstrated token's own logit."""
    t, shown = np.array(list(NEXT_TOKENS.values())), (0.0, 0.5, 1.0, 2.0, 8.0)
    lams, ps = np.linspace(0, 8, 81).tolist(), np.linspace(0.005, 0.995, 199).tolist()
    pushing = (0.0, 1.0, 2.0, tokens.critical_lam(), 8.0)
    return {
        "tokens": NEXT_TOKENS,
        "optimum": {f"{lam:g}": tokens.optimum(t, lam).tolist() for lam in shown},
        "first_order": {f"{lam:g}": tokens.first_order(t, lam).tolist() for lam in shown},
        "lambda": lams,
        "temperature": [tokens.temperature(t, lam) for lam in lams],
        "commitment_lambda": {str(n): tokens.commitment_lam(n) for n in (2, 3, 5, 10, 50, 1000)},
        "tie": [float(tokens.optimum([0.5, 0.5], lam).max()) for lam in lams],
        "p": ps,
        "push": {
            f"{lam:g}": [-float(tokens.logit_gradient([p, 1 - p], [1, 0], lam)[0]) for p in ps]
            for lam in pushing
        },
    }
