"""Tokens of one expression → its tree, by recursive descent under a limit of depth."""

from collections.abc import Callable
from fractions import Fraction
from itertools import groupby

from erce.verify.answers.limits import MAX_DEPTH, MAX_DIGITS, TooLargeError, UnparsedError
from erce.verify.answers.tokens import ACCENTS, END, FUNCTIONS, GREEK, INFIX, Token, depth_change, split
from erce.verify.answers.tree import Tree

_ADDITIVE = frozenset("+-")
_OPENING = frozenset("([{")
# In f(x + 1) each of these is a function; most other letters only in P(x) and P(2), as P(1 + r) is a product.
_UNKNOWN_FUNCTIONS = frozenset("fgFGT") | {"Gamma", "zeta"}
_FACTORS = frozenset("abcdeijklmntxyz") | {"alpha", "beta", "gamma", "delta", "epsilon", "theta", "lambda"}
_CLOSING = {"(": ")", "[": "]", "{": "}"}


def parse_tokens(tokens: list[Token]) -> Tree:
    r"""Return the tree of one expression, as nested tuples whose first entry is the kind of node.

    - `("num", value)`, `("dec", value)`: a number without and with a decimal point, an int or a Fraction
    - `("sym", name)`: a symbol such as `x`, `x_1`, `f'`, `f(x)`, `alpha`, `overline:AB`, `mathbb:Z`, `52_8`
    - `("const", name)`: `pi`, `e`, `i` (the imaginary unit) or `inf`; `("deg",)`: one degree, π/180
    - `("neg", a)`, `("frac", a, b)`, `("pow", a, b)`, `("root", a, n)`: -a, a/b, a^b, the n-th root of a
    - `("add", terms)`, `("mul", factors)`: a sum, a product of two or more
    - `("call", name, arguments)`: sin, arcsin, sinh and the like, ln, log (base and argument), abs, fact,
      binom

    Terms, factors and arguments are tuples of trees. `UnparsedError` if the tokens are no such expression,
    `TooLargeError` beyond a limit.

    >>> from erce.verify.answers.tokens import tokenize
    >>> parse_tokens(tokenize(r"2\sqrt{x}")), parse_tokens(tokenize("1.50"))
    (('mul', (('num', 2), ('root', ('sym', 'x'), ('num', 2)))), ('dec', Fraction(3, 2)))
    """
    parser = ExpressionParser(tokens)
    tree = parser.sum()
    if parser.next.kind != END.kind:
        raise UnparsedError(f"{parser.next.text!r} where the expression should end")
    return tree


class ExpressionParser:
    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = [*tokens, END]
        self.at = 0
        self.depth = 0
        self.bars = 0  # open absolute values

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    @property
    def before(self) -> Token:
        return self.tokens[self.at - 1]

    def take(self) -> Token:
        token = self.tokens[self.at]
        self.at += token is not END
        return token

    def eat(self, sign: str) -> bool:
        token = self.tokens[self.at]
        if token.text != sign or token.kind != "sign":
            return False
        self.at += 1
        return True

    def need(self, sign: str) -> None:
        if not self.eat(sign):
            raise UnparsedError(f"{self.next.text or 'the end'!r} where {sign!r} should stand")

    def sum(self) -> Tree:
        terms: list[Tree] = []
        while True:
            token = self.next
            if token.kind == "sign" and token.text in _ADDITIVE:
                self.at += 1
                term = self.product()
                terms.append(("neg", term) if token.text == "-" else term)
            elif not terms:
                terms.append(self.product())
            else:
                break
        tree: Tree = terms[0] if len(terms) == 1 else ("add", tuple(terms))
        if self.next.kind == "command" and self.next.text in ("over", "choose"):
            over = self.take().text == "over"
            below = self.sum()
            return ("frac", tree, below) if over else ("call", "binom", (tree, below))
        return tree

    def product(self) -> Tree:
        above, below = [self.power()], list[Tree]()
        while True:
            if self.eat("*") or self.eat("×"):
                above.append(self.power())
            elif self.eat("/"):
                below.append(self.power())
            elif not self.at_factor():
                break
            elif self.next.kind == "number" and self.before.kind == "letter" and self.before.text != "i":
                raise UnparsedError(f"the number {self.next.text[:20]!r} after a letter")
            elif above[-1][0] == "pow" and self.next.kind == "number":  # 2^3 5
                above.append(self.power())
            elif self.before.kind == "number" and (self.next.kind == "number" or self.next.text == "frac"):
                above[-1] = self.mixed(above[-1], bool(below))
            else:
                above.append(self.power())
        tree = above[0] if len(above) == 1 else ("mul", tuple(_join_matrix_products(above)))
        if not below:
            return tree
        return "frac", tree, below[0] if len(below) == 1 else ("mul", tuple(below))

    def at_factor(self) -> bool:
        """Return whether the next token begins another factor."""
        kind, text = self.next.kind, self.next.text
        if kind == "command":
            return text not in INFIX
        if kind == "sign":
            return text in _OPENING or (text == "|" and not self.bars)
        return kind in ("number", "letter")

    def mixed(self, whole: Tree, divided: bool) -> Tree:
        r"""Read what follows a number: 1 1/2 and `1\frac12` are mixed numbers, `2\frac x2` is a product."""
        plain = self.next.kind == "number"
        part = self.power()
        if plain and not divided and self.eat("/"):
            part = "frac", part, self.power()
        is_fraction = part[0] == "frac" and part[1][0] == part[2][0] == "num" and part[2][1]
        if is_fraction and whole[0] == "num":
            return "num", integral(whole[1] + Fraction(part[1][1]) / part[2][1])
        if plain:
            raise UnparsedError("a number after a number")
        return "mul", (whole, part)

    def power(self) -> Tree:
        sign = 1
        while self.next.kind == "sign" and self.next.text in _ADDITIVE:
            sign = -sign if self.take().text == "-" else sign
        self.descend()
        tree = self.postfix(self.atom())
        self.depth -= 1
        return tree if sign > 0 else ("neg", tree)

    def descend(self) -> None:
        """Count a level of depth; every recursion passes through `power` or `argument`."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooLargeError(f"more than {MAX_DEPTH} levels")

    def postfix(self, tree: Tree) -> Tree:
        for _ in range(MAX_DEPTH):
            if self.next.kind != "sign":
                return tree
            if self.eat("^"):
                tree = ("pow", tree, self.exponent())
            elif self.eat("!"):
                if self.next.text == "!" and self.next.kind == "sign":
                    raise UnparsedError("a double factorial")
                tree = ("call", "fact", (tree,))
            elif self.eat("°"):
                tree = ("mul", (tree, ("deg",)))
            elif tree[0] in ("num", "dec") and self.eat("_"):
                tree = in_base(tree, self.subscript())
            else:
                return tree
        raise TooLargeError(f"more than {MAX_DEPTH} levels")

    def exponent(self) -> Tree:
        if self.next.text == "{":
            return self.group("{", "}")
        if self.next.kind == "number":
            tree = number(self.take().text)
            return ("pow", tree, self.exponent()) if self.eat("^") else tree
        return self.power()

    def group(self, opening: str, closing: str) -> Tree:
        self.need(opening)
        outside, self.bars = self.bars, 0
        tree = self.sum()
        self.bars = outside
        self.need(closing)
        return tree

    def argument(self) -> Tree:
        """Read one argument of a command: a group, or one token."""
        self.descend()
        tree = self.group("{", "}") if self.next.text == "{" else self.atom()
        self.depth -= 1
        return tree

    def two_arguments(self) -> tuple[Tree, Tree]:
        r"""Read the arguments of `\frac` and `\binom`: `\frac12` is a half; three digits are an error."""
        token = self.next
        if token.kind != "number" or len(token.text) == 1:
            first = self.argument()
            if self.next.kind == "number" and len(self.next.text) > 1:
                raise UnparsedError(f"the digits {self.next.text[:20]!r} as the second part of a fraction")
            return first, self.argument()
        if len(token.text) > 2 or not token.text.isdigit():
            raise UnparsedError(f"the digits {token.text[:20]!r} as a fraction")
        self.take()
        return number(token.text[0]), number(token.text[1])

    def applied(self) -> Tree:
        """Read the argument of a function; sin 2x applies to 2x, but sin x cos y is a product."""
        if self.next.kind == "sign" and self.next.text in _OPENING:
            return self.atom()
        factors = [self.power()]
        while self.next.kind in ("number", "letter") or (
            self.next.kind == "command"
            and (self.next.text in GREEK or self.next.text in ("pi", "frac", "sqrt"))
        ):
            factors.append(self.power())
        return factors[0] if len(factors) == 1 else ("mul", tuple(factors))

    def subscript(self) -> str:
        token = self.take()
        if token.text != "{":
            return token.text
        start, depth = self.at, 1
        while depth and self.next is not END:
            token = self.take()
            depth += (token.text == "{") - (token.text == "}")
        return "".join(token.text for token in self.tokens[start : self.at - 1])

    def symbol(self, name: str) -> Tree:
        if self.eat("_"):
            name = f"{name}_{self.subscript()}"
        while self.next.is_sign("'"):
            self.at += 1
            name += "'"
        if name in ("e", "i"):
            return "const", name
        return self.application(name) or ("sym", name)

    def application(self, name: str) -> Tree | None:
        """Read f(x) as a symbol of its own: nothing is known of f; None if the name stands for a factor."""
        letter = name.partition("_")[0].rstrip("'")
        inverse = "".join(token.text for token in self.tokens[self.at : self.at + 5]) == "^{-1}"
        start = self.at + 5 * (inverse and letter in _UNKNOWN_FUNCTIONS)
        argument, closing = [*self.tokens[start + 1 : start + 3], END, END][:2]
        alone = argument.kind in ("letter", "number") and closing.is_sign(")") and letter not in _FACTORS
        if not self.tokens[start].is_sign("(") or not (letter in _UNKNOWN_FUNCTIONS or alone):
            return None
        depth, end = 1, start + 1
        while depth and self.tokens[end] is not END:
            depth += depth_change(self.tokens[end])
            end += 1
        written = "".join(token.text for token in self.tokens[self.at : end])
        self.at = end
        return "sym", name + written

    def atom(self) -> Tree:
        """Read a number, a symbol, a bracket, or a command with its arguments."""
        token = self.take()
        kind, text = token.kind, token.text
        if kind == "number":
            if self.at > 1 and text[0] == "0" and text[1:2].isdigit():
                raise UnparsedError("a date, or digits that are not a number")
            return number(text)
        if kind == "letter":
            return self.symbol(text)
        if kind == "command":
            return self.command(text)
        if kind == "sign" and (text in _OPENING or text == "|"):
            return self.bracket(text)
        raise UnparsedError(f"{text or 'the end'!r} where a number or a symbol should stand")

    def bracket(self, opening: str) -> Tree:
        if opening != "|":
            self.at -= 1
            return self.group(opening, _CLOSING[opening])
        self.bars += 1
        tree = self.sum()
        self.bars -= 1
        self.need("|")
        return "call", "abs", (tree,)

    def command(self, name: str) -> Tree:
        if name in _COMMANDS:
            return _COMMANDS[name](self)
        if name in FUNCTIONS:
            return self.function(name)
        if name in GREEK:
            return self.symbol(name)
        if name in ACCENTS:
            return "sym", f"{name}:{self.subscript()}"
        raise UnparsedError(f"the command {name[:40]!r}")

    def function(self, name: str) -> Tree:
        base: tuple[Tree, ...] = ()
        if name == "log":
            base = (("num", 10),)
            if self.eat("_"):
                base = (self.argument() if self.next.kind != "number" else number(self.take().text),)
        exponent = self.exponent() if self.eat("^") else None
        if exponent == ("neg", ("num", 1)):
            raise UnparsedError(f"the inverse of {name}")
        argument = self.applied()
        tree: Tree = ("pow", ("const", "e"), argument) if name == "exp" else ("call", name, (*base, argument))
        return tree if exponent is None else ("pow", tree, exponent)

    def up_to(self, closing: str) -> Tree:
        """Read what a command closes: the inside of a floor."""
        tree = self.sum()
        if self.take().text != closing:
            raise UnparsedError(f"no {closing}")
        return tree

    def root(self) -> Tree:
        degree: Tree = self.group("[", "]") if self.next.text == "[" else ("num", 2)
        whole = self.next.kind == "number"
        return "root", number(self.take().text) if whole else self.argument(), degree


def _join_matrix_products(factors: list[Tree]) -> list[Tree]:
    """Return the factors with each run of different capital letters, which may be matrices, as one factor.

    AB is not BA, nor ABA the same as A^2B; P(A)P(B) and V = IR, as products of numbers, pay for it.
    """
    kept = list[Tree]()
    for are_capitals, group in groupby(factors, _is_capital):
        run = list(group)
        kept += [("sym", str(run))] if are_capitals and len(set(run)) > 1 else run
    return kept


def _is_capital(factor: Tree) -> bool:
    base = factor[1] if factor[0] == "pow" else factor
    return base[0] == "sym" and len(base[1]) == 1 and base[1].isupper()


_COMMANDS: dict[str, Callable[[ExpressionParser], Tree]] = {
    "frac": lambda parser: ("frac", *parser.two_arguments()),
    "binom": lambda parser: ("call", "binom", parser.two_arguments()),
    "sqrt": ExpressionParser.root,
    "pi": lambda parser: ("const", "pi"),
    "infty": lambda parser: ("const", "inf"),
    "i": lambda parser: parser.symbol("i"),
    "lfloor": lambda parser: ("call", "floor", (parser.up_to("rfloor"),)),
    "lceil": lambda parser: ("call", "ceil", (parser.up_to("rceil"),)),
}


def number(text: str) -> Tree:
    """Return the node of a number token; 0.1|36 is 0.1363636…"""
    if len(text) > MAX_DIGITS:
        raise TooLargeError(f"a number of {len(text)} digits")
    if "|" not in text:
        return ("dec", integral(Fraction(text))) if "." in text else ("num", int(text))
    before, _, repeated = text.partition("|")
    whole, _, digits = before.partition(".")
    # x = 0.1363636… has 1000 x - 10 x = 136 - 1: the repeated digits cancel.
    once, shifted = int("0" + whole + digits), int(whole + digits + repeated)
    return "num", integral(Fraction(shifted - once, (10 ** len(repeated) - 1) * 10 ** len(digits)))


def in_base(numeral: Tree, base: str) -> Tree:
    """Return what digits mean in a base: in ten their number, in any other a symbol that is only itself."""
    base = base.strip("{}")
    if not base.isdigit() or base in ("0", "1"):
        raise UnparsedError(f"the base {base[:20]!r}")
    return numeral if base == "10" else ("sym", f"{numeral[1]}_{base}")


def integral(value: Fraction) -> int | Fraction:
    """Return the value, as an int if it is an integer."""
    return value.numerator if value.denominator == 1 else value


def join_digit_groups(tokens: list[Token]) -> list[Token]:
    """Return the tokens with 1,234,567 as one number, unless its commas may separate a list.

    They do not if there are no other commas, or if all other commas have a space after them.
    """
    parts, commas = split(tokens, lambda token: token.is_sign(","))
    joined, grouping = parts[0], False
    for comma, before, part in zip(commas, parts, parts[1:], strict=False):
        grouping = not comma.spaced and _is_group(before, part, follows=grouping and len(before) == 1)
        if grouping:
            joined[-1] = joined[-1]._replace(text=joined[-1].text + part[0].text)
            joined += part[1:]
        elif part and not part[0].spaced:
            return tokens
        else:
            joined += [comma, *part]
    return joined


def _is_group(before: list[Token], part: list[Token], *, follows: bool) -> bool:
    """Return whether `part` goes on with thousands of the number before it, the first ones or not."""
    if not before or not part or part[0].spaced:
        return False
    number, group = before[-1], part[0]
    if number.kind != "number" or group.kind != "number" or "." in number.text:
        return False
    is_first = len(number.text) <= 3 and number.text != "0"
    return len(group.text.partition(".")[0]) == 3 and (follows or is_first)
