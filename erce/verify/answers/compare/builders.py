"""Sets given by a head, domains and conditions → plain sets where possible, else compared part by part."""

from collections.abc import Iterator
from dataclasses import replace

from erce.verify.answers.compare.evaluate import Evaluator, Value
from erce.verify.answers.compare.mapped import mapped
from erce.verify.answers.compare.real_sets import REALS, Span, common, complement, real_set, united
from erce.verify.answers.compare.same_value import ROUNDING, same_value
from erce.verify.answers.compare.solved import roots_of, variable_of
from erce.verify.answers.limits import MAX_ITEMS, Budget, TooLargeError
from erce.verify.answers.tree import (
    INFINITY,
    NEGATIVE_INFINITY,
    Tree,
    names,
    nodes,
    renamed,
    substituted,
    symbols,
)
from erce.verify.answers.values import (
    Answer,
    Bracketed,
    Equation,
    Inequality,
    Listing,
    Named,
    Record,
    Scalar,
    SetBuilder,
    SetOperation,
    Words,
)

_ALL_INTEGERS = "mathbb:Z"
# The least number in each set of integers; whether 0 is natural is a matter of taste.
_LEAST = {
    "mathbb:Z^+": 1,
    "mathbb:Z_+": 1,
    "mathbb:Z_>0": 1,
    "mathbb:N^+": 1,
    "mathbb:N^*": 1,
    "mathbb:Z_≥0": 0,
    "mathbb:N_0": 0,
    "mathbb:N": None,
    _ALL_INTEGERS: None,
}


def plain_set(answer: Answer, budget: Budget) -> Answer:
    r"""Return a finite set of integers as a list, a set of real numbers as intervals, any other as it is.

    \{x \in \mathbb{Z} : 1 \le x \le 3\} is \{1, 2, 3\}, and \{x : x > 2\} is (2, \infty).
    """
    if isinstance(answer, Listing) and any(map(_is_otherwise, answer.items)):
        return _with_all_conditions(answer, budget)
    if isinstance(answer, SetOperation):
        left, right = plain_set(answer.left, budget), plain_set(answer.right, budget)
        return SetOperation(answer.operation, left, right)
    return _plain_builder(_with_definitions(answer), budget) if isinstance(answer, SetBuilder) else answer


def _plain_builder(answer: SetBuilder, budget: Budget) -> Answer:
    if len(answer.domains) > 1:
        return answer
    name, domain = answer.domains[0] if answer.domains else (_variable(answer), REAL)
    spans = _satisfying(name, answer.conditions, budget)
    if not name or spans is None:
        return answer
    values = _values(domain, spans, conditions=bool(answer.conditions))
    if values is not None:
        listed = _listed(answer.head, name, values)
        points = real_set(listed, budget)
        return listed if points is None else _as_answer(points)
    within = real_set(domain, budget)
    plain = answer.head == Scalar(("sym", name))
    if plain and not answer.conditions:
        return domain
    if plain and isinstance(domain, Scalar) and domain.tree[1] in _LEAST:
        return _with_whole_ends(answer, domain, spans)
    return _as_answer(common(within, spans)) if within is not None and plain else answer


def _is_otherwise(piece: Answer) -> bool:
    return isinstance(piece, Bracketed) and piece.items[-1] == Words("otherwise")


def _with_all_conditions(pieces: Listing, budget: Budget) -> Listing:
    """Return a function in pieces with x > 1 for "otherwise" beside x ≤ 1."""
    conditions = [
        piece.items[-1] for piece in pieces.items if isinstance(piece, Bracketed) and not _is_otherwise(piece)
    ]
    covered = united([real_set(condition, budget) for condition in conditions])
    if covered is None or len(conditions) != len(pieces.items) - 1:
        return pieces
    rest = _as_answer(complement(covered))
    return replace(
        pieces,
        items=tuple(
            replace(piece, items=(*piece.items[:-1], rest))
            if isinstance(piece, Bracketed) and _is_otherwise(piece)
            else piece
            for piece in pieces.items
        ),
    )


def same_family(gold: SetBuilder, answer: SetBuilder, budget: Budget) -> bool:
    r"""Return whether two sets a + b k over all integers k are one, as are 2k + 1 and 2n - 1."""
    line, other_line = _line(gold, budget), _line(answer, budget)
    if line is None or other_line is None:
        return False
    # {a + b k} = {a' + b' k} ⟺ b' = ±b and (a − a') / b is an integer.
    (start, step), (other_start, other_step) = line, other_line
    if not any(same_value(step, other, budget) for other in (other_step, ("neg", other_step))):
        return False
    shift: Tree = ("add", (start, ("neg", other_start)))
    evaluator = Evaluator({}, budget)
    steps = evaluator.inexact(evaluator.value(("frac", shift, step)))
    if abs(steps.imag) > ROUNDING:
        return False
    return same_value(shift, ("mul", (("num", int(evaluator.context.nint(steps.real))), step)), budget)


def with_names_of(gold: SetBuilder, answer: SetBuilder) -> SetBuilder | None:
    """Return `answer` with the variables of `gold`, each with its domain; None if that cannot be."""
    old, new = _variables(answer), _variables(gold)
    if len(old) != len(new):
        return None
    parts = [mapped(part, lambda tree: renamed(tree, old, new)) for part in (answer.head, *answer.conditions)]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    domains = dict(answer.domains)
    pairs = zip(old, new, strict=True)
    return SetBuilder(
        known[0], tuple((its_new, domains.get(its_old, REAL)) for its_old, its_new in pairs), tuple(known[1:])
    )


REAL, INTEGERS = Scalar(("sym", "mathbb:R")), Scalar(("sym", _ALL_INTEGERS))


def _with_definitions(builder: SetBuilder) -> SetBuilder:
    r"""Return \{3k + 1 : k \in \mathbb{Z}\} for \{x : x = 3k + 1, k \in \mathbb{Z}\}."""
    for condition in builder.conditions:
        if not isinstance(condition, Named) or not isinstance(condition.value, Scalar):
            continue
        name, value = condition.name, condition.value.tree
        domains = dict(builder.domains)
        if name in names(value) or not names(value) or not _follows(domains.pop(name, REAL), value, domains):
            continue
        others = [other for other in builder.conditions if other is not condition]
        parts = [_substituted(part, name, value) for part in (builder.head, *others)]
        known = [part for part in parts if part is not None]
        if len(known) == len(parts) and known[0] != builder.head:
            return SetBuilder(known[0], tuple(domains.items()), tuple(known[1:]))
    return builder


def _follows(domain: Answer, value: Tree, domains: dict[str, Answer]) -> bool:
    """Return whether a value is real, or an integer, because its variables are."""
    if domain == REAL:
        return True
    kinds = {node[0] for node in nodes(value)}
    integers = all(domains.get(name) == INTEGERS for name in names(value))
    return domain == INTEGERS and integers and kinds <= {"num", "sym", "neg", "add", "mul"}


def _substituted(part: Answer, name: str, value: Tree) -> Answer | None:
    return mapped(part, lambda tree: substituted(tree, name, value))


def _variables(builder: SetBuilder) -> list[str]:
    """Return the names in the head, in its order, and the other names with domains."""
    items = builder.head.items if isinstance(builder.head, Bracketed | Record) else (builder.head,)
    items = [item.value if isinstance(item, Named) else item for item in items]
    written = [name for item in items if isinstance(item, Scalar) for name in sorted(symbols(item.tree))]
    written = [name for name in written if ":" not in name]  # mathbb:R is no variable
    return list(dict.fromkeys((*written, *dict(builder.domains))))


def _variable(builder: SetBuilder) -> str:
    """Return the one name that the head of a set depends on, "" if there are more."""
    if builder.domains or not isinstance(builder.head, Scalar):
        return builder.domains[0][0] if len(builder.domains) == 1 else ""
    free = symbols(builder.head.tree)
    return free.pop() if len(free) == 1 else ""


def _values(domain: Answer, spans: tuple[Span, ...], *, conditions: bool) -> list[Tree] | None:
    """Return the values in a finite domain or among the integers in intervals; None for any other domain."""
    if isinstance(domain, Scalar) and domain.tree[0] == "sym" and domain.tree[1] in _LEAST:
        integers = _integers(domain, spans)
        return None if integers is None else [("num", n) for n in integers]
    if conditions or not isinstance(domain, Listing) or domain.joined != "{":
        return None
    values = [item.tree for item in domain.items if isinstance(item, Scalar)]
    return values if len(values) == len(domain.items) else None


def _satisfying(name: str, conditions: tuple[Answer, ...], budget: Budget) -> tuple[Span, ...] | None:
    """Return the numbers that satisfy all conditions on `name`; None if a condition is on anything else."""
    spans: tuple[Span, ...] = REALS
    for condition in conditions:
        solutions = _solutions(name, condition, budget)
        if solutions is None:
            return None
        spans = common(spans, solutions)
    return spans


def _solutions(name: str, condition: Answer, budget: Budget) -> tuple[Span, ...] | None:
    if isinstance(condition, Listing) and condition.joined == "or":
        parts = [_solutions(name, item, budget) for item in condition.items]
        return united(parts)
    if isinstance(condition, Named) and condition.name == name and isinstance(condition.value, Scalar):
        return real_set(Listing((condition.value,), "{"), budget)
    if isinstance(condition, Equation) and len(condition.sides) == 2:
        roots = roots_of(condition, name, budget)
        return real_set(Listing(tuple(map(Scalar, roots)), "{"), budget) if roots else None
    if isinstance(condition, Inequality) and name in (condition.name.strip("|"), variable_of(condition)):
        return real_set(condition, budget)
    return None


def _integers(domain: Scalar, spans: tuple[Span, ...]) -> list[int] | None:
    """Return the integers of a domain in these intervals; None if they are too many or not known."""
    integers = list[int]()
    for low, high in _whole_ends(domain, spans):
        if low is None or high is None or high - low >= MAX_ITEMS:
            return None
        integers += range(low, high + 1)
    if domain.tree[1] == "mathbb:N" and min(integers, default=1) < 1:
        return None
    return integers


def _with_whole_ends(builder: SetBuilder, domain: Scalar, spans: tuple[Span, ...]) -> SetBuilder:
    """Return n ≥ 3 over all integers for n > 2 over integers, and for n > 2 over positive integers."""
    ends = _whole_ends(domain, spans)
    if domain.tree[1] == "mathbb:N" and any(low is None or low < 1 for low, _ in ends):
        return builder
    intervals = (
        (NEGATIVE_INFINITY if low is None else ("num", low), INFINITY if high is None else ("num", high))
        for low, high in ends
    )
    condition = Listing(
        tuple(Bracketed("[", (Scalar(low), Scalar(high)), "]") for low, high in intervals), "{"
    )
    return replace(builder, domains=((builder.domains[0][0], INTEGERS),), conditions=(condition,))


def _whole_ends(domain: Scalar, spans: tuple[Span, ...]) -> list[tuple[int | None, int | None]]:
    """Return the first and the last integer of a domain in each interval, None where they are endless."""
    least = _LEAST[domain.tree[1]]
    ends = list[tuple[int | None, int | None]]()
    for span in spans:
        low = least if span.low.value < -_FAR else _first(span.low.value, closed=span.low.closed)
        if low is not None and least is not None:
            low = max(low, least)
        # _first(−high) is −(the greatest integer of the span).
        high = None if span.high.value > _FAR else -_first(-span.high.value, closed=span.high.closed)
        ends.append((low, high))
    return ends


_FAR = 10**15  # an end beyond it is no end of a list of integers


def _first(value: Value, *, closed: bool) -> int:
    """Return the first integer from a value on, after it unless it is `closed`."""
    nearest = int(value + 0.5) if value > 0 else int(value - 0.5)
    if abs(value - nearest) <= ROUNDING * max(1, abs(nearest)):
        return nearest if closed else nearest + 1
    return nearest if nearest > value else nearest + 1


def _listed(head: Answer, name: str, values: list[Tree]) -> Listing:
    if len(values) > MAX_ITEMS:
        raise TooLargeError(f"a set of more than {MAX_ITEMS}")
    return Listing(tuple(_at(head, name, value) for value in values), "{")


def _at(head: Answer, name: str, value: Tree) -> Answer:
    if isinstance(head, Scalar):
        return replace(head, tree=substituted(head.tree, name, value))
    if isinstance(head, Bracketed):
        return replace(head, items=tuple(_at(item, name, value) for item in head.items))
    return head


def _as_answer(spans: tuple[Span, ...]) -> Answer:
    if all(span.low == span.high for span in spans):
        return Listing(tuple(Scalar(span.low.tree) for span in spans), "{")
    parts = list(_parts(spans))
    answer = parts[0]
    for part in parts[1:]:
        answer = SetOperation("cup", answer, part)
    return answer


def _parts(spans: tuple[Span, ...]) -> Iterator[Answer]:
    for span in spans:
        if span.low == span.high:
            yield Listing((Scalar(span.low.tree),), "{")
        else:
            brackets = "(["[span.low.closed], ")]"[span.high.closed]
            yield Bracketed(brackets[0], (Scalar(span.low.tree), Scalar(span.high.tree)), brackets[1])


def _line(builder: SetBuilder, budget: Budget) -> tuple[Tree, Tree] | None:
    """Return a and b of a head a + b k over all integers k, b not 0; None for any other set."""
    if builder.conditions or len(builder.domains) != 1 or not isinstance(builder.head, Scalar):
        return None
    (name, domain), tree = builder.domains[0], builder.head.tree
    if domain != Scalar(("sym", _ALL_INTEGERS)) or symbols(tree) != {name}:
        return None
    start = substituted(tree, name, ("num", 0))
    step: Tree = ("add", (substituted(tree, name, ("num", 1)), ("neg", start)))
    line: Tree = ("add", (start, ("mul", (step, ("sym", name)))))
    if same_value(step, ("num", 0), budget) or not same_value(tree, line, budget):
        return None
    return start, step
