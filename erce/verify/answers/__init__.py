"""Final answers as text → typed values and expression trees, and whether two of them are the same."""

from erce.verify.answers.limits import TooLargeError, UnparsedError
from erce.verify.answers.read.scalar import parse_scalar

__all__ = ["TooLargeError", "UnparsedError", "parse_scalar"]
