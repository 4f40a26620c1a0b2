"""Studies on disk whose numbers are made up: no model, no training, the files that a run leaves."""

import hashlib
import time
from dataclasses import dataclass, field

import numpy as np

from erce.files import read_json, write_json, write_rows
from erce.recipe import Cell, Decoding, Recipe
from erce.score import summarize
from erce.study.folder import LOCKS, TIMING, cell_folder, open_study, read_study
from erce.types import BASE_MODEL, CROSS_ENTROPY, Arm, Completion, Verdict

TASK, CONTROL = "sums", "sums-answer-only"
REASONS = ("different", "different", "different", "no answer", "truncated")


@dataclass
class Fake:
    """The settings of a fake study; `right(task, arm, decoding)` is the chance of an accepted completion.

    The functions and `skip` name an arm as `named` does.
    """

    lams: tuple = (0.0, 0.5, 1.0)
    seeds: tuple = (0, 1, 2)
    base_loss: str = "cross-entropy"
    methods: tuple = ()
    control: str | None = CONTROL
    problems: int = 30
    samples: int = 4
    validation: int = 20
    steps: int = 12
    right: object = None
    right_on_validation: object = None  # None: as on the test problems
    text: object = None
    reasons: tuple = REASONS  # of what is not accepted
    skip: set = field(default_factory=set)  # of (task, arm, seed)
    collapsed: set = field(default_factory=set)  # of (task, arm, seed): nothing is right
    versions: dict = field(default_factory=dict)
    warnings: tuple = ()
    temperatures: tuple = ()
    reach: object = None  # of an arm: how far the chances of easy and hard problems lie from its own
    together: bool = False  # whether scores hold what k samples do together
    task: str = TASK
    model: str = "tiny"
    limit: int | None = None  # tokens at which a completion is cut off
    data: str | None = None

    def recipe(self) -> Recipe:
        alike = ("task", "model", "data", "control", "lams", "seeds", "base_loss", "methods")
        decoding = Decoding(samples=self.samples, temperatures=self.temperatures, max_new_tokens=self.limit)
        settings = {name: getattr(self, name) for name in alike}
        return Recipe(**settings, n_test=self.problems, decoding=decoding)


def files(root):
    """Every file of a study but the times and what lies in the folder of locks: path → bytes."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name != TIMING and LOCKS not in path.parts
    }


def named(arm):
    """λ, the name of another method, or None for the base model."""
    return arm.method if arm.method != CROSS_ENTROPY else arm.lam


def arm_of(name):
    """The arm that `named` calls so."""
    return BASE_MODEL if name is None else Arm(0.0, name) if isinstance(name, str) else Arm(name)


def chance(task, lam, decoding):
    """Sampled accuracy rises with λ up to 0.5 and greedy falls; the control gains nothing.

    Other methods are better than every λ.
    """
    if isinstance(lam, str):
        return 0.9
    if task == CONTROL:
        return 0.4
    if lam is None:
        return 0.35 if decoding == "sampled" else 0.6
    peak = 0.25 * min(lam, 1 - lam) * 2
    return (0.6 + peak) if decoding == "sampled" else 0.85 - 0.05 * lam


def make_study(root, fake=None, **changes):
    """The study, written and read back."""
    fake = fake or Fake(**changes)
    return write_study(root, fake.recipe(), fake)


def write_study(root, recipe, fake):
    """The study of a recipe, in which `fake` says what is not the recipe's."""
    open_study(root, recipe)
    for cell in recipe.cells():
        if (cell.task, named(cell.arm), cell.seed) not in fake.skip:
            _write_cell(cell_folder(root, recipe, cell), cell, fake)
    return read_study(root)


def _write_cell(folder, cell: Cell, fake: Fake):
    rng = np.random.default_rng(int.from_bytes(hashlib.sha256(cell.name.encode()).digest()[:4], "big"))
    completions, verdicts, scores = [], [], {}
    for split, problems in (("validation", fake.validation), ("test", fake.problems)):
        further = [(f"T{temperature:g}", 1) for temperature in fake.temperatures if cell.task == fake.task]
        for decoding, samples in (("greedy", 1), ("sampled", fake.samples), *further):
            drawn = _drawn(rng, cell, fake, (split, decoding, problems, samples))
            if drawn:
                scores.setdefault(split, {})[decoding] = _scores(drawn, together=fake.together)
            for row, verdict in drawn:
                completions.append(row)
                verdicts.append(verdict)
    write_rows(folder / "completions.jsonl", completions)
    write_rows(folder / "verdicts.jsonl", verdicts)
    result = {"cell": {"task": cell.task, "lam": cell.lam, "seed": cell.seed}, "scores": scores}
    if cell.lam is not None:
        result["training"] = {"steps": fake.steps}
        write_json(folder / "training.json", result["training"] | {"log": _log(rng, cell, fake.steps)})
    versions = {"erce": "0.1.0", "torch": "2.13.0", "python": "3.11.7"} | fake.versions.get(cell.name, {})
    if fake.warnings:
        result["warnings"] = list(fake.warnings)
    write_json(folder / "result.json", result | {"versions": versions})


def _drawn(rng, cell, fake, what):
    """(completion, verdict) pairs; some problems are easier than others, for every λ alike."""
    split, decoding, problems, samples = what
    chances = (fake.right_on_validation if split == "validation" else None) or fake.right or chance
    right = chances(cell.task, named(cell.arm), decoding)
    if (cell.task, named(cell.arm), cell.seed) in fake.collapsed:
        right = 0
    reach = fake.reach(named(cell.arm)) if fake.reach else 0.3
    ease = np.linspace(-reach, reach, problems) * (0 < right < 1) if problems > 1 else np.zeros(problems)
    accepted = (rng.random((problems, samples)) < (right + ease)[:, None]).tolist()
    why = rng.integers(len(fake.reasons), size=(problems, samples)).tolist()
    pairs = []
    for number in range(problems):
        for sample in range(samples):
            fine = accepted[number][sample]
            reason = "numeric" if fine else fake.reasons[why[number][sample]]
            where = {"split": split, "decoding": decoding, "problem": f"{split}-{number}", "sample": sample}
            text = (fake.text or _text)(cell, number, fine)
            rest = {"finished": reason != "truncated", "logprob": -3.5, "entropy": 0.2}
            tokens = fake.limit if fake.limit and not rest["finished"] else len(text.split()) + 1
            extracted = text.split()[-1] if reason in ("numeric", "different") else None
            verdict = {"accepted": fine, "reason": reason, "extracted": extracted}
            pairs.append((where | {"text": text, "tokens": tokens} | rest, where | verdict))
    return pairs


def _text(cell, number, accepted):
    answer = number % 50 if accepted else (number + 10) % 50
    return f"12+{number % 25}={12 + number % 25}\n{12 + number % 25}-3={answer}\n#### {answer}"


def _scores(drawn, *, together):
    if together:
        return _summary(drawn)
    reasons = [verdict["reason"] for _, verdict in drawn]
    return {
        "pass@1": float(np.mean([verdict["accepted"] for _, verdict in drawn])),
        "problems": len({row["problem"] for row, _ in drawn}),
        "reasons": {reason: reasons.count(reason) / len(reasons) for reason in sorted(set(reasons))},
        "tokens": float(np.mean([row["tokens"] for row, _ in drawn])),
        "entropy": float(np.mean([row["entropy"] for row, _ in drawn])),
    }


def _summary(drawn):
    completions = [{k: v for k, v in row.items() if k not in ("split", "decoding")} for row, _ in drawn]
    verdicts = [Verdict(v["accepted"], v["reason"], v["extracted"]) for _, v in drawn]
    return summarize([Completion(**row) for row in completions], verdicts)


def _log(rng, cell, steps):
    return [
        {
            "step": step,
            "ce": 1.5 * 0.9**step + 0.3 + 0.02 * float(rng.random()),
            "entropy": (1.2 * 0.92**step + 0.1) / (1 + cell.lam),
        }
        for step in range(1, steps + 1)
    ]


def write_right_cell(root, recipe, cell, **given):
    """Stands in for `run_cell`: every completion is right."""
    _write_alike(root, recipe, cell, 1.0)


def write_wrong_cell(root, recipe, cell, **given):
    """Stands in for `run_cell`: every completion is wrong, and hostile to a terminal."""
    _write_alike(root, recipe, cell, 0.0)


def write_wrong_first_round(root, recipe, cell, **given):
    """Stands in for `run_cell`: every completion is wrong; a later round's cell lasts until it is killed."""
    if cell.seed > 0 or cell.task != recipe.task:
        time.sleep(60)
    write_wrong_cell(root, recipe, cell, **given)


def write_wrong_cell_of_a_right_base(root, recipe, cell, **given):
    _write_alike(root, recipe, cell, float(cell.lam is None))


def _write_alike(root, recipe, cell, right):
    fake = Fake(task=cell.task, problems=recipe.n_test, samples=recipe.decoding.samples, validation=2)
    fake.right, fake.text = (lambda task, arm, decoding: right), (lambda *_: "\x1b[2J\u202e 17\n" + "x" * 500)
    folder = cell_folder(root, recipe, cell)
    _write_cell(folder, cell, fake)
    write_json(folder / "cell.json", {"key": "0"})


def with_results(study, change):
    """The study read back after `change(cell, result)` has edited the result.json of every cell."""
    for cell in study.results:
        path = cell_folder(study.root, study.recipe, cell) / "result.json"
        result = read_json(path)
        change(cell, result)
        write_json(path, result)
    return read_study(study.root)
