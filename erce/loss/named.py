"""A name and a number → the penalty or the objective, of erce or of one's own; and back to the name."""

from collections.abc import Iterable
from inspect import isabstract
from typing import TypeVar

from erce import catalog
from erce.catalog import is_own, load_own, split_number, unknown
from erce.loss.objectives import Objective
from erce.loss.penalties import Penalty
from erce.loss.protocol import check_objective, check_penalty

Kind = TypeVar("Kind", Penalty, Objective)


def _classes(table: dict[str, catalog.Listed], kind: type[Kind]) -> dict[str, type[Kind]]:
    found = {}
    for name, each in table.items():
        home = load_own("class", each.home)
        assert isinstance(home, type)
        assert issubclass(home, kind)
        found[name] = home
    return found


PENALTIES = _classes(catalog.PENALTIES, Penalty)
OBJECTIVES = _classes(catalog.OBJECTIVES, Objective)


def make_penalty(entropy_type: str, order: float = 1.0) -> Penalty:
    """The penalty that a recipe or a configuration names.

    One's own, "package.module:NAME", is a subclass of `Penalty`, made by `of_order`, or an instance of one.
    It is tried on a few rows first: a ValueError says where it breaks the protocol.

    >>> make_penalty("renyi", 0.5)
    Renyi(order=0.5)
    """
    name = str(entropy_type)
    if name in PENALTIES:
        return PENALTIES[name].of_order(order)
    found = _own("penalty", name, PENALTIES, Penalty)
    if isinstance(found, type):
        found = found.of_order(order)
    elif order != 1:
        raise ValueError(f"order = {order!r} has no effect on {name!r}, which is an instance; name its class")
    check_penalty(found, name)
    return found


def make_objective(name: str) -> Objective:
    """The objective that a recipe or a configuration names, with its number after a colon if it is another
    than its paper's.

    One's own, "package.module:NAME" or "package.module:NAME:2", is a subclass of `Objective`, made by `of`,
    or an instance of one, which takes no number; it is tried first.

    >>> make_objective("focal"), make_objective("label-smoothing:0.2")
    (Focal(gamma=2.0), LabelSmoothing(smoothing=0.2))
    """
    kind, text = split_number(str(name))
    found = OBJECTIVES[kind] if kind in OBJECTIVES else _own("objective", kind, OBJECTIVES, Objective)
    if isinstance(found, type):
        try:
            found = found.of(None if text is None else float(text))
        except ValueError as error:
            raise ValueError(f"objective {name!r}: {error}") from None
    elif text is not None:
        raise ValueError(
            f"objective {name!r}: {kind!r} is an instance, which takes no number; name its class"
        )
    if kind not in OBJECTIVES:
        check_objective(found, kind)
    return found


def check_names(penalty: str, order: float, objectives: Iterable[str]) -> None:
    """Nothing, after each was made once, one's own tried: a ValueError of one sentence for what cannot be."""
    make_penalty(penalty, order)
    for name in objectives:
        make_objective(name)


def penalty_name(penalty: Penalty) -> str:
    """What `make_penalty` calls one of erce's.

    >>> penalty_name(make_penalty("renyi", 0.5))
    'renyi'
    """
    return next(name for name, kind in PENALTIES.items() if kind is type(penalty))


def objective_name(objective: Objective) -> str:
    """What `make_objective` makes one of erce's of.

    >>> objective_name(make_objective("focal:3")), objective_name(make_objective("dft"))
    ('focal:3.0', 'dft')
    """
    name = next(name for name, kind in OBJECTIVES.items() if kind is type(objective))
    return ":".join([name, *(repr(number) for number in vars(objective).values())])


def _own(what: str, name: str, known: Iterable[str], kind: type[Kind]) -> Kind | type[Kind]:
    """What `name` names, if it is a `kind` or a class of such that can be made."""
    if not is_own(name):
        raise ValueError(unknown(what, name, known))
    found, wanted = load_own(what, name), f"erce.loss.{kind.__name__}"
    if isinstance(found, type) and issubclass(found, kind):
        if isabstract(found):
            missing = ", ".join(sorted(found.__abstractmethods__))
            raise ValueError(f"{what} {name!r} has no {missing}, which every {wanted} needs; write it")
        return found
    if isinstance(found, kind):
        return found
    module, _, attribute = name.partition(":")
    raise ValueError(
        f"{name!r} is not {'an' if what[0] in 'aeiou' else 'a'} {what}: {module} has no subclass or instance "
        f"of {wanted} named {attribute!r}"
    )
