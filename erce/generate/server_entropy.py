"""The most likely tokens of a step, as a server sends them → how large the step's entropy can be."""

import math
from collections.abc import Sequence
from typing import NamedTuple


class Bounds(NamedTuple):
    """An entropy in nats lies between these."""

    low: float
    high: float


def entropy_bounds(logprobs: Sequence[float], *, asked: int, vocabulary: int) -> Bounds:
    """The least and the largest Shannon entropy of a step whose tokens sent have these log p.

    `logprobs` are the `asked` most likely tokens and, where it is not among them, the one drawn. What they
    leave, m, is on tokens no likelier than the `asked`-th of them, c, which gives −m log c at least, and on
    r = `vocabulary` less those sent, which gives m log(r / m) at most. Two tokens with one spelling may have
    become one entry: with fewer than `asked`, c is 1. Probabilities that sum to more than 1 are a ValueError.

    >>> entropy_bounds([math.log(0.5), math.log(0.5)], asked=2, vocabulary=1000)  # nothing is left
    Bounds(low=0.6931471805599453, high=0.6931471805599453)
    >>> low, high = entropy_bounds([math.log(0.9), math.log(0.05)], asked=2, vocabulary=1000)
    >>> print(f"{low:.2f} to {high:.2f}")
    0.39 to 0.74
    """
    mass = math.fsum(map(math.exp, logprobs))
    if mass > 1.001:
        raise ValueError(
            f"the probabilities of one step sum to {mass:.4g}; the server must send log p at temperature 1 "
            "(vLLM: --logprobs-mode raw_logprobs)"
        )
    known = -math.fsum(log_p * math.exp(log_p) for log_p in logprobs)
    left = 1 - mass
    if left <= 1e-12:
        return Bounds(known, known)
    ceiling = math.exp(sorted(logprobs)[-asked]) if len(logprobs) >= asked else 1.0
    high = left * math.log(max(vocabulary - len(logprobs), 1) / left)
    low = -left * math.log(min(ceiling, left)) if ceiling > 0 else high
    return Bounds(known + min(low, high), known + high)
