"""One shape into a table: time, peak extra memory and gradient error of the output heads, ours and peers'.

    python benchmarks/loss_head.py --rows 64 --vocab 8000 --width 128
    python benchmarks/loss_head.py --rows 1024 --vocab 151936 --width 896
    python benchmarks/loss_head.py --rows 1024 --vocab 151936 --width 896 --dtype bfloat16 --json bf16.json
    python benchmarks/loss_head.py --rows 512 --vocab 151936 --width 896 --trainable
    python benchmarks/loss_head.py --device cuda --rows 4096 --vocab 151936 --width 1536 --dtype bfloat16 \\
        --tile 1024 --rounds 10 --json h200-1536.json
    python benchmarks/loss_head.py --device cuda --rows 4096 --vocab 151936 --width 3584 --dtype bfloat16 \\
        --tile 1024 --rounds 10 --json h200-3584.json

Forward and backward to the hidden states (with --trainable also to the head's weight), the Shannon entropy
at λ = --lam. Each round runs every head once, in turn, and the best round counts: processor seconds on a
CPU, CUDA events on a GPU. `bare` is the floor: the same matmuls alone, in the operands' dtype, --tile rows
at a time. Memory is what a call adds at its peak to its inputs: to the resident set of a fresh process on a
CPU, to the allocator's bytes on a GPU. The gradient's error is relative to float64, over 16 rows.
"""

import argparse
import json
import multiprocessing
import platform
import resource
import sys
import time
from pathlib import Path

import torch
from heads import HEADS, Operands, in_hidden, label, truth, why_not
from torch import Tensor

MIB = 2**20
NAMES = ("bare", *HEADS)
PEERS = frozenset({"trl", "trl-ce", "liger", "liger-ce", "quack-ce", "torch-ce"})
COLUMNS = ("seconds", "× naive", "× bare", "peak extra MiB", "d hidden error", "d weight error")


def main() -> None:
    shape = _arguments()
    torch.set_num_threads(shape.threads)
    rows: dict[str, dict[str, float]] = {}
    absent: dict[str, str] = {}
    for name in shape.methods:
        reason = _refusal(name, shape)
        if reason is None:
            rows[name] = {}
        else:
            absent[name] = reason
    operands = _operands(shape)
    for name, errors in _gradient_errors(operands, list(rows), shape).items():
        rows[name] |= errors
    for name, mib in _peaks(list(rows), operands, shape).items():
        rows[name]["peak extra MiB"] = mib
    print("before the rounds:", json.dumps(rows), flush=True)  # there, should the rounds take too long
    for name, seconds in _seconds(list(rows), operands, shape).items():
        rows[name]["seconds"] = seconds
    for row in rows.values():
        for base in {"naive", "bare"} & rows.keys():
            row[f"× {base}"] = row["seconds"] / rows[base]["seconds"]
    print(_page(rows, absent, shape))
    if shape.json is not None:
        record = {"shape": vars(shape) | {"json": None}, "on": _machine(shape)}
        shape.json.write_text(json.dumps(record | {"heads": rows, "absent": absent}, indent=1) + "\n")


def run(name: str, x: Operands, shape: argparse.Namespace) -> list[Tensor]:
    """Run one forward and backward; return d hidden, and d weight if the head learns."""
    wanted = [x.hidden, x.weight] if shape.trainable else [x.hidden]
    if name == "bare":
        return bare(x, shape)
    return list(torch.autograd.grad(HEADS[name](x), wanted))


@torch.no_grad()
def bare(x: Operands, shape: argparse.Namespace) -> list[Tensor]:
    """Multiply tile by tile to logits and back, and with --trainable to the weight; do nothing in between."""
    d_hidden = torch.empty_like(x.hidden)
    d_weight = torch.zeros_like(x.weight) if shape.trainable else None
    tile = x.hidden.new_empty(min(shape.tile, len(x.hidden)), len(x.weight))
    for h, out in zip(x.hidden.split(shape.tile), d_hidden.split(shape.tile), strict=True):
        logits = torch.mm(h, x.weight.t(), out=tile[: len(h)])
        torch.mm(logits, x.weight, out=out)
        if d_weight is not None:
            d_weight.addmm_(logits.t(), h)
    return [d_hidden] if d_weight is None else [d_hidden, d_weight]


def _refusal(name: str, shape: argparse.Namespace) -> str | None:
    """Return why there is no row of this name; a peer may also refuse the shape or the device by raising."""
    reason = why_not(name, shape.device)
    if reason is None and name in PEERS:
        small = argparse.Namespace(**{**vars(shape), "rows": 8, "vocab": 1024})
        try:
            run(name, _operands(small), small)
        except (AttributeError, ImportError, RuntimeError, TypeError, ValueError) as error:
            return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    return reason


def _operands(shape: argparse.Namespace) -> Operands:
    seed = torch.Generator(shape.device).manual_seed(0)
    of = {"generator": seed, "device": shape.device}
    exact = {"dtype": getattr(torch, shape.dtype)}
    hidden = torch.randn(shape.rows, shape.width, **of, **exact).requires_grad_()
    weight = torch.randn(shape.vocab, shape.width, **of, **exact).mul_(4 * shape.width**-0.5)
    targets = torch.randint(shape.vocab, (shape.rows,), **of)
    return Operands(hidden, weight.requires_grad_(shape.trainable), targets, lam=shape.lam)


def _seconds(names: list[str], x: Operands, shape: argparse.Namespace) -> dict[str, float]:
    """Return the best of the rounds; on a GPU the first round is not counted."""
    best = dict.fromkeys(names, float("inf"))
    on_gpu = shape.device == "cuda"
    for number in range(shape.rounds + on_gpu):
        for name in names:
            taken = (_gpu_seconds if on_gpu else _cpu_seconds)(name, x, shape)
            if number or not on_gpu:
                best[name] = min(best[name], taken)
    return best


def _cpu_seconds(name: str, x: Operands, shape: argparse.Namespace) -> float:
    started = time.process_time()
    run(name, x, shape)
    return time.process_time() - started


def _gpu_seconds(name: str, x: Operands, shape: argparse.Namespace) -> float:
    started, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    started.record()
    run(name, x, shape)
    ended.record()
    torch.cuda.synchronize()
    return started.elapsed_time(ended) / 1000


def _gradient_errors(x: Operands, names: list[str], shape: argparse.Namespace) -> dict[str, dict[str, float]]:
    hidden = x.hidden[:16].detach().requires_grad_()
    few = Operands(hidden, x.weight, x.targets[:16], lam=x.lam)
    truths = {lam: truth(Operands(hidden, x.weight, few.targets, lam=lam))[1] for lam in {0.0, x.lam}}
    rows: dict[str, dict[str, float]] = {}
    for name in names:
        if name == "bare":
            rows[name] = {}
            continue
        exact, gradients = truths[0.0 if name.endswith("-ce") else x.lam], run(name, few, shape)
        wanted = in_hidden(exact, x.weight)
        rows[name] = {"d hidden error": float((gradients[0] - wanted).norm() / wanted.norm())}
        if shape.trainable:
            rows[name]["d weight error"] = _weight_error(gradients[1], exact, hidden.detach().double())
    return rows


def _weight_error(gradient: Tensor, exact: Tensor, hidden: Tensor) -> float:
    off = size = 0.0
    for computed, g in zip(gradient.split(8192), exact.split(8192, 1), strict=True):
        wanted = g.t() @ hidden
        off, size = off + float((computed - wanted).square().sum()), size + float(wanted.square().sum())
    return (off / size) ** 0.5


def _peaks(names: list[str], x: Operands, shape: argparse.Namespace) -> dict[str, float]:
    if shape.device == "cuda":
        return {name: _gpu_peak(name, x, shape) for name in names}
    jobs = [(name, shape) for name in names]
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        return dict(zip(names, pool.map(_cpu_peak, jobs, chunksize=1), strict=True))


def _cpu_peak(job: tuple[str, argparse.Namespace]) -> float:
    name, shape = job
    torch.set_num_threads(shape.threads)
    small = argparse.Namespace(**{**vars(shape), "rows": 4, "vocab": 64})
    run(name, _operands(small), small)  # libraries load what they need
    operands = _operands(shape)
    before = _resident(start_anew=True)
    run(name, operands, shape)
    return _resident() - before


def _gpu_peak(name: str, x: Operands, shape: argparse.Namespace) -> float:
    run(name, x, shape)  # kernels are compiled, workspaces are there
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    run(name, x, shape)
    torch.cuda.synchronize()
    return (torch.cuda.max_memory_allocated() - before) / MIB


def _resident(*, start_anew: bool = False) -> float:
    """Return this process's highest MiB so far; Linux can start anew, after libraries were loaded."""
    status = Path("/proc/self/status")
    if status.exists():
        if start_anew:
            Path("/proc/self/clear_refs").write_text("5")
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 2**10
    unit = MIB if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _page(rows: dict[str, dict[str, float]], absent: dict[str, str], shape: argparse.Namespace) -> str:
    """Return the table, in Markdown, and under it our time relative to every other."""
    columns = [name for name in COLUMNS if any(name in row for row in rows.values())]
    widths = [max(9, len(name)) for name in columns]
    on, head = _machine(shape), "trainable" if shape.trainable else "frozen"
    lines = [
        f"{shape.rows} rows × {shape.vocab}, width {shape.width}, {shape.dtype}, {head} head",
        f"λ = {shape.lam:g}, best of {shape.rounds} rounds",
        f"{on['device']}, {shape.threads} thread(s), torch {on['torch']}\n",
        f"| {'':<27} | {' | '.join(map(str.rjust, columns, widths))} |",
        f"|{'-' * 29}|{'|'.join('-' * (width + 1) + ':' for width in widths)}|",
    ]
    for name in shape.methods:
        cells = [_cell(column, rows.get(name, {})) for column in columns] if name in rows else [absent[name]]
        lines.append(f"| {label(name):<27} | {' | '.join(map(str.rjust, cells, widths))} |")
    if "ours" in rows:
        mine = rows["ours"]["seconds"]
        others = [f"{mine / row['seconds']:.2f} × {label(n)}" for n, row in rows.items() if n != "ours"]
        lines.append(f"\nours takes {'; '.join(others)}")
    return "\n".join(lines)


def _cell(column: str, row: dict[str, float]) -> str:
    if column not in row:
        return ""
    form = {"seconds": ".4f", "peak extra MiB": ".0f"}.get(column, ".1e" if "error" in column else ".2f")
    return format(row[column], form)


def _machine(shape: argparse.Namespace) -> dict[str, str]:
    on_gpu = shape.device == "cuda"
    device = torch.cuda.get_device_name() if on_gpu else f"CPU ({platform.machine()})"
    return {"device": device, "torch": torch.__version__, "python": platform.python_version()}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=1024)
    parser.add_argument("--vocab", type=int, default=32768)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--dtype", choices=["float32", "bfloat16", "float16"], default="float32")
    parser.add_argument("--lam", type=float, default=1.0)
    parser.add_argument("--trainable", action="store_true", help="the head learns as well")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--methods", type=_methods, default=NAMES, help=",".join(NAMES))
    parser.add_argument("--tile", type=int, default=256, help="rows of logits that `bare` makes at a time")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="the numbers and where they are from, as a file")
    return parser.parse_args()


def _methods(names: str) -> tuple[str, ...]:
    chosen = tuple(names.split(","))
    if unknown := set(chosen) - set(NAMES):
        raise argparse.ArgumentTypeError(f"no {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    return chosen


if __name__ == "__main__":
    main()
