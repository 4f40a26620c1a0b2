"""The words of LaTeX and of units, and what each command, function and unit means."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTIONS = _words(
    "cis sin cos tan cot sec csc arcsin arccos arctan arccot asin acos atan sinh cosh tanh sech csch "
    "coth ln log exp arsinh arcosh artanh arcsinh arccosh arctanh "
    "gcd lcm max min abs floor ceil"
)
TRIGONOMETRIC = _words("cis sin cos tan cot sec csc")
GREEK = _words(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma "
    "tau upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega ell hbar"
)
ACCENTS = _words("overline vec hat bar tilde mathbb widehat overrightarrow angle triangle measuredangle")
# Commands beside which × is the product of vectors.
VECTOR_SIGNS = _words("vec overrightarrow nabla")
# Commands that may be part of a name: \theta, \angle ABC, \frac{AB}{CD}, k_{\max}, \det A.
NAMING = GREEK | ACCENTS | {"frac", "pi", "max", "min", "det", "partial", "nabla"}

# Commands that end a factor; all others begin one.
INFIX = _words(
    "pm mp cup cap in not setminus approx equiv sim cong to mapsto mod bmod pmod over choose ldots rfloor "
    "rceil implies Rightarrow rightarrow perp parallel land lor subset subseteq"
)

# Plain words that stand for a command: sqrt(3), 2pi, cosx.
PLAIN = {
    **{name: name for name in FUNCTIONS | {"sqrt", "pi", "infty", "theta", "alpha", "beta", "lambda"}},
    "infinity": "infty",
    "inf": "infty",
    "oo": "infty",
    "Pi": "pi",
}

# Commands that stand for a word between two relations.
CONJUNCTIONS = {"lor": "or", "land": "and"}

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

# Commands with an operator's meaning, and other spellings of a command.
OPERATORS = {
    "cdot": "*",
    "times": "×",
    "ast": "*",
    "div": "/",
    "lt": "<",
    "gt": ">",
    "le": "≤",
    "leq": "≤",
    "leqslant": "≤",
    "leqq": "≤",
    "ge": "≥",
    "geq": "≥",
    "geqslant": "≥",
    "geqq": "≥",
    "ne": "≠",
    "neq": "≠",
    "mid": "|",
    "vert": "|",
    "lvert": "|",
    "rvert": "|",
    "colon": ":",
    "lbrace": "\\{",
    "rbrace": "\\}",
    "lbrack": "[",
    "rbrack": "]",
    "lparen": "(",
    "rparen": ")",
    "prime": "'",
    "degree": "°",
    "deg": "°",
    "percent": "%",
    "euro": "€",
    "pounds": "£",
    "textyen": "¥",
    "rupee": "₹",
    "langle": "⟨",
    "rangle": "⟩",
    "cr": "\\\\",
    "newline": "\\\\",
}
SYNONYMS = {
    "varphi": "phi",
    "varepsilon": "epsilon",
    "vartheta": "theta",
    "vee": "lor",
    "wedge": "land",
    "lnot": "neg",
    "dfrac": "frac",
    "tfrac": "frac",
    "cfrac": "frac",
    "dbinom": "binom",
    "tbinom": "binom",
    "dots": "ldots",
    "dotsc": "ldots",
    "cdots": "ldots",
    "dotsb": "ldots",
    "vdots": "ldots",
    "varnothing": "emptyset",
    "backslash": "setminus",
    "imath": "i",
    "top": "T",
    "intercal": "T",
    "lg": "log",
    "jmath": "j",
    "notin": "not",
    "bar": "overline",
    "overrightarrow": "vec",
    "widehat": "hat",
    "rightarrow": "to",
    "longrightarrow": "to",
    "bigcup": "cup",
    "bigcap": "cap",
}

# Short plain words that are not products of letters.
SHORT_WORDS = _words(
    "no on is yes odd one two six ten all not any red now own won saw was god dog tea eat ate top pot opt "
    "net but tub for are the day mod may jun jul boy men yet of per set"
)

BASE_NAMES = {
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "sixteen": 16,
}

_UNIT_SPELLINGS = """
mm: millimeter millimeters millimetre millimetres
cm: centimeter centimeters centimetre centimetres
dm: decimeter decimeters decimetre decimetres
m: meter meters metre metres
km: kilometer kilometers kilometre kilometres
inch: inches in
foot: feet ft
yard: yards yd yds
mile: miles mi
mg: milligram milligrams
g: gram grams
kg: kilogram kilograms kilo kilos
pound: pounds lb lbs
ounce: ounces oz
ton: tons
ml: milliliter milliliters millilitre millilitres
liter: l liters litre litres
gallon: gallons gal
quart: quarts qt
pint: pints pt
cup: cups
second: s seconds sec secs
minute: minutes min mins
hour: h hours hr hrs
day: days
week: weeks
month: months
year: years yr yrs
decade: decades
century: centuries
degree: degrees deg
celsius:
fahrenheit:
radian: radians rad
dollar: dollars usd
cent: cents
euro: euros eur
yuan:
rupee: rupees rs inr
penny: pennies
nickel: nickels
dime: dimes
rpm:
hz: hertz
newton: n newtons
joule: j joules
calorie: calories
watt: w watts
kilowatt: kw kilowatts
volt: v volts
ampere: amperes amp amps
milliampere: ma milliamperes
kelvin: kelvins
mol: mole moles
mmol: millimole millimoles
kj: kilojoule kilojoules
kwh:
pascal: pa pascals
kpa: kilopascal kilopascals
atm: atmosphere atmospheres
ohm: ohms
kiloohm: kiloohms kohm kohms
megaohm: megaohms
coulomb: c coulombs
farad: farads f
microfarad: microfarads microf uf
nanofarad: nanofarads nf
picofarad: picofarads pf
tesla: teslas
micrometer: micrometers micrometre micrometres microm um
microsecond: microseconds micros us
nm: nanometer nanometers nanometre nanometres
ms: millisecond milliseconds
khz: kilohertz
mhz: megahertz
ghz: gigahertz
acre: acres
hectare: hectares
tablespoon: tablespoons tbsp
teaspoon: teaspoons tsp
"""
# Each spelling of a unit → the unit.
UNITS = {
    spelling: unit.strip()
    for unit, _, spellings in (line.partition(":") for line in _UNIT_SPELLINGS.strip().splitlines())
    for spelling in (unit.strip(), *spellings.split())
}
POWERS_OF_UNITS = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
# Short plain words that are units after a number ("10cm"); a single letter may be a variable.
SHORT_UNITS = frozenset(word for word in UNITS if 2 <= len(word) <= 3) - {
    "nm",
    "ms",
    "pa",
    "uf",
    "um",
    "us",
    "nf",
    "pf",
} | {
    "sq",
    "cu",
    "mpg",
    "mph",
    "kph",
    "fps",
    "per",
    "th",
    "st",
    "nd",
    "rd",
}
PERCENT = frozenset({"percent", "percentage", "pct", "per cent", "%", "\\%"})

# Abbreviated units of a speed or a consumption → the units above and below the fraction bar.
SPEEDS = {
    "mpg": ("mile", "gallon"),
    "mph": ("mile", "hour"),
    "kmph": ("km", "hour"),
    "kph": ("km", "hour"),
    "fps": ("foot", "second"),
}
# Signs of a currency → its unit.
CURRENCIES = {"\\$": "dollar", "€": "euro", "£": "pound", "¥": "yuan", "₹": "rupee"}
# Words for money that may also stand before a number.
MONEY = frozenset({"rs", "usd", "inr", "eur"})

# Words after a number that multiply it.
SCALES = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
