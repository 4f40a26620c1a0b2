r"""Final answers as text → whether one means the same as a reference.

The reference decides how an answer is read, so that nothing is accepted by reading it some other way:

    surface.py      text → LaTeX without Markdown and Unicode · vocabulary.py  its commands
    lexer.py        → tokens → their parts outside brackets
    expression.py   tokens → a tree (tree.py) · evaluate.py  → its value, exact or in high precision
    equality.py     two trees → whether they are equal, exactly or at sample points
    comparison.py   what each kind needs: a budget (limits.py), conventions, names before values
    reference.py    a reference → one value of a kind below, which then judges answers: `equivalent`

One file for each kind: number.py (with units.py), numerals.py (bases, ratios, times), words.py, tuples.py,
intervals.py (sets of real numbers), sets.py (lists and sets), matrices.py, relations.py (named values,
equations, inequalities). The class is the value of a reference; its `accepts` reads an answer as that kind,
raises `UnparsedError` if it cannot, and else compares.
No kind compares itself with another.
"""
