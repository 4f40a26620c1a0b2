"""Problems gained and lost: all of them in a figure, and those of the largest differences as examples."""

import numpy as np
import pytest
from toys.studies import make_study

from erce.reporting import contents
from erce.reporting.numbers.completions import Changes, examples, problem_changes
from erce.reporting.numbers.gains import summary
from erce.reporting.pages.figures import every_problem
from erce.types import Arm


@pytest.fixture(scope="module")
def study_summary(tmp_path_factory):
    return summary(make_study(tmp_path_factory.mktemp("changes") / "runs", control=None))


def test_the_gains_are_those_of_each_problem_sorted(study_summary):
    held = problem_changes(study_summary)
    arms = [study_summary.outcomes(Arm(lam), "sampled") for lam in (0.5, 0.0)]
    gains = arms[0].mean(axis=(0, 2)) - arms[1].mean(axis=(0, 2))
    assert held.lam == 0.5
    assert held.gains == pytest.approx(sorted(gains))
    json = contents(study_summary)["changes"]
    assert (json["gained"], json["lost"]) == (np.sum(gains > 1e-9), np.sum(gains < -1e-9))
    assert json["gained"] + json["lost"] + json["unchanged"] == len(json["gains"]) == 30


def test_losses_lie_left_below_zero_and_gains_right_above(study_summary):
    """Equal gains share a bar."""
    held = problem_changes(study_summary)
    losses, gains = (patch.get_data() for patch in every_problem(held).axes[0].patches)
    widths = np.diff(gains.edges)
    assert max(losses.values) <= 0 <= min(gains.values)
    assert widths[np.array(losses.values) < 0].sum() == held.lost
    assert widths[np.array(gains.values) > 0].sum() == held.gained
    assert widths @ (losses.values + gains.values) == pytest.approx(100 * sum(held.gains))


@pytest.mark.parametrize("gains", [[0.0, 0.0], [-0.5, -0.5], [0.25], [-1.0, 0.0, 1.0]])
def test_every_kind_of_change_is_drawn(gains):
    every_problem(Changes(0.5, gains, 0, 0, 0)).draw_without_rendering()


def test_no_second_arm_no_changes_and_the_runner_up_where_cross_entropy_won(tmp_path):
    small = {"control": None, "problems": 5}
    alone = summary(make_study(tmp_path / "one", **small, lams=(0.0,)))
    assert problem_changes(alone) is None
    assert contents(alone)["changes"] is None
    losing = {"right": lambda task, lam, decoding: 0.9 - 0.3 * (lam or 0)}
    assert problem_changes(summary(make_study(tmp_path / "two", **small, **losing))).lam == 0.5


def test_examples_are_the_largest_differences_with_the_completions_that_made_them(tmp_path):
    study_summary = summary(make_study(tmp_path / "runs"))
    shown = examples(study_summary)
    arms = [study_summary.outcomes(Arm(lam), "sampled") for lam in (0.0, 0.5)]
    names = sorted(f"test-{number}" for number in range(30))
    gains = dict(zip(names, arms[1].mean(axis=(0, 2)) - arms[0].mean(axis=(0, 2)), strict=True))
    sides = [gains[each.problem] for each in shown["gained"]]
    assert sides == sorted(gains.values(), reverse=True)[:3]
    losses = [gains[each.problem] for each in shown["lost"]]
    assert losses == sorted(gain for gain in gains.values() if gain < 0)[:3]
    for each in (*shown["gained"], *shown["lost"]):
        number = int(each.problem.removeprefix("test-"))
        better, worse = (each.after, each.before) if each in shown["gained"] else (each.before, each.after)
        assert (better.completion.accepted, worse.completion.accepted) == (True, False)
        for side, outcomes in zip((each.before, each.after), arms, strict=True):
            assert side.right == outcomes[:, names.index(each.problem)].sum()
            answer = number % 50 if side.completion.accepted else (number + 10) % 50
            assert side.completion.text.endswith(f"#### {answer}")
            assert side.completion.accepted == (side.completion.reason == "numeric")
