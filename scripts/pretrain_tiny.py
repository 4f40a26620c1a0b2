"""Build the embedded base models: a byte-level tokenizer and a small Qwen2, pretrained on generated text.

    python scripts/pretrain_tiny.py erce/tiny             # "tiny", and "tiny-styles" in its folder styles
    python scripts/pretrain_tiny.py erce/tiny --styles    # "tiny-styles" alone, from the "tiny" of the folder

The mini tasks generate the text, with some wrong steps, as text on the web has: a base model puts real
probability on wrong outputs, whereas the demonstrations that fine-tune it later are always correct. The
expressions and sentences of the tasks' own pools are left out. The same seed on the same machine gives the
same models. "tiny-styles" is "tiny" after some more text: sums, of which a share skips its working.
"""

import argparse
import math
import random
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer, Qwen2Config, Qwen2ForCausalLM, Qwen2Tokenizer

from erce.tasks import mini_code, mini_styles, mini_sums

SEED = 0
SLIP_STEP, SLIP_ANSWER, SLIP_CODE = 0.2, 0.3, 0.3  # probability of a wrong step, answer, program
SHORTCUTS, STYLES_STEPS = 0.38, 70  # of "tiny-styles": share of sums without their working; steps
VOCABULARY = 512
CONTEXT = 2048
CHAT_TOKENS = ["<|im_start|>", "<|im_end|>"]
CHAT = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


Draw = Callable[[random.Random], tuple[str, str]]  # a prompt and a response that may be wrong


def mini_text(rng: random.Random) -> tuple[str, str]:
    """Draw a sum, worked or answered, or a program."""
    kind = rng.random()
    if kind < 0.8:
        terms = mini_sums.expression(rng)
        if kind < 0.6:
            prompt, response = mini_sums.STEPS, mini_sums.working(terms, rng, slip=SLIP_STEP)
        else:
            answer = sum(terms)
            if rng.random() < SLIP_ANSWER:
                answer = mini_sums.slipped(answer, rng)
            prompt, response = mini_sums.ANSWER_ONLY, f"#### {answer}"
        return prompt.format(mini_sums.written(terms)), response
    family = rng.choice(mini_code.FAMILIES)
    a, b = rng.choice(mini_code.CONSTANTS), rng.choice(mini_code.CONSTANTS)
    return mini_code.problem(family, a, b, rng)[0], mini_code.program(family, a, b, rng, slip=SLIP_CODE)


def styles_text(rng: random.Random, *, shortcuts: float) -> tuple[str, str]:
    """Draw a sum of mini-styles that is worked from left to right, or that skips its working."""
    terms = mini_sums.expression(rng)
    while not mini_styles.stays_in_range(terms):
        terms = mini_sums.expression(rng)
    if rng.random() < shortcuts:
        response = mini_styles.shortcut(terms, rng, slip=SLIP_ANSWER)
    else:
        response = mini_styles.worked(terms, rng, slip=SLIP_STEP)
    return mini_styles.PROMPT.format(mini_sums.written(terms)), response


def without(held_out: set[str], draw: Draw) -> Draw:
    """Return `draw` without the problems whose prompts are held out."""

    def drawn(rng: random.Random) -> tuple[str, str]:
        while True:
            prompt, response = draw(rng)
            if _problem(prompt) not in held_out:
                return prompt, response

    return drawn


def held_out_problems() -> set[str]:
    """Return what the prompts of every mini task ask for."""
    tasks = (mini_sums.MINI_SUMS, mini_code.MINI_CODE)  # whose problems are those of the others too
    pools = [pool for task in tasks for pool in vars(task.pools(None)).values()]
    return {_problem(problem.prompt) for pool in pools for problem in pool}


def _problem(prompt: str) -> str:
    """Return a sum's expression, or a program's sentence without its example."""
    if prompt.startswith("Work out"):
        return prompt.split()[2].rstrip(".")
    return prompt.partition(" For example")[0]


def train_tokenizer(texts: Iterator[str]) -> Any:
    """Train Qwen2's byte-level BPE with few merges; each number of mini-sums is one token."""
    blank = Qwen2Tokenizer(eos_token="<|im_end|>")
    numbers = [str(number) for number in range(10, mini_sums.LIMIT)]
    tokenizer = blank.train_new_from_iterator(
        texts,
        VOCABULARY - len(numbers) - len(CHAT_TOKENS),
        show_progress=False,
        new_special_tokens=CHAT_TOKENS,
    )
    tokenizer.add_tokens(numbers)
    tokenizer.chat_template = CHAT
    tokenizer.model_max_length = CONTEXT
    return tokenizer


def build_model(tokenizer: Any) -> Qwen2ForCausalLM:
    torch.manual_seed(SEED)
    return Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(tokenizer),
            hidden_size=128,
            intermediate_size=384,
            num_hidden_layers=4,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=CONTEXT,
            tie_word_embeddings=True,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )


def opening(tokenizer: Any, prompt: str) -> str:
    return tokenizer.apply_chat_template(
        [{"role": "user", "content": prompt}], add_generation_prompt=True, tokenize=False
    )


def batch(tokenizer: Any, pairs: list[tuple[str, str]]) -> dict[str, torch.Tensor]:
    """Return right-padded token ids; the loss is on the response and its end token."""
    starts = tokenizer([opening(tokenizer, prompt) for prompt, _ in pairs])["input_ids"]
    ends = tokenizer([response + tokenizer.eos_token for _, response in pairs])["input_ids"]
    width = max(len(start) + len(end) for start, end in zip(starts, ends, strict=True))
    ids = torch.full((len(pairs), width), tokenizer.pad_token_id)
    labels = torch.full((len(pairs), width), -100)
    for row, (start, end) in enumerate(zip(starts, ends, strict=True)):
        ids[row, : len(start) + len(end)] = torch.tensor(start + end)
        labels[row, len(start) : len(start) + len(end)] = torch.tensor(end)
    return {"input_ids": ids, "labels": labels}


def pretrain(
    model: Qwen2ForCausalLM, tokenizer: Any, draw: Draw, *, steps: int, rows: int, learning_rate: float
) -> None:
    rng = random.Random(SEED)
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.01)
    warmup = min(100, steps // 6)
    started, average_loss = time.time(), 0.0
    model.train()
    for step in range(steps):
        decay = 0.5 * (1 + math.cos(math.pi * step / steps)) + 0.02
        for group in optimizer.param_groups:
            group["lr"] = learning_rate * min(1, (step + 1) / warmup) * decay
        loss = model(**batch(tokenizer, [draw(rng) for _ in range(rows)])).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        average_loss += 0.02 * (loss.item() - average_loss) if step else loss.item()
        if step % 100 == 99 or step == steps - 1:
            print(
                f"step {step + 1}/{steps}: loss {average_loss:.4f}, {time.time() - started:.0f} s", flush=True
            )


def save(model: Qwen2ForCausalLM, tokenizer: Any, folder: Path) -> None:
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--styles", action="store_true", help='"tiny-styles" alone')
    parser.add_argument("--shortcuts", type=float, default=SHORTCUTS, help="share in the text of tiny-styles")
    parser.add_argument("--steps", type=int, default=STYLES_STEPS, help="of tiny-styles")
    arguments = parser.parse_args()
    held_out = held_out_problems()
    if arguments.styles:
        model = Qwen2ForCausalLM.from_pretrained(arguments.folder)
        tokenizer = AutoTokenizer.from_pretrained(arguments.folder)
    else:
        rng = random.Random(SEED + 1)
        chat = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n{}<|im_end|>\n"
        tokenizer = train_tokenizer(chat.format(*mini_text(rng)) for _ in range(20_000))
        model = build_model(tokenizer)
        print(f"{model.num_parameters():,} parameters, {len(tokenizer)} tokens", flush=True)
        pretrain(model, tokenizer, without(held_out, mini_text), steps=2500, rows=128, learning_rate=2e-3)
        save(model, tokenizer, arguments.folder)
    draw = without(held_out, partial(styles_text, shortcuts=arguments.shortcuts))
    pretrain(model, tokenizer, draw, steps=arguments.steps, rows=64, learning_rate=1e-3)
    save(model, tokenizer, arguments.folder / "styles")


if __name__ == "__main__":
    main()
