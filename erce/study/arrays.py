"""Flat rows, ours or imported → the 0/1 arrays that `erce.stats` compares."""

from collections.abc import Iterable

import numpy as np

from erce.study.export import Row

_Place = tuple[int, str, int]  # seed, problem, sample


def outcome_arrays(rows: Iterable[Row]) -> dict[str, np.ndarray]:
    """arm → 1 where accepted, (seeds, problems, samples); the same problems in the same order for every arm.

    Arms come in the order of the rows, seeds ascending, problems by id. Rows of two tasks, splits or
    decodings, a sample without a verdict, twice or missing, and arms on different problems are ValueErrors:
    what is missing never counts as wrong.

    >>> rows = [dict(arm=arm, seed=0, task="t", split="test", decoding="greedy", problem=problem, sample=0,
    ...              accepted=problem != arm) for arm in ("base", "mine") for problem in ("base", "p")]
    >>> {arm: array.tolist() for arm, array in outcome_arrays(rows).items()}
    {'base': [[[0], [1]]], 'mine': [[[1], [1]]]}
    """
    found: dict[str, dict[_Place, bool]] = {}
    sets = set()
    for row in rows:
        sets.add((row["task"], row["split"], row["decoding"]))
        if len(sets) > 1:
            first, second = sorted(sets)
            raise ValueError(f"rows of {first} and of {second}; select one task, split and decoding")
        outcomes, place = found.setdefault(row["arm"], {}), (row["seed"], row["problem"], row["sample"])
        if row["accepted"] is None:
            raise ValueError(f"{_name(row['arm'], place)} has no verdict; judge it first (`erce verify`)")
        if place in outcomes:
            raise ValueError(f"{_name(row['arm'], place)} is there twice; give it once")
        outcomes[place] = row["accepted"]
    if not found:
        raise ValueError("no rows: there is nothing to compare")
    problems = sorted({problem for outcomes in found.values() for _, problem, _ in outcomes})
    return {arm: _array(arm, outcomes, problems) for arm, outcomes in found.items()}


def _array(arm: str, outcomes: dict[_Place, bool], problems: list[str]) -> np.ndarray:
    seeds = sorted({seed for seed, _, _ in outcomes})
    samples = sorted({sample for _, _, sample in outcomes})
    places = [(seed, problem, sample) for seed in seeds for problem in problems for sample in samples]
    missing = [place for place in places if place not in outcomes]
    if missing:
        raise ValueError(
            f"{_name(arm, missing[0])} is missing ({len(missing)} in all); every arm needs each sample of "
            "the same problems"
        )
    values = [outcomes[place] for place in places]
    return np.array(values, dtype=np.int8).reshape(len(seeds), len(problems), len(samples))


def _name(arm: str, place: _Place) -> str:
    seed, problem, sample = place
    return f"arm {arm!r}, seed {seed}, problem {problem!r}, sample {sample}"
