"""Verdicts → numbers: sampled Pass@1, the shares of the reasons, and what the completions were like."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from erce.types import REASONS, Completion, Verdict


def pass_at_1(accepted: np.ndarray) -> float:
    """The share of accepted completions, from 0 and 1 of shape (problems, samples).

    With one sample a problem this is Pass@1; with k it is sampled Pass@1, accepted / (problems · k), of the
    appendix "Temperature Ablation". Nothing to average, or a value that is neither 0 nor 1, is a ValueError.

    >>> pass_at_1(np.array([[1, 0], [1, 1]]))
    0.75
    """
    accepted = np.asarray(accepted)
    if accepted.ndim != 2 or accepted.size == 0:
        raise ValueError(f"accepted has shape {accepted.shape}; it is (problems, samples), at least (1, 1)")
    if not np.isin(accepted, (0, 1)).all():
        raise ValueError("accepted holds values other than 0 and 1; give one verdict a completion")
    return float(accepted.mean())


def shares(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """The share of each reason that occurs, in the order of `REASONS`; they add up to 1.

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
    """1 where a completion was accepted, else 0: (problems in order of appearance, samples 0 … k − 1).

    `verdicts` are of the same completions in the same order. A problem that lacks a sample others have, or
    has one twice, is a ValueError: a missing completion must not change an average unseen.
    """
    if len(completions) != len(verdicts):
        raise ValueError(
            f"{len(completions)} completions with {len(verdicts)} verdicts; give one verdict each"
        )
    found: dict[str, dict[int, bool]] = {}
    for completion, verdict in zip(completions, verdicts, strict=True):
        samples = found.setdefault(completion.problem, {})
        if completion.sample in samples:
            raise ValueError(
                f"problem {completion.problem!r} has sample {completion.sample} twice; give it once"
            )
        samples[completion.sample] = verdict.accepted
    wanted = range(max((len(samples) for samples in found.values()), default=0))
    for problem, samples in found.items():
        missing = set(wanted) - samples.keys()
        if missing:
            raise ValueError(
                f"problem {problem!r} lacks sample {min(missing)}; every problem has as many samples"
            )
    return np.array([[samples[sample] for sample in wanted] for samples in found.values()], dtype=np.uint8)


def summarize(completions: Sequence[Completion], verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """What a table row says of one set of completions, plain values that JSON holds.

    `pass@1`; `problems` and `samples` a problem; `reasons` as in `shares`; `finished`, the share that was
    not cut off; `tokens`, the mean a completion; `entropy` and `logprob`, the means over all tokens of the
    next-token entropy and of log p, in nats at temperature 1.
    """
    accepted = acceptance(completions, verdicts)
    tokens = np.array([completion.tokens for completion in completions])
    entropy = np.array([completion.entropy for completion in completions])
    return {
        "pass@1": pass_at_1(accepted),
        "problems": accepted.shape[0],
        "samples": accepted.shape[1],
        "reasons": shares(verdicts),
        "finished": float(np.mean([completion.finished for completion in completions])),
        "tokens": float(tokens.mean()),
        "entropy": float((entropy * tokens).sum() / tokens.sum()),
        "logprob": float(sum(completion.logprob for completion in completions) / tokens.sum()),
    }
