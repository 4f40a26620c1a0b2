"""What running many cells costs: a table a measurement, of overhead, of workers, of resuming, of memory.

    python benchmarks/engines.py overhead            empty cells: milliseconds of the engine's own for each
    python benchmarks/engines.py workers             tiny real cells: 2 workers, 1 worker, a process a cell
    python benchmarks/engines.py resumed             a finished study of 10,000 cells: planned and reported
    python benchmarks/engines.py resumed --cells 2000 --problems 100
    python benchmarks/engines.py records             1,000 cells of 4,000 records: memory of the driver

Everything is in a temporary folder. Set OMP_NUM_THREADS=1, and let nothing else run.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from erce.recipe import Cell, Decoding, Recipe, Resources, Training
from erce.study.engines import ENGINES, Work, open_engine
from erce.study.folder import RESULT, cell_folder, open_study

TINY = Recipe(
    task="mini-sums",
    lams=(0.0, 0.5, 1.0),
    seeds=(0, 1, 2, 3, 4),
    n_train=64,
    n_validation=16,
    n_test=32,
    training=Training(epochs=1.0),
    decoding=Decoding(samples=2),
    resources=Resources(threads=1),  # the same for every engine, so that a cell is the same work
)


def nothing(root: Path, recipe: Recipe, cell: Cell) -> None:
    """Run an empty cell."""


def overhead(options: argparse.Namespace) -> None:
    """Measure milliseconds a cell, without the engine's start."""
    seeds = tuple(range(options.cells))
    for engine, jobs in (("here", 1), ("processes", 2), ("ray", 0)):
        if engine not in options.engines:
            continue
        with tempfile.TemporaryDirectory() as root:
            work = Work(Path(root), replace(TINY, lams=(0.0,), seeds=seeds), nothing)
            cells = work.recipe.cells()[1:]
            with open_engine(work, engine=engine, jobs=jobs) as run:
                list(run(cells[:4]))  # the workers' start
                started = time.perf_counter()
                ended = list(run(cells))
                seconds_a_cell = (time.perf_counter() - started) / len(cells)
        assert not any(done.failure for done in ended), ended[0]
        print(f"{engine:10} {len(cells)} cells  {1000 * seconds_a_cell:6.2f} ms a cell (at most 50)")


def workers(options: argparse.Namespace) -> None:
    """Measure one study's wall time with 2 workers, with 1, and with a fresh process a cell, in turn."""
    for size in options.sizes:
        walls: dict[str, list[float]] = {"2 workers": [], "1 worker": [], "fresh": []}
        for _ in range(options.rounds):
            for name, seconds in walls.items():
                with tempfile.TemporaryDirectory() as root:
                    started = time.perf_counter()
                    if name == "fresh":
                        for number in range(len(TINY.cells())):
                            _alone("_one", root, str(number), str(size))
                    else:
                        _alone("_study", root, name[0], str(size))
                    seconds.append(time.perf_counter() - started)
        best = {name: min(seconds) for name, seconds in walls.items()}
        for name, seconds in best.items():
            cells = f"{len(TINY.cells())} cells of size {size}"
            print(f"{name:10} {seconds:6.1f} s  ({cells}, best of {options.rounds})")
        print(f"2 workers / 1 worker         {best['2 workers'] / best['1 worker']:.2f} (at most 0.62)")
        print(f"2 workers / fresh processes  {best['2 workers'] / best['fresh']:.2f} (at most 0.50)")


def _sized(size: str) -> Recipe:
    """Return the tiny study with `size` times its problems."""
    sizes = {name: getattr(TINY, name) * int(size) for name in ("n_train", "n_validation", "n_test")}
    return replace(TINY, **sizes)


def _study(root: str, jobs: str, size: str) -> None:
    import erce.study.run

    erce.study.run.run(_sized(size), out=root, engine="processes", jobs=int(jobs))


def _one(root: str, number: str, size: str) -> None:
    from erce.study.cell import run_cell

    run_cell(Path(root), _sized(size), TINY.cells()[int(number)])


def resumed(options: argparse.Namespace) -> None:
    """Measure seconds and memory to run a finished study again and to report it."""
    seeds = tuple(range(options.cells // len(options.lams)))
    n_test, n_validation = options.problems, options.problems // 2
    recipe = replace(TINY, lams=tuple(options.lams), seeds=seeds, n_test=n_test, n_validation=n_validation)
    with tempfile.TemporaryDirectory() as root:
        _write_study(Path(root), recipe)
        for what in ("_resume", "_report"):
            _measured(what, root)


def records(options: argparse.Namespace) -> None:
    """Measure the memory of a driver whose workers write many records, and of their report."""
    recipe = replace(
        TINY, lams=(0.0, 1.0), seeds=tuple(range(options.cells // 2)), n_test=options.records // 5
    )
    recipe = replace(recipe, decoding=Decoding(samples=4), n_validation=0)
    with tempfile.TemporaryDirectory() as root:
        (Path(root) / "recipe.json").write_text(json.dumps([options.cells // 2, options.records // 5]))
        _measured("_many", root)
        _measured("_report", f"{root}/study")


def _many(root: str) -> None:
    seeds, problems = json.loads((Path(root) / "recipe.json").read_text())
    recipe = replace(TINY, lams=(0.0, 1.0), seeds=tuple(range(seeds)), n_test=problems, n_validation=0)
    recipe = replace(recipe, decoding=Decoding(samples=4))
    work = Work(Path(root) / "study", recipe, _write_cell)
    open_study(work.root, recipe)
    with open_engine(work, engine="processes", jobs=2) as run:
        for done in run(recipe.cells()):
            assert not done.failure, done


def _write_study(root: Path, recipe: Recipe) -> None:
    open_study(root, recipe)
    for cell in recipe.cells():
        _write_cell(root, recipe, cell)


def _write_cell(root: Path, recipe: Recipe, cell: Cell) -> None:
    """Write the files of a finished cell, with verdicts from a hash."""
    folder, scores, completions, verdicts = cell_folder(root, recipe, cell), {}, [], []
    folder.mkdir(parents=True)
    for split, problems in (("validation", recipe.n_validation or 0), ("test", recipe.n_test or 0)):
        for decoding, samples in (("greedy", 1), ("sampled", recipe.decoding.samples)):
            accepted = []
            for row in range(problems * samples):
                problem, sample = divmod(row, samples)
                where = {"split": split, "decoding": decoding, "problem": f"{problem}", "sample": sample}
                fine = hash((cell.lam, cell.seed, row)) % 7 > 2
                text = {"text": "#### 12", "tokens": 3, "finished": True, "logprob": -1.5, "entropy": 0.25}
                verdict = {"accepted": fine, "reason": "numeric" if fine else "different", "extracted": "12"}
                completions.append(json.dumps(where | text))
                verdicts.append(json.dumps(where | verdict))
                accepted.append(fine)
            if accepted:
                share = sum(accepted) / len(accepted)
                reasons = {"different": 1 - share, "numeric": share}
                mean = {"pass@1": share, "reasons": reasons, "tokens": 3.0, "entropy": 0.25}
                scores.setdefault(split, {})[decoding] = mean
    (folder / "completions.jsonl").write_text("\n".join([*completions, ""]))
    (folder / "verdicts.jsonl").write_text("\n".join([*verdicts, ""]))
    result = {"cell": {"task": cell.task, "lam": cell.lam, "seed": cell.seed}, "scores": scores}
    if cell.lam is not None:
        result["training"] = {"steps": 2}
        log = [{"step": step, "ce": 1 / step, "entropy": 0.3} for step in (1, 2)]
        (folder / "training.json").write_text(json.dumps({"steps": 2, "log": log}))
    (folder / RESULT).write_text(
        json.dumps(result | {"versions": {"erce": "0", "torch": "0", "python": "0"}})
    )


def _resume(root: str) -> None:
    from erce.study.engines.locks import study_lock
    from erce.study.folder import is_done, read_recipe

    recipe = read_recipe(Path(root))
    with study_lock(Path(root)):
        open_study(Path(root), recipe)
        assert all(is_done(Path(root), recipe, cell) for cell in recipe.cells())


def _report(root: str) -> None:
    from erce.reporting import report

    with Path(os.devnull).open("w") as silence:
        os.dup2(silence.fileno(), 1)
    report(root)


def _measured(what: str, root: str) -> None:
    started = time.perf_counter()
    memory = int(_alone(what, root).split()[-1])
    print(f"{what.lstrip('_'):8} {time.perf_counter() - started:6.1f} s  {memory / 1024:6.0f} MiB at most")


def _alone(what: str, *arguments: str) -> str:
    """Return what a process of its own writes, which ends with its peak memory in KiB."""
    command = [sys.executable, __file__, what, *arguments]
    ended = subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return ended.stderr


INSIDE: dict[str, Callable[..., None]] = {
    part.__name__: part for part in (_study, _one, _resume, _report, _many)
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    for what, cells in ((overhead, 1000), (workers, 15), (resumed, 10_000), (records, 1000)):
        command = commands.add_parser(what.__name__, help=what.__doc__)
        command.set_defaults(what=what)
        command.add_argument("--cells", type=int, default=cells)
        command.add_argument("--rounds", type=int, default=3)
        command.add_argument("--sizes", nargs="+", type=int, default=[1, 4], help="of the cells, of workers")
        command.add_argument("--problems", type=int, default=4, help="of a test, of resumed")
        command.add_argument("--records", type=int, default=4000)
        command.add_argument("--engines", nargs="+", default=list(ENGINES))
        command.add_argument("--lams", nargs="+", type=float, default=[float(lam) for lam in range(10)])
    options = parser.parse_args()
    options.what(options)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] in INSIDE:
        INSIDE[sys.argv[1]](*sys.argv[2:])
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
    else:
        main()
