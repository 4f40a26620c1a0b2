"""Every labelled pair of answers, from all the tables."""

from toys.answers.algebra import ALGEBRA, CALCULUS
from toys.answers.apart import APART, FAMILIES, QUANTITIES
from toys.answers.everyday import EVERYDAY, NOTATIONS, STATEMENTS
from toys.answers.mixed import FURTHER, MIXED
from toys.answers.pairs import NUMBERS, pairs
from toys.answers.shapes import SHAPES, WRITING

PAIRS = [
    pair
    for table in (
        *(NUMBERS, ALGEBRA, SHAPES, WRITING, FURTHER, MIXED),
        *(APART, NOTATIONS, CALCULUS, EVERYDAY, STATEMENTS),
        *(FAMILIES, QUANTITIES),
    )
    for pair in pairs(table)
]
