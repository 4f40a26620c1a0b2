"""Completions → Verdicts, without torch: numbers (GSM8K's convention) and programs."""

from erce.verify.code import verify_program
from erce.verify.numeric import verify_number

__all__ = ["verify_number", "verify_program"]
