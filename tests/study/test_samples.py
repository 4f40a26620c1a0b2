"""What was finished before a kill is never sampled again, and damage is never taken for a completion."""

import json

import pytest

from erce.errors import RunError
from erce.study.samples import Journal, SampleSet, chunks, read_completions
from erce.types import Completion, Problem

PROBLEMS = [Problem(id=f"p{n}", prompt="?" * (n % 4 + 1), demonstration="") for n in range(7)]
SET = SampleSet("test", "sampled")


class Policy:
    """Draws two samples a problem and remembers each; `dies_at` is the call that does not return."""

    def __init__(self, dies_at=None):
        self.dies_at, self.calls = dies_at, []

    def __call__(self, problems):
        if len(self.calls) == self.dies_at:
            raise KeyboardInterrupt
        self.calls.append([problem.id for problem in problems])
        return [completion(problem.id, sample) for problem in problems for sample in range(2)]


def completion(problem, sample):
    text = f"{problem}.{sample}\n\r\u2028 é 𝄞"
    return Completion(
        problem=problem,
        sample=sample,
        text=text,
        tokens=3,
        finished=True,
        logprob=-0.1 - sample,
        entropy=1 / 3,
    )


def complete(path, policy, *, key="k", problems=PROBLEMS, batch_size=4):
    return Journal(path, key).completed(problems, policy, sample_set=SET, samples=2, batch_size=batch_size)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "completions.journal"


@pytest.fixture
def undisturbed(tmp_path):
    policy = Policy()
    return complete(tmp_path / "undisturbed.journal", policy), policy.calls


def test_rows_come_in_the_order_of_the_problems_and_their_samples(undisturbed):
    rows, _ = undisturbed
    assert [(row.problem, row.sample) for row in rows] == [(p.id, s) for p in PROBLEMS for s in (0, 1)]
    assert all(row.text.endswith("𝄞") for row in rows)


@pytest.mark.parametrize(
    ("samples", "batch_size", "size"), [(1, 4, 4), (2, 4, 2), (3, 4, 2), (4, 4, 1), (8, 4, 1)]
)
def test_a_chunk_fills_a_batch_and_holds_whole_problems(samples, batch_size, size):
    cut = chunks(PROBLEMS, samples=samples, batch_size=batch_size)
    assert {len(chunk) for chunk in cut[:-1]} == {size}
    assert [problem for chunk in cut for problem in chunk] == sorted(
        PROBLEMS, key=lambda problem: -len(problem.prompt)
    )


@pytest.mark.parametrize("dies_at", range(4))
def test_a_run_that_died_goes_on_with_the_same_batches_and_samples_nothing_twice(path, undisturbed, dies_at):
    first, second = Policy(dies_at), Policy()
    with pytest.raises(KeyboardInterrupt):
        complete(path, first)
    assert complete(path, second) == undisturbed[0]
    assert first.calls + second.calls == undisturbed[1]


def test_a_finished_journal_samples_nothing_and_another_batch_size_keeps_what_there_is(path, undisturbed):
    with pytest.raises(KeyboardInterrupt):
        complete(path, Policy(2))
    smaller = Policy()
    assert complete(path, smaller, batch_size=2) == undisturbed[0]
    assert [problem for call in smaller.calls for problem in call] == ["p5", "p0", "p4"]
    assert complete(path, Policy(dies_at=0)) == undisturbed[0]


def test_completions_of_a_study_with_more_columns_are_read(tmp_path):
    """Older studies have the entropy at the sampling temperature, as "drawn_entropy"."""
    first = completion("p0", 0)
    row = SET._asdict() | vars(first) | {"drawn_entropy": 0.2}
    (tmp_path / "completions.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert read_completions(tmp_path) == {SET: [first]}


def test_what_something_else_drew_and_another_set_of_the_cell_are_not_used(path):
    complete(path, Policy(), key="other adapter")
    policy = Policy()
    complete(path, policy)
    assert len(policy.calls) == 4
    validation = SET._replace(split="validation")
    Journal(path, "k").completed(PROBLEMS, policy, sample_set=validation, samples=2, batch_size=4)
    assert len(policy.calls) == 8


def test_a_last_line_torn_anywhere_is_sampled_again_and_nothing_else(path, undisturbed):
    complete(path, Policy())
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for end in [*range(last, last + 20), *range(last + 20, len(whole), 97), len(whole) - 1]:
        path.write_bytes(whole[:end])
        policy = Policy()
        assert complete(path, policy) == undisturbed[0]
        assert policy.calls == undisturbed[1][-1:]
        assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("before", "after"), [(b"p3.0", b"p3.1"), (b'"tokens": 3', b'"tokens": 4'), (b"k", b"l")]
)
def test_a_line_that_was_damaged_in_the_middle_is_sampled_again(path, undisturbed, before, after):
    complete(path, Policy())
    path.write_bytes(path.read_bytes().replace(before, after, 1))
    policy = Policy()
    assert complete(path, policy) == undisturbed[0]
    assert policy.calls == undisturbed[1][:1]
    assert complete(path, Policy(dies_at=0)) == undisturbed[0]


@pytest.mark.parametrize(
    "change", [lambda drawn: drawn[:-1], lambda drawn: drawn[::-1], lambda drawn: drawn + drawn[:1]]
)
def test_an_engine_that_returns_less_or_more_or_shuffled_leaves_nothing(path, change):
    with pytest.raises(RunError, match=r"\d completions came back where 4 were requested"):
        complete(path, lambda problems: change(Policy()(problems)))
    assert not path.exists()
