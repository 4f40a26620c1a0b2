"""Figures are the same byte for byte, legible without colour, and coloured by the page that holds them."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from toys.studies import TASK, make_study

from erce.reporting.numbers.gains import summary
from erce.reporting.numbers.verdict import preferred
from erce.reporting.pages import figures
from erce.reporting.pages.figures import svg


@pytest.fixture(scope="module")
def study_summary(tmp_path_factory):
    return summary(
        make_study(tmp_path_factory.mktemp("study"), lams=(0.0, 0.25, 0.5, 1.0, 8.0), control=None)
    )


def test_curves_have_a_line_an_arm_and_no_two_look_alike():
    names = [f"λ = {lam}" for lam in range(30)]
    logs = {name: [(step, at + step) for step in range(5)] for at, name in enumerate(names)}
    axes = figures.curves(logs).axes[0]
    assert [line.get_label() for line in axes.lines] == names
    assert len({(line.get_color(), line._unscaled_dash_pattern) for line in axes.lines}) == 30


def test_the_same_summary_draws_the_same_bytes(study_summary):
    drawn = [svg(figures.accuracy(study_summary, TASK)) for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert "<dc:date>" not in drawn[0]
    ElementTree.fromstring(drawn[0])


def test_lines_of_arms_do_not_touch_however_many_there_are(tmp_path):
    lams = (-0.5, -0.25, 0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 16.0)
    size = {"seeds": (0,), "problems": 2, "validation": 1, "samples": 1, "steps": 0}
    names = ("label-smoothing:0.1", "dft")
    made = make_study(tmp_path / "runs", lams=lams, control=None, methods=names, **size)
    figure = figures.accuracy(summary(made), TASK)
    figure.draw_without_rendering()
    labels = figure.axes[0].get_yticklabels()
    assert [label.get_text() for label in labels][-2:] == list(names)
    ends = [label.get_transform().transform(label.get_position())[1] for label in labels]
    nearest = min(before - after for before, after in pairwise(ends))
    assert nearest > labels[0].get_fontsize() / 72 * figure.dpi


def test_every_arm_has_its_means_with_intervals_and_the_preferred_one_a_star(study_summary):
    axes = figures.accuracy(study_summary, TASK).axes[0]
    arms = study_summary.arms(TASK)
    rows = [study_summary.row(TASK, arm, name) for name in ("greedy", "sampled") for arm in arms]
    for row, drawn in zip(rows, axes.containers, strict=True):
        assert drawn.lines[0].get_xdata() == pytest.approx([100 * row.mean])
        low, high = (end.get_xdata()[0] for end in drawn.lines[1])
        assert [low, high] == pytest.approx([100 * end for end in row.ci])
        assert row.ci[0] <= row.mean <= row.ci[1]
    stars = {round(line.get_xdata()[0], 9) for line in axes.lines if line.get_marker() == "*"}
    best = [study_summary.row(TASK, preferred(study_summary, name), name) for name in ("greedy", "sampled")]
    assert stars == {round(100 * row.mean, 9) for row in best}
    base = {round(100 * row.mean, 9) for row in rows if row.arm.is_base}
    levels = {
        round(line.get_xdata()[0], 9)
        for line in axes.lines
        if len(line.get_xdata()) == 2 and line.is_dashed()
    }
    assert levels == base


def test_an_inline_figure_takes_every_colour_from_the_page(study_summary):
    text = figures.inline(figures.accuracy(study_summary, TASK), 'a "quoted" <figure>')
    assert set(re.findall(r"#[0-9a-f]{6}\b", text)) == set()
    assert 'aria-label="a &quot;quoted&quot; &lt;figure&gt;"' in text
    assert text.startswith("<svg role=")
    assert not re.search(r'<svg[^>]* width="', text)
    ElementTree.fromstring(text)
