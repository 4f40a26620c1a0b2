"""Greedy is argmax, samples follow the whole softmax, and only seed, problem and sample number matter."""

import copy
from dataclasses import asdict, replace

import pytest
import torch
from peft import LoraConfig, PrefixTuningConfig, PromptTuningConfig, get_peft_model
from toys.policy import PROBLEMS, random_model, tokenizer_of_problems
from transformers import (
    GenerationConfig,
    MiniMaxConfig,
    MiniMaxForCausalLM,
    RwkvConfig,
    RwkvForCausalLM,
)

from erce.errors import DivergedError
from erce.generate import transformers as backend
from erce.generate.decoding import GenerationSettings
from erce.generate.transformers import generate
from erce.hf.prompt import prompt_ids
from erce.types import Problem

GREEDY = GenerationSettings(temperature=0.0, samples=1, max_new_tokens=12, batch_size=64)
SAMPLED = replace(GREEDY, temperature=0.8, samples=3)


@pytest.fixture(scope="module")
def tokenizer():
    return tokenizer_of_problems()


@pytest.fixture
def model(tokenizer):
    """Its completions have many lengths; in training mode it would drop attention."""
    return random_model(tokenizer, seed=0, end=3, attention_dropout=0.5)


ADVERSARIAL = GenerationConfig(
    do_sample=True,
    temperature=0.3,
    top_k=20,
    top_p=0.5,
    repetition_penalty=1.1,
    no_repeat_ngram_size=2,
    min_new_tokens=5,
    forced_eos_token_id=3,
    suppress_tokens=[5, 6, 7],
    begin_suppress_tokens=[8, 9],
    bad_words_ids=[[10], [11, 12]],
    sequence_bias=[[[13], 5.0]],
    num_beams=2,
    max_length=17,
)


def written(model, tokenizer, problem: Problem, limit: int) -> list[int]:
    """The argmax loop by hand: one problem at a time, no cache, no padding."""
    ids = prompt_ids(tokenizer, problem.prompt)
    start = len(ids)
    with torch.no_grad():
        while len(ids) - start < limit and ids[-1] != tokenizer.eos_token_id:
            ids.append(int(model(torch.tensor([ids])).logits[0, -1].argmax()))
    return ids[start:]


def check_greedy(model, tokenizer, policy=None):
    policy = policy or model
    completions = generate(policy, tokenizer, PROBLEMS, decoding=GREEDY, seed=0)
    for problem, completion in zip(PROBLEMS, completions, strict=True):
        ids = written(policy, tokenizer, problem, GREEDY.max_new_tokens)
        assert (completion.problem, completion.sample) == (problem.id, 0)
        assert completion.text == tokenizer.decode(ids, skip_special_tokens=True)
        assert completion.tokens == len(ids)
        assert completion.finished == (ids[-1] == tokenizer.eos_token_id)
    assert len({completion.tokens for completion in completions}) > 2


def test_greedy_is_the_argmax_loop_token_for_token(model, tokenizer):
    check_greedy(model, tokenizer)


def test_the_checkpoints_own_generation_config_changes_nothing(model, tokenizer):
    expected = generate(model, tokenizer, PROBLEMS, decoding=SAMPLED, seed=0)
    model.generation_config = copy.deepcopy(ADVERSARIAL)
    ids = torch.tensor([prompt_ids(tokenizer, PROBLEMS[0].prompt)])
    inherited = model.generate(ids, do_sample=False, num_beams=1, max_new_tokens=12)[0, ids.shape[1] :]
    assert inherited.tolist() != written(model, tokenizer, PROBLEMS[0], 12)
    check_greedy(model, tokenizer)
    assert generate(model, tokenizer, PROBLEMS, decoding=SAMPLED, seed=0) == expected
    assert model.generation_config.to_dict() == ADVERSARIAL.to_dict()


@pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing.:FutureWarning")  # PEFT asks for it
@pytest.mark.parametrize("kind", [None, "CAUSAL_LM"])
def test_an_adapted_policy_is_generated_from_with_its_adapter(model, tokenizer, kind):
    base = generate(model, tokenizer, PROBLEMS, decoding=GREEDY, seed=0)
    model.generation_config = copy.deepcopy(ADVERSARIAL)
    adapter = LoraConfig(r=4, target_modules=["q_proj", "down_proj"], init_lora_weights=False, task_type=kind)
    policy = get_peft_model(model, adapter)
    check_greedy(model, tokenizer, policy)
    assert generate(policy, tokenizer, PROBLEMS, decoding=GREEDY, seed=0) != base
    assert model.generation_config.to_dict() == ADVERSARIAL.to_dict()


def test_log_p_and_entropy_are_those_of_the_model_at_temperature_one(model, tokenizer):
    for problem, completion in zip(
        PROBLEMS, generate(model, tokenizer, PROBLEMS, decoding=GREEDY, seed=0), strict=True
    ):
        row, ids = prompt_ids(tokenizer, problem.prompt), written(model, tokenizer, problem, 12)
        with torch.no_grad():
            log_p = model(torch.tensor([row + ids])).logits[0, len(row) - 1 : -1].double().log_softmax(-1)
        assert completion.logprob == pytest.approx(log_p[range(len(ids)), ids].sum().item(), abs=1e-4)
        assert completion.entropy == pytest.approx(-(log_p.exp() * log_p).sum(-1).mean().item(), abs=1e-5)


def test_samples_follow_the_whole_tempered_softmax(model, tokenizer):
    count, problem = 6000, PROBLEMS[3]
    draw = GenerationSettings(temperature=1.5, samples=count, max_new_tokens=1, batch_size=3000)
    completions = generate(model, tokenizer, [problem], decoding=draw, seed=0)
    with torch.no_grad():
        logits = model(torch.tensor([prompt_ids(tokenizer, problem.prompt)])).logits[0, -1].double()
    p, log_p = (logits / 1.5).softmax(-1), logits.log_softmax(-1)
    assert completions[0].entropy == pytest.approx(-(log_p.exp() * log_p).sum().item(), abs=1e-5)
    drawn = torch.tensor([completion.logprob for completion in completions]).double()  # tells the token
    times = ((drawn[:, None] - log_p).abs() < 1e-5).sum(0) / count
    assert (times - p).abs().max() < 5 * (p * (1 - p) / count).max().sqrt()
    tail = p.sort().indices[: len(p) * 3 // 4]
    assert abs(times[tail].sum() - p[tail].sum()) < 5 * (p[tail].sum() / count).sqrt()
    assert p[tail].sum() > 0.1


def test_a_rerun_gives_the_same_completions_and_another_seed_others(model, tokenizer):
    first = generate(model, tokenizer, PROBLEMS, decoding=SAMPLED, seed=0)
    assert generate(model, tokenizer, PROBLEMS, decoding=SAMPLED, seed=0) == first
    other = generate(model, tokenizer, PROBLEMS, decoding=SAMPLED, seed=1)
    assert sum(a.text == b.text for a, b in zip(first, other, strict=True)) < len(first) / 2


def check_same(these, those):
    """The same completions; log p and entropy are rounded otherwise in other batch shapes."""
    assert len(these) == len(those)
    for this, that in zip(these, those, strict=True):
        rounded = {
            "logprob": pytest.approx(that.logprob, abs=1e-3),
            "entropy": pytest.approx(that.entropy, abs=1e-4),
        }
        assert asdict(this) == asdict(that) | rounded


@pytest.mark.parametrize("decoding", [GREEDY, replace(SAMPLED, samples=2)])
@pytest.mark.parametrize("tail", [1, pytest.param(2, marks=pytest.mark.slow), 4])
def test_neither_batch_size_nor_the_early_end_of_a_batch_changes_a_completion(
    model, tokenizer, decoding, tail, monkeypatch
):
    monkeypatch.setattr(backend, "TAIL", tail)
    expected = generate(model, tokenizer, PROBLEMS, decoding=replace(decoding, batch_size=1), seed=0)
    for batch_size in (5, 64):
        sized = replace(decoding, batch_size=batch_size)
        check_same(generate(model, tokenizer, PROBLEMS, decoding=sized, seed=0), expected)


def test_neither_order_nor_company_of_problems_nor_the_number_of_samples_changes_a_completion(
    model, tokenizer
):
    expected = generate(model, tokenizer, PROBLEMS, decoding=SAMPLED, seed=0)
    backwards = generate(model, tokenizer, PROBLEMS[::-1], decoding=SAMPLED, seed=0)
    assert [each.problem for each in backwards[::3]] == [problem.id for problem in PROBLEMS[::-1]]
    check_same(sorted(backwards, key=lambda each: (int(each.problem[1:]), each.sample)), expected)
    alone = generate(model, tokenizer, PROBLEMS[2:3], decoding=replace(SAMPLED, samples=5), seed=0)
    check_same(alone[:3], expected[6:9])


@pytest.mark.parametrize("decoding", [GREEDY, replace(SAMPLED, compile=True)])
@pytest.mark.parametrize("pieces", [1, 3])
def test_reading_prompts_in_pieces_changes_no_completion(model, tokenizer, decoding, pieces, monkeypatch):
    # With a static cache too, but without the seconds of compiling.
    monkeypatch.setenv("TORCHDYNAMO_DISABLE", "1")
    expected, read = generate(model, tokenizer, PROBLEMS, decoding=decoding, seed=0), []
    model.model.embed_tokens.register_forward_pre_hook(lambda _, args: read.append(args[0].shape))
    width = max(len(prompt_ids(tokenizer, problem.prompt)) for problem in PROBLEMS)
    monkeypatch.setattr(backend, "READ_TOKENS", pieces * width)
    check_same(generate(model, tokenizer, PROBLEMS, decoding=decoding, seed=0), expected)
    assert max(rows for rows, tokens in read if tokens == width) == pieces


@pytest.mark.parametrize("batch_size", [7, 64])
def test_reading_a_shared_prompt_once_changes_no_completion(model, tokenizer, batch_size, monkeypatch):
    decoding = replace(SAMPLED, samples=4, batch_size=batch_size)
    shared = generate(model, tokenizer, PROBLEMS, decoding=decoding, seed=0)
    monkeypatch.setattr(backend, "COPYABLE", ())
    check_same(shared, generate(model, tokenizer, PROBLEMS, decoding=decoding, seed=0))


def test_a_prompt_is_read_once_for_all_its_samples(model, tokenizer):
    read = []
    model.model.embed_tokens.register_forward_pre_hook(lambda _, args: read.append(args[0].numel()))
    first = replace(SAMPLED, samples=5, max_new_tokens=1)
    for problem in PROBLEMS[:4]:
        read.clear()
        generate(model, tokenizer, [problem], decoding=first, seed=0)
        assert sum(read) == len(prompt_ids(tokenizer, problem.prompt))


def test_no_matrix_is_copied_once_a_prompt(model, tokenizer):
    head, read = model.get_output_embeddings(), []
    hook = head.register_forward_hook(lambda head, inputs, logits: read.append(inputs[0]))
    generate(model, tokenizer, PROBLEMS, decoding=GREEDY, seed=0)
    assert max(map(len, read)) > 1  # prompts; torch multiplies a copy of the weights for each if they are not
    assert all(states.is_contiguous() for states in read)
    hook.remove()
    assert not head._forward_pre_hooks


def test_problems_and_samples_have_random_numbers_of_their_own(model, tokenizer):
    twins = [Problem(id=f"twin-{number}", prompt="Add 7", demonstration="") for number in range(8)]
    drawn = generate(model, tokenizer, twins, decoding=replace(SAMPLED, temperature=2.0, samples=8), seed=0)
    assert len({completion.text for completion in drawn}) > len(drawn) * 0.9


def test_the_model_and_the_global_random_numbers_are_left_as_they_were(model, tokenizer):
    expected = generate(model, tokenizer, PROBLEMS[:2], decoding=SAMPLED, seed=0)
    model.train()
    model.model.layers[0].eval()
    config, modes = model.generation_config, [module.training for module in model.modules()]
    state = torch.get_rng_state()
    assert generate(model, tokenizer, PROBLEMS[:2], decoding=SAMPLED, seed=0) == expected
    with pytest.raises(TypeError):
        generate(model, tokenizer, PROBLEMS[:2], decoding=replace(SAMPLED, max_new_tokens="3"), seed=0)
    assert model.generation_config is config
    assert [module.training for module in model.modules()] == modes
    assert torch.equal(torch.get_rng_state(), state)


def test_a_tokenizer_without_a_padding_token_will_do(model, tokenizer):
    expected = generate(model, tokenizer, PROBLEMS, decoding=SAMPLED, seed=0)
    bare = copy.deepcopy(tokenizer)
    bare.pad_token = None
    check_same(generate(model, bare, PROBLEMS, decoding=SAMPLED, seed=0), expected)


@pytest.mark.parametrize("temperature", [1e-300, 1e-6])
def test_a_temperature_near_zero_is_greedy(model, tokenizer, temperature):
    cold = generate(model, tokenizer, PROBLEMS, decoding=replace(GREEDY, temperature=temperature), seed=0)
    check_same(cold, generate(model, tokenizer, PROBLEMS, decoding=GREEDY, seed=0))


@pytest.mark.parametrize("decoding", [GREEDY, SAMPLED])
def test_a_policy_whose_logits_are_not_a_distribution_is_an_error(model, tokenizer, decoding):
    with torch.no_grad():
        model.lm_head.weight[7] = torch.nan
    with pytest.raises(DivergedError, match="not a distribution"):
        generate(model, tokenizer, PROBLEMS[:2], decoding=decoding, seed=0)


def test_no_problems_have_no_completions_and_one_id_twice_is_refused(model, tokenizer):
    assert generate(model, tokenizer, [], decoding=SAMPLED, seed=0) == []
    with pytest.raises(ValueError, match="the same id"):
        generate(model, tokenizer, [PROBLEMS[0], PROBLEMS[0]], decoding=SAMPLED, seed=0)
    endless = copy.deepcopy(tokenizer)
    endless.eos_token = None
    with pytest.raises(ValueError, match="no end-of-sequence token"):
        generate(model, endless, PROBLEMS, decoding=SAMPLED, seed=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_steps_in_a_cache_with_room_are_as_right_as_whole_sequences(tokenizer, dtype):
    """One row is padded, and the cache grows twice."""
    exact = random_model(tokenizer, seed=0, end=1)
    model = copy.deepcopy(exact).to(dtype)
    start, end = 10, 10 + 2 * backend.ROOM_TOKENS + 3
    ids = torch.randint(len(tokenizer), (2, end), generator=torch.Generator().manual_seed(0))
    mask = torch.ones_like(ids)
    mask[0, :4] = 0
    with torch.no_grad():
        truth, whole = (each(input_ids=ids, attention_mask=mask).logits for each in (exact, model))
        read = model(input_ids=ids[:, :start], attention_mask=mask[:, :start], use_cache=True)
        cache = read.past_key_values
        cache.layers = [backend._RoomyLayer(layer) for layer in cache.layers]
        steps = [
            model(
                input_ids=ids[:, at : at + 1], attention_mask=mask[:, : at + 1], past_key_values=cache
            ).logits[:, 0]
            for at in range(start, end)
        ]
    error, usual = (
        (each - truth[:, start:]).abs().mean() for each in (torch.stack(steps, 1), whole[:, start:])
    )
    assert error <= 1.5 * usual + 1e-5


def plain(model, tokenizer, problem: Problem) -> str:
    """The greedy completion that `model.generate` writes of one prompt alone."""
    ids = torch.tensor([prompt_ids(tokenizer, problem.prompt)])
    end = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.eos_token_id}
    [written] = model.eval().generate(input_ids=ids, max_new_tokens=12, do_sample=False, **end)
    begins = written[: ids.shape[1]].equal(ids[0])
    return tokenizer.decode(written[ids.shape[1] if begins else 0 :], skip_special_tokens=True)


@pytest.mark.filterwarnings("ignore:Position ids are not supported:UserWarning")  # PEFT counts them itself
@pytest.mark.parametrize(
    "adapter", [PromptTuningConfig(num_virtual_tokens=40), PrefixTuningConfig(num_virtual_tokens=4)], ids=type
)
def test_virtual_tokens_stand_next_to_the_prompt_in_every_row(adapter, model, tokenizer):
    """PEFT puts them before a row's padding, so a batch has one row."""
    torch.manual_seed(0)
    policy = get_peft_model(model.float(), replace(adapter, task_type="CAUSAL_LM"))
    written = generate(policy, tokenizer, PROBLEMS, decoding=GREEDY, seed=0)
    assert len({len(prompt_ids(tokenizer, problem.prompt)) for problem in PROBLEMS}) > 1
    assert [each.text for each in written] == [plain(policy, tokenizer, problem) for problem in PROBLEMS]


SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "intermediate_size": 48, "initializer_range": 0.3}


def test_a_model_that_reads_padding_writes_one_completion_at_a_time(tokenizer):
    torch.manual_seed(0)
    model = RwkvForCausalLM(RwkvConfig(vocab_size=len(tokenizer), attention_hidden_size=32, **SIZES))
    with pytest.warns(UserWarning, match="a RwkvForCausalLM reads a prompt otherwise in a batch than alone"):
        together = generate(model, tokenizer, PROBLEMS, decoding=GREEDY, seed=0)
    alone = generate(model, tokenizer, PROBLEMS, decoding=replace(GREEDY, batch_size=1), seed=0)
    assert [each.text for each in together] == [each.text for each in alone]


def test_a_cache_with_an_empty_layer_is_not_copied(tokenizer):
    torch.manual_seed(0)
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "num_local_experts": 2}
    heads["layer_types"] = ["linear_attention", "full_attention"]
    model = MiniMaxForCausalLM(MiniMaxConfig(vocab_size=len(tokenizer), **heads, **SIZES)).eval()
    written = generate(model, tokenizer, PROBLEMS, decoding=replace(GREEDY, batch_size=1), seed=0)
    assert [each.text for each in written] == [plain(model, tokenizer, problem) for problem in PROBLEMS]
