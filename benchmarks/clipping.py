"""λ × clipping × learning rate → a table of the gradient's norm, and what the training came to.

    python benchmarks/clipping.py
    python benchmarks/clipping.py --model smollm2 --steps 5 --limits 1 1e9      # make smollm2 first

LoRA on demonstrations of mini-sums, AdamW, cosine, with the recipe's batch of 16 and the same seed in every
row. `norm` is the median of grad_norm before clipping, `clipped` the share of the steps over max_grad_norm,
`ce` and `entropy` are means over the last quarter of the steps, in nats per token. `moved` is the length of
the whole training in the adapter's weights, from the first to the last.
"""

import argparse
import os
import tempfile
from pathlib import Path
from statistics import fmean, median

os.environ |= {"HF_HUB_OFFLINE": "1"}

import torch
from safetensors.torch import load_file

from erce.hf.models import BasePolicy
from erce.recipe import Objective, Training
from erce.study.stages import base_policy
from erce.tasks import load_task, splits
from erce.train.fine_tune import fine_tune
from erce.types import Problem

LAMS = (0.0, 1.0, 4.0)
NO_CLIPPING = 1e9


def main() -> None:
    options = _arguments()
    torch.set_num_threads(1)
    base = base_policy(options.model, "auto")
    problems = splits(load_task("mini-sums"), n_train=16 * options.steps, n_validation=1, n_test=1).train
    print("| λ | learning rate | max_grad_norm | norm | clipped | ce | entropy | moved |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    for lam in LAMS:
        for rate in options.learning_rates:
            for limit in options.limits:
                print(row(base, problems, lam=lam, rate=rate, limit=limit), flush=True)


def row(base: BasePolicy, problems: tuple[Problem, ...], *, lam: float, rate: float, limit: float) -> str:
    training = Training(epochs=1.0, learning_rate=rate, max_grad_norm=limit, checkpoint_minutes=0)
    with tempfile.TemporaryDirectory() as folder:
        adapter = Path(folder) / "adapter"
        objective = Objective(lam=lam)
        told = fine_tune(base, problems, objective=objective, training=training, seed=0, folder=adapter)
        weights = load_file(adapter / "adapter_model.safetensors")
    log = told["log"]
    last = log[-max(1, len(log) // 4) :]
    norms = [entry["grad_norm"] for entry in log]
    # B begins at 0, so its end is how far it has moved.
    moved = sum(float(w.float().square().sum()) for name, w in weights.items() if "lora_B" in name) ** 0.5
    cells = [
        f"{lam:g}",
        f"{rate:g}",
        "none" if limit == NO_CLIPPING else f"{limit:g}",
        f"{median(norms):.2f}",
        f"{sum(norm > limit for norm in norms) / len(norms):.0%}",
        *(f"{fmean(entry[name] for entry in last):.3f}" for name in ("ce", "entropy")),
        f"{moved:.3f}",
    ]
    return f"| {' | '.join(cells)} |"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", default="tiny")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--learning-rates", type=float, nargs="+", default=[5e-4])
    parser.add_argument("--limits", type=float, nargs="+", default=[0.1, 1.0, NO_CLIPPING])
    return parser.parse_args()


if __name__ == "__main__":
    main()
