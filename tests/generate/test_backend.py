"""Every backend keeps the promises that a study builds on, and the recipe's section chooses it."""

from dataclasses import fields, replace

import pytest
from peft import LoraConfig, get_peft_model
from toys.recipes import tiny_recipe
from toys.server import GREEDY, PROBLEMS, SAMPLED

from erce.generate.backend import BACKENDS, backend_of
from erce.hf.models import BasePolicy, shadow
from erce.recipe import Recipe, Serving

SECTIONS = {  # of the recipe that chooses the backend; a new one adds a small section of its own
    "transformers": lambda server: {},
    "server": lambda server: {"server": Serving(url=server.url)},
}
GREEDY, SAMPLED = replace(GREEDY, max_new_tokens=12), replace(SAMPLED, max_new_tokens=12)


def test_every_other_backend_is_chosen_by_a_section_of_its_name():
    assert BACKENDS.keys() - {"transformers"} <= {setting.name for setting in fields(Recipe)}


@pytest.fixture(params=BACKENDS)
def backend(request, server, tmp_path):
    backend = backend_of(tiny_recipe(**SECTIONS[request.param](server)))
    backend.check()
    with backend.running(tmp_path / "running"):
        yield backend


@pytest.fixture
def base(model, tokenizer):
    return BasePolicy(model, tokenizer)


@pytest.fixture
def adapter(model, tmp_path):
    lora = LoraConfig(task_type="CAUSAL_LM", target_modules="all-linear", init_lora_weights=False)
    get_peft_model(shadow(model), lora).save_pretrained(str(tmp_path / "cell" / "adapter"))
    return tmp_path / "cell" / "adapter"


def test_completions_come_by_problem_and_sample_and_are_those_of_the_seed(backend, base):
    with backend.generator(base, None) as generate:
        first, again = (generate(PROBLEMS, decoding=SAMPLED, seed=3) for _ in range(2))
        other = generate(PROBLEMS, decoding=SAMPLED, seed=4)
    places = [(problem.id, sample) for problem in PROBLEMS for sample in range(SAMPLED.samples)]
    assert [(each.problem, each.sample) for each in first] == places
    assert first == again
    assert [each.text for each in first] != [each.text for each in other]
    assert all(each.logprob <= 0 for each in first)
    assert all(each.entropy is None or each.entropy >= 0 for each in first)


def test_greedy_texts_are_those_of_transformers_under_the_adapter_and_without_it_afterwards(
    backend, base, adapter
):
    def texts(backend, adapter):
        with backend.generator(base, adapter) as generate:
            return [each.text for each in generate(PROBLEMS, decoding=GREEDY, seed=0)]

    here = backend_of(tiny_recipe())
    bare, adapted = texts(here, None), texts(here, adapter)
    assert bare != adapted
    assert [texts(backend, which) for which in (None, adapter, None)] == [bare, adapted, bare]


def test_a_backend_says_whether_it_samples_in_this_process(backend, base, engine):
    with backend.generator(base, None) as generate:
        generate(PROBLEMS[:1], decoding=GREEDY, seed=0)
    assert backend.in_cell_process == (not engine.asked)
