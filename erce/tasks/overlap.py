"""Problems to train on and problems to test on → the pairs of them that are near-duplicates.

Two problems are near-duplicates if one of these holds:

1. Their prompts are the same text but for case, space and punctuation.
2. Their prompts share 6 of 10 trigrams of tokens (the Jaccard index) and hold the same numbers, and their
   answers are the same, or their demonstrations if neither has an answer. Of programs, numbers may differ.
3. All tests of one are among the tests of the other, at least two.

A trigram that stands in more than nine of ten prompts is the task's own wording; rule 2 leaves it out. The
same question about other numbers is another problem: MATH, GSM8K and every generated task have many.
"""

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple
from unicodedata import normalize

from erce.types import Problem

MIN_SIMILARITY = 0.6  # Jaccard index of two prompts' trigrams
WORDING_SHARE = 0.9  # share of the prompts above which a trigram is the task's wording
MIN_PROMPTS_FOR_WORDING = 20  # with fewer prompts, a common trigram may be chance

Trigrams = frozenset[tuple[str, ...]]

# Numbers, words, the prime after a symbol (f'(x) is not f(x)), factorials, and every sign but punctuation.
_TOKEN = re.compile(
    r"""\d+(?:,\d{3})*(?:\.\d+)?|[^\W\d_]+|'(?![^\W\d_])|(?:(?<=[\d)\]])|(?<=\b[^\W\d_]))!+"""
    r"""|[^\w\s!.,;:?'"`$\\…“”‘’«»，。、！？：；؟،]|_"""
)
_DELIMITER = re.compile(r"\\[()\[\]]")  # of formulas: punctuation, like $
_SPACE_AND_QUOTES = re.compile(r"[\s'\"]+")


class LeftOutWarning(UserWarning):
    """Problems of a task are left out, because they repeat or give away other ones."""


class Overlap(NamedTuple):
    """A problem to train on and the test problem that it gives away."""

    trained: Problem
    tested: Problem


def near_duplicates(train: Sequence[Problem], test: Sequence[Problem]) -> list[Overlap]:
    """Return every pair of near-duplicates, in the order of `test`, then of `train`.

    An empty prompt (a log may have none) is like no other.

    >>> def ask(prompt):
    ...     return Problem(id=prompt, prompt=prompt, demonstration="", answer="7")
    >>> [pair] = near_duplicates([ask("What is 3 + 4?"), ask("And 5 + 2?")], [ask("what is 3+4")])
    >>> pair.trained.id, pair.tested.id
    ('What is 3 + 4?', 'what is 3+4')
    """
    train_tokens = [_tokens(problem.prompt) for problem in train]
    test_tokens = [_tokens(problem.prompt) for problem in test]
    wording = _wording([*train_tokens, *test_tokens])
    # Only the test problems' trigrams are kept: those of a large set to train on would fill the memory.
    test_trigrams = [_trigrams(tokens) - wording for tokens in test_tokens]
    with_text = _index([tokens] if tokens else [] for tokens in test_tokens)
    with_trigram = _index(test_trigrams)
    with_test = _index(_tests(problem) for problem in test)
    found: list[tuple[int, int]] = []  # (in `test`, in `train`)
    for at, (problem, tokens) in enumerate(zip(train, train_tokens, strict=True)):
        numbers = set(with_text.get(tokens, ()))
        trigrams = _trigrams(tokens) - wording
        for number, common in _shared_counts(trigrams, with_trigram):
            either = len(trigrams) + len(test_trigrams[number]) - common
            if common / either >= MIN_SIMILARITY and _same_content(problem, test[number]):
                numbers.add(number)
        tests = _tests(problem)
        for number, count in _shared_counts(tests, with_test):
            if count >= max(2, min(len(_tests(test[number])), len(tests))):
                numbers.add(number)
        found += [(number, at) for number in numbers]
    return [Overlap(train[at], test[number]) for number, at in sorted(found)]


def text_key(prompt: str) -> Hashable:
    """Return what two prompts share if they are the same text but for case, space and punctuation.

    >>> text_key("Say it!") == text_key("say  it"), text_key("What is 2-3?") == text_key("What is 2+3?")
    (True, False)
    """
    return _tokens(prompt) or prompt


def _tokens(text: str) -> tuple[str, ...]:
    """Split a text into tokens without case, space and punctuation; digit groups are joined.

    >>> _tokens("What's $f'(1,000)$?")
    ('what', 's', 'f', "'", '(', '1000', ')')
    """
    found = _TOKEN.findall(_DELIMITER.sub(" ", normalize("NFC", text).casefold()))
    return tuple(sys.intern(token.replace(",", "")) for token in found)  # one copy of each word in memory


def _trigrams(tokens: tuple[str, ...]) -> Trigrams:
    padded = ("", *tokens, "")
    return frozenset(zip(padded, padded[1:], padded[2:], strict=False))


def _wording(prompts: Sequence[tuple[str, ...]]) -> Trigrams:
    """Return the trigrams that nearly all prompts share."""
    if len(prompts) < MIN_PROMPTS_FOR_WORDING:
        return frozenset()
    most = WORDING_SHARE * len(prompts)
    some = prompts[: len(prompts) - int(most)]  # what more than `most` prompts share is in one of these
    shared = frozenset[tuple[str, ...]]().union(*map(_trigrams, some))
    counts = Counter(chain.from_iterable(_trigrams(tokens) & shared for tokens in prompts))
    return frozenset(trigram for trigram, count in counts.items() if count > most)


def _index(groups: Iterable[Iterable[Hashable]]) -> dict[Hashable, list[int]]:
    """Return item → the numbers of the groups that hold it."""
    numbers: dict[Hashable, list[int]] = defaultdict(list)
    for number, group in enumerate(groups):
        for item in group:
            numbers[item].append(number)
    return dict(numbers)


def _shared_counts(
    items: Iterable[Hashable], index: Mapping[Hashable, list[int]]
) -> Iterable[tuple[int, int]]:
    """Return (number, count of shared items) of each group that shares any."""
    return Counter(number for item in items for number in index.get(item, ())).items()


def _tests(problem: Problem) -> frozenset[str]:
    """Return the tests without case, space and quotes."""
    return frozenset(_SPACE_AND_QUOTES.sub("", test).casefold() for test in problem.tests)


def _same_content(first: Problem, second: Problem) -> bool:
    """Return whether two problems of similar wording have the same numbers and the same answer."""
    programs = first.tests or second.tests
    if not programs and _numbers(first) != _numbers(second):
        return False
    if first.answer or second.answer:
        return _tokens(first.answer) == _tokens(second.answer)
    return _tokens(first.demonstration) == _tokens(second.demonstration)


def _numbers(problem: Problem) -> set[str]:
    return {token for token in _tokens(problem.prompt) if token[0].isdecimal()}
