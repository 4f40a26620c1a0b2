"""A tied toy model, trained by each head, into a table of how far its entropy drifts from float32's.

    python benchmarks/drift.py
    python benchmarks/drift.py --seeds 2 --steps 100
    python benchmarks/drift.py --seeds 8 --learning-rate 3e-3
    python benchmarks/drift.py --vocab 16640 --seeds 2

An embedding, a GRU and the embedding again as the head, which learns: cross-entropy + λ · entropy on a random
Markov chain of --vocab tokens, 384 positions a step, AdamW. The parameters are float32; in a bfloat16 row the
hidden states and the head's weight are rounded to it before the head, as under autocast. A row is compared
with the first one seed by seed, same start and same batches; entropy and objective are scored in float32,
and averaged over the last quarter of the steps. A drift up to a twentieth of what the seeds differ by counts
as within noise.

To make a biased sum visible, the weight's gradient is built from many small chunks: four rows of logits at a
time. "summed in bfloat16" is the control: by hand, with that gradient rounded after every chunk. Its error in
a step, about a percent, is one to three times naive autograd's, but its entropy drifts.
From 4,096 tokens up, our head on a CPU makes bfloat16 logits and computes the likely ones again; below, it
adds what they were rounded off by.
One thread, about two minutes.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from heads import Head, Operands, by_definition, naive, ours, trl, why_not
from torch import Tensor, nn

WIDTH, LENGTH, SEQUENCES = 64, 32, 12
ROWS = 4  # of logits in a chunk
EVERY = 5  # steps between two scorings


def main() -> None:
    options = _arguments()
    torch.set_num_threads(1)
    print(
        f"{options.steps} steps, λ = {options.lam:g}, {options.seeds} seeds, torch {torch.__version__}, CPU\n"
    )
    points = [round(share * (options.steps // EVERY - 1)) for share in (0, 0.25, 0.5, 0.75, 1)]
    along = " | ".join(f"H at {point * EVERY}" for point in points)
    print(
        f"| {'head':<35} | {along} | entropy | drift ± its sd | of the spread | objective's | within noise |"
    )
    print("|---" + "|---:" * (len(points) + 5) + "|")
    truth: Tensor | None = None
    for name, (head, dtype) in HEADS.items():
        if name.startswith("TRL") and (reason := why_not("trl", "cpu")):
            print(f"| {name} | {reason} |")
            continue
        curves = torch.stack(
            [train(head, dtype, seed, options) for seed in range(options.seeds)]
        )  # (seeds, t, 2)
        truth = curves if truth is None else truth
        along = " | ".join(f"{float(curves[:, point, 0].mean()):.3f}" for point in points)
        print(f"| {name:<35} | {along} | {compared(curves, truth)} |", flush=True)


def compared(curves: Tensor, truth: Tensor) -> str:
    late = slice(-(truth.shape[1] // 4), None)
    ends, reference = (x[:, late].mean(1) for x in (curves, truth))  # (seeds, 2)
    drift, spread = ends - reference, reference.std(0)
    shares = drift.mean(0) / spread
    fine = bool((shares.abs() <= 0.05).all())
    mine = float(ends[:, 0].mean()), float(drift[:, 0].mean()), float(drift[:, 0].std())
    in_percent = " | ".join(f"{100 * float(share):+.1f} %" for share in shares)
    return "{:.4f} | {:+.5f} ± {:.5f}".format(*mine) + f" | {in_percent} | {'yes' if fine else 'no'}"


class Tied(nn.Module):
    """Tokens (b, t) into hidden states (b, t, d), to be multiplied with the embedding."""

    def __init__(self, v: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(v, WIDTH)
        nn.init.normal_(self.embedding.weight, std=WIDTH**-0.5)
        self.recurrent = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens) * WIDTH**0.5
        return self.norm(x / 2 + self.recurrent(x)[0])


def train(head: Head, dtype: torch.dtype, seed: int, options: argparse.Namespace) -> Tensor:
    """Return entropy and objective, float32 means in nats a token, every few steps: (steps / EVERY, 2)."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Tied(options.vocab)
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.learning_rate)
    batches, curves = chain(seed, options.vocab), []
    for step in range(options.steps):
        tokens = next(batches)
        hidden, weight = model(tokens[:, :-1]).flatten(0, 1), model.embedding.weight
        exact = Operands(hidden, weight, tokens[:, 1:].flatten(), lam=options.lam)
        if step % EVERY == 0:
            curves.append(score(exact))
        loss = head(replace(exact, hidden=hidden.to(dtype), weight=weight.to(dtype)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return torch.stack(curves)


@torch.no_grad()
def score(x: Operands) -> Tensor:
    logits = x.hidden @ x.weight.t()
    objective, nll = (by_definition(logits, replace(x, lam=lam)).mean() for lam in (x.lam, 0.0))
    return torch.stack([(objective - nll) / x.lam, objective])


def chain(seed: int, v: int) -> Iterator[Tensor]:
    """Yield batches (b, t + 1): four steps of five lead to one of 16 successors, the fifth anywhere."""
    draw = torch.Generator().manual_seed(1000 + seed)
    follows = torch.randint(v, (v, 16), generator=draw)
    near, anywhere = (1 / torch.arange(1.0, n + 1) for n in (16, v))
    while True:
        tokens = [torch.multinomial(anywhere, SEQUENCES, True, generator=draw)]
        for _ in range(LENGTH):
            which = torch.multinomial(near, SEQUENCES, True, generator=draw)
            jump = torch.multinomial(anywhere, SEQUENCES, True, generator=draw)
            stays = torch.rand(SEQUENCES, generator=draw) < 0.8
            tokens.append(torch.where(stays, follows[tokens[-1], which], jump))
        yield torch.stack(tokens, 1)


class _SummedInBfloat16(torch.autograd.Function):
    """The control: gradients in the forward, like ours, but summed in the dtype of the operands."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, x: Operands) -> Tensor:
        d_hidden, d_weight = torch.zeros_like(hidden), torch.zeros_like(weight)
        objective = hidden.new_zeros((), dtype=torch.float32)
        for rows in torch.arange(len(hidden)).split(ROWS):
            with torch.enable_grad():
                logits = (hidden[rows] @ weight.t()).float().requires_grad_()
                share = by_definition(logits, replace(x, targets=x.targets[rows])).sum() / len(hidden)
            gradient = torch.autograd.grad(share, logits)[0].to(weight.dtype)
            objective += share.detach()
            d_hidden[rows] = gradient @ weight
            d_weight += gradient.t() @ hidden[rows]
        ctx.save_for_backward(d_hidden, d_weight)
        return objective

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        d_hidden, d_weight = ctx.saved_tensors
        return d_hidden * upstream[0], d_weight * upstream[0], None


def _control(x: Operands) -> Tensor:
    return _SummedInBfloat16.apply(x.hidden, x.weight, x)


def _in_float32(x: Operands) -> Tensor:
    return naive(replace(x, hidden=x.hidden.float(), weight=x.weight.float()))


def _ours_in_small_chunks(x: Operands) -> Tensor:
    return ours(x, chunk_bytes=ROWS * len(x.weight) * 4)


HEADS: dict[str, tuple[Head, torch.dtype]] = {
    "naive, float32": (naive, torch.float32),
    "float32 head of bfloat16 operands": (_in_float32, torch.bfloat16),
    "naive, bfloat16": (naive, torch.bfloat16),
    "TRL, bfloat16": (trl, torch.bfloat16),
    "ours, bfloat16, 4 rows at a time": (_ours_in_small_chunks, torch.bfloat16),
    "by hand, 4 rows, summed in bfloat16": (_control, torch.bfloat16),
}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--vocab", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--lam", type=float, default=1.0)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    return parser.parse_args()


if __name__ == "__main__":
    main()
