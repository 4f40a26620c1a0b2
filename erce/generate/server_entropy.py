"""The most likely tokens of a step, as a server sends them → bounds of the step's entropy."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from erce.errors import ServerError


class EntropyBounds(NamedTuple):
    """The least and the largest value that an entropy can have, in nats."""

    low: float
    high: float


def entropy_bounds(logprobs: Sequence[float], *, asked: int, vocabulary: int) -> EntropyBounds:
    """Return the least and the largest Shannon entropy of a step, given the log p of its likeliest tokens.

    `logprobs` are those of the `asked` most likely tokens and, where it is not among them, of the one drawn.
    The probability m that they leave lies on tokens of probability at most c, that of the `asked`-th, and on
    at most r tokens, `vocabulary` less those sent. So m adds between −m log c and m log(r / m) nats. Two
    tokens with one spelling may have become one entry: with fewer than `asked` entries c is 1. Probabilities
    that sum to more than 1 are a ServerError.

    >>> entropy_bounds([math.log(0.5), math.log(0.5)], asked=2, vocabulary=1000)  # nothing is left
    EntropyBounds(low=0.6931471805599453, high=0.6931471805599453)
    >>> low, high = entropy_bounds([math.log(0.9), math.log(0.05)], asked=2, vocabulary=1000)
    >>> print(f"{low:.2f} to {high:.2f}")
    0.39 to 0.74
    """
    mass = math.fsum(map(math.exp, logprobs))
    if mass > 1.001:
        raise ServerError(
            f"the probabilities of one step sum to {mass:.4g}; the server must send log p at temperature 1 "
            "(vLLM: --logprobs-mode raw_logprobs)"
        )
    known = -math.fsum(log_p * math.exp(log_p) for log_p in logprobs)
    left = 1 - mass
    if left <= 1e-12:
        return EntropyBounds(known, known)
    ceiling = math.exp(sorted(logprobs)[-asked]) if len(logprobs) >= asked else 1.0
    high = left * math.log(max(vocabulary - len(logprobs), 1) / left)
    low = -left * math.log(min(ceiling, left)) if ceiling > 0 else high
    return EntropyBounds(known + min(low, high), known + high)
