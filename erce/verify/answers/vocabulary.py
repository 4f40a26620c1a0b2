"""The words of LaTeX, and what each command and function means."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _named(table: str) -> dict[str, str]:
    rows = (line.split() for line in table.strip().splitlines())
    return {name: meaning for meaning, *names in rows for name in names}


FUNCTIONS = _words(
    "cis sin cos tan cot sec csc arcsin arccos arctan arccot asin acos atan sinh cosh tanh ln log exp "
    "abs floor ceil"
)
TRIGONOMETRIC = _words("cis sin cos tan cot sec csc")
GREEK = _words(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma "
    "tau upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega ell hbar"
)
ACCENTS = _words("overline vec hat bar tilde mathbb widehat overrightarrow angle triangle measuredangle")
# Commands that may be part of a name: \theta, \angle ABC, k_{\max}.
NAMING = GREEK | ACCENTS | {"pi"}

# Commands that end a factor; all others begin one.
INFIX = _words(
    "pm mp cup cap in not setminus approx equiv sim cong to mapsto mod bmod pmod over choose ldots rfloor "
    "rceil implies Rightarrow rightarrow perp parallel land lor wedge vee subset subseteq"
)

# Plain words that stand for a command: sqrt(3), 2pi, cosx.
PLAIN = {
    **{name: name for name in FUNCTIONS | {"sqrt", "pi", "infty", "theta", "alpha", "beta", "lambda"}},
    "infinity": "infty",
    "inf": "infty",
    "oo": "infty",
    "Pi": "pi",
}

# Commands that do not change the value.
DROPPED = _words(
    "displaystyle textstyle scriptstyle limits nolimits large Large LARGE huge Huge small normalsize "
    "mathstrut big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr left right middle rm bf "
    "it boxed fbox tiny scriptsize footnotesize normalfont centering quad qquad thinspace enspace space "
    "hfill checkmark therefore"
)

# Commands around words or mathematics that do not change the meaning.
WRAPPERS = _words(
    "text textbf textit textrm textnormal textsf texttt textup mbox hbox mathrm mathbf mathit mathsf mathtt "
    "mathcal mathnormal boldsymbol bm bold operatorname emph underline mathop mathord"
)

# Commands with an operator's meaning, and other spellings of a command: first what is meant, then its names.
OPERATORS = _named(r"""
* cdot ast
× times
/ div
< lt
> gt
≤ le leq leqslant leqq
≥ ge geq geqslant geqq
≠ ne neq
| mid vert lvert rvert
: colon
\{ lbrace
\} rbrace
[ lbrack
] rbrack
( lparen
) rparen
' prime
° degree deg
% percent
€ euro
£ pounds
¥ textyen
₹ rupee
⟨ langle
⟩ rangle
\\ cr newline
""")
SYNONYMS = _named("""
phi varphi
epsilon varepsilon
theta vartheta
frac dfrac tfrac cfrac
binom dbinom tbinom
ldots dots dotsc cdots dotsb vdots
emptyset varnothing
setminus backslash
i imath
log lg
not notin
overline bar
vec overrightarrow
hat widehat
to rightarrow longrightarrow
cup bigcup
cap bigcap
""")

# Short plain words that are not products of letters.
SHORT_WORDS = _words("no on to yes odd all not any one two six ten")

PERCENT = frozenset({"percent", "percentage", "pct", "per cent", "%", "\\%"})
