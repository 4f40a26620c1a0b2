"""Verdicts → numbers: sampled Pass@1, the shares of the reasons, and what the completions were like."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from erce.score.k_samples import best_by_problem, coverage, verdict_grid
from erce.score.majority import Equal, majority_by_problem, merged
from erce.types import REASONS, Completion, Verdict


def shares(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """Return the share of each reason that occurs, in the order of `REASONS`; they add up to 1.

    >>> shares([Verdict(False, "no answer"), Verdict(True, "exact")])
    {'exact': 0.5, 'no answer': 0.5}
    """
    if not verdicts:
        raise ValueError("no verdicts: there is nothing to take shares of")
    counts = Counter(verdict.reason for verdict in verdicts)
    unknown = counts.keys() - set(REASONS)
    if unknown:
        raise ValueError(
            f"unknown reason {min(unknown)!r}; a verdict's reason is one of {', '.join(REASONS)}"
        )
    return {reason: counts[reason] / len(verdicts) for reason in REASONS if counts[reason]}


def acceptance(completions: Sequence[Completion], verdicts: Sequence[Verdict]) -> np.ndarray:
    """Return 1 where a completion was accepted, else 0: (problems in order of appearance, samples 0 … k − 1).

    `verdicts` are of the same completions in the same order. A problem that lacks a sample others have, or
    has one twice, is a ValueError: a missing completion must not change an average unnoticed.
    """
    if len(completions) != len(verdicts):
        raise ValueError(
            f"{len(completions)} completions with {len(verdicts)} verdicts; give one verdict each"
        )
    accepted = np.array([verdict.accepted for verdict in verdicts], dtype=np.uint8)
    return accepted[_places(completions)]


def summarize(
    completions: Sequence[Completion], verdicts: Sequence[Verdict], *, equal: Equal | None = None
) -> dict[str, Any]:
    """Summarize one set of completions for a table row, in plain values that JSON holds.

    `pass@1`, the share of accepted completions; `flexible`, the same with the form of the answer ignored
    (None if a verdict does not say); `problems` and `samples` per problem; `reasons` as in `shares`;
    `finished`, the share that was not cut off; `tokens`, the mean per completion; `entropy` and `logprob`,
    the means over all tokens of the next-token entropy and of log p, in nats at temperature 1.

    With n > 1 samples per problem also `pass@k` for k of 2, 4, 8, … and n, a mean over the subsets of k
    samples; `maj@n`, the vote of all n on what the verifier extracted, by its text or with `equal` as in
    `merged`; and `best@n`, the likeliest of all n by the sum of log p. `maj@n` is left out where an accepted
    completion has nothing extracted to vote for, `best@n` where a log-probability is NaN or None. A mean is
    None if one completion lacks the value.

    Then also `by_problem`: each problem's `maj` and `best`, problems in the order of their names. Either is
    left out where its mean is.
    """
    accepted = acceptance(completions, verdicts)
    tokens = _known([completion.tokens for completion in completions])
    if tokens is not None and not tokens.any():
        tokens = None  # a log that counts none does not count them
    logprob = _known([completion.logprob for completion in completions])
    summary = {
        "pass@1": float(verdict_grid(accepted).mean()),
        "flexible": _mean([verdict.flexible for verdict in verdicts]),
        "problems": accepted.shape[0],
        "samples": accepted.shape[1],
        "reasons": shares(verdicts),
        "finished": _mean([completion.finished for completion in completions]),
        "tokens": None if tokens is None else float(tokens.mean()),
        "entropy": _per_token([completion.entropy for completion in completions], tokens),
        "logprob": None if logprob is None or tokens is None else float(sum(logprob) / tokens.sum()),
    }
    return summary | _of_several(completions, verdicts, accepted, equal)


def _per_token(means: Sequence[float | None], tokens: np.ndarray | None) -> float | None:
    """Return the mean over all tokens, from every completion's mean; None where one is not known."""
    known = _known(means)
    return None if known is None or tokens is None else float((known * tokens).sum() / tokens.sum())


def _mean(values: Sequence[float | None]) -> float | None:
    known = _known(values)
    return None if known is None else float(known.mean())


def _known(values: Sequence[float | None]) -> np.ndarray | None:
    known = [value for value in values if value is not None]
    return np.array(known) if len(known) == len(values) else None


def _places(completions: Sequence[Completion]) -> np.ndarray:
    """Return where each sample of each problem is in `completions`, as `acceptance` arranges them."""
    places: dict[str, dict[int, int]] = {}  # problem → sample → place
    for place, completion in enumerate(completions):
        samples = places.setdefault(completion.problem, {})
        if completion.sample in samples:
            raise ValueError(
                f"problem {completion.problem!r} has sample {completion.sample} twice; give it once"
            )
        samples[completion.sample] = place
    wanted = range(max((len(samples) for samples in places.values()), default=0))
    for problem, samples in places.items():
        missing = set(wanted) - samples.keys()
        if missing:
            raise ValueError(
                f"problem {problem!r} lacks sample {min(missing)}; every problem has as many samples"
            )
    return np.array([[samples[sample] for sample in wanted] for samples in places.values()], dtype=int)


def _of_several(
    completions: Sequence[Completion], verdicts: Sequence[Verdict], accepted: np.ndarray, equal: Equal | None
) -> dict[str, Any]:
    """Score what several samples of a problem do together; empty with one sample per problem."""
    n = accepted.shape[1]
    if n == 1:
        return {}
    places, sizes = _places(completions), sorted({*(2**power for power in range(1, n.bit_length())), n})
    by_problem = {}
    if all(verdict.extracted is not None for verdict in verdicts if verdict.accepted):
        answers = [[verdicts[place].extracted for place in row] for row in places]
        by_problem["maj"] = majority_by_problem(merged(answers, equal) if equal else answers, accepted)
    logprob = _known([completion.logprob for completion in completions])
    if logprob is not None and not np.isnan(logprob).any():
        by_problem["best"] = best_by_problem(logprob[places], accepted)
    scores: dict[str, Any] = {f"pass@{k}": float(coverage(accepted)[k - 1]) for k in sizes}
    scores |= {f"{way}@{n}": float(chances.mean()) for way, chances in by_problem.items()}
    names = [completions[row[0]].problem for row in places]
    order = sorted(range(len(names)), key=names.__getitem__)
    rows = {way: chances[order].round(12).tolist() for way, chances in by_problem.items()}
    return scores | {"by_problem": rows}
