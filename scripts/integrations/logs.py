"""Tools that evaluate, given scripted answers → whether `erce import` reads the accuracies that they report.

Two arms of two seeds each are right on different shares of the problems, none on all or on none. With erce's
verifier as their scorer inspect-ai and lm-eval must report such a share, too.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from scripts.integrations.claims import Claim
from scripts.integrations.environments import ROOT, Environment

INSIDE = Path(__file__).parent / "inside"
EXAMPLES = ROOT / "examples"
PROBLEMS = 20
RIGHT = {"baseline": (9, 7), "lam=2": (14, 11)}  # arm → problems that each of its seeds has right
SAME = 1e-9
JUDGED = """\
include: sums.yaml
task: judged
process_results: !function lm_eval_metric.process_results
metric_list:
  - {metric: accepted, aggregation: mean, higher_is_better: true}
"""
BOXED = r"So it is $\boxed{{{}}}$."
Runs = dict[str, list[tuple[Path, float]]]  # arm → (log, the tool's own accuracy) of each seed


def check_inspect_ai(environment: Environment) -> Iterator[Claim]:
    """Check the rows that an example makes of .eval archives, by inspect's own reader of them."""
    runs: Runs = {}
    for arm, seed, answers in _answers(environment):
        folder = _emptied(environment.runs / f"{arm}-{seed}")
        accuracy = _inspect_eval(environment, answers, folder)
        rows = folder / "rows.jsonl"
        log = next(folder.glob("*.eval"))
        environment.run(f"{folder.name}-rows", "python", EXAMPLES / "inspect_rows.py", log, rows)
        runs.setdefault(arm, []).append((rows, accuracy))
    yield _compared(environment, "rows of `examples/inspect_rows.py`", runs)
    _, _, answers = next(_answers(environment, BOXED))
    folder = _emptied(environment.runs / "judged")
    yield _judged(_inspect_eval(environment, answers, folder, "same_answer"), "inspect_scorer.py")


def _inspect_eval(environment: Environment, answers: Path, folder: Path, *words: str) -> float:
    """Return the accuracy that inspect's summary says; words: the scorer if it is not match."""
    script = INSIDE / "inspect_eval.py"
    output = environment.run(folder.name, "python", script, answers, folder, *words, PYTHONPATH=str(EXAMPLES))
    return float(output.splitlines()[-1])


def check_lm_eval(environment: Environment) -> Iterator[Claim]:
    """Check the folder of --output_path."""
    runs: Runs = {}
    for arm, seed, answers in _answers(environment):
        folder = _emptied(environment.runs / f"{arm}-{seed}")
        scores = _lm_eval(environment, answers, folder, "sums")
        runs.setdefault(arm, []).append((folder, scores["exact_match,none"]))
    yield _compared(environment, "folders of logs", runs)
    _, _, answers = next(_answers(environment, BOXED))
    scores = _lm_eval(environment, answers, _emptied(environment.runs / "judged"), "judged")
    yield _judged(scores["accepted,none"], "lm_eval_metric.py")


def _lm_eval(environment: Environment, answers: Path, folder: Path, name: str) -> dict[str, float]:
    """Return what lm-eval's summary says of the task "sums", or of "judged", which erce's verifier scores."""
    (tasks := _emptied(environment.runs / "tasks")).mkdir()
    shutil.copy(EXAMPLES / "lm_eval_metric.py", tasks)
    task = {
        "task": "sums",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(answers)}},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "{{question}}",
        "doc_to_target": "{{answer}}",
        "generation_kwargs": {"until": ["\n"], "do_sample": False},
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
    }
    (tasks / "sums.yaml").write_text(json.dumps(task), encoding="utf-8")
    (tasks / "judged.yaml").write_text(JUDGED, encoding="utf-8")
    command = ["--model", "scripted", "--model_args", f"answers={answers}", "--include_path", str(tasks)]
    command += ["--tasks", name, "--output_path", str(folder), "--log_samples"]
    environment.run(folder.name, "python", INSIDE / "lm_eval_run.py", *command)
    return json.loads(next(folder.rglob("results_*.json")).read_bytes())["results"][name]


def _answers(environment: Environment, form: str = "{}") -> Iterator[tuple[str, int, Path]]:
    """Yield arm, seed and a file of rows (id, question, answer, response) for each run of a tool."""
    for arm, counts in RIGHT.items():
        for seed, right in enumerate(counts):
            path = environment.runs / f"answers-{arm.replace('=', '')}-{seed}.jsonl"
            sums = [(3 * at + 7, 5 * at + 1) for at in range(PROBLEMS)]
            # a problem in three is right first, so that the arms are right on overlapping problems
            order = sorted(range(PROBLEMS), key=lambda at: (at % 3, at))
            lucky = set(order[:right])
            rows = [
                {"id": str(at), "question": f"What is {a} + {b}?", "answer": str(a + b)}
                | {"response": form.format(a + b + (at not in lucky))}
                for at, (a, b) in enumerate(sums)
            ]
            _write_lines(path, rows)
            yield arm.replace("=", ""), seed, path


def _judged(accuracy: float, example: str) -> Claim:
    """Hold what a tool reports of the first run, with an example's verifier, to the share that is right."""
    right = RIGHT["baseline"][0] / PROBLEMS
    text = f"with `examples/{example}` its summary says {accuracy:.0%} where {right:.0%} are right"
    return Claim(text, abs(accuracy - right) < SAME)


def _compared(environment: Environment, logs: str, runs: Runs) -> Claim:
    """Import the logs as the docs print it, and compare each seed's accuracy with the tool's own."""
    out = _emptied(environment.runs / "study")
    base, other = ([str(log) for log, _ in runs[arm]] for arm in ("baseline", "lam2"))
    environment.erce("import", str(out), "--baseline", *base, "--arm", "lam=2", *other)
    environment.erce("report", str(out))
    rows = environment.runs / "rows.jsonl"
    rows.unlink(missing_ok=True)
    environment.erce("records", str(out), str(rows))
    peers = [peer for arm in runs.values() for _, peer in arm]
    equal = sum(abs(ours - peer) < SAME for ours, peer in zip(_accuracies(rows), peers, strict=True))
    differ = len(set(peers)) == len(peers) and min(peers) > 0 and max(peers) < 1
    figures = ", ".join(f"{peer:.0%}" for peer in peers)
    text = f"{equal} of {len(peers)} accuracies of {logs} ({figures}) are as its summary says"
    return Claim(text, equal == len(peers) and differ)


def _accuracies(rows: Path) -> list[float]:
    """Return the share of accepted samples of each cell in a file of records, by λ and seed."""
    cells: dict[tuple[float, int], list[bool]] = {}
    for line in rows.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        cells.setdefault((row["lam"], row["seed"]), []).append(row["accepted"])
    return [sum(accepted) / len(accepted) for _, accepted in sorted(cells.items())]


def _emptied(path: Path) -> Path:
    shutil.rmtree(path, ignore_errors=True)
    return path


def _write_lines(path: Path, rows: list[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
