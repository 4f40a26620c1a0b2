"""Build the embedded base model: a byte-level tokenizer and a small Qwen2, pretrained on generated text.

    python scripts/pretrain_tiny.py erce/tiny

The mini tasks generate the text, with some wrong steps, as text on the web has: the base model puts real
probability on wrong outputs, whereas the demonstrations that fine-tune it later are always correct. The
expressions and sentences of the tasks' own pools are left out. The same seed on the same machine gives the
same model.
"""

import argparse
import math
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM, Qwen2Tokenizer

from erce.tasks import mini_code, mini_sums

SEED = 0
SLIP_STEP, SLIP_ANSWER, SLIP_CODE = 0.2, 0.3, 0.3  # probability of a wrong step, answer, program
VOCABULARY = 512
CONTEXT = 2048
CHAT_TOKENS = ["<|im_start|>", "<|im_end|>"]
CHAT = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def text(rng: random.Random, held_out: set[str]) -> tuple[str, str]:
    """Draw a prompt of the mini tasks with a response that may be wrong."""
    while True:
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
            prompt = prompt.format(mini_sums.written(terms))
        else:
            family = rng.choice(mini_code.FAMILIES)
            a, b = rng.choice(mini_code.CONSTANTS), rng.choice(mini_code.CONSTANTS)
            prompt, _ = mini_code.problem(family, a, b, rng)
            response = mini_code.program(family, a, b, rng, slip=SLIP_CODE)
        if prompt.split(" For example")[0] not in held_out:
            return prompt, response


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


def pretrain(model: Qwen2ForCausalLM, tokenizer: Any, steps: int, rows: int) -> None:
    held_out = {
        problem.prompt.split(" For example")[0]
        for task in (mini_sums.MINI_SUMS, mini_sums.MINI_SUMS_ANSWER_ONLY, mini_code.MINI_CODE)
        for pool in vars(task.pools(None)).values()
        for problem in pool
    }
    rng = random.Random(SEED)
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.01)
    started, average_loss = time.time(), 0.0
    model.train()
    for step in range(steps):
        rate = 2e-3 * min(1, (step + 1) / 100) * (0.5 * (1 + math.cos(math.pi * step / steps)) + 0.02)
        for group in optimizer.param_groups:
            group["lr"] = rate
        loss = model(**batch(tokenizer, [text(rng, held_out) for _ in range(rows)])).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        average_loss += 0.02 * (loss.item() - average_loss) if step else loss.item()
        if step % 100 == 99:
            print(
                f"step {step + 1}/{steps}: loss {average_loss:.4f}, {time.time() - started:.0f} s", flush=True
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=2500)
    parser.add_argument("--rows", type=int, default=128)
    arguments = parser.parse_args()
    rng = random.Random(SEED + 1)
    chat = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n{}<|im_end|>\n"
    tokenizer = train_tokenizer(chat.format(*text(rng, set())) for _ in range(20_000))
    model = build_model(tokenizer)
    print(f"{model.num_parameters():,} parameters, {len(tokenizer)} tokens", flush=True)
    pretrain(model, tokenizer, arguments.steps, arguments.rows)
    model.eval().save_pretrained(arguments.folder)
    tokenizer.save_pretrained(arguments.folder)


if __name__ == "__main__":
    main()
