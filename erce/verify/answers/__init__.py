r"""Final answers as text → whether one means the same as a reference.

The reference decides how an answer is read, so that nothing is accepted by reading it some other way:

    tokens.py      text → LaTeX without Markdown and Unicode → tokens → their parts outside brackets
    expression.py  tokens → a tree · tree.py  its value, exact or in high precision; two trees → equal or not
    comparison.py  what each kind needs: a budget (limits.py), names before values
    reference.py   a reference → one value of a kind below, which then verifies answers: `equivalent`

The kinds: number.py (with units.py), written.py (words, numerals in a base, ratios, times), several.py
(tuples, lists, sets, matrices), relations.py (sets of real numbers, named values, equations, inequalities).
The class is the value of a reference; its `accepts` reads an answer as that kind, raises `UnparsedError` if
it cannot, and else compares. No kind compares itself with another.
"""
