"""Figures are the same byte for byte, legible without colour, and coloured by the page that holds them."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from toys.studies import TASK, make_study

from erce.reporting.numbers.gains import summary
from erce.reporting.pages import figures
from erce.reporting.pages.figures import svg
from erce.types import Arm


@pytest.fixture(scope="module")
def study_summary(tmp_path_factory):
    return summary(
        make_study(tmp_path_factory.mktemp("study"), lams=(0.0, 0.25, 0.5, 1.0, 8.0), control=None)
    )


def test_the_same_summary_draws_the_same_bytes(study_summary):
    drawn = [svg(figures.accuracy(study_summary, TASK)) for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert "<dc:date>" not in drawn[0]
    ElementTree.fromstring(drawn[0])


def test_labels_do_not_touch_however_many_arms_there_are(tmp_path):
    lams = (-0.5, -0.25, 0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 16.0)
    size = {"seeds": (0,), "problems": 2, "validation": 1, "samples": 1, "steps": 0}
    names = ("label-smoothing:0.1", "dft")
    made = make_study(tmp_path / "runs", lams=lams, control=None, objectives=names, **size)
    figure = figures.accuracy(summary(made), TASK)
    figure.draw_without_rendering()
    labels = figure.axes[0].get_xticklabels()
    assert {label.get_rotation() for label in labels} == {30.0}
    ends = [label.get_transform().transform(label.get_position())[0] for label in labels]
    nearest = min(after - before for before, after in pairwise(ends))
    assert nearest > labels[0].get_fontsize() / 72 * figure.dpi


def test_points_are_the_means_and_bars_the_spread_over_seeds_beside_two_levels(study_summary):
    axes = figures.accuracy(study_summary, TASK).axes[0]
    sampled = axes.containers[0]
    rows = [study_summary.row(TASK, Arm(lam), "sampled") for lam in (0.0, 0.25, 0.5, 1.0, 8.0)]
    assert list(sampled.lines[0].get_ydata()) == pytest.approx([100 * row.mean for row in rows])
    low, high = sampled.lines[1]
    reach = [(b - a) / 2 for a, b in zip(low.get_ydata(), high.get_ydata(), strict=True)]
    assert reach == pytest.approx([100 * row.sd for row in rows])
    levels = {round(line.get_ydata()[0], 9) for line in axes.lines if len(set(line.get_ydata())) == 1}
    for lam in (0.0, None):
        for decoding in ("greedy", "sampled"):
            assert round(100 * study_summary.row(TASK, Arm(lam), decoding).mean, 9) in levels


def test_other_objectives_stand_on_the_right_joined_to_nothing(tmp_path):
    study = make_study(tmp_path / "runs", lams=(0.0, 0.5), objectives=("dft", "focal:2"), control=None)
    study_summary = summary(study)
    axes = figures.accuracy(study_summary, TASK).axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "0.5", "dft", "focal:2"]
    assert axes.get_xlabel() == "penalty strength λ, then other objectives"
    for joined, alone in (axes.containers[:2], axes.containers[2:]):
        assert list(alone.lines[0].get_xdata()) == [2 + at + figures.GAP for at in (0, 1)]
        assert (joined.lines[0].get_linestyle(), alone.lines[0].get_linestyle()) == ("-", "None")
    means = [100 * study_summary.row(TASK, Arm(0.0, name), "sampled").mean for name in ("dft", "focal:2")]
    assert list(axes.containers[1].lines[0].get_ydata()) == pytest.approx(means)


def test_an_inline_figure_takes_every_colour_from_the_page(study_summary):
    text = figures.inline(figures.accuracy(study_summary, TASK), 'a "quoted" <figure>')
    assert set(re.findall(r"#[0-9a-f]{6}\b", text)) == set()
    assert 'aria-label="a &quot;quoted&quot; &lt;figure&gt;; the tables have' in text
    assert text.startswith("<svg role=")
    assert not re.search(r'<svg[^>]* width="', text)
    ElementTree.fromstring(text)


def test_curves_have_a_line_a_lam_and_cross_entropy_is_dashed(study_summary):
    logs = {lam: [(step, lam + step) for step in range(5)] for lam in (0.0, 0.5, 1.0)}
    axes = figures.curves(logs, "nats").axes[0]
    assert [line.get_label() for line in axes.lines] == ["λ = 0", "λ = 0.5", "λ = 1"]
    assert [line.is_dashed() for line in axes.lines] == [True, False, False]
