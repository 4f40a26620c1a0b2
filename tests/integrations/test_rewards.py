"""Reward functions score completions as the verifiers do, in the calling conventions of TRL and of verl."""

from functools import partial
from statistics import fmean

import pytest
from datasets import Dataset
from toys.training import ON_A_CPU
from trl.trainer.grpo_config import GRPOConfig
from trl.trainer.grpo_trainer import GRPOTrainer

from erce.errors import InputError, RunError
from erce.hf.models import load_model, load_tokenizer
from erce.integrations import rewards
from erce.integrations.rewards import (
    math_reward,
    math_score,
    number_reward,
    number_score,
    program_reward,
    program_score,
)
from erce.tasks import load_task, splits
from erce.verify import run_program, verify_math, verify_number
from erce.verify.fences import extract_program

IS_THREE = ["assert f() == 3"]
SETTINGS = {
    **ON_A_CPU,
    "max_steps": 2,
    "num_generations": 4,
    "per_device_train_batch_size": 8,
    "max_completion_length": 32,
    "logging_steps": 1,
    "report_to": "none",
    "save_strategy": "no",
    "disable_tqdm": True,
}


def run_completion(tests, text):
    return run_program(extract_program(text), tests)


def said(content, role="assistant"):
    return {"role": role, "content": content}


@pytest.mark.parametrize(
    ("completion", "reward"),
    [
        ("#### 3", 1.0),
        ("#### 4", 0.0),
        ([said("#### 3")], 1.0),
        ([said([{"type": "text", "text": "####"}, {"type": "image"}, {"type": "text", "text": " 3"}])], 1.0),
        ([said("#### 2"), said("2", "tool"), said("#### 3")], 1.0),
        ([said("I call a tool"), said("#### 3", "tool")], 0.0),
        ([said("#### 3"), said(None)], 0.0),
        ([said("#### 3"), {"role": "assistant", "tool_calls": []}], 0.0),
    ],
)
def test_the_last_message_of_the_assistant_is_what_is_judged(completion, reward):
    assert number_reward([completion], answer=["3"]) == [reward]


@pytest.mark.parametrize(("reward", "score"), [(number_reward, number_score), (math_reward, math_score)])
def test_each_completion_has_its_answer_and_flexible_is_a_setting(reward, score):
    completions, answer = [r"\boxed{3}", "Answer: 3", "Answer: 3"], ["3", "3", "4"]
    assert reward(completions, answer) == [1.0, 0.0, 0.0]
    assert reward(completions, answer, strict=False) == [1.0, 1.0, 0.0]
    for strict in (True, False):
        scores = [
            score(data_source="own", solution_str=text, ground_truth=gold, extra_info={}, strict=strict)
            for text, gold in zip(completions, answer, strict=True)
        ]
        assert scores == reward(completions, answer, strict=strict)


def test_columns_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match=r"^zip\(\)"):
        number_reward(["#### 3", "#### 3"], answer=["3"])
    with pytest.raises(ValueError, match=r"^zip\(\)"):
        program_reward(["def f(): return 3"], tests=[IS_THREE], setup=[None, None])


PROGRAMS = [  # completion, tests, setup, entry points, reward
    ("```python\ndef f(): return 3\n```", IS_THREE, None, None, 1.0),
    ([said("def f(): return 4")], IS_THREE, [], ["f"], 0.0),
    ("def f(): return 3", ["assert f() == three()"], ["def three(): return 3"], ["f"], 1.0),
    ("def f(): return 3", ["assert f() == g"], ["g = 1 / 0"], None, None),
    ("def f(): return 3", ["import numpy as np\nassert np.allclose(f(), 3)"], None, None, None),
    ("def f(): return object()", IS_THREE, None, None, 0.0),
]


def test_a_program_is_judged_by_the_tests_of_its_row_and_a_fault_of_these_is_no_reward():
    completions, tests, setup, entry_points, expected = map(list, zip(*PROGRAMS, strict=True))
    columns = {"tests": tests, "setup": setup, "entry_points": entry_points}
    assert program_reward(completions, **columns, trainer_state=None, log_metric=print) == expected


def test_verl_gets_a_number_for_every_program_or_an_error():
    for completion, tests, setup, entry_points, reward in PROGRAMS:
        row = {"ground_truth": tests, "extra_info": {"setup": setup, "entry_points": entry_points}}
        judge = partial(program_score, data_source="mbpp", solution_str=rewards._text(completion), **row)
        if reward is None:
            with pytest.raises(RunError, match="could not be verified"):
                judge()
        else:
            assert judge() == reward


@pytest.mark.parametrize("name", ["tests", "setup", "entry_points"])
def test_a_column_of_texts_that_is_one_text_is_refused(name):
    columns = {"tests": [IS_THREE], "setup": [[]], "entry_points": [["f"]]}
    assert program_reward(["def f(): return 3"], **columns) == [1.0]
    with pytest.raises(InputError, match=f"{name} = .* is one text; give a list of texts"):
        program_reward(["def f(): return 3"], **columns | {name: ["f"]})


def test_answers_may_be_numbers_and_a_conversation_empty():
    assert number_reward(["#### 2", []], answer=[2, 2]) == [1.0, 0.0]


@pytest.mark.parametrize(
    ("task", "column", "reward", "verify"),
    [
        ("mini-sums", "answer", number_reward, verify_number),
        pytest.param(
            "mini-sums",
            "answer",
            partial(math_reward, strict=False),
            partial(verify_math, strict=False),
            marks=pytest.mark.slow,
        ),
        pytest.param("mini-code", "tests", program_reward, run_completion, marks=pytest.mark.slow),
    ],
)
def test_trls_own_trainer_trains_on_what_the_verifier_says(tmp_path, task, column, reward, verify):
    calls = []

    def recorded(completions, **columns):
        calls.append((columns[column], [message["content"] for [message] in completions]))
        return reward(completions, **columns)

    problems = splits(load_task(task), n_train=4, n_validation=1, n_test=1).train
    rows = [
        {"prompt": [said(problem.prompt, "user")], column: getattr(problem, column)} for problem in problems
    ]
    trainer = GRPOTrainer(
        load_model("tiny"),
        recorded,
        GRPOConfig(output_dir=str(tmp_path), **SETTINGS),
        train_dataset=Dataset.from_list(rows),
        processing_class=load_tokenizer("tiny"),
    )
    trainer.train()
    logged = [entry["rewards/recorded/mean"] for entry in trainer.state.log_history if "reward" in entry]
    expected = [
        fmean(verify(gold, text).accepted for gold, text in zip(*call, strict=True)) for call in calls
    ]
    assert logged == pytest.approx(expected)
    assert len(logged) == 2
    assert sum(logged) > 0
