"""The entropy of a step lies within its bounds, whatever part of the distribution a server sends."""

import math
import random

import pytest

from erce.errors import ServerError
from erce.generate.server import entropy_bounds


def distribution(draw: random.Random, size: int, heat: float) -> list[float]:
    """Log p of `size` tokens, the likeliest first."""
    logits = [draw.gauss(0, heat) for _ in range(size)]
    total = math.log(math.fsum(map(math.exp, logits)))
    return sorted((logit - total for logit in logits), reverse=True)


def entropy(log_p: list[float]) -> float:
    return -math.fsum(value * math.exp(value) for value in log_p)


@pytest.mark.parametrize("asked", [1, 5, 20])
@pytest.mark.parametrize("heat", [0.0, 1.0, 4.0, 12.0])
@pytest.mark.parametrize("spare", [0, 50])
def test_the_entropy_lies_within_its_bounds(asked, heat, spare):
    draw = random.Random(f"{asked} {heat} {spare}")
    for _ in range(50):
        log_p = distribution(draw, 60, heat)
        drawn = draw.randrange(60)
        sent = log_p[:asked] + ([log_p[drawn]] if drawn >= asked else [])
        low, high = entropy_bounds(sent, asked=asked, vocabulary=60 + spare)
        assert low - 1e-9 <= entropy(log_p) <= high + 1e-9


def test_a_token_lost_to_another_of_its_spelling_is_allowed_for():
    draw = random.Random(0)
    for _ in range(50):
        log_p = distribution(draw, 60, 2.0)
        low, high = entropy_bounds(log_p[1:5], asked=5, vocabulary=60)
        assert low - 1e-9 <= entropy(log_p) <= high + 1e-9


def test_the_bounds_meet_where_every_token_is_sent_and_widen_as_fewer_are():
    log_p = distribution(random.Random(0), 60, 2.0)
    widths = []
    for asked in (60, 30, 10, 3, 1):
        low, high = entropy_bounds(log_p[:asked], asked=asked, vocabulary=60)
        widths.append(high - low)
    assert widths[0] == pytest.approx(0, abs=1e-9)
    assert widths == sorted(widths)


def test_a_certain_token_has_no_entropy():
    assert entropy_bounds([0.0, -9999.0], asked=2, vocabulary=100) == (0, 0)


def test_numbers_that_are_no_log_p_are_refused():
    with pytest.raises(ServerError, match=r"sum to 1\.8.*raw_logprobs"):
        entropy_bounds([math.log(0.9), math.log(0.9)], asked=2, vocabulary=100)


def test_the_upper_bound_is_reached_by_a_flat_rest():
    log_p = [math.log(0.4)] + [math.log(0.6 / 59)] * 59
    assert entropy_bounds(log_p[:1], asked=1, vocabulary=60).high == pytest.approx(entropy(log_p))
    assert entropy_bounds(log_p[:2], asked=2, vocabulary=60).low == pytest.approx(entropy(log_p))
