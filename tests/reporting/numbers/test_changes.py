"""Problems gained and lost: every one of them in a figure whose size is not theirs."""

import numpy as np
import pytest
from toys.studies import TASK, make_study

from erce.reporting import contents
from erce.reporting.numbers.changes import Changes, problem_changes
from erce.reporting.numbers.gains import summary
from erce.reporting.pages.line_figures import every_problem
from erce.reporting.words.captions import changes_caption
from erce.types import Arm


@pytest.fixture(scope="module")
def study_summary(tmp_path_factory):
    return summary(make_study(tmp_path_factory.mktemp("changes") / "runs", control=None))


def test_the_gains_are_those_of_each_problem_sorted(study_summary):
    held = problem_changes(study_summary)
    arms = [
        study_summary.study.outcomes(TASK, Arm(lam), split="test", decoding="sampled") for lam in (0.5, 0.0)
    ]
    gains = arms[0].mean(axis=(0, 2)) - arms[1].mean(axis=(0, 2))
    assert held.lam == 0.5
    assert held.gains == pytest.approx(sorted(gains))
    assert (held.gained, held.lost) == (np.sum(gains > 1e-9), np.sum(gains < -1e-9))
    json = contents(study_summary)["changes"]
    assert json["gained"] + json["lost"] + json["unchanged"] == len(json["gains"]) == 30


def _bars(changes):
    """Return the heights of losses and gains and the edges of the bars; equal gains share a bar."""
    losses, gains = (patch.get_data() for patch in every_problem(changes).axes[0].patches)
    assert list(losses.edges) == list(gains.edges)
    return np.array(losses.values), np.array(gains.values), np.array(gains.edges)


def test_losses_lie_left_below_zero_and_gains_right_above(study_summary):
    held = problem_changes(study_summary)
    losses, gains, ends = _bars(held)
    assert (losses <= 0).all()
    assert (gains >= 0).all()
    assert np.diff(ends)[losses < 0].sum() == held.lost
    assert np.diff(ends)[gains > 0].sum() == held.gained
    assert np.diff(ends) @ (losses + gains) == pytest.approx(100 * sum(held.gains))


def test_thousands_of_problems_have_no_more_bars_than_different_gains():
    rng = np.random.default_rng(0)
    for problems in (60, 5000):
        gains = sorted((rng.integers(-20, 21, problems) / 40).tolist())
        assert len(_bars(Changes(1.0, gains))[0]) == len(set(gains)) <= 41


@pytest.mark.parametrize("gains", [[0.0, 0.0], [-0.5, -0.5], [0.25], [-1.0, 0.0, 1.0]])
def test_every_kind_of_change_is_drawn(gains):
    held = Changes(0.5, gains)
    every_problem(held).draw_without_rendering()
    words = f"{held.gained} gained (right), {held.lost} lost (left), {gains.count(0.0)} unchanged"
    assert words in changes_caption(held)


def test_no_second_arm_no_changes_and_the_runner_up_where_cross_entropy_won(tmp_path):
    alone = summary(make_study(tmp_path / "one", control=None, lams=(0.0,)))
    assert problem_changes(alone) is None
    assert contents(alone)["changes"] is None
    losing = {"right": lambda task, lam, decoding: 0.9 - 0.3 * (lam or 0)}
    assert problem_changes(summary(make_study(tmp_path / "two", control=None, **losing))).lam == 0.5
