"""A study and one of its cells → a folder for the hub: the cell's adapter, and a model card with the results.

The card holds our own numbers and names alone, nothing that a model wrote, and every name is escaped. The
same study gives the same bytes.
"""

import json
import re
import shutil
from collections.abc import Iterable
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from huggingface_hub import EvalResult, ModelCardData

from erce.catalog import is_here, is_hub_name, model_origin
from erce.errors import DamagedError, InputError, counted
from erce.files import MADE_AGAIN, new_folder, read_json
from erce.recipe import RFT, Cell
from erce.reporting.format import (
    NOTHING,
    file_name,
    known_as,
    one_line,
    percent,
    strength,
)
from erce.reporting.numbers import gains
from erce.reporting.numbers.gains import DECODINGS, Summary
from erce.reporting.pages.terminal_table import score_cells
from erce.reporting.words.cautions import cautions
from erce.reporting.words.sentences import sentences
from erce.study.folder import cell_folder, read_study
from erce.study.state import changed_files
from erce.tasks import gsm8k, math, mbpp
from erce.tasks.own import hub_name
from erce.types import BASE_MODEL, CROSS_ENTROPY, Arm

BEST = "best"
WEIGHTS, CONFIGURATION, README = "adapter_model.safetensors", "adapter_config.json", "README.md"
HUB = {  # task → its data set on the hub
    "gsm8k": gsm8k.SOURCE.hub,
    "gsm8k-answer-only": gsm8k.SOURCE.hub,
    "math": math.SOURCE.hub,
    "mbpp": mbpp.SOURCE.hub,
    "mbpp-full": mbpp.SOURCE.hub,
}
SPECIAL = re.compile(r"[\\`*_{}\[\]<>#|~!&$@^]|(?<=[^\d\s])\.(?=\S)|:(?=/)")  # Markdown's, HTML's, links'
BEGINS = re.compile(r"^(\d*)([-+=.)])(?=[\s=-]|$)")  # makes a line a list or a heading


def write_card(root: str | Path, out: str | Path, *, cell: str = BEST, base: str | None = None) -> Path:
    """Copy a cell's adapter into the new folder `out` with a model card; return the card's path.

    `cell` is a trained cell's name, or "best": the first seed of the λ that validation chose. No seed was
    picked for its score, so the table's figures for that λ hold for this cell. `base` is the base model's
    name on the hub where the recipe's model is a folder; left out, the adapter names no base model, since no
    path of this machine is written. `out` must not be there yet. InputError: the
    cell is not in the study, is not done, or has no adapter; or no λ could be chosen.
    """
    study, out = read_study(root), Path(out)
    if out.exists():
        raise InputError(f"{str(out)!r} exists; delete it, or give another folder with --out")
    summary = gains.summary(study)
    chosen = _named(summary, cell)
    adapter = cell_folder(study.root, study.recipe, chosen) / "adapter"
    for name in (WEIGHTS, CONFIGURATION):
        if not (adapter / name).is_file():
            raise InputError(
                f"{adapter / name} is missing; a study of imported logs has no adapters, and of others "
                "`erce run` trains a cell again once its folder is deleted"
            )
    if base is not None and not is_hub_name(base):
        raise InputError(f"{base!r} is no model's name on the hub, such as Qwen/Qwen2.5-1.5B-Instruct")
    model = study.recipe.model
    hub = base or (model if is_hub_name(model) and not is_here(model) else None)
    if f"{adapter.name}/{WEIGHTS}" in changed_files(adapter.parent, study.results[chosen]):
        raise DamagedError(f"{adapter / WEIGHTS} is not as its run left it; {MADE_AGAIN}")
    settings = read_json(adapter / CONFIGURATION)
    settings["base_model_name_or_path"] = hub
    with new_folder(out) as folder:
        shutil.copyfile(adapter / WEIGHTS, folder / WEIGHTS)
        (folder / CONFIGURATION).write_text(
            json.dumps(settings, indent=2, sort_keys=True) + "\n", encoding="utf-8"
        )
        (folder / README).write_text(card(summary, chosen, hub=hub), encoding="utf-8")
    return out / README


def names_base(folder: Path) -> bool:
    """Return whether the adapter in a card's folder names its base model, which AutoPeftModel needs."""
    return read_json(folder / CONFIGURATION)["base_model_name_or_path"] is not None


def card(summary: Summary, cell: Cell, *, hub: str | None) -> str:
    """Return the card's text; `hub` is the base model's name on the hub, None without one."""
    parts = [
        f"---\n{_metadata(summary, cell, hub).to_yaml()}\n---",
        f"# {_plain(cell.name)}",
        _what_it_is(summary, cell, hub),
        "## Results",
        *(_table(summary, cell, task) for task in _tasks(summary, cell)),
        _plain(sentences(summary)["headline"]),
    ]
    if warned := cautions(summary):
        parts += ["What could be wrong:", "\n".join(f"- {_plain(text)}" for text in warned)]
    parts += ["## How to load it", _loading(hub), "## Recipe", _recipe(summary, cell)]
    return "\n\n".join([*parts, "## Versions", _versions(summary, cell)]) + "\n"


def _named(summary: Summary, name: str) -> Cell:
    """Return the trained and finished cell called `name`, or the cell that "best" means."""
    study = summary.study
    if name == BEST:
        if summary.chosen is None:
            raise InputError(f"no λ is chosen: {summary.no_choice}; name a cell with --cell")
        return study.cells(study.recipe.task, summary.chosen)[0]
    trained = {cell.name: cell for cell in study.results if cell.lam is not None}
    if name in trained:
        return trained[name]
    if name in {cell.name for cell in study.missing}:
        raise InputError(f"cell {name!r} is not done; run the study to its end first")
    if name in {cell.name for cell in study.results}:
        raise InputError(f"{name!r} is the base model, which has no adapter; name a trained cell")
    close = get_close_matches(name, trained, n=1)
    raise InputError(
        f"no cell {name!r}; "
        + (f"did you mean {close[0]!r}?" if close else f"there are {', '.join(trained)}")
    )


def _metadata(summary: Summary, cell: Cell, hub: str | None) -> ModelCardData:
    data = HUB.get(cell.task) or hub_name(summary.study.recipe.data or "")
    scores = summary.study.results[cell]["scores"].get("test", {})
    results = [
        EvalResult(
            task_type="text-generation",
            dataset_type=data or file_name(cell.task),
            dataset_name=one_line(cell.task),
            dataset_split="test",
            metric_type="pass@1",
            metric_name=f"Pass@1, {decoding}",
            metric_value=round(scores[decoding]["pass@1"], 6),
        )
        for decoding in DECODINGS
        if decoding in scores
    ]
    return ModelCardData(
        base_model=hub,
        library_name="peft",
        pipeline_tag="text-generation",
        tags=["lora", "sft", "entropy-regularization", "erce"],
        datasets=None if data is None else [data],
        model_name=one_line(cell.name),
        eval_results=results,
    )


def _what_it_is(summary: Summary, cell: Cell, hub: str | None) -> str:
    recipe = summary.study.recipe
    own = cell.learns_own and recipe.can_run
    objective = recipe.objective if own else cell.objective
    minimised = "cross-entropy" if objective == CROSS_ENTROPY else f"the objective {objective}"
    if cell.lam:
        minimised += f" + λ · entropy, λ = {strength(cell.lam)}"
    base = hub or model_origin(recipe.model)
    text = (
        f"A LoRA adapter for {_plain(base)}, fine-tuned on verified demonstrations of the task "
        f"{_plain(cell.task)} to minimise {_plain(minimised)} (seed {cell.seed}), one of "
        f"{counted(len(summary.study.results) + len(summary.study.missing), 'cell')} of a study with erce."
    )
    if own:
        also = "beside the given demonstrations" if cell.objective == RFT else "alone"
        text += f" Its demonstrations are right answers of the base model itself, {also}."
    if summary.choice is None or (cell.task, cell.arm) == (recipe.task, summary.chosen):
        return text
    return f"{text} It is not of the λ that the study chose on validation."


def _tasks(summary: Summary, cell: Cell) -> list[str]:
    """Return the tasks with results, the cell's own first."""
    return [
        cell.task,
        *(task for task in summary.study.recipe.tasks if task != cell.task and summary.arms(task)),
    ]


def _table(summary: Summary, cell: Cell, task: str) -> str:
    """Write the base model, the baseline, the chosen λ and the cell's arm, then the cell alone."""
    task_arms = summary.arms(task)
    arms = [
        arm
        for arm in dict.fromkeys([BASE_MODEL, summary.baseline, summary.chosen, cell.arm])
        if arm in task_arms
    ]
    headings = ["", "seeds", "greedy", "sampled", "gain", "95 % interval", "p"]
    rows = [_row(summary, task, arm) for arm in arms]
    if task == cell.task:
        scores = summary.study.results[cell]["scores"].get("test", {})
        alone = [
            percent(scores[name]["pass@1"]) if name in scores else NOTHING for name in ("greedy", "sampled")
        ]
        rows.append([f"this adapter, seed {cell.seed}", "1", *alone, NOTHING, NOTHING, NOTHING])
    lines = [headings, ["---", *["---:"] * (len(headings) - 1)], *rows]
    row = next(row for row in summary.rows if row.task == task)
    role = ", the control" if task == summary.study.recipe.control else ""
    note = (
        f"{_plain(task)}{role}: right on {counted(row.n_problems, 'test problem')}, in %; samples at "
        f"temperature {summary.study.recipe.decoding.temperature:g}. ± is the sample standard deviation over "
        f"seeds. Gains are over {_plain(summary.baseline_name)}, in points, of {summary.decoding} "
        "completions; p allows for every row of the report's table. ★: chosen on validation."
    )
    return "\n".join([*(f"| {' | '.join(line)} |" for line in lines), "", note])


def _row(summary: Summary, task: str, arm: Arm) -> list[str]:
    name = arm.label + (f" ({known_as(arm)})" if known_as(arm) else "")
    rows = [row for decoding in DECODINGS if (row := summary.row(task, arm, decoding))]
    seeds = "" if arm.is_base else str(max(row.n_seeds for row in rows))
    return [_plain(name) + (" ★" if arm == summary.chosen else ""), seeds, *score_cells(summary, task, arm)]


def _loading(hub: str | None) -> str:
    """Show how to load the adapter; `hub` stands in code, so it must be a name that the hub's rules allow."""
    loaded = [
        "from peft import AutoPeftModelForCausalLM",
        "from transformers import AutoTokenizer",
        "",
        'model = AutoPeftModelForCausalLM.from_pretrained("THIS_FOLDER")',
        f'tokenizer = AutoTokenizer.from_pretrained("{hub}")',
    ]
    if hub is None:
        loaded = ["from peft import PeftModel", "", "# base: the base model named above, loaded by you"]
        loaded.append('model = PeftModel.from_pretrained(base, "THIS_FOLDER")')
    after = (
        "`model.merge_and_unload()` gives a model without the adapter's layers. Prompts are one user "
        "message in the base model's chat template, with the generation prompt added."
    )
    return "\n".join(["```python", *loaded, "```", "", after])


def _recipe(summary: Summary, cell: Cell) -> str:
    recipe, decoding = summary.study.recipe, summary.study.recipe.decoding
    trained = summary.study.results[cell].get("training", {})
    settings: dict[str, Any] = {"task": cell.task, "model": Path(recipe.model).name, "λ": strength(cell.lam)}
    settings |= {"objective": cell.objective, "penalty": recipe.penalty, "order": recipe.order}
    if cell.learns_own and recipe.can_run:
        settings |= {f"own {name}": value for name, value in asdict(recipe.own_samples).items()}
    settings |= {"seed": cell.seed, "split seed": recipe.split_seed} | asdict(recipe.training)
    settings |= {"temperature": decoding.temperature, "samples": decoding.samples}
    settings |= {name: trained[name] for name in ("steps", "tokens", "ce", "entropy") if name in trained}
    return _pairs(("setting", "value"), settings.items())


def _versions(summary: Summary, cell: Cell) -> str:
    return _pairs(("package", "version"), sorted(summary.study.results[cell].get("versions", {}).items()))


def _pairs(headings: tuple[str, str], rows: Iterable[tuple[str, Any]]) -> str:
    shown = [(name, f"{value:.6g}" if isinstance(value, float) else value) for name, value in rows]
    lines = [headings, ("---", "---"), *((_plain(name), _plain(str(value))) for name, value in shown)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _plain(text: str) -> str:
    """Escape a text, so that Markdown shows it letter by letter: no markup, HTML or link, on one line.

    >>> print(_plain("a_b <i>*c*</i> www.x.org 0.5\\n# d"))
    a\\_b \\<i\\>\\*c\\*\\</i\\> www\\.x\\.org 0.5 \\# d
    """
    return BEGINS.sub(r"\1\\\2", SPECIAL.sub(r"\\\g<0>", one_line(text)))
