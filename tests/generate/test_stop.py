"""A stop text ends a completion with the very token that completes it, and cuts the text before it."""

import random
from dataclasses import replace

import pytest
from toys.policy import END, random_model, train_tokenizer
from transformers.convert_slow_tokenizer import bytes_to_unicode

from erce.generate import transformers as backend
from erce.generate.decoding import GenerationSettings, Watch, before_stop, spoken
from erce.generate.transformers import generate
from erce.types import Problem

SAMPLED = GenerationSettings(temperature=1.0, samples=3, max_new_tokens=14, batch_size=64)
PROBLEMS = [
    Problem(id=f"p{number}", prompt="Add 7 and " * (number % 3) + str(number), demonstration="")
    for number in range(8)
]


@pytest.fixture(scope="module")
def tokenizer():
    texts = (f"Add {number} and {number} in words, then €{number * 7}, 日本" for number in range(200))
    return train_tokenizer(texts)


@pytest.fixture(scope="module")
def model(tokenizer):
    """Return a model that writes tokens of several characters, broken characters and the end."""
    return random_model(tokenizer, seed=1, end=2)


def drawn(model, tokenizer, **settings):
    return generate(model, tokenizer, PROBLEMS, decoding=replace(SAMPLED, **settings), seed=0)


@pytest.fixture(scope="module")
def prefixes(model, tokenizer):
    """Every completion without stop texts, after its first token, its second, …"""
    limits = range(1, SAMPLED.max_new_tokens + 1)
    return list(zip(*(drawn(model, tokenizer, max_new_tokens=limit) for limit in limits), strict=True))


def expected(prefixes, stop):
    """The plain reference: write without stop texts, look after each token, cut at the first occurrence."""
    done = []
    for steps in prefixes:
        hit = next((step for step in steps if any(each in step.text for each in stop)), None)
        whole = steps[-1]
        cut = hit and replace(hit, text=before_stop(hit.text, stop), finished=True)
        done.append(cut or whole)
    return done


def texts(prefixes):
    """Stop texts of one to three characters out of what was written, without broken ones."""
    draw = random.Random(0)
    for _ in range(6):
        chosen = set()
        while len(chosen) < 4:
            text, size = draw.choice(prefixes)[-1].text, draw.randint(1, 3)
            at = draw.randrange(max(len(text) - size, 0) + 1)
            if "\ufffd" not in text[at : at + size]:
                chosen.add(text[at : at + size])
        yield tuple(sorted(chosen - {""}))


@pytest.mark.parametrize(("batch_size", "tail"), [(64, 4), (5, 1)])
def test_a_completion_is_the_one_without_stop_texts_up_to_the_first_of_them(
    model, tokenizer, prefixes, batch_size, tail, monkeypatch
):
    monkeypatch.setattr(backend, "TAIL", tail)
    stopped = 0
    for stop in texts(prefixes):
        done = drawn(model, tokenizer, batch_size=batch_size, stop=stop)
        for this, that in zip(done, expected(prefixes, stop), strict=True):
            close = {"logprob": pytest.approx(that.logprob, abs=1e-3), "entropy": pytest.approx(that.entropy)}
            assert vars(this) == vars(that) | close
            assert not any(each in this.text for each in stop)
        stopped += sum(this.tokens < steps[-1].tokens for this, steps in zip(done, prefixes, strict=True))
    assert stopped > 25


def test_a_stop_text_complete_with_the_last_token_allowed_finishes_the_completion(model, tokenizer, prefixes):
    short, long = next(
        (steps[at - 1], steps[at])
        for steps in prefixes
        for at in range(2, 12)
        if not steps[at].finished
        and (more := steps[at].text.removeprefix(steps[at - 1].text))
        and more != steps[at].text
        and "\ufffd" not in more
        and steps[at].text.index(more) == len(steps[at - 1].text)
    )
    stop = (long.text[len(short.text) :],)
    done = drawn(model, tokenizer, max_new_tokens=long.tokens, stop=stop)
    this = next(each for each in done if (each.problem, each.sample) == (long.problem, long.sample))
    assert (this.text, this.tokens, this.finished) == (short.text, long.tokens, True)


def test_the_prompt_and_what_straddles_its_end_are_no_part_of_a_completion(model, tokenizer, prefixes):
    whole = [steps[-1] for steps in prefixes]
    first = next(
        each for each in whole if each.text[:1].isprintable() and each.text[:1] not in ("", "\ufffd")
    )
    prompt = next(problem.prompt for problem in PROBLEMS if problem.id == first.problem)
    stop = (prompt[-1] + first.text[0], prompt)
    assert not any(each in step.text for each in stop for step in whole)
    assert drawn(model, tokenizer, stop=stop) == whole


def test_special_tokens_have_no_text(model, tokenizer, prefixes):
    whole = [steps[-1] for steps in prefixes]
    assert any(each.finished for each in whole)
    assert drawn(model, tokenizer, stop=(END, "im_end")) == whole


@pytest.mark.parametrize("seed", range(4))
def test_a_text_is_complete_with_its_last_byte_however_its_bytes_are_cut_into_tokens(tokenizer, seed):
    draw, alphabet = random.Random(seed), "añ€日🙂 7b"
    single = {tokenizer.decode([token]): token for token in range(len(tokenizer))}
    raw = {byte: tokenizer.convert_tokens_to_ids(sign) for byte, sign in bytes_to_unicode().items()}
    for _ in range(60):
        tokens: list[int] = []
        for sign in draw.choices([*alphabet, "Add", " and"], k=20):
            whole = single.get(sign) if draw.random() < 0.5 else None
            tokens += [raw[byte] for byte in sign.encode()] if whole is None else [whole]
            tokens += [tokenizer.eos_token_id] * (draw.random() < 0.1) + [raw[0xE2]] * (draw.random() < 0.1)
        stop = tuple("".join(draw.choices(alphabet, k=draw.randint(1, 3))) for _ in range(2))
        watch = Watch(tokenizer, stop, tokens[:3])
        before = [spoken(tokenizer, tokens[: at + 1]) for at in range(3, len(tokens))]
        if any(each in spoken(tokenizer, tokens[:3]) for each in stop):
            continue
        truth = [any(each in text for each in stop) for text in before]
        stopped = [watch.completes(token) for token in tokens[3:]]
        assert stopped[: truth.index(True) + 1 if any(truth) else None] == [False] * (
            truth.index(True) if any(truth) else len(truth)
        ) + [True] * any(truth)
