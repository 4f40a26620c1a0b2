"""The mathematics of this package → every number of the page, as plain values for JSON."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import binomtest

from erce.theory import bounds, classes, counterexample, tokens
from erce.theory.entropies import support_size

EPSILON, DELTA = 0.1, 0.05
SIMULATED = (1, 2, 3, 5, 10, 30, 100, 300, 1000)
FIXED_PROMPTS = 100
RISK_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
NEXT_TOKENS = {"so": 0.42, "then": 0.25, "thus": 0.15, "we": 0.1, "hence": 0.05, "this": 0.03}
TOKEN_LAMS = (0.0, 0.5, 1.0, 2.0, 8.0)
CURVE_RUNS = 100  # samples of each size, for the risk curves


def findings(
    *, runs: int = 1000, curves: int = CURVE_RUNS, sizes: Sequence[int] = RISK_SIZES
) -> dict[str, Any]:
    """Compute every number; for each size, `runs` samples of the counter-example and `curves` of the class.

    `switch_lambda` is null if no λ helps. `sample_complexity_counterexample` is the third corollary's bound
    on the paper's m(ε, δ), at the counter-example; `sample_complexity_bound` has the bounds of all three.
    `samples_enough` is the computed m from which that corollary's learner (λ_m = m, α_m = 1/m) has
    P(risk > ε) ≤ δ there, and `samples_enough_cross_entropy` the same for λ = 0.
    """
    search = tokens.find_critical_lam()
    bound = promised(counterexample.ETA, counterexample.SUPPORTS)
    return {
        "epsilon": EPSILON,
        "delta": DELTA,
        "switch_lambda": switches(),
        "last_order": counterexample.last_order(),
        "critical_lambda": tokens.critical_lam(),
        "critical_lambda_found": {"lambda": search.value, "p": search.at},
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
    """Return for each penalty the λ from which the counter-example's learner is right; None for never.

    >>> round(switches()["S_0"], 4), switches()["R_inf"]
    (0.2231, None)
    """
    lams = {kind: counterexample.switch_lam(kind) for kind in (*counterexample.PENALTIES, "R_inf")}
    return {kind: lam if math.isfinite(lam) else None for kind, lam in lams.items()}


def promised(eta: float, supports: int) -> dict[str, int]:
    """Return the number of samples that each step's bound asks for."""
    return {f"step_{n}": step(eta, supports, EPSILON, DELTA).samples for n, step in bounds.STEPS.items()}


def failures(runs: int) -> dict[str, Any]:
    """Compute and simulate how often cross-entropy returns a wrong policy, against m."""
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
    distinct = {
        name: [counterexample.distinct(m, rules[name](m)) for m in sizes] for name in ("paper", "corrected")
    }
    return {"m": sizes, "wrong": exact, "distinct": distinct, "simulated": rows}


def lemma() -> dict[str, Any]:
    """Return |supp p| − S of the counter-example's wrong row, and both bounds of it, by order."""
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
    """Measure the risk of each loss's empirical minimiser on `classes.example()`, beside the bounds."""
    family = classes.example()
    losses = {
        "cross-entropy": classes.cross_entropy,
        "fixed λ = 0.05": classes.penalised(lam=lambda m: 0.05, order=lambda m: 1.0),
        "slow: λ = m/50, α = 1/√m": classes.penalised(lam=lambda m: m / 50, order=lambda m: m**-0.5),
        "step 1": classes.indicator(family.eta),
        "step 2: λ = m": classes.penalised(lam=float, order=lambda m: 0.0),
        "step 3: λ = m, α = 1/m": classes.penalised(lam=float, order=lambda m: 1 / m),
    }
    risks = {
        name: classes.risk_curve(family, loss, sizes, runs=runs, seed=0) for name, loss in losses.items()
    }
    bound_sizes = [float(m) for m in np.geomspace(1, 1e8, 97)]
    setting = {"eta": family.eta, "supports": family.supports, "delta": DELTA}
    return {
        "m": list(sizes),
        "eta": family.eta,
        "supports": family.supports,
        "risk": {name: _mean_and_interval(curve) for name, curve in risks.items()},
        "bounds": {
            "m": bound_sizes,
            **{
                f"step_{n}": [bounds.risk_bound(n, round(m), **setting) for m in bound_sizes]
                for n in bounds.STEPS
            },
        },
        "promised": promised(family.eta, family.supports),
        "vacuous_until": min(
            step(family.eta, family.supports, 1.0, DELTA).samples for step in bounds.STEPS.values()
        )
        - 1,
    }


def token() -> dict[str, Any]:
    """Return what λ makes of the next token, and how it moves a demonstrated token's own logit."""
    t = np.array(list(NEXT_TOKENS.values()))
    lams = [float(lam) for lam in np.linspace(0, 8, 81)]
    ps = np.linspace(0.005, 0.995, 199)
    push = {
        f"{lam:g}": [-float(tokens.logit_gradient([p, 1 - p], [1, 0], lam)[0]) for p in ps]
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
        "p": ps.tolist(),
        "push": push,
    }


def _simulated(m: int, prompts: int, runs: int) -> dict[str, float]:
    wrong = counterexample.simulate(m, prompts, runs=runs, seed=m).wrong
    interval = binomtest(wrong, runs).proportion_ci(method="wilson")
    return {"wrong": wrong / runs, "low": float(interval.low), "high": float(interval.high)}


def _mean_and_interval(risks: np.ndarray) -> dict[str, list[float]]:
    """Return the mean of risks (sizes, runs), its 95 % normal interval, and the 95 % quantile."""
    mean = risks.mean(1)
    half = 1.96 * risks.std(1, ddof=1) / math.sqrt(risks.shape[1])
    return {
        "mean": mean.tolist(),
        "low": np.maximum(mean - half, 0).tolist(),
        "high": np.minimum(mean + half, 1).tolist(),
        "q95": np.quantile(risks, 1 - DELTA, axis=1, method="higher").tolist(),
    }
