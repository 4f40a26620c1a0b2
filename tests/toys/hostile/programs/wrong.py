"""Programs that are simply wrong or broken, which no leniency may pass."""

from toys.hostile.corpus import Family

wrong = Family("wrong", "fail")
LIST = ("assert twice([1, 2]) == [2, 4]", "assert twice([]) == []")

PROGRAMS = [
    wrong("wrong_off_by_one", "def double(n):\n    return n + n + (n > 20)\n"),
    wrong("wrong_text_of_the_answer", "def double(n):\n    return str(n * 2)\n"),
    wrong("wrong_nearly", "def double(n):\n    return n * 2 + 1e-9\n"),
    wrong("wrong_tuple_for_a_list", "def twice(values):\n    return tuple(v * 2 for v in values)\n", *LIST),
    wrong("wrong_name_is_missing", "def doubled(n):\n    return n * 2\n"),
    wrong(
        "wrong_leaves_it_to_the_builtin",
        "def total(values):\n    return 6\n",
        "assert sum([1, 2, 3]) == 6",
        entry_points=("sum",),
    ),
    wrong("wrong_is_prose", "To double a number, add it to itself.\n"),
    wrong("wrong_is_empty", ""),
    wrong("wrong_null_bytes", "def double(n):\x00\n    return n * 2\n"),
    wrong("wrong_asks_for_input", "factor = int(input())\n\ndef double(n):\n    return n * factor\n"),
    wrong("wrong_expression_of_great_depth", "double = " + "-" * 100000 + "1\n"),
]
