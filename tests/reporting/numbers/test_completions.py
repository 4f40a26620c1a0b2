"""Problems gained and lost over the base model: those of the largest differences as examples."""

from toys.studies import TASK, make_study

from erce.reporting.numbers.completions import examples
from erce.reporting.numbers.gains import summary
from erce.types import BASE_MODEL, Arm


def test_examples_are_the_largest_differences_with_the_completions_that_made_them(tmp_path):
    study_summary = summary(make_study(tmp_path / "runs"))
    shown = examples(study_summary)
    arms = [study_summary.outcomes(arm, "sampled") for arm in (BASE_MODEL, Arm(0.5))]
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


def test_without_the_base_model_examples_are_over_cross_entropy_and_alone_there_are_none(tmp_path):
    small = {"control": None, "problems": 5, "skip": {(TASK, None, 0)}}
    shown = examples(summary(make_study(tmp_path / "two", **small)))
    assert {each.before.completion.arm for each in shown["gained"]} == {Arm(0.0)}
    assert examples(summary(make_study(tmp_path / "one", **small, lams=(0.0,)))) == {}
