"""Every labelled pair of answers, from all the tables."""

from toys.answers.algebra import ALGEBRA
from toys.answers.apart import APART
from toys.answers.calculus import CALCULUS
from toys.answers.everyday import EVERYDAY
from toys.answers.families import FAMILIES
from toys.answers.further import FURTHER
from toys.answers.mixed import MIXED
from toys.answers.notations import NOTATIONS
from toys.answers.pairs import NUMBERS, pairs
from toys.answers.quantities import QUANTITIES
from toys.answers.shapes import SHAPES, WRITING
from toys.answers.statements import STATEMENTS

PAIRS = [
    pair
    for table in (
        *(NUMBERS, ALGEBRA, SHAPES, WRITING, FURTHER, MIXED),
        *(APART, NOTATIONS, CALCULUS, EVERYDAY, STATEMENTS),
        *(FAMILIES, QUANTITIES),
    )
    for pair in pairs(table)
]
