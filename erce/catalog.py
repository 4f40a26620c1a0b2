"""The penalties and objectives of erce by name, and "package.module:NAME" → what it names.

Read without torch, by recipes; `erce.loss.named` has the classes. To add one to erce: its class, in a file of
`erce/loss/`, and its line here.
"""

import math
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from importlib import import_module
from typing import NamedTuple


class Number(NamedTuple):
    """What an order or a parameter must be: in words, and as a rule."""

    wanted: str
    fits: Callable[[float], bool]


class Named(NamedTuple):
    """One line of the tables: where its class is, its number, and what a report calls it."""

    home: str  # module:NAME
    number: Number | None = None  # a penalty's order, an objective's parameter; None: it has none
    words: str = ""  # a penalty's


ORDER = Number("over 0, at most 1e6 or inf", lambda number: 0 < number <= 1e6 or number == math.inf)

PENALTIES = {
    "shannon": Named("erce.loss.penalties:Shannon", words="Shannon’s entropy"),
    "renyi": Named("erce.loss.penalties:Renyi", ORDER, "Rényi’s entropy"),
    "support-size": Named("erce.loss.penalties:SupportSize", ORDER, "the support size"),
}
OBJECTIVES = {
    "cross-entropy": Named("erce.loss.objectives:CrossEntropy"),
    "label-smoothing": Named(
        "erce.loss.objectives:LabelSmoothing", Number("in [0, 1)", lambda number: 0 <= number < 1)
    ),
    "dft": Named("erce.loss.objectives:DFT"),
    "eaft": Named(
        "erce.loss.objectives:EAFT",
        Number("a whole number above 1", lambda number: number > 1 and number % 1 == 0),
    ),
    "focal": Named("erce.loss.objectives:Focal", Number("0 or above", lambda number: 0 <= number < math.inf)),
}

_OWN = re.compile(r"\w[\w-]*(?:\.\w[\w-]*)*:[^\W\d]\w*")


def is_own(name: str) -> bool:
    """Whether a name has the form of one's own; nothing is imported.

    >>> [is_own(name) for name in ("words:BACKWARDS", "my.losses:Gini", "renyi", "focal:2", "../x:NAME")]
    [True, True, False, False, False]
    """
    return _OWN.fullmatch(name) is not None


def load_own(kind: str, name: str) -> object:
    """What "package.module:NAME" names, None where the module has no NAME; a ValueError without the module.

    `kind` is what errors call it. What the module itself raises passes.
    """
    module, _, attribute = name.partition(":")
    try:
        return getattr(import_module(module), attribute, None)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise ValueError(f"no module {error.name!r} for the {kind} {name!r}; is it on PYTHONPATH?") from error


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """The sentence for a name that is neither known nor of the form of one's own.

    >>> unknown("penalty", "Reny", PENALTIES)
    "no penalty 'Reny'; did you mean 'renyi'? (your own: package.module:NAME)"
    """
    known = list(known)
    close = get_close_matches(name.lower(), known, n=1, cutoff=0.4)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"
    return f"no {kind} {name!r}; {hint} (your own: package.module:NAME)"


def split_number(objective: str) -> tuple[str, str | None]:
    """An objective's name, and the text of its number, None where there is none.

    >>> split_number("focal:2"), split_number("dft"), split_number("my.losses:SOFT")
    (('focal', '2'), ('dft', None), ('my.losses:SOFT', None))
    >>> split_number("my.losses:SOFT:2")
    ('my.losses:SOFT', '2')
    """
    own = None if objective.partition(":")[0] in OBJECTIVES else _OWN.match(objective)
    name = own.group() if own else objective.partition(":")[0]
    rest = objective[len(name) :]
    if rest and not rest.startswith(":"):
        return objective, None
    return name, rest[1:] if rest else None


def penalty_rules(penalty: str, order: float) -> list[tuple[bool, str]]:
    """Whether each rule of a recipe holds, and the sentence for where it does not; none tries one's own."""
    ordered = [name for name, each in PENALTIES.items() if each.number is not None]
    rules = [
        (penalty in PENALTIES or is_own(penalty), unknown("penalty", penalty, PENALTIES)),
        (math.isfinite(order), f"order = {order:g} is no finite number; 1000 is next to the limit at inf"),
    ]
    if penalty not in PENALTIES:
        return rules
    number = PENALTIES[penalty].number
    if number is not None:
        return [*rules, (number.fits(order), f"order = {order:g} must be {number.wanted}; 1 is Shannon's")]
    takers = " or ".join(f'penalty = "{name}"' for name in ordered)
    said = f"order = {order:g} has no effect on penalty {penalty!r}; leave it out, or write {takers}"
    return [*rules, (order == 1, said)]


def penalty_in_words(penalty: str, order: float) -> str:
    """What a report calls it; one's own as it was named.

    >>> penalty_in_words("shannon", 1.0), penalty_in_words("renyi", 0.5), penalty_in_words("words:GINI", 1.0)
    ('Shannon’s entropy', 'Rényi’s entropy of order 0.5', 'words:GINI')
    """
    known = PENALTIES.get(penalty, Named(penalty))
    ordered = known.number is not None or order != 1
    return (known.words or penalty) + (f" of order {order:g}" if ordered else "")
