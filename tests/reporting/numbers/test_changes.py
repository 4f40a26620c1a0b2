"""Problems gained and lost: every one of them in a figure whose size is not theirs."""

import numpy as np
import pytest
from toys.studies import TASK, make_study

from erce.reporting import contents
from erce.reporting.numbers.changes import Changes, problem_changes
from erce.reporting.numbers.gains import summary
from erce.reporting.pages.line_figures import every_problem, outline
from erce.reporting.words.captions import changes_caption
from erce.types import Arm


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return summary(make_study(tmp_path_factory.mktemp("changes") / "runs", control=None))


def test_the_gains_are_those_of_each_problem_sorted(found):
    held = problem_changes(found)
    arms = [found.study.outcomes(TASK, Arm(lam), split="test", decoding="sampled") for lam in (0.5, 0.0)]
    gains = arms[0].mean(axis=(0, 2)) - arms[1].mean(axis=(0, 2))
    assert held.lam == 0.5
    assert held.gains == pytest.approx(sorted(gains))
    assert (held.gained, held.lost) == (np.sum(gains > 1e-9), np.sum(gains < -1e-9))
    json = contents(found)["changes"]
    assert json["gained"] + json["lost"] + json["unchanged"] == len(json["gains"]) == 30


def test_losses_lie_left_below_zero_and_gains_right_above(found):
    held = problem_changes(found)
    lost, gained = (patch.get_xy() for patch in every_problem(held).axes[0].patches)
    assert (lost[:, 0].min(), lost[:, 0].max()) == (0, held.lost)
    assert (gained[:, 0].min(), gained[:, 0].max()) == (30 - held.gained, 30)
    assert lost[:, 1].max() == gained[:, 1].min() == 0
    for polygon, gains in ((lost, held.gains[: held.lost]), (gained, held.gains[30 - held.gained :])):
        x, y = polygon.T
        area = abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2
        assert area == pytest.approx(100 * abs(sum(gains)))


def test_thousands_of_problems_have_no_more_corners_than_their_different_gains():
    rng = np.random.default_rng(0)
    for problems in (60, 5000):
        gains = sorted((rng.integers(-20, 21, problems) / 40).tolist())
        for side, polygon in zip((-1, 1), every_problem(Changes(1.0, gains)).axes[0].patches, strict=True):
            different = len({gain for gain in gains if gain * side > 0})
            assert different <= 20
            assert len(polygon.get_xy()) == 2 * different + 3  # two ends on the axis, and the path is closed


@pytest.mark.parametrize("gains", [[0.0, 0.0], [-0.5, -0.5], [0.25], [-1.0, 0.0, 1.0]])
def test_every_kind_of_change_is_drawn(gains):
    held = Changes(0.5, gains)
    patches = every_problem(held).axes[0].patches
    assert len(patches) == bool(held.gained) + bool(held.lost)
    if held.gained:
        assert patches[-1].get_xy()[:, 0].min() == len(gains) - held.gained
    words = f"{held.gained} gained (right), {held.lost} lost (left), {gains.count(0.0)} unchanged"
    assert words in changes_caption(held)


def test_equal_neighbours_are_one_step():
    across, heights = outline(0, [0.1] * 500 + [0.2] * 500)
    assert across == [0, 0, 500, 500, 1000, 1000]
    assert heights == pytest.approx([0, 10, 10, 20, 20, 0])


def test_no_second_arm_no_changes_and_the_runner_up_where_cross_entropy_won(tmp_path):
    alone = summary(make_study(tmp_path / "one", control=None, lams=(0.0,)))
    assert problem_changes(alone) is None
    assert contents(alone)["changes"] is None
    losing = {"right": lambda task, lam, decoding: 0.9 - 0.3 * (lam or 0)}
    assert problem_changes(summary(make_study(tmp_path / "two", control=None, **losing))).lam == 0.5
