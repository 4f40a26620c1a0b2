"""What a card would be asked by our output head and by TRL's, counted without a card → a table.

    python benchmarks/gpu_count.py
    python benchmarks/gpu_count.py --width 3584
    python benchmarks/gpu_count.py --trainable
    python benchmarks/gpu_count.py --bandwidth 4.3 --matmuls 720

Nothing here is measured. Both heads run forward and backward on tensors without memory, as they would on a
card, with bfloat16 operands; every operation passes by and is counted, and so is the memory of every tensor
for as long as it lives. `of these a chunk` is what the last chunk of rows (of TRL's: of the vocabulary) adds,
matmuls included. `bytes a logit` is what all operations read and write, each operand once, over rows ×
vocabulary. `peak MiB` is what the call holds at most besides its inputs. `ms` follows for a card of
--bandwidth TB/s and --matmuls TFLOP/s: a matmul takes the longer of its two times, everything else its bytes,
and each operation --gap µs. With the defaults TRL's times are within a tenth of an H100's (docs/loss.md).
"""

import argparse
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
from heads import HEADS, TRL_CHUNK, Operands, label, why_not
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from erce.loss import chunked, gpu_self_check, scored_rows, triton_kernels

MIB = 2**20
ALLOCATION = 512  # bytes, what PyTorch's allocator rounds up to
MATMULS = ("aten::mm", "aten::addmm", "aten::addmm_")


class Card(TorchDispatchMode):
    """Counts operations, multiply-adds, bytes that they move, and bytes that are held."""

    def __init__(self, card: argparse.Namespace) -> None:
        super().__init__()
        self.card = card
        self.operations = self.matmuls = self.kernels = 0
        self.moved = self.held = self.peak = 0
        self.seconds = 0.0
        self.storages: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        written = [x for x in tree_leaves(out) if isinstance(x, Tensor)]
        if func.is_view or not written:
            return out
        name = func._schema.name
        self._hold(written)
        if not name.startswith(("aten::empty", "aten::new_empty", "aten::detach")):
            read = [x for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)]
            tensors = {
                (x.untyped_storage()._cdata, x.storage_offset(), x.shape): x for x in [*read, *written]
            }
            flops = 0
            if name in MATMULS:
                left, right = [x for x in args if isinstance(x, Tensor)][-2:]
                flops = 2 * left.numel() * right.shape[-1]
            self.add(sum(map(_bytes, tensors.values())), flops)
        return out

    def add(self, moved: int, flops: int = 0) -> None:
        """Add one operation that moves so many bytes."""
        self.operations += 1
        self.matmuls += flops > 0
        self.moved += moved
        in_flight = max(moved / (self.card.bandwidth * 1e12), flops / (self.card.matmuls * 1e12))
        self.seconds += in_flight + self.card.gap * 1e-6

    def kernel(self, moved: int) -> None:
        self.kernels += 1
        self.add(moved)

    def _hold(self, tensors: list[Tensor]) -> None:
        for storage in (x.untyped_storage() for x in tensors):
            if storage._cdata not in self.storages:
                self.storages.add(storage._cdata)
                size = -(-storage.nbytes() // ALLOCATION) * ALLOCATION
                self.held += size
                weakref.finalize(storage, self._release, storage._cdata, size)
        self.peak = max(self.peak, self.held)

    def _release(self, storage: int, size: int) -> None:
        self.storages.remove(storage)
        self.held -= size


def _bytes(x: Tensor) -> int:
    return x.numel() * x.element_size()


@contextmanager
def as_on(card: Card) -> Iterator[None]:
    """Run the block with what a card would choose; Triton's kernels move their bytes and write nothing."""

    def ours(tile: Tensor, rows: Any, request: Any, bias: Any, out: Tensor | None, *rest: Any) -> None:
        card.kernel(_bytes(tile) + (0 if out is None else _bytes(tile) + _bytes(out)))

    with ExitStack() as stack:
        for module, name, value in (
            (gpu_self_check, "chosen_impl", lambda *args: "triton"),
            (gpu_self_check, "multiplies_into_float32", lambda *args: True),
            (scored_rows, "_count", lambda request, tokens, scored, v: len(tokens)),
            (chunked, "refuse_no_distribution", lambda *args: None),
            (triton_kernels, "score", ours),
            (torch, "is_autocast_enabled", lambda *args: False),  # it knows no tensors without memory
        ):
            stack.enter_context(patch.object(module, name, value))
        if why_not("trl", "cuda") is None:
            from trl.kernels import chunked_logprob

            def add_product(total: Tensor, a: Tensor, b: Tensor) -> None:
                card.add(2 * _bytes(total) + _bytes(a) + _bytes(b), 2 * a.numel() * b.shape[-1])

            for name, value in (
                ("_use_triton", lambda device: True),
                ("_addmm_fp32", add_product),
                ("_forward_kernel", Launched(lambda tile, *rest: card.kernel(_bytes(tile)))),
                ("_backward_kernel", Launched(lambda tile, *rest: card.kernel(2 * _bytes(tile)))),
            ):
                stack.enter_context(patch.object(chunked_logprob, name, value))
        yield


class Launched:
    """A kernel that takes its grid in brackets."""

    def __init__(self, function: Callable[..., None]) -> None:
        self.function = function

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        return lambda *args, **settings: self.function(*args)


def count(name: str, rows: int, x: argparse.Namespace, vocabulary: int | None = None) -> Card:
    v, of = vocabulary or x.vocab, {"device": "meta", "dtype": torch.bfloat16}
    hidden = torch.empty(rows, x.width, **of).requires_grad_()
    weight = torch.empty(v, x.width, **of).requires_grad_(x.trainable)
    operands = Operands(hidden, weight, torch.empty(rows, device="meta", dtype=torch.long), lam=1.0)
    wanted = [hidden, weight] if x.trainable else [hidden]
    card = Card(x)
    with as_on(card), card:
        gradients = torch.autograd.grad(HEADS[name](operands), wanted)
    del gradients
    return card


def a_chunk(name: str, card: Card, x: argparse.Namespace) -> int:
    """Return how many operations the last chunk of a call adds."""
    if name == "trl":
        return card.operations - count(name, x.rows, x, x.vocab - TRL_CHUNK).operations
    step = -(-x.rows // (card.kernels * chunked.ROWS_OF_A_MATMUL)) * chunked.ROWS_OF_A_MATMUL
    fewer = count(name, x.rows - step, x)
    assert fewer.kernels == card.kernels - 1
    return card.operations - fewer.operations


def main() -> None:
    x = _arguments()
    head = "trainable" if x.trainable else "frozen"
    print(f"counted, not measured: {x.rows} rows × {x.vocab}, width {x.width}, bfloat16, {head} head;")
    print(f"a card of {x.bandwidth:g} TB/s and {x.matmuls:g} TFLOP/s, {x.gap:g} µs an operation\n")
    print("| head | matmuls | kernels | operations | of these a chunk | bytes a logit | peak MiB | ms |")
    print("|---|---|---|---|---|---|---|---|")
    for name in ("trl", "ours"):
        if (reason := why_not(name, "cuda")) is not None:
            print(f"| {label(name)} | {reason} |")
            continue
        card = count(name, x.rows, x)
        cells = (
            *(label(name), card.matmuls, card.kernels, card.operations, a_chunk(name, card, x)),
            *(
                f"{card.moved / (x.rows * x.vocab):.1f}",
                f"{card.peak / MIB:.0f}",
                f"{1e3 * card.seconds:.1f}",
            ),
        )
        print(f"| {' | '.join(map(str, cells))} |")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--vocab", type=int, default=151936)
    parser.add_argument("--width", type=int, default=1536)
    parser.add_argument("--trainable", action="store_true")
    parser.add_argument("--bandwidth", type=float, default=3.0, help="TB/s")
    parser.add_argument("--matmuls", type=float, default=700, help="TFLOP/s in bfloat16")
    parser.add_argument("--gap", type=float, default=3, help="µs that an operation costs beside its work")
    return parser.parse_args()


if __name__ == "__main__":
    main()
