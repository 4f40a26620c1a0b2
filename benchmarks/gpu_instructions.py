"""Triton's kernels, compiled for a card that need not be there → instructions a logit, and what they cost.

    python benchmarks/gpu_instructions.py

Nothing here is measured. The kernel is compiled for a Hopper card and disassembled. What a thread runs for a
block of columns in each of its two readings is counted along the way that ordinary logits take: no +inf, no
new largest logit. `issue` is how long the card takes to issue that for all logits, at one instruction a cycle
and scheduler; `memory` how long it takes to move them. A reading takes at least the longer one. Needs Triton.
"""

import argparse
import re

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from erce.loss.triton_kernels import BLOCK, WARPS, _score

LANES = 128  # that issue in one cycle of a multiprocessor, 32 to a scheduler
FORMS = ("1", "above 1", "below 1", "inf")  # of the order, as `triton_kernels` counts them
READINGS = {"sums": 4, "gradient": 6}  # bytes a logit: float32 read; then also bfloat16 written
POINTERS = {"targets": "*i64", "out": "*bf16", "columns": "*fp32", "tile": "*fp32"}
WHOLE = dict.fromkeys(("columns_stride", "stride", "out_stride", "v"), "i32")
ALIGNED = ("columns", "tile", "out", "targets", "stride", "out_stride", "v")  # to 16


def assembly(form: int) -> str:
    """Compile the kernel for cross-entropy, without bias, cap, weights and label smoothing."""
    constants = {"form": form, "block": BLOCK, "gradient": True}
    constants |= dict.fromkeys(("bias", "weights", "given"))
    constants |= dict.fromkeys(("capped", "smoothing", "exponential"), False)
    names = _score.arg_names
    types = {name: (POINTERS | WHOLE).get(name, "fp32") for name in names}
    types |= dict.fromkeys(constants, "constexpr")
    hints = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(names) if name in ALIGNED}
    source = ASTSource(_score, types, constexprs=constants, attrs=hints)
    options = {"num_warps": WARPS}
    return triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options).asm["sass"]


def instructions(sass: str) -> tuple[int, int]:
    """Return what a thread runs for one block of columns in either reading: a turn of its loop over blocks.

    Forward jumps are taken, as each leaves out what ordinary logits do not need.
    """
    lines = [line.partition("\t")[2] or line.strip() for line in sass.splitlines()]
    label_at = {line.rstrip(":"): number for number, line in enumerate(lines) if re.fullmatch(r"L\w+:", line)}
    jumps = [(n, label_at[m[1]]) for n, line in enumerate(lines) if (m := re.search(r"BRA (L\w+);", line))]
    loops = sorted((to, n) for n, to in jumps if to < n and n - to > 1)
    forward = {n: to for n, to in jumps if to > n}

    def turn(start: int, stop: int) -> int:
        count, at = 0, start
        while at <= stop:
            count += lines[at].endswith(";")
            at = at + 1 if at == stop else max(at + 1, forward.get(at, 0))
        return count

    # The largest two: the others go over the columns that fill no block.
    first, second = sorted(sorted(loops, key=lambda loop: loop[0] - loop[1])[:2])
    return turn(*first), turn(*second)


def main() -> None:
    x = _arguments()
    print(f"computed, not measured: {x.logits:.3g} logits, {x.processors} multiprocessors at {x.clock} GHz\n")
    print("| reading | order | instructions a logit | issue ms | memory ms |\n|---|---|---|---|---|")
    for form, order in enumerate(FORMS):
        for (name, size), count in zip(READINGS.items(), instructions(assembly(form)), strict=True):
            a_logit = count * 32 * WARPS / BLOCK
            memory = 1e3 * x.logits * size / (x.bandwidth * 1e12)
            issue = 1e3 * x.logits * a_logit / (LANES * x.processors * x.clock * 1e9)
            print(f"| {name} | {order} | {a_logit:.1f} | {issue:.2f} | {memory:.2f} |")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--logits", type=float, default=4096 * 151936)
    parser.add_argument("--processors", type=int, default=132)
    parser.add_argument("--clock", type=float, default=1.755, help="GHz")
    parser.add_argument("--bandwidth", type=float, default=4.3, help="TB/s: 90 % of an H200's 4.8")
    return parser.parse_args()


if __name__ == "__main__":
    main()
