"""The types of final answers: a text is parsed into one of them before it is compared."""

from dataclasses import dataclass
from typing import ClassVar

from erce.verify.answers.tree import Tree


@dataclass(frozen=True, slots=True)
class Words:
    """An answer in words, in lower case."""

    kind: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day; `half` is "a", "p" or, if unknown, ""."""

    kind: ClassVar[str] = "time"
    hours: int
    minutes: int
    half: str


@dataclass(frozen=True, slots=True)
class Scalar:
    """An expression with its unit ("" without a known unit) and whether a percent sign followed it.

    `sense` is "+" or "-" beside a word such as "more" or "fewer", else "".
    """

    kind: ClassVar[str] = "expression"
    tree: Tree
    unit: str = ""
    percent: bool = False
    sense: str = ""


@dataclass(frozen=True, slots=True)
class InBase:
    """A numeral with its base as a subscript."""

    kind: ClassVar[str] = "numeral"
    digits: str
    base: int


@dataclass(frozen=True, slots=True)
class Listing:
    r"""Several answers: a bare list (`joined` by ",", "and", "or" or ";"), or a set in braces ("{").

    `name` is theirs if they have one: x in x = 2 or x = 3.
    """

    kind: ClassVar[str] = "list"
    items: tuple["Answer", ...]
    joined: str = ","
    name: str = ""


@dataclass(frozen=True, slots=True)
class Bracketed:
    """A tuple, a point or an interval: two or more entries in order, and the brackets around them."""

    kind: ClassVar[str] = "tuple"
    opening: str
    items: tuple["Answer", ...]
    closing: str


@dataclass(frozen=True, slots=True)
class SetOperation:
    """The union, intersection ("cup", "cap") or difference ("setminus") of two sets."""

    kind: ClassVar[str] = "set"
    operation: str
    left: "Answer"
    right: "Answer"


@dataclass(frozen=True, slots=True)
class SetBuilder:
    r"""The values of a head for which all conditions hold: \{2k : k \in \mathbb{Z}, k > 3\}.

    `domains` are names with the sets that they are from.
    """

    kind: ClassVar[str] = "set"
    head: "Answer"
    domains: tuple[tuple[str, "Answer"], ...]
    conditions: tuple["Answer", ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows of entries; with `bars` it stands for its determinant."""

    kind: ClassVar[str] = "matrix"
    rows: tuple[tuple["Answer", ...], ...]
    bars: bool = False


@dataclass(frozen=True, slots=True)
class Named:
    """A value with its name: x = 5, f(x) = x^2, AB = 4."""

    kind: ClassVar[str] = "value"
    name: str
    value: "Answer"


@dataclass(frozen=True, slots=True)
class Record:
    """Values of several names: x = 1, y = 2; `in_tuple` if they were written as (x, y) = (1, 2)."""

    kind: ClassVar[str] = "values"
    items: tuple[Named, ...]
    in_tuple: bool = False


@dataclass(frozen=True, slots=True)
class Equation:
    """Two or more sides that are equal, in one unit or in none ("")."""

    kind: ClassVar[str] = "equation"
    sides: tuple[Tree, ...]
    unit: str = ""


MIRRORED_SIGN = {"<": ">", ">": "<", "≤": "≥", "≥": "≤", "≠": "≠"}


@dataclass(frozen=True, slots=True)
class Inequality:
    """Sides in one unit with one or two of < > ≤ ≥ ≠ between them; `name` is what they bound, if anything."""

    kind: ClassVar[str] = "inequality"
    sides: tuple[Tree, ...]
    signs: tuple[str, ...]
    name: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Congruence:
    """A congruence: x ≡ 3 (mod 7); without a left side a residue class alone, 3 (mod 7)."""

    kind: ClassVar[str] = "congruence"
    left: Tree | None
    residue: Tree
    modulus: Tree


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio: 3:2, or 1:2:3."""

    kind: ClassVar[str] = "ratio"
    items: tuple["Answer", ...]


@dataclass(frozen=True, slots=True)
class LetteredChoice:
    """One of several answers to choose from: its letter, and the answer itself, as in (D) 14."""

    kind: ClassVar[str] = "choice"
    letter: str
    value: "Answer"


Answer = (
    Words
    | Clock
    | Scalar
    | InBase
    | Listing
    | Bracketed
    | SetOperation
    | SetBuilder
    | Matrix
    | Named
    | Record
    | Equation
    | Inequality
    | Congruence
    | Ratio
    | LetteredChoice
)
