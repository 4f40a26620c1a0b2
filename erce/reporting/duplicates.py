"""The problems of a study's folder → the pairs of training and test problems that ask the same.

`erce run` refuses such splits by a stricter rule (`erce.tasks.near_duplicates`, which reads answers and tests
as well); this looks at a folder that something else has filled, and at what its problems.jsonl shows.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from erce.files import read_rows
from erce.study.folder import PROBLEMS, Study

SIMILAR = 0.6  # the Jaccard index of the prompts' trigrams
WORDING = 0.9  # of the prompts: a trigram in more of them is the task's wording
FEWEST = 20  # prompts; what most of fewer share is no wording yet

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[-+*/^=<>()]")
Shingles = frozenset[tuple[str, ...]]


class Pair(NamedTuple):
    """A problem that is trained or chosen on, and the test problem that it gives away, by their names."""

    trained: str
    tested: str


def duplicates(study: Study) -> list[Pair]:
    """Near-duplicates of the study's own task, in the order of the test problems, then of the others.

    Two prompts are one where they are the same text but for case, space and punctuation; or where 6 of 10 of
    their trigrams are common, less the task's own wording, and they hold the same numbers and have the same
    answer. Empty without a problems.jsonl.
    """
    path = study.root / PROBLEMS
    if not path.is_file():
        return []
    rows = [
        row for row in read_rows(path) if row["task"] == study.recipe.task and _tokens(row.get("prompt", ""))
    ]
    trained = [row for row in rows if row["split"] != "test"]
    tested = [row for row in rows if row["split"] == "test"]
    tokens = [_tokens(row["prompt"]) for row in (*trained, *tested)]
    shingles = _without_wording([_shingles(each) for each in tokens])
    texts = _holders([each] for each in tokens[: len(trained)])
    shared = _holders(shingles[: len(trained)])
    found = []
    for at, row in enumerate(tested, len(trained)):
        close = set(texts.get(tokens[at], ()))
        common = Counter(number for shingle in shingles[at] for number in shared.get(shingle, ()))
        for number, count in common.items():
            similar = count >= SIMILAR * (len(shingles[at]) + len(shingles[number]) - count)
            if similar and _rest(tokens[at], row) == _rest(tokens[number], trained[number]):
                close.add(number)
        found += [Pair(trained[number]["problem"], row["problem"]) for number in sorted(close)]
    return found


def _tokens(text: str) -> tuple[str, ...]:
    """The text without case, space and punctuation.

    >>> _tokens("What is 1,000 + 2?")
    ('what', 'is', '1000', '+', '2')
    """
    return tuple(token.replace(",", "") for token in _TOKEN.findall(text.casefold()))


def _shingles(tokens: tuple[str, ...]) -> Shingles:
    padded = ("", *tokens, "")
    return frozenset(zip(padded, padded[1:], padded[2:], strict=False))


def _without_wording(texts: list[Shingles]) -> list[Shingles]:
    """What a prompt does not share with nearly all others."""
    if len(texts) < FEWEST:
        return texts
    counts = Counter(shingle for each in texts for shingle in each)
    wording = {shingle for shingle, count in counts.items() if count > WORDING * len(texts)}
    return [each - wording for each in texts]


def _holders(groups: Iterable[Iterable[tuple[str, ...]]]) -> dict[tuple[str, ...], list[int]]:
    """Item → the numbers of the groups that hold it."""
    holders: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, group in enumerate(groups):
        for item in group:
            holders[item].append(number)
    return dict(holders)


def _rest(tokens: tuple[str, ...], row: dict[str, Any]) -> tuple[set[str], str]:
    """What problems of one wording differ in: their numbers, and the answer or else the demonstration."""
    answer = str(row.get("answer") or row.get("demonstration") or "")
    return {token for token in tokens if token[0].isdecimal()}, " ".join(answer.casefold().split())
