"""One shape into a table: time and peak extra memory of the loss head, ours and two written by hand.

    python benchmarks/loss_head.py --rows 1024 --vocab 151936 --width 896 --dtype bfloat16

Forward and backward to the hidden states with a frozen head (as under LoRA), λ = 1, Shannon. Times are
processor seconds, interleaved, the best of the rounds; memory is what a fresh process grows by at its peak,
its inputs not counted; the gradient's error is relative to float64, over 16 rows.
"""

import argparse
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from erce.loss import linear_entropy_regularized_cross_entropy

LAM = 1.0
PAPER_CHUNK = 512  # positions; the paper's appendix on chunked computation


def main() -> None:
    shape = _arguments()
    torch.set_num_threads(shape.threads)
    spawn = multiprocessing.get_context("spawn")
    with spawn.Pool(1, maxtasksperchild=1) as pool:
        peaks = dict(
            zip(METHODS, pool.map(_peak, [(name, shape) for name in METHODS], chunksize=1), strict=True)
        )
    inputs = _inputs(shape)
    errors = _gradient_errors(inputs)
    seconds = dict.fromkeys(METHODS, float("inf"))
    for _ in range(shape.rounds):
        for name, method in METHODS.items():
            started = time.process_time()
            _forward_backward(method, inputs)
            seconds[name] = min(seconds[name], time.process_time() - started)
    print(f"{shape.rows} rows × {shape.vocab}, width {shape.width}, {shape.dtype}, {shape.threads} thread(s)")
    print(f"{'':<28}{'seconds':>9}{'× naive':>9}{'peak extra MiB':>16}{'gradient error':>16}")
    for name in METHODS:
        ratio = seconds[name] / seconds["naive"]
        print(f"{name:<28}{seconds[name]:>9.2f}{ratio:>9.2f}{peaks[name]:>16.0f}{errors[name]:>16.1e}")


def naive(hidden: Tensor, weight: Tensor, targets: Tensor) -> Tensor:
    """All logits at once, the formulas as written, autograd."""
    return _summed(hidden, weight, targets) / len(targets)


def paper(hidden: Tensor, weight: Tensor, targets: Tensor) -> Tensor:
    """Chunks of 512 positions under gradient checkpointing: the logits are computed again in the backward."""
    total = hidden.new_zeros((), dtype=torch.float32)
    for h, y in zip(hidden.split(PAPER_CHUNK), targets.split(PAPER_CHUNK), strict=True):
        total = total + checkpoint(_summed, h, weight, y, use_reentrant=False)
    return total / len(targets)


def ours(hidden: Tensor, weight: Tensor, targets: Tensor) -> Tensor:
    return linear_entropy_regularized_cross_entropy(hidden, weight, targets, lam=LAM).objective


Method = Callable[[Tensor, Tensor, Tensor], Tensor]
METHODS: dict[str, Method] = {
    "naive": naive,
    "paper (512 + checkpoint)": paper,
    "ours": ours,
}


def _summed(hidden: Tensor, weight: Tensor, targets: Tensor) -> Tensor:
    logits = hidden @ weight.t()
    log_p = logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(-1)
    nll = -log_p.gather(-1, targets[:, None])[:, 0]
    return (nll - LAM * (log_p.exp() * log_p).sum(-1)).sum()


def _inputs(shape: argparse.Namespace) -> tuple[Tensor, Tensor, Tensor]:
    seed = torch.Generator().manual_seed(0)
    of = {"generator": seed, "dtype": getattr(torch, shape.dtype)}
    hidden = torch.randn(shape.rows, shape.width, **of).requires_grad_()
    weight = torch.randn(shape.vocab, shape.width, **of).mul_(4 * shape.width**-0.5)
    return hidden, weight, torch.randint(shape.vocab, (shape.rows,), generator=seed)


def _forward_backward(method: Method, inputs: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    """The gradient in the hidden states."""
    return torch.autograd.grad(method(*inputs), inputs[0])[0]


def _gradient_errors(inputs: tuple[Tensor, Tensor, Tensor]) -> dict[str, float]:
    hidden, weight, targets = inputs
    few = hidden[:16].detach().requires_grad_()
    exact = few.detach().double().requires_grad_()
    truth = _forward_backward(naive, (exact, weight.double(), targets[:16]))
    found = {name: _forward_backward(method, (few, weight, targets[:16])) for name, method in METHODS.items()}
    return {name: float((grad - truth).norm() / truth.norm()) for name, grad in found.items()}


def _peak(job: tuple[str, argparse.Namespace]) -> float:
    """MiB of resident memory that one forward and backward adds to its inputs."""
    name, shape = job
    torch.set_num_threads(shape.threads)
    small = argparse.Namespace(**{**vars(shape), "rows": 4, "vocab": 64})
    _forward_backward(METHODS[name], _inputs(small))  # libraries load what they need
    inputs = _inputs(shape)
    before = _peak_resident()
    _forward_backward(METHODS[name], inputs)
    return _peak_resident() - before


def _peak_resident() -> float:
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=1024)
    parser.add_argument("--vocab", type=int, default=32768)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--dtype", choices=["float32", "bfloat16", "float16"], default="float32")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    main()
