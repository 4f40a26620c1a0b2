"""The terminal's table and the paper's, in every format."""

import csv
import io
import re

import numpy as np
import pytest
from rich.console import Console
from toys.studies import CONTROL, TASK, make_study

from erce.reporting.format import interval
from erce.reporting.numbers.gains import TableRow, summary
from erce.reporting.pages.tables import Sheet, comma_separated, latex, markdown, print_tables
from erce.types import BASELINE, CROSS_ENTROPY, Arm

GSM8K = {  # the paper's per-seed table
    0.0: [0.5080, 0.4620, 0.4960, 0.4940, 0.4960],
    0.3: [0.4840, 0.5140, 0.5040, 0.5100, 0.5160],
    8.0: [0.6020, 0.5900, 0.5540, 0.5760, 0.5860],
}


def _row(lam, scores, method="cross-entropy"):
    return TableRow(
        task="gsm8k",
        arm=Arm(lam, method),
        decoding="greedy",
        mean=float(np.mean(scores)),
        sd=float(np.std(scores, ddof=1)) if len(scores) > 1 else None,
        seeds=dict(enumerate(scores)),
        n_seeds=len(scores),
        n_problems=500,
        n_samples=1,
        validation=None,
        reasons={"numeric": 1.0},
        tokens=100.0,
        entropy=0.5,
    )


ROWS = [_row(None, [0.732]), *(_row(lam, scores) for lam, scores in GSM8K.items())]


def test_the_table_in_markdown():
    lines = markdown(Sheet(ROWS, [], Arm(0.3), CROSS_ENTROPY)).splitlines()
    assert lines[:6] == [
        "| arm | Pass@1 |",
        "| --- | ---: |",
        "| base model | 0.7320 |",
        "| λ = 0 | 0.4912 ± 0.0172 |",
        "| λ = 0.3 ★ | 0.5056 ± 0.0129 |",
        "| λ = 8 | **0.5816** ± 0.0180 |",
    ]
    assert "± is the sample standard deviation (n − 1) over 5 seeds" in lines[-1]
    fewer = Sheet([*ROWS, _row(1.0, [0.5, 0.6, 0.7])], [], None, CROSS_ENTROPY)
    assert "(n − 1) over 3 to 5 seeds" in markdown(fewer)


def test_a_row_in_latex_is_the_papers_up_to_the_spread():
    text = latex(Sheet(ROWS, [], Arm(8.0), CROSS_ENTROPY))
    assert r"$\lambda$ = 0 & 0.4912 $\pm$ 0.0172 \\" in text
    assert r"= 8$^{\star}$ & \textbf{0.5816} $\pm$ 0.0180 \\" in text
    assert "base model & 0.7320 \\\\" in text
    for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}"):
        assert text.count(rule) == 1


@pytest.mark.parametrize(
    ("name", "latex_cell", "markdown_cell"),
    [
        ("dpo_v2", r"dpo\_v2", "dpo_v2"),
        ("50% & #1 at $2", r"50\% \& \#1 at \$2", "50% & #1 at $2"),
        (
            r"{a}~b^c\input",
            r"\{a\}\textasciitilde{}b\textasciicircum{}c\textbackslash{}input",
            r"{a}~b^c\input",
        ),
        ("two\nlines", "two lines", "two lines"),
        ("a|b", "a|b", r"a\|b"),
    ],
)
def test_the_name_of_an_imported_arm_is_text_in_latex_and_one_cell_in_markdown(
    name, latex_cell, markdown_cell
):
    sheet = Sheet([*ROWS, _row(0.0, GSM8K[8.0], name)], [], None, CROSS_ENTROPY)
    assert latex(sheet).splitlines()[-3].startswith(f"{latex_cell} & ")
    assert f"| {markdown_cell} | " in markdown(sheet).splitlines()[6]


def test_csv_has_full_precision_and_says_which_spread():
    table = list(
        csv.DictReader(io.StringIO(comma_separated(Sheet(ROWS, [0, 1, 5], Arm(0.3), CROSS_ENTROPY))))
    )
    assert [line["lam"] for line in table] == ["base", "0", "0.3", "8"]
    assert [line["arm"] for line in table] == ["base model", "λ = 0", "λ = 0.3", "λ = 8"]
    assert float(table[1]["sd_sample"]) == np.std(GSM8K[0.0], ddof=1)
    assert (table[0]["sd_sample"], table[0]["seed_0"], table[1]["seed_5"]) == ("", "", "")
    assert [line["chosen"] for line in table] == ["0", "0", "1", "0"]


def test_every_arm_has_its_name_in_every_format():
    sheet = Sheet(
        [_row(-0.1, GSM8K[0.3]), *ROWS, _row(0.0, GSM8K[8.0], "focal:2")], [], BASELINE, CROSS_ENTROPY
    )
    assert [line.split(" | ")[0] for line in markdown(sheet).splitlines()[2:8]] == [
        "| λ = −0.1",
        "| base model",
        "| λ = 0 ★",
        "| λ = 0.3",
        "| λ = 8",
        "| focal:2",
    ]
    assert markdown(sheet).count("**0.5816**") == 2  # ties are all bold, and the base model is never the best
    assert "**0.7320**" not in markdown(sheet)
    text = latex(sheet)
    assert r"$\lambda$ = $-$0.1 & 0.5056" in text
    assert r"$\lambda$ = 0$^{\star}$ & 0.4912" in text
    assert r"focal:2 & \textbf{0.5816}" in text
    table = list(csv.DictReader(io.StringIO(comma_separated(sheet))))
    assert [(line["lam"], line["method"], line["chosen"]) for line in table[:3]] == [
        ("-0.1", "cross-entropy", "0"),
        ("base", "", "0"),
        ("0", "cross-entropy", "1"),
    ]
    assert (table[-1]["lam"], table[-1]["method"], table[-1]["chosen"]) == ("0", "focal:2", "0")


def _printed(study_summary):
    console = Console(file=io.StringIO(), width=80)
    print_tables(study_summary, console)
    return console.file.getvalue()


def test_the_terminal_table_has_other_methods_below_the_lams_and_says_what_they_are(tmp_path):
    changes = {"lams": (-0.1, 0.0, 0.5), "methods": ("eaft", "label-smoothing:0.1"), "control": None}
    study = summary(make_study(tmp_path / "runs", **changes))
    printed = _printed(study)
    row = study.row(TASK, Arm(0.0, "eaft"), "sampled")
    line = next(line for line in printed.splitlines() if line.startswith(" eaft"))
    assert f"{interval(row.over_base)} {interval(row.gain)}" in re.sub(" +", " ", line)
    below = [line[:11].strip() for line in printed.splitlines()[5:12] if line.split()]
    assert below == ["λ = −0.1", "λ = 0", "λ = 0.5", "eaft", "label-", "smoothing:", "0.1"]
    assert "…" not in printed
    assert max(map(len, printed.splitlines())) <= 80
    notes = " ".join(printed.split()).partition("±: ")[2].split(" · ")
    assert all(len(note.split()) <= 6 for note in notes)


def test_the_terminal_table_has_room_for_the_arms_of_a_grid_whose_base_loss_has_a_long_name(tmp_path):
    changes = {"base_loss": "label-smoothing:0.1", "lams": (0.0, 4.0), "control": None, "steps": 12_345}
    printed = _printed(summary(make_study(tmp_path / "runs", **changes)))
    assert "…" not in printed
    assert re.findall(r"^ (label-|smoothing:|0\.1)", printed, re.MULTILINE)[:3] == [
        "label-",
        "smoothing:",
        "0.1",
    ]


def test_the_terminal_table_cuts_no_number_and_a_task_without_a_finished_cell_has_none(tmp_path):
    skip = {(CONTROL, lam, seed) for lam in (None, 0.0, 0.25, 0.5, 1.0) for seed in range(3)}
    made = make_study(tmp_path / "runs", lams=(0.0, 0.25, 0.5, 1.0), skip=skip, problems=10)
    text = _printed(summary(made))
    assert TASK in text
    assert CONTROL not in text
    assert max(map(len, text.splitlines())) <= 80
    assert len(re.findall(r"\d+\.\d ± \d+\.\d", text)) == 4 * 2
