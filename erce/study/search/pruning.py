"""Outcomes on the validation problems judged so far → the λ that need no more of them judged.

Two rules. *Certain*: a λ that would stay behind if all its open problems came out right, and its rival's
all wrong, is dropped without any risk. *Likely*: a λ is dropped when it is behind by more than the random
order of the problems explains.

The second looks again after every problem, so a p-value at each look would be wrong: with enough looks,
chance drops the best λ too. It uses a bet instead, on sampling without replacement (Waudby-Smith & Ramdas,
"Estimating means of bounded random variables by betting", JRSS-B 86, 2024, arXiv 2010.09686; the bound is
Ville's inequality). Take a λ a and a rival b, and suppose that a is at least as good over *all* n problems.
Then, in a random order, the next problem's difference x = b − a has a mean of at most
m = −(sum of the differences so far) / (problems left), and a gambler who each time stakes a share of the
capital on x > m multiplies it by 1 + stake · (x − m), which is 1 or less on average. The chance that a
capital of 1 *ever* grows to 1 / α is then at most α. With α = level / (number of rivals), the λ that is best
over all n problems is dropped with a chance of at most `level`, over all looks and all rivals, whatever the
outcomes are: only the order has to be random, and that is ours to draw.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

_MOST = 0.75  # of the capital at most: the largest stake that a single problem could take all of is 1


class Dropped(NamedTuple):
    """A λ that cannot win: the `rival` that is ahead of it, after how many problems, and by which rule."""

    lam: float
    rival: float
    after: int
    certain: bool


def judging_order(problems: int, *, seed: int = 0) -> np.ndarray:
    """The order in which every λ is judged: a random permutation of 0 … problems − 1; same seed, same order.

    It must not depend on the outcomes; the guarantee on `dropped` is over this draw.
    """
    if problems < 1:
        raise ValueError(f"problems = {problems}; there must be at least one to judge")
    return np.random.default_rng(seed).permutation(problems)


def dropped(
    judged: Mapping[float, ArrayLike],  # λ → (problems so far, samples) in judging order, values in [0, 1]
    *,
    problems: int,
    level: float = 0.05,
    protected: tuple[float, ...] = (0.0,),
    keep: int = 1,
) -> list[Dropped]:
    """Every λ that needs no further problems, in the order of dropping; call it after each batch.

    `problems` is how many there are in all. A λ that was dropped before is handed in as far as it was judged.
    More outcomes never change an earlier drop, so nothing has to be remembered between calls. λ in
    `protected` are never dropped: by default cross-entropy, which the others are tested against. Over the
    random order, the λ with the highest accuracy on all problems is dropped with a chance of at most `level`
    (each of several equally good ones, too). Hand in every λ that takes part, dropped or not: the level is
    split among the rivals. Samples of several seeds are just more samples.

    With `keep` over 1 a λ is dropped once it is behind so many rivals (`rival` is the last of them), and at
    most `level` is the chance that any of the best `keep` is: one of those can only fall to a rival that is
    no better, and each of its rivals gets the level's share, 1 / (keep · (λ handed in − 1)).

    >>> weak, strong = [[0]] * 40, [[1]] * 40
    >>> dropped({1.0: weak, 3.0: strong}, problems=200)
    [Dropped(lam=1.0, rival=3.0, after=7, certain=False)]
    >>> dropped({1.0: weak, 3.0: strong}, problems=75, level=1e-30)
    [Dropped(lam=1.0, rival=3.0, after=38, certain=True)]
    """
    shares = {float(lam): _shares(lam, each, problems) for lam, each in judged.items()}
    if not 0 < level < 1:
        raise ValueError(f"level = {level:g} must lie between 0 and 1, such as 0.05")
    if keep < 1:
        raise ValueError(f"keep = {keep}: at least one λ goes on")
    limit = math.log(keep * max(1, len(shares) - 1) / level)
    crossings = [
        found
        for lam in shares
        for rival in shares
        if lam != rival and lam not in protected
        for found in _crossing(lam, rival, shares, problems, limit)
    ]
    gone: dict[float, Dropped] = {}
    ahead: dict[float, set[float]] = {lam: set() for lam in shares}
    for each in sorted(crossings, key=lambda each: (each.after, not each.certain, each.lam, each.rival)):
        if each.lam not in gone and each.rival not in gone:
            ahead[each.lam].add(each.rival)
            if len(ahead[each.lam] - gone.keys()) >= keep:
                gone[each.lam] = each
    return list(gone.values())


def log_capital(differences: np.ndarray, *, problems: int) -> np.ndarray:
    """The gambler's log capital after each problem, against "these differences add up to 0 or less over all".

    `differences` (…, t) are rival minus λ on the first t problems of a random order, in [−1, 1]. +∞ from
    where the claim is impossible. Stakes depend on earlier problems alone: (μ − m) / (σ² + (μ − m)²), the
    approximate best for the mean μ and variance σ² so far (their "aGRAPA"), from 0 to 3/4 of all.
    """
    judged = differences.shape[-1]
    count = np.arange(judged)  # problems before this one
    before = np.cumsum(differences, axis=-1) - differences
    squares = np.cumsum(differences**2, axis=-1) - differences**2
    mean = before / (count + 1)  # as if one problem without difference came first
    spread = np.maximum((0.25 + squares) / (count + 1) - mean**2, 1e-6)
    most = -before / (problems - count)  # the largest mean that the next problem can have if the claim holds
    edge = mean - most
    stake = np.clip(edge / (spread + edge**2), 0.0, _MOST / np.maximum(1 + most, 1e-9))
    with np.errstate(invalid="ignore", divide="ignore"):
        steps = np.log1p(stake * (differences - most))
    capital = np.cumsum(np.where(most <= -1, 0.0, steps), axis=-1)
    impossible = before + differences > problems - count - 1 + 1e-9
    return np.where(np.maximum.accumulate(impossible, axis=-1), np.inf, capital)


def _crossing(
    lam: float, rival: float, shares: Mapping[float, np.ndarray], problems: int, limit: float
) -> list[Dropped]:
    """The first problem after which λ is behind that rival for good, if there is one."""
    both = min(len(shares[lam]), len(shares[rival]))
    capital = log_capital(shares[rival][:both] - shares[lam][:both], problems=problems)
    over = np.flatnonzero(capital >= limit)
    if not over.size:
        return []
    return [Dropped(lam, rival, int(over[0]) + 1, bool(np.isinf(capital[over[0]])))]


def _shares(lam: float, outcomes: ArrayLike, problems: int) -> np.ndarray:
    """Each problem's share of accepted samples: (problems so far,)."""
    array = np.asarray(outcomes, dtype=float)
    if array.ndim != 2 or not array.shape[1] or len(array) > problems:
        raise ValueError(
            f"λ = {lam:g} has outcomes of shape {array.shape}; it must be (problems so far, samples), with "
            f"at most {problems} problems"
        )
    if not ((array >= 0) & (array <= 1)).all():
        raise ValueError(f"λ = {lam:g} has outcomes outside 0 to 1; hand in what the verifier said")
    return array.mean(axis=1)
