"""`evaluate` gives the rates of a study's cell, changes nothing, and refuses what it cannot use."""

import random
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from toys import training as toy
from toys.policy import random_model, tokenizer_of_problems
from transformers import AutoModel, BertConfig, T5Config, T5ForConditionalGeneration

import erce
from erce.errors import InputError, VerifierError
from erce.evaluation.evaluate import EvaluatedCompletion, EvaluationSettings, prepare
from erce.generate.decoding import GenerationSettings
from erce.generate.transformers import generate
from erce.hf.models import load_model, load_tokenizer
from erce.score import summarize
from erce.stats import accuracy_bounds
from erce.tasks import load_task, splits
from erce.tasks.verdicts import verdict
from erce.types import Completion, Problem, Verdict

TASK = load_task("mini-styles")
PROBLEMS = splits(TASK, n_train=1, n_validation=1, n_test=24).test
SAMPLES, TEMPERATURE = 4, 0.7


@pytest.fixture(scope="module")
def model():
    return load_model("tiny-styles")


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer("tiny-styles")


@pytest.fixture(scope="module")
def evaluation(model, tokenizer):
    return erce.evaluate(model, tokenizer, PROBLEMS, "mini-styles", samples=SAMPLES, temperature=TEMPERATURE)


def row(problem: Problem, **more: Any) -> dict[str, Any]:
    """The problem as trainers have it."""
    turns = {"prompt": "user", "completion": "assistant"}
    texts = {"prompt": problem.prompt, "completion": problem.demonstration}
    return (
        {name: [{"role": role, "content": texts[name]}] for name, role in turns.items()}
        | {"answer": problem.answer}
        | more
    )


def test_the_completions_and_scores_are_those_of_a_cell(model, tokenizer, evaluation):
    for name, temperature, samples in (("greedy", 0.0, 1), ("sampled", TEMPERATURE, SAMPLES)):
        settings = GenerationSettings(
            temperature=temperature, samples=samples, max_new_tokens=TASK.max_new_tokens, batch_size=64
        )
        wanted = generate(model, tokenizer, PROBLEMS, decoding=settings, seed=0)
        verdicts = [verdict(TASK, PROBLEMS[at // samples], each) for at, each in enumerate(wanted)]
        assert [each.completion for each in evaluation.verified[name]] == wanted
        assert [each.verdict for each in evaluation.verified[name]] == verdicts
        assert evaluation.scores[name] == summarize(wanted, verdicts, equal=TASK.equal)


def test_it_says_in_two_lines_what_its_numbers_say(evaluation):
    greedy, sampled = str(evaluation).splitlines()
    accepted = np.array([each.verdict.accepted for each in evaluation.verified["greedy"]])[:, None]
    low, high = accuracy_bounds(accepted)
    assert greedy.startswith(
        f"greedy   {100 * accepted.mean():.1f} % right (95 % interval {100 * low:.1f} to "
    )
    assert evaluation.greedy == (accepted.mean(), low, high)
    assert f"pass@4 {100 * evaluation.metrics()['pass@4']:.1f} %" in sampled
    assert f"{100 * evaluation.mixed:.1f} % of the problems mixed" in sampled
    assert list(evaluation.metrics()) == [
        *("verified", "verified_flexible", "verified_sampled"),
        *("pass@2", "pass@4", "mixed", "cut_off", "mean_tokens"),
    ]
    assert repr(evaluation) == str(evaluation)


def test_every_completion_is_a_row_with_its_prompt_and_verdict(evaluation):
    rows = list(evaluation.rows())
    assert len(rows) == len(PROBLEMS) * (1 + SAMPLES)
    assert rows[0]["prompt"] == PROBLEMS[0].prompt
    assert rows[0]["completion"] == evaluation.verified["greedy"][0].completion.text
    assert np.mean([row["accepted"] for row in rows[len(PROBLEMS) :]]) == evaluation.sampled.value


@pytest.mark.parametrize("form", ["completion", "messages"])
def test_rows_of_a_trainer_are_verified_by_the_number_in_their_answer(form, model, tokenizer, evaluation):
    rows = [row(problem, answer=int(problem.answer)) for problem in PROBLEMS]
    if form == "messages":
        rows = [{"messages": each["prompt"] + each["completion"], "answer": each["answer"]} for each in rows]
    by_number = erce.evaluate(model, tokenizer, rows, "number", max_new_tokens=TASK.max_new_tokens)
    texts = [each.completion.text for each in evaluation.verified["greedy"]]
    assert [each.completion.text for each in by_number.verified["greedy"]] == texts
    assert by_number.greedy == evaluation.greedy
    assert by_number.sampled is by_number.mixed is None


def test_a_prompt_that_is_a_text_gets_no_chat_template(tokenizer, model):
    asked = []

    def verify(problem: Problem, completion: Completion) -> bool:
        asked.append(problem.prompt)
        return True

    rendered = tokenizer.apply_chat_template(
        [{"role": "user", "content": PROBLEMS[0].prompt}], add_generation_prompt=True, tokenize=False
    )
    texts = [
        erce.evaluate(model, tokenizer, [asks], verify, max_new_tokens=30)
        .verified["greedy"][0]
        .completion.text
        for asks in ({"prompt": rendered}, PROBLEMS[0], {"prompt": PROBLEMS[0].prompt})
    ]
    assert texts[0] == texts[1] != texts[2]
    assert asked[0] == rendered


def test_a_function_gets_the_other_columns_as_meta(model, tokenizer):
    seen = []

    def verify(problem: Problem, completion: Completion) -> bool:
        seen.append((problem.id, problem.meta))
        return True

    rows = [
        {"prompt": "Work out 1+1.", "level": 3, "unknown": None},
        {"prompt": "Work out 2+2.", "meta": [1]},
    ]
    erce.evaluate(model, tokenizer, rows, verify, max_new_tokens=2)
    assert set(map(repr, seen)) == {"('row-1', {'level': 3})", "('row-2', [1])"}


def test_the_form_of_an_answer_stands_beside_the_strict_verdict(tokenizer):
    rows = [{"prompt": "Work out 1+1.", "answer": "7"}]
    one = Completion(
        problem="row-1", sample=0, text="It is 7.", tokens=4, finished=True, logprob=0.0, entropy=0.0
    )
    judged = verdict(load_task("number"), Problem(id="row-1", prompt="", demonstration="", answer="7"), one)
    assert (judged.accepted, judged.flexible) == (False, True)
    plan = prepare(tokenizer, rows, "number", EvaluationSettings())
    metrics = plan.scored({"greedy": [EvaluatedCompletion(one, judged)]}).metrics()
    assert (metrics["verified"], metrics["verified_flexible"]) == (0, 1)


def test_the_model_and_all_random_numbers_are_as_they_were():
    tokenizer = tokenizer_of_problems()
    model = random_model(tokenizer, seed=0, end=1.0)
    model.train()
    model.model.layers[0].eval()
    model.generation_config.temperature = 0.3
    settings = model.generation_config.to_dict()

    def verify(problem: Problem, completion: Completion) -> bool:
        random.seed(1)
        np.random.seed(1)
        torch.manual_seed(1)
        return bool(torch.rand(1) < random.random() + np.random.random())

    modes = {name: module.training for name, module in model.named_modules()}
    states = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()
    erce.evaluate(model, tokenizer, [{"prompt": "Add 1."}], verify, max_new_tokens=3, samples=2)
    after = random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()
    assert after == states
    assert {name: module.training for name, module in model.named_modules()} == modes
    assert model.generation_config.to_dict() == settings


NOTHING_IS_RIGHT = "its verifier refuses the demonstration of problem 'row-1' .different"


@pytest.mark.parametrize(
    ("problems", "verify", "settings", "sentence"),
    [
        ([], "number", {}, "there are no problems; give at least one"),
        ([{"prompt": "a"}], "number", {}, "cannot verify problem 'row-1', which has no answer and no tests"),
        ([row(PROBLEMS[0])], "program", {}, "a problem without tests accepts everything"),
        ([{"question": "a"}], "number", {}, "row 1 of the problems has no `prompt`, only question"),
        (["a"], "number", {}, "row 1 of the problems is 'a' .str.; problems are erce.types.Problem, or the"),
        ([row(PROBLEMS[0])], "numbr", {}, "no task 'numbr'; did you mean 'number'?"),
        ([row(PROBLEMS[0])], 3, {}, "verify = 3 is neither a name nor a function"),
        ([row(PROBLEMS[0])], lambda problem, completion: False, {}, NOTHING_IS_RIGHT),
        ([row(PROBLEMS[0])], "number", {"samples": -1}, "samples = -1 is not a whole number of 0 or more"),
        ([row(PROBLEMS[0])], "number", {"batch_size": 2.5}, "batch_size = 2.5 is not a whole number of 1"),
        ([row(PROBLEMS[0])], "number", {"samples": 1, "temperature": 0}, "temperature = 0 is not above 0"),
        ([row(PROBLEMS[0])], "number", {"temperature": "1"}, "temperature = '1' is not above 0"),
        ([{"prompt": ["a"]}], "number", {}, "is neither a text nor messages with `role` and `content`"),
        ([row(PROBLEMS[0])], "number", {"stop": None}, "stop = None is not a list of texts"),
        ([row(PROBLEMS[0])], "number", {"stop": "x"}, "stop = 'x' is not a list of texts; write stop="),
        ([PROBLEMS[0], PROBLEMS[0]], "number", {}, "two problems have the same id"),
    ],
)
def test_bad_input_is_one_sentence_before_a_token_is_generated(
    problems, verify, settings, sentence, tokenizer
):
    model: Any = None  # which generation would need
    with pytest.raises(InputError, match=sentence):
        erce.evaluate(model, tokenizer, problems, verify, **settings)


def test_a_verifier_that_fails_on_an_empty_completion_is_named_before_a_token_is_generated(tokenizer):
    model: Any = None

    def last_word(problem: Problem, completion: Completion) -> bool:
        return completion.text.split()[-1] == problem.answer

    with pytest.raises(
        VerifierError,
        match=r"last_word' raised IndexError.* line .* completion '' of problem 'row-1'; correct it",
    ):
        erce.evaluate(model, tokenizer, [row(PROBLEMS[0])], last_word)


def test_a_tokenizer_without_an_end_or_a_chat_template_is_refused(model):
    endless = toy.tokenizer(chat=False)
    with pytest.raises(InputError, match="the prompts are messages, but the tokenizer has no chat template"):
        erce.evaluate(model, endless, [row(PROBLEMS[0])], "number")
    endless.eos_token = None
    with pytest.raises(InputError, match="no end-of-sequence token; set its eos_token"):
        erce.evaluate(model, endless, [{"prompt": "a", "answer": 1}], "number")


def unable(kind: str) -> Any:
    small = {"num_layers": 1, "d_model": 8, "d_kv": 4, "num_heads": 2, "d_ff": 8, "vocab_size": 500}
    if kind == "T5":
        return T5ForConditionalGeneration(T5Config(**small))
    if kind == "module":
        return torch.nn.Linear(2, 2)
    if kind == "BERT":
        shape = {"num_hidden_layers": 1, "hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 8}
        return AutoModel.from_config(BertConfig(**shape, vocab_size=500))
    model = toy.model()
    if kind == "meta":
        return model.to("meta")
    model.lm_head.forward = model.forward  # a head that fails, as one in a format that needs another machine
    return model


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("module", "a Linear has no `generate`; give a causal language model"),
        ("BERT", "a BertModel (has no `generate`|does not continue a text); give a causal language model"),
        ("T5", "a T5ForConditionalGeneration does not continue a text; give a causal language model"),
        ("meta", "the Qwen2ForCausalLM has parameters that are sharded or not in memory"),
        ("a broken head", r"the Qwen2ForCausalLM cannot generate a token \(\w+: .*\); give a causal"),
    ],
)
def test_a_model_that_cannot_generate_is_refused_in_one_sentence(kind, sentence):
    problems = [{"prompt": "a", "answer": 1}]
    with pytest.raises(InputError, match=sentence):
        erce.evaluate(unable(kind), toy.tokenizer(), problems, "number", max_new_tokens=2)


def test_a_completion_that_would_leave_the_models_positions_is_refused():
    problems = [{"prompt": "a" * 60, "answer": 1}, {"prompt": "a", "answer": 1}]
    sentence = "the longest prompt, 60 tokens, and max_new_tokens = 70 do not fit the 128 positions of the"
    with pytest.raises(InputError, match=sentence):
        erce.evaluate(toy.model(), toy.tokenizer(), problems, "number", max_new_tokens=70)
    assert erce.evaluate(toy.model(), toy.tokenizer(), problems, "number", max_new_tokens=69)


def test_a_task_and_a_verdict_of_ones_own_are_taken_as_they_are(model, tokenizer):
    own = replace(TASK, verify=lambda problem, completion: Verdict(True, "exact"), verify_flexible=None)
    assert erce.evaluate(model, tokenizer, PROBLEMS[:2], own).greedy.value == 1.0


def test_a_terminal_sees_how_far_generation_and_verification_are(model, tokenizer, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    erce.evaluate(model, tokenizer, PROBLEMS[:3], "mini-styles")
    shown = capsys.readouterr().err
    assert "generation: " in shown
    assert "verification: " in shown
    assert "/3 " in shown
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    erce.evaluate(model, tokenizer, PROBLEMS[:3], "mini-styles")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("tools", [[{"name": "f"}], '[{"name": "f"}]'], ids=["list", "JSON"])
def test_a_rows_settings_of_the_chat_template_reach_it_as_in_trls_training(tools):
    tokens = toy.tokenizer()
    tokens.chat_template = (
        "{% for turn in messages %}{{ turn.content }}{% endfor %}{{ tools }}{{ mode }}<|end|>"
    )
    row = {
        "prompt": [{"role": "user", "content": "?"}],
        "tools": tools,
        "chat_template_kwargs": {"mode": "x"},
    }
    plan = prepare(tokens, [row], lambda problem, completion: True, EvaluationSettings())
    [ids] = plan.prompts.values()
    assert tokens.decode(ids) == "?[{'name': 'f'}]x<|end|>"
