"""Problems to train on and problems to test on → the pairs of them that are near-duplicates.

Two problems are near-duplicates where one of these holds:

1. Their prompts are one text but for case, space and punctuation.
2. At least 6 of 10 trigrams of their prompts' tokens are common (the Jaccard index), and so are the numbers
   in the prompts and the answer (where neither has one, the demonstration); of programs, the demonstration.
3. The tests of one are all among the tests of the other, and they are two or more.

Trigrams that stand in more than nine of ten prompts are the task's own wording and count for nothing in 2.
The same question about other numbers is another problem: MATH and GSM8K hold many of them, and so does any
task that is generated.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from erce.types import Problem

SIMILAR = 0.6
WORDING = 0.9  # of the prompts: a trigram in more of them is the task's wording
FEWEST = 20  # prompts; what most of fewer share is no wording yet

Shingles = frozenset[tuple[str, ...]]

# Numbers, words, the prime after a symbol (f'(x) is not f(x)), and every sign but punctuation.
_TOKEN = re.compile(r"""\d+(?:,\d{3})*(?:\.\d+)?|[^\W\d_]+|'(?![^\W\d_])|[^\w\s.,;:?'"`$\\…“”‘’«»]|_""")
_DELIMITER = re.compile(r"\\[()\[\]]")  # of formulas: like $, punctuation
_SPACE_AND_QUOTES = re.compile(r"[\s'\"]+")


@dataclass(frozen=True)
class Overlap:
    """A problem to train on, the test problem that it gives away, and the Jaccard index of their trigrams."""

    trained: Problem
    tested: Problem
    similarity: float


def near_duplicates(train: Sequence[Problem], test: Sequence[Problem]) -> list[Overlap]:
    """Every pair of near-duplicates across the two lists, in the order of `test`, then of `train`.

    >>> def ask(prompt):
    ...     return Problem(id=prompt, prompt=prompt, demonstration="", answer="7")
    >>> [pair] = near_duplicates([ask("What is 3 + 4?"), ask("And 5 + 2?")], [ask("what is 3+4")])
    >>> pair.trained.id, pair.tested.id
    ('What is 3 + 4?', 'what is 3+4')
    """
    trained, tested = [_tokens(each.prompt) for each in train], [_tokens(each.prompt) for each in test]
    shingles, asked = [_shingles(tokens) for tokens in trained], [_shingles(tokens) for tokens in tested]
    wording = _wording([*shingles, *asked])
    shingles = [each - wording for each in shingles]
    same_text = _holders((tokens,) for tokens in trained)
    same_shingle, same_test = _holders(shingles), _holders(_tests(each) for each in train)
    found = []
    for problem, tokens, own in zip(test, tested, asked, strict=True):
        tests = _tests(problem)
        similar = _jaccard(own - wording, shingles, same_shingle)
        close = {at for at, share in similar.items() if share >= SIMILAR and _same(train[at], problem)}
        close.update(same_text.get(tokens, ()))
        close.update(at for at, shared in _shared(tests, same_test) if shared >= _fewest(train[at], tests))
        found += [Overlap(train[at], problem, similar.get(at, 0.0)) for at in sorted(close)]
    return found


def _tokens(text: str) -> tuple[str, ...]:
    """The text without case, space and punctuation; digit groups are joined.

    >>> _tokens("What's $f'(1,000)$?")
    ('what', 's', 'f', "'", '(', '1000', ')')
    """
    return tuple(token.replace(",", "") for token in _TOKEN.findall(_DELIMITER.sub(" ", text.casefold())))


def _shingles(tokens: tuple[str, ...]) -> Shingles:
    padded = ("", *tokens, "")
    return frozenset(zip(padded, padded[1:], padded[2:], strict=False))


def _wording(texts: Sequence[Shingles]) -> Shingles:
    if len(texts) < FEWEST:
        return frozenset()
    counts = Counter(shingle for each in texts for shingle in each)
    return frozenset(shingle for shingle, count in counts.items() if count > WORDING * len(texts))


def _holders(groups: Iterable[Iterable[Hashable]]) -> dict[Hashable, list[int]]:
    """Item → the numbers of the groups that hold it."""
    holders: dict[Hashable, list[int]] = defaultdict(list)
    for number, group in enumerate(groups):
        for item in group:
            holders[item].append(number)
    return dict(holders)


def _shared(items: Iterable[Hashable], holders: Mapping[Hashable, list[int]]) -> Iterable[tuple[int, int]]:
    """The number of each group that shares an item, and how many it shares."""
    return Counter(number for item in items for number in holders.get(item, ())).items()


def _jaccard(
    own: Shingles, shingles: Sequence[Shingles], holders: Mapping[Hashable, list[int]]
) -> dict[int, float]:
    """Train problem → |common| / |either|, where anything is common."""
    return {at: common / (len(own) + len(shingles[at]) - common) for at, common in _shared(own, holders)}


def _tests(problem: Problem) -> frozenset[str]:
    """The tests without case, space and quotes."""
    return frozenset(_SPACE_AND_QUOTES.sub("", test).casefold() for test in problem.tests)


def _fewest(problem: Problem, tests: frozenset[str]) -> int:
    """How many shared tests are all of one problem's."""
    return max(2, min(len(_tests(problem)), len(tests)))


def _same(one: Problem, other: Problem) -> bool:
    """Whether two problems with much the same wording are one."""
    programs = one.tests or other.tests
    if not programs and _numbers(one) != _numbers(other):
        return False
    if one.answer or other.answer:
        return _tokens(one.answer) == _tokens(other.answer)
    return _tokens(one.demonstration) == _tokens(other.demonstration)


def _numbers(problem: Problem) -> set[str]:
    return {token for token in _tokens(problem.prompt) if token[0].isdecimal()}
