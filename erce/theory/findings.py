"""The modules of this package → every number of the page, as plain values for JSON."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from erce.stats import wilson
from erce.theory import bounds, classes, counterexample, tokens
from erce.theory.entropies import support_size

EPSILON, DELTA = 0.1, 0.05
SIMULATED = (1, 2, 3, 5, 10, 30, 100, 300, 1000)
FIXED_PROMPTS = 100
RISK_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
NEXT_TOKENS = {"so": 0.42, "then": 0.25, "thus": 0.15, "we": 0.1, "hence": 0.05, "this": 0.03}
TOKEN_LAMS = (0.0, 0.5, 1.0, 2.0, 8.0)
CURVES = 100  # samples of a size, for the risk curves


def findings(*, runs: int = 1000, curves: int = CURVES, sizes: Sequence[int] = RISK_SIZES) -> dict[str, Any]:
    """All of it; `runs` samples of the counter-example and `curves` of the general class, a size.

    `switch_lambda` is null where no λ helps. `sample_complexity_counterexample` is the paper's m(ε, δ) on the
    counter-example, as the third corollary bounds it, and `sample_complexity_bound` has all three;
    `samples_enough` is the m from which that corollary's learner (λ_m = m, α_m = 1/m) really has
    P(risk > ε) ≤ δ there, computed, and `samples_enough_cross_entropy` the same for λ = 0.
    """
    found, at = tokens.find_critical_lam()
    bound = promised(counterexample.ETA, counterexample.SUPPORTS)
    return {
        "epsilon": EPSILON,
        "delta": DELTA,
        "switch_lambda": switches(),
        "last_order": counterexample.last_order(),
        "critical_lambda": tokens.critical_lam(),
        "critical_lambda_found": {"lambda": found, "p": at},
        "sample_complexity_counterexample": bound["step_3"],
        "sample_complexity_bound": bound,
        "samples_enough": counterexample.samples_needed(
            float, lambda m: f"S_{1 / m}", epsilon=EPSILON, delta=DELTA
        ),
        "samples_enough_cross_entropy": counterexample.samples_needed(
            lambda m: 0.0, lambda m: "S_0", epsilon=EPSILON, delta=DELTA
        ),
        "counterexample": failures(runs),
        "lemma": lemma(),
        "learning": learning(sizes, curves),
        "token": token(),
    }


def switches() -> dict[str, float | None]:
    """The λ from which the counter-example's learner is right, for each penalty; None for never.

    >>> round(switches()["S_0"], 4), switches()["R_inf"]
    (0.2231, None)
    """
    found = {kind: counterexample.switch_lam(kind) for kind in (*counterexample.PENALTIES, "R_inf")}
    return {kind: lam if math.isfinite(lam) else None for kind, lam in found.items()}


def promised(eta: float, supports: int) -> dict[str, int]:
    """The samples that each step's bound asks for."""
    return {f"step_{n}": step(eta, supports, EPSILON, DELTA).samples for n, step in bounds.STEPS.items()}


def failures(runs: int) -> dict[str, Any]:
    """How often cross-entropy returns a wrong policy, computed and simulated, against m."""
    rules = {
        "paper": counterexample.paper_prompts,
        "corrected": counterexample.corrected_prompts,
        "fixed": lambda m: FIXED_PROMPTS,
    }
    sizes = sorted({*range(1, 11), *(round(m) for m in np.geomspace(10, 1000, 31))})
    rows = [
        {"rule": name, "m": m, "runs": runs} | _simulated(m, rule(m), runs)
        for name, rule in rules.items()
        for m in SIMULATED
    ]
    exact = {
        name: [counterexample.wrong_probability(m, rule(m)) for m in sizes] for name, rule in rules.items()
    }
    alone = {
        name: [counterexample.distinct(m, rules[name](m)) for m in sizes] for name in ("paper", "corrected")
    }
    return {"m": sizes, "wrong": exact, "distinct": alone, "simulated": rows}


def lemma() -> dict[str, Any]:
    """|supp p| − S of the counter-example's wrong row and of a flatter one, and both bounds, by order."""
    orders = np.linspace(0.005, 0.5, 100)
    row = counterexample.H[0]
    gap = [float(support_size(row, 0) - support_size(row, order)) for order in orders]
    return {
        "order": [float(order) for order in orders],
        "gap": gap,
        "sharper": [bounds.sharper_bound(counterexample.ETA, order, 3) for order in orders],
        "lemma": [bounds.lemma_bound(counterexample.ETA, order) for order in orders],
    }


def learning(sizes: Sequence[int], runs: int) -> dict[str, Any]:
    """The risk of each loss's empirical minimiser on `classes.example()`, with 95 % intervals of its mean."""
    family = classes.example()
    losses = {
        "cross-entropy": classes.cross_entropy,
        "fixed λ = 0.05": classes.penalised(lam=lambda m: 0.05, order=lambda m: 1.0),
        "slow: λ = m/50, α = 1/√m": classes.penalised(lam=lambda m: m / 50, order=lambda m: m**-0.5),
        "step 1": classes.indicator(family.eta),
        "step 2: λ = m": classes.penalised(lam=float, order=lambda m: 0.0),
        "step 3: λ = m, α = 1/m": classes.penalised(lam=float, order=lambda m: 1 / m),
    }
    found = {
        name: classes.risk_curve(family, loss, sizes, runs=runs, seed=0) for name, loss in losses.items()
    }
    long = [float(m) for m in np.geomspace(1, 1e8, 97)]
    setting = {"eta": family.eta, "supports": family.supports, "delta": DELTA}
    return {
        "m": list(sizes),
        "eta": family.eta,
        "supports": family.supports,
        "risk": {name: _curve(risks) for name, risks in found.items()},
        "bounds": {
            "m": long,
            **{f"step_{n}": [bounds.risk_bound(n, round(m), **setting) for m in long] for n in bounds.STEPS},
        },
        "promised": promised(family.eta, family.supports),
        "vacuous_until": min(
            step(family.eta, family.supports, 1.0, DELTA).samples for step in bounds.STEPS.values()
        )
        - 1,
    }


def token() -> dict[str, Any]:
    """What λ makes of the next token, and how it moves a demonstrated token's own logit."""
    t = np.array(list(NEXT_TOKENS.values()))
    lams = [float(lam) for lam in np.linspace(0, 8, 81)]
    places = np.linspace(0.005, 0.995, 199)
    push = {
        f"{lam:g}": [-float(tokens.logit_gradient([p, 1 - p], [1, 0], lam)[0]) for p in places]
        for lam in (0.0, 1.0, 2.0, tokens.critical_lam(), 8.0)
    }
    return {
        "tokens": NEXT_TOKENS,
        "optimum": {f"{lam:g}": tokens.optimum(t, lam).tolist() for lam in TOKEN_LAMS},
        "first_order": {f"{lam:g}": tokens.first_order(t, lam).tolist() for lam in TOKEN_LAMS},
        "lambda": lams,
        "temperature": [tokens.temperature(t, lam) for lam in lams],
        "commitment_lambda": {str(n): tokens.commitment_lam(n) for n in (2, 3, 5, 10, 50, 1000)},
        "tie": [float(tokens.optimum([0.5, 0.5], lam).max()) for lam in lams],
        "p": places.tolist(),
        "push": push,
    }


def _simulated(m: int, prompts: int, runs: int) -> dict[str, float]:
    wrong = counterexample.simulate(m, prompts, runs=runs, seed=m).wrong
    share, low, high = wilson(wrong, runs)
    return {"wrong": share, "low": low, "high": high}


def _curve(risks: np.ndarray) -> dict[str, list[float]]:
    """(sizes, runs) → mean, its interval by the normal distribution, and the 95 % quantile."""
    mean = risks.mean(1)
    half = 1.96 * risks.std(1, ddof=1) / math.sqrt(risks.shape[1])
    return {
        "mean": mean.tolist(),
        "low": np.maximum(mean - half, 0).tolist(),
        "high": np.minimum(mean + half, 1).tolist(),
        "q95": np.quantile(risks, 1 - DELTA, axis=1, method="higher").tolist(),
    }
