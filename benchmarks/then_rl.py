"""What fine-tuning leaves for reinforcement learning to do: docs/rl.md's table and figure.

    erce run benchmarks/then_rl.toml --out runs/then_rl     # the starts: four minutes on one core
    python benchmarks/then_rl.py runs/then_rl --steps 320   # GRPO from each, and the table
    python benchmarks/then_rl.py runs/then_rl --draw docs/images/then_rl.svg

From the base model and from every fine-tuned model of the study, TRL's GRPOTrainer trains a new adapter with
the verifier's verdict as its reward, on the training problems of the study. Before, and after every few
steps, 200 test problems get one greedy completion and eight samples at temperature 1. A start's figures are
written as a line of RUN/then_rl.jsonl once it is through: a run that was stopped goes on with the next start.
"""

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from peft import LoraConfig, PeftModel
from transformers import TrainerCallback
from transformers.trainer_callback import PrinterCallback
from trl.trainer.grpo_config import GRPOConfig
from trl.trainer.grpo_trainer import GRPOTrainer

from erce.generate.decoding import GenerationSettings
from erce.generate.transformers import generate
from erce.hf.models import load_model, load_tokenizer
from erce.integrations.rewards import number_reward
from erce.recipe import Cell
from erce.study.demonstrations import cell_splits
from erce.study.folder import ADAPTER, cell_folder, read_study
from erce.tasks import load_task
from erce.tasks.verdicts import verdict
from erce.types import BASE_MODEL, Problem

STEPS = (0, 10, 20, 40, 80, 160, 320)  # after which the test problems are sampled
SHOWN = (0, 20, 40, 80, 160, 320)  # in the table
SAMPLES_A_STEP, SAMPLES_A_PROBLEM = 128, 8
TESTED = 200
MEASURES = ("greedy", "sampled", "pass@8", "mixed")
FILE = "then_rl.jsonl"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path, help="the folder of the study of benchmarks/then_rl.toml")
    parser.add_argument("--draw", type=Path, help="write the figure to this SVG, and train nothing")
    parser.add_argument("--steps", type=int, choices=STEPS[1:], default=80, help="of GRPO (default 80)")
    parser.add_argument("--seeds", type=int, nargs="+", help="these alone: several processes share a study")
    options = parser.parse_args()
    if not options.draw:
        torch.set_num_threads(1)
        for cell in starts(options.run, options.seeds):
            row = from_start(options.run, cell, options.steps)
            with (options.run / FILE).open("a") as file:
                file.write(json.dumps(row) + "\n")
    rows = [json.loads(line) for line in (options.run / FILE).read_text().splitlines()]
    print(table(rows))
    if options.draw:
        draw(rows, options.draw)


def starts(run: Path, seeds: Sequence[int] | None = None) -> Iterator[Cell]:
    """Yield the finished cells that have no line yet, seed by seed; the base model stands for each seed."""
    study, file = read_study(run), run / FILE
    done = (
        {(row["start"], row["seed"]) for row in map(json.loads, file.read_text().splitlines())}
        if file.exists()
        else set()
    )
    for seed in seeds or study.recipe.seeds:
        base = Cell(study.recipe.tasks[0], None, seed)
        for cell in [base, *(cell for cell in study.results if cell.seed == seed and cell.lam is not None)]:
            if (cell.arm.name(), seed) not in done:
                yield cell


def from_start(run: Path, cell: Cell, steps: int) -> dict[str, Any]:
    """Train by GRPO from a cell's model; return step → measure → %, and every ten steps' mean reward."""
    study = read_study(run)
    problems, tokenizer = cell_splits(study.recipe, cell.task), load_tokenizer(study.recipe.model)
    model = load_model(study.recipe.model, dtype="float32")
    if cell.arm != BASE_MODEL:
        folder = cell_folder(run, study.recipe, cell) / ADAPTER
        model = PeftModel.from_pretrained(model, str(folder)).merge_and_unload()
    rows = [
        {"prompt": [{"role": "user", "content": problem.prompt}], "answer": problem.answer}
        for problem in problems.train
    ]
    reward: Any = number_reward  # TRL's type of a reward function wants names that ours has not
    curve = Curve(cell, tokenizer, problems.test[:TESTED])
    with tempfile.TemporaryDirectory() as folder:
        arguments = GRPOConfig(
            output_dir=folder,
            max_steps=steps,
            per_device_train_batch_size=SAMPLES_A_STEP,
            num_generations=SAMPLES_A_PROBLEM,
            max_completion_length=load_task(cell.task).max_new_tokens,
            learning_rate=1e-4,
            lr_scheduler_type="constant",
            temperature=1.0,
            beta=0.0,
            bf16=False,
            gradient_checkpointing=False,
            use_cpu=True,
            seed=cell.seed,
            logging_steps=10,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        )
        trainer = GRPOTrainer(
            model,
            reward,
            arguments,
            train_dataset=Dataset.from_list(rows),
            processing_class=tokenizer,
            peft_config=LoraConfig(
                task_type="CAUSAL_LM", target_modules="all-linear", r=16, lora_alpha=32, lora_dropout=0.0
            ),
            callbacks=[curve],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    rewards = [round(entry["reward"], 3) for entry in trainer.state.log_history if "reward" in entry]
    return {"start": cell.arm.name(), "seed": cell.seed, "curve": curve.points, "rewards": rewards}


class Curve(TrainerCallback):
    """The test problems' figures before training and after the steps of `STEPS`."""

    def __init__(self, cell: Cell, tokenizer: Any, problems: Sequence[Problem]) -> None:
        self.cell, self.tokenizer, self.problems = cell, tokenizer, problems
        self.points: dict[int, dict[str, float]] = {}

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        self.measure(model, 0)

    def on_step_end(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        if state.global_step in STEPS:
            self.measure(model, state.global_step)

    def measure(self, model: Any, step: int) -> None:
        training = model.training
        model.eval()
        [greedy] = self.verdicts(model, temperature=0.0, samples=1).T
        sampled = self.verdicts(model, temperature=1.0, samples=8)
        model.train(training)
        some, every = sampled.any(1), sampled.all(1)
        values = (greedy.mean(), sampled.mean(), some.mean(), (some & ~every).mean())
        self.points[step] = {name: round(100 * float(v), 1) for name, v in zip(MEASURES, values, strict=True)}
        print(self.cell.name, step, self.points[step], flush=True)

    def verdicts(self, model: Any, *, temperature: float, samples: int) -> np.ndarray:
        """Return which completions are right: (problems, samples)."""
        task = load_task(self.cell.task)
        decoding = GenerationSettings(
            temperature=temperature, samples=samples, max_new_tokens=task.max_new_tokens, batch_size=256
        )
        completions = generate(model, self.tokenizer, self.problems, decoding=decoding, seed=7)
        by_id = {problem.id: problem for problem in self.problems}
        right = [verdict(task, by_id[one.problem], one).accepted for one in completions]
        return np.reshape(right, (len(self.problems), samples))


def steps_of(rows: Sequence[dict[str, Any]]) -> list[int]:
    """Return after which steps every row has figures."""
    return [step for step in STEPS if all(str(step) in row["curve"] for row in rows)]


def means(rows: Sequence[dict[str, Any]]) -> dict[str, dict[int, dict[str, float]]]:
    """Return start → step → measure → its mean over seeds."""
    by_start: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_start[row["start"]].append(row["curve"])
    return {
        start: {
            step: {name: float(np.mean([curve[str(step)][name] for curve in curves])) for name in MEASURES}
            for step in steps_of(rows)
        }
        for start, curves in by_start.items()
    }


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return a Markdown table: a row a start, a column for each of `SHOWN`: greedy/sampled/pass@8 in %."""
    shown = [step for step in steps_of(rows) if step in SHOWN]
    lines = ["| start | " + " | ".join(f"step {step}" for step in shown) + " |"]
    lines.append("|---" * (len(shown) + 1) + "|")
    for start, points in means(rows).items():
        cells = ("/".join(f"{points[step][name]:.0f}" for name in MEASURES[:3]) for step in shown)
        lines.append(f"| {start} | {' | '.join(cells)} |")
    return "\n".join(lines)


def draw(rows: Sequence[dict[str, Any]], file: Path) -> None:
    """Draw the three figures of every start over the steps."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "erce", "font.size": 10}
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.6), layout="constrained")
    colors = plt.get_cmap("tab10")
    for number, (start, points) in enumerate(means(rows).items()):
        for axis, name in zip(axes, MEASURES[:3], strict=True):
            right = [point[name] for point in points.values()]
            axis.plot(list(points), right, color=colors(number), marker="o", ms=3, label=start)
    for axis, title in zip(
        axes, ("greedy", "samples at temperature 1", "one of 8 samples right"), strict=True
    ):
        axis.set_xscale("symlog", base=2, linthresh=10)
        shown = steps_of(rows)
        axis.set(title=title, xlabel="GRPO steps", xticks=shown, xticklabels=map(str, shown))
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("right, % of test problems")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", frameon=False)
    figure.savefig(file, metadata={"Date": None})


if __name__ == "__main__":
    main()
