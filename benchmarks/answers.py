"""Labelled answers → a table of accuracy and speed of the answer verifiers: ours, the paper's, peers'.

    python benchmarks/answers.py
    python benchmarks/answers.py --cases FILE.jsonl FILE.jsonl --no-paper
    python benchmarks/answers.py --golds FILE.jsonl
    python benchmarks/answers.py --fuzz 100000 --golds FILE.jsonl

Without a file the cases are those of the tests. A line of a --cases file has `gold`, `pred`, `expected` (true
or false; anything else is "disputed" and not scored) and `kind`: "answer", or "response" for a whole
completion. All graders judge a case before the next one is read, so that all meet the same machine. A peer
is Math-Verify, in a process of its own, or one of `PEERS`, if it can be imported, for instance from a folder
on PYTHONPATH. Times are wall times.

The bombs of the tests are judged against eight golds, bare and boxed, in the main thread and in another, in
processor time of that thread; the growth of the resident set is measured around them. --golds reads answers
(`answer`, or the last box of `solution`) and lists those that cannot be parsed or do not equal themselves,
different ones that are accepted as equal, and wrong verdicts on rewritten answers. --fuzz mutates that many
answers and a fifth as many completions.
"""

import argparse
import importlib
import itertools
import json
import logging
import random
import resource
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import math_verify_process

from erce.verify import equivalent, verify_math
from erce.verify.answers.limits import TooLargeError, UnparsedError
from erce.verify.answers.reference import read_reference
from erce.verify.boxes import boxed_answer
from erce.verify.extract import FINAL_ANSWER_IS, find_answer

TESTS = Path(__file__).parents[1] / "tests"
SLOW_SECONDS = 0.05
MAX_SHOWN = 20


def main() -> None:
    options = _arguments()
    sys.path[:0] = [str(TESTS), str(TESTS.parent)]  # for toys.answers, and for scripts.paper
    logging.disable(logging.WARNING)  # a peer logs each answer that it cannot parse
    equivalent("x", "y")  # the first check imports mpmath
    answers = golds(options.golds) if options.golds else sorted({case.gold for case in own_cases()})
    if options.fuzz:
        fuzz(answers, options.fuzz, options.seed)
    elif options.golds:
        examine(answers, options.pairs, options.seed)
    else:
        explode()
        files = {path.name: list(cases(path)) for path in options.cases} or {"the tests' cases": own_cases()}
        for name, scored in files.items():
            compare(name, scored, graders(with_paper=options.paper), shown=options.misses)


@dataclass(frozen=True)
class Case:
    gold: str
    text: str
    expected: bool
    is_completion: bool


def cases(path: Path) -> Iterable[Case]:
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if isinstance(row["expected"], bool):
            yield Case(row["gold"], row["pred"], row["expected"], row["kind"] == "response")


def own_cases() -> list[Case]:
    labelled = importlib.import_module("toys.answers.labelled").PAIRS
    return [Case(pair.gold, pair.answer, pair.expected, False) for pair in labelled]


# ---------------------------------------------------------------- accuracy and speed


Grader = Callable[[Case], bool]


def typed(case: Case) -> bool:
    judge = verify_math if case.is_completion else equivalent
    return judge(case.gold, case.text).accepted


def paper(peer: Any, case: Case) -> bool:
    judge = peer.verify_math_paper if case.is_completion else peer.equivalent_paper
    return judge(case.gold, case.text).accepted


def math_verify(case: Case) -> bool:
    """Judge a whole completion, or a bare answer put in a box."""
    text = case.text if case.is_completion else f"\\boxed{{{case.text}}}"
    return math_verify_process.accepts(case.gold, text)


def prm800k(peer: Any, case: Case) -> bool:
    return bool(peer.grade_answer(_extracted(case), case.gold))


def hendrycks(peer: Any, case: Case) -> bool:
    return bool(peer.is_equiv(_extracted(case), case.gold))


PEERS: dict[str, tuple[str, Callable[[Any, Case], bool]]] = {
    "paper": ("scripts.paper.verdicts", paper),
    "prm800k": ("grading.grader", prm800k),
    "hendrycks": ("math_equivalence", hendrycks),
}


def graders(*, with_paper: bool) -> dict[str, Grader]:
    by_name: dict[str, Grader] = {"typed": typed}
    if math_verify_process.is_installed():
        by_name["Math-Verify"] = math_verify
    for name, (module, judge) in PEERS.items():
        if name == "paper" and not with_paper:
            continue
        try:
            peer = importlib.import_module(module)
        except ImportError:
            continue
        by_name[name] = lambda case, judge=judge, peer=peer: judge(peer, case)
    return by_name


@dataclass
class Score:
    right: int = 0
    false_accepts: list[Case] = field(default_factory=list)
    false_rejects: list[Case] = field(default_factory=list)
    broken: int = 0
    seconds: list[float] = field(default_factory=list)

    def judge(self, grader: Grader, case: Case) -> None:
        start = time.perf_counter()
        try:
            accepted = grader(case)
        except (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError):
            self.broken += 1
            accepted = False
        self.seconds.append(time.perf_counter() - start)
        if accepted == case.expected:
            self.right += 1
        else:
            (self.false_accepts if accepted else self.false_rejects).append(case)


def compare(name: str, scored: list[Case], by: dict[str, Grader], *, shown: bool) -> None:
    scores = {grader: Score() for grader in by}
    for case in scored:
        for grader, judge in by.items():
            scores[grader].judge(judge, case)
    print(f"\n{name}: {len(scored)} scored, {sum(case.expected for case in scored)} of them equal\n")
    print("| grader | right | false accepts | false rejects | raised | checks/s | median ms | worst ms |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for grader, score in scores.items():
        times = f"{len(scored) / sum(score.seconds):,.0f} | {1e3 * statistics.median(score.seconds):.3f}"
        wrong = f"{len(score.false_accepts)} | {len(score.false_rejects)} | {score.broken}"
        share = f"{100 * score.right / len(scored):.2f} %"
        print(f"| {grader} | {share} | {wrong} | {times} | {1e3 * max(score.seconds):,.1f} |")
    if shown:
        for kind in ("false_accepts", "false_rejects"):
            for case in getattr(scores["typed"], kind):
                print(f"{kind}: {case.gold[:100]!r} and {case.text[:200]!r}")


def _extracted(case: Case) -> str | None:
    if not case.is_completion:
        return case.text
    answer = find_answer(case.text, FINAL_ANSWER_IS, marker="####")
    return answer and answer.text


# ---------------------------------------------------------------- bombs


def explode() -> None:
    """Judge every bomb against every gold, bare and boxed, in this thread and in another."""
    hostile = importlib.import_module("toys.answers.hostile")
    bombs = hostile.bombs() | {text: hostile.injection(text, "made") for text in hostile.INJECTIONS}
    before = _resident()
    for place, run in {"in the main thread": lambda call: call(), "in another thread": _in_a_thread}.items():
        timed: list[tuple[float, str]] = []
        accepted: list[str] = []
        run(lambda timed=timed, accepted=accepted: _judge_bombs(bombs, hostile.GOLDS, timed, accepted))
        worst, name = max(timed)
        print(f"{len(timed):,} checks of {len(bombs)} bombs {place}: {len(accepted)} accepted, ", end="")
        print(f"worst {1e3 * worst:.1f} ms ({name}), {sum(s > SLOW_SECONDS for s, _ in timed)} over 50 ms")
    print(f"resident set grown by {(_resident() - before) / 2**20:.1f} MiB at its peak")


def _judge_bombs(
    bombs: dict[str, str], against: Iterable[str], timed: list[tuple[float, str]], accepted: list[str]
) -> None:
    for name, bomb in bombs.items():
        for gold in against:
            for judge, text in ((equivalent, bomb), (verify_math, bomb), (verify_math, f"\\boxed{{{bomb}}}")):
                start = time.thread_time()
                if judge(gold, text).accepted:
                    accepted.append(name)
                timed.append((time.thread_time() - start, name))


def _in_a_thread(call: Callable[[], None]) -> None:
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()


def _resident() -> int:
    """Return the peak of the resident set so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


# ---------------------------------------------------------------- gold answers


def golds(path: Path) -> list[str]:
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    answers = [row["answer"] if "answer" in row else boxed_answer(row["solution"]) for row in rows]
    empty = sum(not gold or not gold.strip() for gold in answers)
    print(f"{path.name}: {len(answers):,} answers, {empty} of them empty or without a box")
    return sorted({gold for gold in answers if gold and gold.strip()})


def examine(answers: list[str], pairs: int, seed: int) -> None:
    unparsed = [answer for answer in answers if not _parses(answer)]
    unequal = [answer for answer in answers if not equivalent(answer, f"{answer} ").accepted]
    print(
        f"{len(answers):,} different answers: {len(unparsed)} not parsed, {len(unequal)} not equal to itself"
    )
    _show("not parsed", unparsed)
    _show("unequal", unequal)
    draw = random.Random(seed)
    crossed = [
        *itertools.pairwise(answers),
        *((draw.choice(answers), draw.choice(answers)) for _ in range(pairs)),
    ]
    start = time.perf_counter()
    accepted = [f"{a}  and  {b}" for a, b in crossed if a != b and equivalent(a, b).accepted]
    rate = len(crossed) / (time.perf_counter() - start)
    print(f"{len(crossed):,} pairs of different answers, {rate:,.0f} a second: {len(set(accepted))} accepted")
    _show("accepted", sorted(set(accepted)))
    mutate(answers, seed)


def mutate(answers: list[str], seed: int) -> None:
    rewritten = importlib.import_module("toys.answers.mutations").rewritten
    made, wrong = 0, list[str]()
    for answer in answers:
        for name, text in rewritten(answer, seed):
            made += 1
            if not equivalent(answer, text).accepted:
                wrong.append(f"{name}: {answer}  and  {text}")
    print(f"{made:,} rewritten: {len(wrong)} verdicts wrong")
    _show("wrong", wrong)


def _parses(answer: str) -> bool:
    try:
        read_reference(answer)
    except (UnparsedError, TooLargeError):
        return False
    return True


def _show(what: str, texts: list[str]) -> None:
    for text in texts[:MAX_SHOWN]:
        print(f"  {what}: {text[:200]!r}")
    if len(texts) > MAX_SHOWN:
        print(f"  and {len(texts) - MAX_SHOWN} more")


# ---------------------------------------------------------------- fuzz


def fuzz(answers: list[str], many: int, seed: int) -> None:
    """Judge answers of which two thirds are noise and a third is rewritten."""
    draw = random.Random(seed)
    noise = importlib.import_module("toys.answers.mutations").noise
    tally, timed = Counter[str](), list[tuple[float, str]]()
    start = time.perf_counter()
    while tally["answers"] < many:
        gold = draw.choice(answers)
        pairs = [(gold, noise(gold, draw)), (noise(gold, draw), noise(gold, draw))]
        pairs.append((gold, draw.choice(_rewritten(gold, draw))))
        for first, second in pairs:
            if first.strip() and second.strip():
                tally["answers"] += 1
                _fuzz_pair(first, second, tally, timed)
    while tally["completions"] < many // 5:
        gold = draw.choice(answers)
        text = noise(
            f"It is {noise(gold, draw)}, so \\boxed{{{noise(gold, draw)}}}. The final answer is {gold}.", draw
        )
        tally["completions"] += 1
        _timed(lambda gold=gold, text=text: verify_math(gold, text), f"{gold!r} {text!r}", tally, timed)
    print(f"{dict(tally)} in {time.perf_counter() - start:.0f} s, seed {seed}")
    slow = sum(seconds > SLOW_SECONDS for seconds, _ in timed)
    print(f"over 50 ms: {slow}; the slowest, in ms of processor time:")
    for seconds, pair in sorted(timed, reverse=True)[:5]:
        print(f"  {1e3 * seconds:.1f} {pair[:300]}")


def _rewritten(gold: str, draw: random.Random) -> list[str]:
    rewritten = importlib.import_module("toys.answers.mutations").rewritten
    return [text for _, text in rewritten(gold, draw.randrange(10**9), depth=2)] or [f"{gold} "]


def _fuzz_pair(gold: str, answer: str, tally: Counter[str], timed: list[tuple[float, str]]) -> None:
    shown = f"{gold!r} {answer!r}"
    there = _timed(lambda: equivalent(gold, answer), shown, tally, timed)
    back = _timed(lambda: equivalent(answer, gold), shown, tally, timed)
    if there and back and there.accepted is not back.accepted:
        tally["accepted one way round"] += 1


def _timed(
    check: Callable[[], Any], shown: str, tally: Counter[str], slowest: list[tuple[float, str]]
) -> Any:
    start = time.thread_time()
    try:
        verdict = check()
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        tally["raised"] += 1
        if tally["raised"] <= MAX_SHOWN:
            print(f"{type(error).__name__}: {error}: {shown[:300]}")
        return None
    seconds = time.thread_time() - start
    if seconds > SLOW_SECONDS / 10:
        slowest.append((seconds, shown))
    return verdict


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=Path, nargs="+", default=[], metavar="FILE")
    parser.add_argument("--no-paper", dest="paper", action="store_false", help="leave out the paper's steps")
    parser.add_argument(
        "--misses", action="store_true", help="print the cases that the typed verifier misses"
    )
    parser.add_argument("--golds", type=Path, metavar="FILE")
    parser.add_argument("--pairs", type=int, default=100_000, help="random pairs of golds")
    parser.add_argument("--fuzz", type=int, default=0, metavar="N", help="mutated answers")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
