"""A text → the tree of its expression, as the verifier makes it."""

from erce.verify.answers.expression import parse_tokens
from erce.verify.answers.tokens import clean, tokenize


def parsed(text):
    return parse_tokens(tokenize(clean(text)))
