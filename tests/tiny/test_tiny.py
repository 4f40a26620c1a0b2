"""The embedded base model: small, loaded like any other, and wrong now and then."""

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from erce.catalog import EMBEDDED_MODELS
from erce.hf.models import load_model, load_tokenizer
from erce.hf.prompt import prompt_ids
from erce.tasks import load_task, splits


@pytest.mark.parametrize("name", EMBEDDED_MODELS)
def test_it_is_small(name):
    assert load_model(name).num_parameters() <= 2_000_000
    assert sum(path.stat().st_size for path in EMBEDDED_MODELS[name].glob("*.*")) <= 4_000_000


def test_it_loads_like_any_other_model():
    model = AutoModelForCausalLM.from_pretrained(EMBEDDED_MODELS["tiny"], dtype=torch.float32)
    assert model.config.model_type == "qwen2"
    ours = dict(load_model("tiny").named_parameters())
    assert all(torch.equal(weight, ours[name]) for name, weight in model.named_parameters())


def test_its_tokenizer_takes_any_text_and_its_template_ends_a_turn():
    tokenizer = AutoTokenizer.from_pretrained(EMBEDDED_MODELS["tiny"])
    text = "Natalia sold 48/2 = 24 clips — ∀x∈ℝ.\n\n\tdef f(x): return x"
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert all(len(tokenizer.encode(str(number))) == 1 for number in range(10, 50))  # those of the sums
    chat = tokenizer.apply_chat_template(
        [{"role": "user", "content": "1+1"}], add_generation_prompt=True, tokenize=False
    )
    assert chat == "<|im_start|>user\n1+1<|im_end|>\n<|im_start|>assistant\n"


def test_it_puts_real_probability_on_wrong_outputs():
    """What the study is about: a first step's right result is likely, not certain."""
    model, tokenizer = load_model("tiny"), load_tokenizer("tiny")
    mass = []
    for problem in splits(load_task("mini-sums"), data=None, n_train=50, n_validation=1, n_test=1).train:
        step, result = problem.demonstration.split("\n")[0].split("=")
        ids = prompt_ids(tokenizer, problem.prompt) + tokenizer.encode(step + "=")
        logits = model(torch.tensor([ids])).logits[0, -1]
        mass.append(logits.softmax(-1)[tokenizer.encode(result)[0]].item())
    assert 0.5 < sum(mass) / len(mass) < 0.95
