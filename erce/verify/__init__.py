"""Completions → Verdicts, without torch: numbers, mathematical answers, programs.

number.py       GSM8K: the number after `####`, else in the last box
math.py         MATH: the last box, compared by what it means
  answers/        a reference → the one kind as which answers to it are read
program.py      MBPP: a program and its asserts
io.py           a program, its standard input, and what it should print
  sandbox/        the processes that run it, and what confines them
extract.py      the final answer in a completion
  boxes.py        what a box holds, and what touches it
  sentences.py    what a sentence states, and what later ones make of it
  phrases.py      numbers as people write them
fences.py       the program in a completion
parallel.py     many completions on many cores
"""

from erce.types import Verdict
from erce.verify.answers.reference import equivalent
from erce.verify.io import verify_io
from erce.verify.math import verify_math
from erce.verify.number import verify_number
from erce.verify.parallel import verify_many
from erce.verify.program import run_program, verify_program
from erce.verify.sandbox import Limits, Sandbox, SandboxUnavailable

__all__ = [
    "Limits",
    "Sandbox",
    "SandboxUnavailable",
    "Verdict",
    "equivalent",
    "run_program",
    "verify_io",
    "verify_many",
    "verify_math",
    "verify_number",
    "verify_program",
]
