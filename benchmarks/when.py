"""Where a penalty on entropy helps, where it does nothing and where it hurts: the map of docs/when.md.

    python benchmarks/when.py runs/when --jobs 2     # an hour on two cores; run again, it goes on
    python benchmarks/when.py runs/when --draw docs/images/when.svg    # and draws the figure

Every condition is a study of mini-styles with three seeds: a base model, a share of shortcuts among the
demonstrations and a number of them. Its base models other than tiny-styles are pretrained by
scripts/pretrain_tiny.py with other text. Prints the tables of docs/when.md.
"""

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from erce.recipe import Decoding, Recipe, Training
from erce.study.demonstrations import read_counts
from erce.study.folder import Study, cell_folder
from erce.study.run import run
from erce.study.samples import VerifiedSample, read_samples
from erce.tasks.mini_sums import TERM_COUNT
from erce.types import BASE_MODEL, BASELINE, Arm

ROOT = Path(__file__).parents[1]
LAMS = (0.0, 2.0, 4.0, 8.0, 16.0)
OWN = ("self", "rft", "self + 4", "rft + 4")  # on the base model's own right answers
OTHERS = ("dft", "eaft", "power:1", "power:0.5", "threshold", *OWN)
BASES = {  # name: the text that it has read beyond tiny's: share of shortcuts, steps
    "seen both": None,  # tiny-styles
    "seen both, weak": (0.38, 35),
    "never a shortcut": (0.0, 70),
    "shortcuts alone": (1.0, 70),
}


def style(text: str) -> str:
    """Return how a demonstration or completion reaches its answer: "worked", "shortcut" or "mixed".

    Worked: every line before the answer combines two numbers. Shortcut: one line combines all of them. Mixed:
    anything else.

    >>> style("17-5=12\\n12+12=24\\n24+3=27\\n#### 27"), style("17-5+12+3=27\\n#### 27"), style("17-5+12=24")
    ('worked', 'shortcut', 'mixed')
    """
    sums = [line.partition("=")[0] for line in text.splitlines() if not line.startswith("####")]
    terms = [1 + line.count("+") + line.count("-") for line in sums]
    if terms == [2] * (TERM_COUNT - 1):
        return "worked"
    return "shortcut" if terms == [TERM_COUNT] else "mixed"


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One study of the map."""

    share: float  # of shortcuts among the demonstrations
    base: str = "seen both"
    demonstrations: int = 320
    lams: tuple[float, ...] = LAMS
    methods: tuple[str, ...] = OTHERS
    schedule: str = "constant"
    learning_rate: float = 3e-4

    @property
    def name(self) -> str:
        words = (self.base.replace(" ", "-").replace(",", ""), f"{self.share:g}", f"{self.demonstrations}")
        return "-".join(words + ((self.schedule,) if self.schedule != "constant" else ()))


@dataclass
class Row:
    """What the map says of one arm: fractions, with one value a seed."""

    greedy: list[float] = field(default_factory=list)
    sampled: list[float] = field(default_factory=list)
    cold: list[float] = field(default_factory=list)  # sampled at temperature 0.4
    styles: Counter[str] = field(default_factory=Counter)  # of greedy completions
    right: Counter[str] = field(default_factory=Counter)  # of greedy completions by style
    sampled_before: int = 0  # tokens that were sampled and verified before the training

    @property
    def best(self) -> float:
        """The accuracy at the decoding that is best on these very problems."""
        return max(float(np.mean(values)) for values in (self.greedy, self.sampled, self.cold) if values)


NEITHER = ("focal:2", "label-smoothing:0.1")
SHARES = [
    Condition(share=0.0, methods=(*OTHERS, *NEITHER)),
    Condition(share=0.1),
    Condition(share=0.25, methods=(*OTHERS, *NEITHER)),
    Condition(share=0.5, methods=(*OTHERS, *NEITHER, "dft + 2", "dft + 8")),
    Condition(share=0.75, methods=(*OTHERS, *NEITHER, "dft + 2", "dft + 8")),
    Condition(share=1.0),
]
SEEN = [
    Condition(share=share, base=base)
    for base in ("never a shortcut", "seen both, weak")
    for share in (0.25, 0.75)
]
AMOUNTS = [Condition(share=0.75, demonstrations=n, lams=(0.0, 8.0, 16.0), methods=()) for n in (80, 1280)]
NEW_SKILL = [
    Condition(
        share=0.0,
        base="shortcuts alone",
        demonstrations=1280,
        lams=(0.0, 2.0, 8.0),
        methods=(),
        schedule=schedule,
        learning_rate=1e-3,
    )
    for schedule in ("constant", "linear", "delayed")
]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--draw", type=Path, help="write the figure to this SVG")
    options = parser.parse_args()
    results = {}
    for condition in (*SHARES[::-1], *SEEN, *NEW_SKILL, *AMOUNTS):
        results[condition] = measured(condition, options.out, jobs=options.jobs)
    for title, conditions in (
        ("share of shortcuts", SHARES),
        ("what the base has read", SEEN),
        ("number of demonstrations", AMOUNTS),
        ("a skill that the base has not", NEW_SKILL),
    ):
        shown = {condition: results[condition] for condition in conditions}
        print(f"\n## By {title}\n")
        print("\n".join([*overview(shown), "", *table(shown)]))
    if options.draw:
        draw({condition: results[condition] for condition in SHARES}, options.draw)


def measured(condition: Condition, out: Path, *, jobs: int) -> dict[Arm, Row]:
    """Run a condition's study, or what is missing of it, and read its test problems."""
    recipe = recipe_of(condition, out)
    return rows(run(recipe, out=out / condition.name, jobs=jobs, go_on=True), recipe)


def recipe_of(condition: Condition, out: Path) -> Recipe:
    return Recipe(
        task=f"mini-styles:{condition.share:g}" if condition.share != 0.75 else "mini-styles",
        model=base_folder(condition.base, out),
        lams=condition.lams,
        methods=condition.methods,
        seeds=(0, 1, 2),
        n_train=condition.demonstrations,
        n_validation=20,
        n_test=200,
        split_seed=2,
        training=Training(
            learning_rate=condition.learning_rate,
            micro_batch_size=16,
            dropout=0.0,
            lam_schedule=condition.schedule,
            lam_warmup=Training.lam_warmup if condition.schedule == "constant" else 1 / 3,  # the first epoch
        ),
        decoding=Decoding(samples=2, temperatures=(0.4,)),
    )


def base_folder(base: str, out: Path) -> str:
    """Return the base model's name or folder; pretrain it where it is not there yet."""
    text = BASES[base]
    if text is None:
        return "tiny-styles"
    folder = out / "bases" / base.replace(" ", "-").replace(",", "")
    if not (folder / "styles" / "config.json").is_file():
        for name in (ROOT / "erce" / "tiny").glob("*.*"):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name.name).write_bytes(name.read_bytes())
        script, (share, steps) = ROOT / "scripts" / "pretrain_tiny.py", text
        flags = ["--styles", "--shortcuts", f"{share:g}", "--steps", str(steps)]
        subprocess.run([sys.executable, str(script), str(folder), *flags], check=True)
    return str((folder / "styles").resolve())


def rows(study: Study, recipe: Recipe) -> dict[Arm, Row]:
    by_arm: dict[Arm, Row] = {}
    own = read_counts(study)
    for cell in recipe.cells():
        folder, row = cell_folder(study.root, recipe, cell), by_arm.setdefault(cell.arm, Row())
        if cell.learns_own and own is not None:
            row.sampled_before = own["tokens"]
        tested = [sample for sample in read_samples(folder) if sample.sample_set.split == "test"]
        row.greedy.append(accuracy(tested, "greedy"))
        row.sampled.append(accuracy(tested, "sampled"))
        if any(sample.sample_set.decoding not in ("greedy", "sampled") for sample in tested):
            row.cold.append(
                accuracy(tested, *{s.sample_set.decoding for s in tested} - {"greedy", "sampled"})
            )
        for sample in tested:
            if sample.sample_set.decoding == "greedy":
                row.styles[style(sample.completion.text)] += 1
                row.right[style(sample.completion.text)] += sample.verdict.accepted
    return by_arm


def accuracy(samples: Iterable[VerifiedSample], *decodings: str) -> float:
    verdicts = [sample.verdict.accepted for sample in samples if sample.sample_set.decoding in decodings]
    return sum(verdicts) / len(verdicts)


def overview(results: dict[Condition, dict[Arm, Row]]) -> list[str]:
    """Return a Markdown row per arm, a column per condition: greedy / sampled, the best of a column bold."""
    arms = dict.fromkeys(arm for by_arm in results.values() for arm in by_arm)
    names = [f"{c.base}, {c.share:.0%} of {c.demonstrations} ({c.schedule})" for c in results]
    best = {
        (condition, decoding): max(np.mean(getattr(row, decoding)) for row in by_arm.values())
        for condition, by_arm in results.items()
        for decoding in ("greedy", "sampled")
    }

    def cell(condition: Condition, arm: Arm) -> str:
        if arm not in results[condition]:
            return "–"
        means = {d: np.mean(getattr(results[condition][arm], d)) for d in ("greedy", "sampled")}
        return " / ".join(
            f"**{100 * mean:.0f}**" if mean == best[condition, d] else f"{100 * mean:.0f}"
            for d, mean in means.items()
        )

    rows = [
        f"| {arm.name()} | " + " | ".join(cell(condition, arm) for condition in results) + " |"
        for arm in arms
    ]
    tokens = [max(row.sampled_before for row in by_arm.values()) for by_arm in results.values()]
    cost = "| tokens sampled before training | " + " | ".join(
        f"{count:,}" if count else "–" for count in tokens
    )
    return [*heading("arm", *names), *rows, f"{cost} |"]


def table(results: dict[Condition, dict[Arm, Row]]) -> list[str]:
    """Return a Markdown row an arm and condition: accuracies, gains and what the greedy completions are."""
    lines = heading(
        "base model has",
        "demonstrations",
        "shortcuts",
        "schedule",
        "arm",
        "greedy, % (each seed)",
        "sampled, %",
        "gain, greedy",
        "gain, sampled",
        "gain, each at its best temperature",
        "over the base, greedy",
        "worked, % (right)",
        "shortcuts, %",
        "tokens sampled before training",
    )
    for condition, arms in results.items():
        base, plain = arms[BASE_MODEL], arms[BASELINE]
        start = (
            f"| {condition.base} | {condition.demonstrations} | {condition.share:g} | {condition.schedule} |"
        )
        for arm, row in arms.items():
            gains = [
                np.mean(row.greedy) - np.mean(plain.greedy),
                np.mean(row.sampled) - np.mean(plain.sampled),
                row.best - plain.best,
                np.mean(row.greedy) - np.mean(base.greedy),
            ]
            lines.append(
                f"{start} {arm.name()} | {100 * np.mean(row.greedy):.0f} ({seeds(row.greedy)}) "
                f"| {100 * np.mean(row.sampled):.0f} | "
                + " | ".join(f"{100 * gain:+.0f}" for gain in gains)
                + f" | {worked_share(row)} "
                f"({percent(row.right['worked'], row.styles['worked'])}) "
                f"| {percent(row.styles['shortcut'], row.styles.total())} | {row.sampled_before or '–'} |"
            )
    return lines


def heading(*columns: str) -> list[str]:
    return [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]


def worked_share(row: Row) -> str:
    return percent(row.styles["worked"], row.styles.total())


def seeds(values: list[float]) -> str:
    return " ".join(f"{100 * value:.0f}" for value in values)


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f}" if whole else "–"


def draw(results: dict[Condition, dict[Arm, Row]], file: Path) -> None:
    """Draw greedy and sampled accuracy against the share of shortcuts, a line an arm."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "erce", "font.size": 10}
    figure, panels = pyplot.subplots(1, 2, figsize=(8.6, 3.8), sharey=True, layout="constrained")
    shares = [condition.share for condition in results]
    arms = [BASE_MODEL, BASELINE, Arm(2.0), Arm(8.0), Arm(16.0), Arm(0.0, "dft"), Arm(0.0, "eaft")]
    arms += [Arm(0.0, "self"), Arm(4.0, "rft")]
    looks = ["k:", "k-", "C0-", "C3--", "C3-", "C2-", "C1-", "C4-", "C4--"]
    for panel, decoding in zip(panels, ("greedy", "sampled"), strict=True):
        for arm, look in zip(arms, looks, strict=True):
            values = [100 * np.mean(getattr(by_arm[arm], decoding)) for by_arm in results.values()]
            panel.plot(shares, values, look, marker=".", label=arm.name())
        panel.set(title=decoding, xlabel="share of shortcuts among the demonstrations", ylim=(0, 100))
    panels[0].set_ylabel("Pass@1, %")
    panels[1].legend(fontsize=8.5)
    figure.savefig(file, metadata={"Date": None})


if __name__ == "__main__":
    main()
