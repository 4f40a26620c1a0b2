"""One shape into a table: what a call moves, multiplies and launches on a GPU, and the time that follows.

    python benchmarks/gpu_counts.py
    python benchmarks/gpu_counts.py --rows 4096 --vocab 151936 --width 3584 --trainable

Nothing here is measured: the times are computed from counts and from the four numbers that --matmul,
--bandwidth and --launch set. A matmul takes as long as its products or its bytes, whichever is longer; a
pass over logits takes as long as its bytes. Both heads have bfloat16 operands and the Shannon entropy. `ours`
is this package's on Triton; `TRL` is the way of TRL 1.16's head, which makes the logits again in the
backward.
"""

import argparse
from typing import NamedTuple

from erce.loss.chunked import CHUNK_BYTES, ROWS_OF_A_MATMUL, even_rows

TRL_COLUMNS, TRL_ROWS = 32768, 4096  # of a tile, what its trainers pass
LAUNCHES = 33  # a chunk of ours, two of which are kernels of Triton's


class Counts(NamedTuple):
    """What matmuls and passes cost; a matmul is (rows, inner, columns, bytes an element that it writes)."""

    matmuls: list[tuple[int, int, int, int]]
    pass_bytes: int
    launches: int

    @property
    def flop(self) -> int:
        return sum(2 * n * k * m for n, k, m, _ in self.matmuls)

    def seconds(self, flop_a_second: float, bytes_a_second: float, seconds_a_launch: float) -> float:
        total = self.pass_bytes / bytes_a_second + self.launches * seconds_a_launch
        for n, k, m, size in self.matmuls:
            moved = 2 * (n * k + k * m) + size * n * m
            total += max(2 * n * k * m / flop_a_second, moved / bytes_a_second)
        return total


def ours(n: int, d: int, v: int, *, trainable: bool) -> Counts:
    """Count our head: float32 logits read by two passes, the second of which writes a bfloat16 gradient."""
    size = max(CHUNK_BYTES, 4 * v * d) if trainable else CHUNK_BYTES
    rows = even_rows(n, size // (6 * v), ROWS_OF_A_MATMUL)
    matmuls, chunks = [], [min(rows, n - start) for start in range(0, n, rows)]
    for m in chunks:
        matmuls += [(m, d, v, 4), (m, v, d, 4)]
        if trainable:
            matmuls.append((v, m, d, 8))  # added to what is there
    return Counts(matmuls, 10 * n * v, LAUNCHES * len(chunks))


def trl(n: int, d: int, v: int, *, trainable: bool) -> Counts:
    """Count TRL's head: bfloat16 logits read in the forward; made, read and written in the backward."""
    matmuls, launches = [], 0
    for rows in [min(TRL_ROWS, n - start) for start in range(0, n, TRL_ROWS)]:
        for m in [min(TRL_COLUMNS, v - start) for start in range(0, v, TRL_COLUMNS)]:
            matmuls += [(rows, d, m, 2), (rows, d, m, 2), (rows, m, d, 8)]
            if trainable:
                matmuls.append((m, rows, d, 8))
            launches += 5 + trainable
    return Counts(matmuls, 6 * n * v, launches)


def main() -> None:
    x = _arguments()
    print(f"computed, not measured: {x.rows} rows × {x.vocab}, width {x.width}, bfloat16")
    print(f"matmuls at {x.matmul:g} TFLOP/s, memory at {x.bandwidth:g} TB/s, {x.launch:g} µs a launch\n")
    print("| | TFLOP | GB of passes | launches | ms |\n|---|---|---|---|---|")
    for name, count in (("ours", ours), ("TRL", trl)):
        counts = count(x.rows, x.width, x.vocab, trainable=x.trainable)
        seconds = counts.seconds(x.matmul * 1e12, x.bandwidth * 1e12, x.launch * 1e-6)
        cells = (counts.flop / 1e12, counts.pass_bytes / 1e9, counts.launches, seconds * 1e3)
        print(f"| {name} | {' | '.join(f'{cell:.3g}' for cell in cells)} |")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--vocab", type=int, default=151936)
    parser.add_argument("--width", type=int, default=1536)
    parser.add_argument("--trainable", action="store_true", help="the head learns as well")
    parser.add_argument("--matmul", type=float, default=692, help="TFLOP/s: 70 % of an H200's 989")
    parser.add_argument("--bandwidth", type=float, default=4.3, help="TB/s: 90 % of an H200's 4.8")
    parser.add_argument("--launch", type=float, default=1, help="µs between two kernels in a full queue")
    return parser.parse_args()


if __name__ == "__main__":
    main()
