"""Operands with known difficulties into a table of errors against float64, for every output head.

    python benchmarks/accuracy.py
    python benchmarks/accuracy.py --dtypes bfloat16 --orders 1
    python benchmarks/accuracy.py --vocab 8192 --rows 16

A cell is the relative error of the gradient in the hidden states (of its norm, over all rows) and, in
brackets, that of the mean objective. Truth is float64 from the same operands; "rounding" is the error of that
gradient once it is in the operands' dtype, less than which nobody can have. The families of logits:

* "max 24": Gaussian logits whose largest of a row is about 24; every other target is the largest one.
* "1 − p = 1e-5": the target of every row has the probability 1 − 1e-5, the rest of the vocabulary shares it.
* "+ 1e4": a float32 bias adds 10,000 to every logit, which changes no probability.
* "half masked": a bias of −inf on every other token of the vocabulary.

Liger's head takes no bias; PyTorch's takes one in the operands' dtype, and knows no entropy; Rényi's orders
are ours alone, and naive's. CPU, one thread, under half a minute.
"""

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from heads import HEADS, Head, Operands, in_hidden, truth, why_not
from torch import Tensor

NAMES = {"naive": "naive", "TRL": "trl", "Liger": "liger", "PyTorch": "torch-ce", "ours": "ours"}
MAXIMA = (5, 19, 24, 28, 38)
DOUBTS = (1e-1, 1e-3, 1e-5, 1e-7)  # 1 − p(target)
WIDTH = 64


def main() -> None:
    options = _arguments()
    torch.set_num_threads(1)
    heads = {shown: name for shown, name in NAMES.items() if why_not(name, "cpu") is None}
    print(f"{options.rows} rows × {options.vocab}, width {WIDTH}, torch {torch.__version__}, CPU\n")
    print(
        f"| {'logits':<26} | {'dtype':<8} |  λ | order | {' | '.join(f'{n:<17}' for n in heads)} | rounding |"
    )
    print(f"|{'-' * 28}|{'-' * 10}|---:|------:|{'|'.join('-' * 19 for _ in heads)}|----------|")
    for dtype in options.dtypes:
        for family in families(options.rows, options.vocab):
            x = family.operands(getattr(torch, dtype))
            for lam in options.lams:
                for order in options.orders if lam else [1.0]:
                    cells = row(replace(x, lam=lam, order=order), heads)
                    print(
                        f"| {family.name:<26} | {dtype:<8} | {lam:>2g} | {order:>5g} | {' | '.join(cells)} |",
                        flush=True,
                    )


@dataclass(frozen=True)
class Family:
    name: str
    hidden: Tensor  # (n, d), float32
    weight: Tensor  # (v, d), float32
    targets: Tensor  # (n,)
    bias: Tensor | None = None  # (v,), float32

    def operands(self, dtype: torch.dtype) -> Operands:
        hidden = self.hidden.to(dtype).requires_grad_()
        return Operands(hidden, self.weight.to(dtype), self.targets, bias=self.bias)


def families(rows: int, vocab: int) -> Iterator[Family]:
    seed = torch.Generator().manual_seed(0)
    far = torch.full((vocab,), 1e4)
    for maximum in MAXIMA:
        family = peaked(rows, vocab, maximum, seed)
        yield family
        if maximum in (24, 38):
            yield replace(family, name=f"{family.name}, + 1e4", bias=far)
        if maximum == 24:
            yield masked(family)
    for doubt in DOUBTS:
        family = confident(rows, vocab, doubt, seed)
        yield family
        if doubt in (1e-3, 1e-7):
            yield replace(family, name=f"{family.name}, + 1e4", bias=far)


def peaked(rows: int, vocab: int, maximum: float, seed: torch.Generator) -> Family:
    hidden = torch.randn(rows, WIDTH, generator=seed)
    weight = torch.randn(vocab, WIDTH, generator=seed)
    logits = hidden @ weight.t()
    targets = torch.randint(vocab, (rows,), generator=seed)
    targets[::2] = logits.argmax(1)[::2]
    return Family(f"max {maximum:g}", hidden, weight * (maximum / logits.amax(1).median()), targets)


def confident(rows: int, vocab: int, doubt: float, seed: torch.Generator) -> Family:
    """Return a family of values that bfloat16 holds; only its target lies along a row's own direction."""
    hidden = torch.randn(rows, WIDTH, generator=seed).bfloat16().float()
    weight = torch.randn(vocab, WIDTH, generator=seed).mul_(2 * WIDTH**-0.5).bfloat16().float()
    targets = torch.randperm(vocab, generator=seed)[:rows]
    rest = hidden @ weight.t()
    own = rest.gather(1, targets[:, None])[:, 0]
    rest.scatter_(1, targets[:, None], -math.inf)
    further = rest.logsumexp(1) + math.log((1 - doubt) / doubt) - own
    hidden = torch.cat([hidden, further.bfloat16().float().diag()], 1)
    ahead = torch.zeros(vocab, rows)
    ahead[targets, torch.arange(rows)] = 1
    return Family(f"1 − p = {doubt:.0e}", hidden, torch.cat([weight, ahead], 1), targets)


def masked(family: Family) -> Family:
    bias = torch.zeros(len(family.weight))
    bias[::2] = -math.inf
    bias[family.targets] = 0
    return replace(family, name=f"{family.name}, half masked", bias=bias)


def row(x: Operands, heads: dict[str, str]) -> list[str]:
    objective, in_logits = truth(x)
    wanted = in_hidden(in_logits, x.weight)
    cells = [f"{_cell(name, x, objective, wanted):<17}" for name in heads.values()]
    return [*cells, f"{relative(wanted.to(x.hidden.dtype), wanted):<8.1e}"]


def relative(computed: Tensor, wanted: Tensor) -> float:
    return float((computed.double() - wanted).norm() / wanted.norm())


def _cell(name: str, x: Operands, objective: Tensor, wanted: Tensor) -> str:
    if x.bias is not None and name == "liger":
        return "no bias"
    if (name == "torch-ce" and x.lam) or (name not in {"naive", "ours"} and x.order != 1):
        return ""
    value, gradient = _value_and_gradient(HEADS[name], x)
    return f"{relative(gradient, wanted):.1e} ({relative(value, objective):.0e})"


def _value_and_gradient(head: Head, x: Operands) -> tuple[Tensor, Tensor]:
    value = head(x)
    return value.detach(), torch.autograd.grad(value, x.hidden)[0]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=32)
    parser.add_argument("--vocab", type=int, default=32768)
    parser.add_argument("--dtypes", nargs="+", default=["bfloat16", "float32"])
    parser.add_argument("--lams", nargs="+", type=float, default=[0.0, 8.0])
    parser.add_argument("--orders", nargs="+", type=float, default=[1.0, 0.5, 2.0])
    return parser.parse_args()


if __name__ == "__main__":
    main()
