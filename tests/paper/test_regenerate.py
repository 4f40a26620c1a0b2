"""From the paper's seeds to its printed tables."""

import runpy

import pytest

from erce.paper import lookup, tables
from erce.paper.regenerate import (
    PrintedLine,
    Remade,
    best_gain,
    change,
    change_as_printed,
    regenerate,
    regenerated_lines,
)


def test_all_thirty_per_seed_rows_come_out_digit_for_digit():
    rows = [row for row in regenerate() if row.printed.seeds]
    assert len(rows) == 30
    assert [str(row.printed) for row in rows if not row.is_exact] == []


def test_printed_seeds_come_out_within_their_rounding():
    for row in regenerate():
        for printed, remade in zip(row.printed.seeds, row.remade.seeds, strict=True):
            assert abs(float(printed) - float(remade)) < 1.0001e-4


def test_summaries_come_out_of_the_seeds_but_for_one_tie():
    rows = [row for row in regenerate() if not row.printed.seeds]
    assert len(rows) == 47
    assert [(row.table.label, row.printed.lam) for row in rows if not row.is_exact] == [
        ("tab:mbpp-greedy-vs-sampled", "0.7")
    ]
    assert all(row.agrees for row in rows)


def test_a_row_reads_as_printed():
    rows = {(row.table.label, row.printed.lam): row for row in regenerate()}
    assert str(rows["tab:entropy_appendix_results", "8"].remade) == (
        "8 0.6020 0.5900 0.5540 0.5760 0.5860 0.5816 ± 0.0161"
    )
    assert str(rows["tab:mbpp_entropy_main_results", "0"].remade) == "0 0.5270 ± 0.0103"


@pytest.mark.parametrize(
    ("mean", "sd", "tie", "agrees"),
    [
        ("0.5138", "0.0153", False, True),
        ("0.5137", "0.0153", True, True),
        ("0.5137", "0.0153", False, False),  # off by one without a tie is another number
        ("0.5136", "0.0153", True, False),
        ("0.5137", "0.0152", True, False),
    ],
)
def test_only_a_tie_excuses_the_last_digit(mean, sd, tie, agrees):
    printed = PrintedLine("0.7", (), mean, sd)
    row = Remade(tables()[0], printed, PrintedLine("0.7", (), "0.5138", "0.0153"), tie)
    assert row.agrees is agrees


@pytest.mark.parametrize("lam", [0.3, 0.5, 1, 2, 3, 4, 6, 8])
def test_the_papers_own_intervals_come_out_digit_for_digit(lam):
    table = lookup("gsm8k-answer-only", "greedy")
    assert change(table, lam) == change_as_printed(table.row(lam)) != ""


def test_what_has_no_printed_interval_has_no_text():
    assert change_as_printed(lookup("gsm8k", "greedy").row(1)) == ""


@pytest.mark.parametrize(
    ("task", "decoding", "lam", "points"),
    [
        ("gsm8k", "greedy", 8, "+9.04"),
        ("mbpp", "greedy", 1, "+4.40"),
        ("math", "greedy", 4, "+5.17"),
        ("gsm8k", "sampled", 8, "+19.00"),
        ("mbpp", "sampled", 1, "+10.13"),  # exactly 10.125; the paper has 10.12
        ("math", "sampled", 8, "+9.79"),
    ],
)
def test_the_gains_of_the_text_come_out_of_the_tables(task, decoding, lam, points):
    assert best_gain(lookup(task, decoding)) == (lam, points)


def test_the_lines_count_rows_and_name_the_tie():
    lines = regenerated_lines()
    assert len(lines) == 10
    (tie,) = (line for line in lines if "tie" in line)
    assert tie == (
        "tab:mbpp-greedy-vs-sampled (mbpp, sampled): 7 of 8 rows digit for digit; "
        "λ = 0.7 is printed 0.5137, 0.5138 here, a tie in rounding."
    )


def test_the_module_prints_rows_lines_and_sentences(capsys):
    runpy.run_module("erce.paper", run_name="__main__")
    text = capsys.readouterr().out
    assert "  1.5 0.5600 0.5600 0.5550 0.5400 0.5550 0.5540 ± 0.0073\n" in text
    assert "tab:math-sampled-seeds (math, sampled): 5 of 5 rows digit for digit." in text
    assert "significant after Holm: λ = 0.7, 1, 1.5, 2; not: 0.3, 3, 6." in text
