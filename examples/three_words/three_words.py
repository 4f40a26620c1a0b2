"""A study's problems and verifier: write one sentence with three given words.

    python three_words.py        writes problems.jsonl
    erce run three_words.toml    trains, verifies and reports

A demonstration is one of very many right answers, and a small instruction-tuned model gives right ones in its
own words for some of the problems.
"""

import json
import random
import re
from pathlib import Path

PROBLEMS = {"train": 310, "test": 200}
WORDS = {  # by their place in the prompt
    "how": (
        "quiet bright narrow cold wooden heavy green silver dusty gentle broken hungry lazy proud "
        "tiny warm yellow clever famous nervous"
    ),
    "who": (
        "farmer horse baker teacher kitten soldier painter sailor doctor puppy king driver nurse "
        "tailor hunter pilot goat singer lawyer dancer"
    ),
    "where": (
        "river market kitchen forest station garden castle harbor school valley library island "
        "village stadium desert bakery meadow tunnel tower bridge"
    ),
}
TEMPLATES = (
    "The {how} {who} {did} near the {where} {when}.",
    "{When}, a {how} {who} {did} beside the {where}.",
    "We saw a {how} {who} who {did} behind the {where} {when}.",
    "Nobody at the {where} knew why the {how} {who} {did} {when}.",
    "My sister met the {how} {who} at the {where} {when}.",
    "In front of the {where}, the {how} {who} {did}.",
    "It was {when} that the {how} {who} from the {where} {did}.",
    "The {who} looked {how} and {did} at the {where} {when}.",
)
DID = (
    "waited for an old friend",
    "sang a short song",
    "lost a blue hat",
    "found three coins",
    "fell asleep",
    "ate an apple",
    "asked for help",
    "laughed out loud",
    "watched the rain",
    "told us a story",
    "dropped a letter",
    "turned around",
)
WHEN = (
    "early in the morning",
    "after lunch",
    "last Sunday",
    "in the evening",
    "before the storm",
    "on the first day of spring",
    "around midnight",
    "during the holidays",
)
LONGEST = 30  # words
LEAST_OTHERS = 4  # words that are neither given nor only join: else a list of the three would do
JOINING = {"a", "an", "the", "and", "or"}


def judge(problem, completion) -> bool:
    """Return whether the completion is one sentence with the three words, and no mere list of them."""
    text = completion.text.strip()
    if re.fullmatch(r'"?[A-Z][^.!?\n]*[.!?]"?', text) is None:
        return False
    words = re.findall(r"[a-z'-]+", text.lower())
    given = problem.answer.split()
    others = [word for word in words if word not in given and word not in JOINING]
    return set(given) <= set(words) and len(words) <= LONGEST and len(others) >= LEAST_OTHERS


def rows(seed: int = 0) -> list[dict[str, str]]:
    """Return the problems, no two with the same three words."""
    source = random.Random(seed)
    triples: dict[tuple[str, ...], None] = {}
    while len(triples) < sum(PROBLEMS.values()):
        triples[tuple(source.choice(words.split()) for words in WORDS.values())] = None
    splits = [split for split, count in PROBLEMS.items() for _ in range(count)]
    return [_row(source, triple, split) for triple, split in zip(triples, splits, strict=True)]


def _row(source: random.Random, triple: tuple[str, ...], split: str) -> dict[str, str]:
    how, who, where = triple
    when = source.choice(WHEN)
    sentence = source.choice(TEMPLATES).format(
        how=how, who=who, where=where, did=source.choice(DID), when=when, When=when[0].upper() + when[1:]
    )
    return {
        "prompt": f"Write one sentence that contains the words {how}, {who} and {where}.",
        "demonstration": sentence,
        "answer": " ".join(triple),
        "split": split,
    }


if __name__ == "__main__":
    lines = [json.dumps(row) + "\n" for row in rows()]
    Path("problems.jsonl").write_text("".join(lines), encoding="utf-8")
    print(f"problems.jsonl: {len(lines)} problems")
