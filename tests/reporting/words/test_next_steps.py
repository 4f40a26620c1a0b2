"""What to do next: the plan that would settle the gain first, and nothing twice."""

import pytest
from toys.studies import TASK, make_study

from erce.reporting.numbers.gains import summary
from erce.reporting.numbers.inference import inference
from erce.reporting.words.next_steps import MORE_SEEDS, NOTHING_TO_DO, next_steps

SMALL = {
    "control": None,
    "problems": 40,
    "validation": 20,
    "steps": 1,
    "samples": 2,
    "seeds": (0, 1, 2, 3, 4),
}


def _steps(root, **changes):
    return next_steps(summary(make_study(root / "runs", **(SMALL | changes))))


def _gains(treated, baseline=0.5):
    return lambda task, arm, decoding: treated if arm == 0.5 else 0.1 if arm is None else baseline


def test_a_gain_that_is_not_settled_comes_first_with_the_seeds_and_problems_that_would_settle_it(tmp_path):
    study_summary = summary(make_study(tmp_path / "runs", **SMALL, right=_gains(0.55)))
    power = inference(study_summary).sampled.power
    first, *rest = next_steps(study_summary)
    assert first.startswith(
        f"A study of this size finds a gain of {100 * power.detectable:.1f} points in 4 of"
    )
    for size in power.sizes:
        assert f"{size.seeds} seeds with {size.problems:,.0f} problems" in first
    assert not any("at least 200 problems" in step for step in rest)


def test_a_settled_gain_needs_no_plan_but_the_temperatures_that_could_explain_it(tmp_path):
    steps = _steps(tmp_path, right=_gains(0.95))
    assert not any("A study of this size" in step for step in steps)
    assert steps[-1].startswith("Set temperatures = ")
    asked = _steps(tmp_path / "asked", right=_gains(0.95), temperatures=(0.4,))
    assert asked == [step for step in steps if not step.startswith("Set temperatures")]


def test_an_unfinished_study_is_finished_first(tmp_path):
    first, second, *_ = _steps(tmp_path, right=_gains(0.55), skip={(TASK, 1.0, 2)})
    assert first.startswith("Run the study to its end")
    assert "A study of this size" in second


def test_three_seeds_are_too_few_to_say_which_gain_would_be_found(tmp_path):
    steps = _steps(tmp_path, seeds=(0, 1, 2), right=_gains(0.55))
    assert MORE_SEEDS in steps
    assert not any("4 of 5 cases" in step for step in steps)


def test_one_seed_is_too_few_for_a_plan(tmp_path):
    steps = _steps(tmp_path, seeds=(0,), right=_gains(0.55))
    assert "Run at least three seeds." in steps
    assert not any("A study of this size" in step for step in steps)


@pytest.mark.parametrize("changes", [{}, {"lams": (0.0, 0.5)}, {"seeds": (0, 1), "validation": 0}])
def test_no_step_is_said_twice(tmp_path, changes):
    steps = _steps(tmp_path, **changes)
    assert len(steps) == len(set(steps)) > 0
    assert all(step.endswith(".") for step in [*steps, NOTHING_TO_DO])
