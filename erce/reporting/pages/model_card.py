"""A study and one of its cells → a folder for the hub: the cell's adapter, and a model card with the results.

The card holds our own numbers and names alone, nothing that a model wrote, and every name is escaped. The
same study gives the same bytes.
"""

import json
import re
import shutil
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from huggingface_hub import EvalResult, ModelCardData
from markupsafe import Markup

from erce.catalog import is_here, is_hub_name, model_origin
from erce.errors import DamagedError, InputError, did_you_mean
from erce.files import MADE_AGAIN, new_folder, read_json
from erce.recipe import Cell, as_settings
from erce.reporting.format import file_name, one_line
from erce.reporting.numbers import gains
from erce.reporting.numbers.gains import Summary
from erce.reporting.numbers.verdict import preferences, to_take
from erce.reporting.pages.tables import HEADINGS, arm_cells
from erce.reporting.pages.templates import environment
from erce.reporting.words.cautions import cautions
from erce.reporting.words.sentences import sentences
from erce.study.folder import read_study
from erce.study.freshness import changed_files
from erce.tasks import gsm8k, math, mbpp
from erce.tasks.user_defined import hub_name
from erce.types import Arm

BEST = "best"
FINDINGS = ("verdict", "greedy", "sampled", "choosing")  # sentences of the report
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

    Args:
        root: the study's folder.
        out: the folder to make; it must not be there yet.
        cell: a trained cell's name, or "best": the first seed of the arm to use. No seed is picked for its
            score, so the table's figures for that arm hold for this cell.
        base: the base model's name on the hub where the recipe's model is a folder; left out, the adapter
            names no base model, since no path of this machine is written.

    Raises:
        InputError: the cell is not in the study, is not done, or has no adapter; or none is preferred.
    """
    study, out = read_study(root), Path(out)
    if out.exists():
        raise InputError(f"{str(out)!r} exists; delete it, or give another folder with --out")
    if base is not None and not is_hub_name(base):
        raise InputError(f"{base!r} is not a model's name on the hub, such as Qwen/Qwen2.5-1.5B-Instruct")
    summary = gains.summary(study)
    chosen = _named(summary, cell)
    adapter = study.folder(chosen) / "adapter"
    for name in (WEIGHTS, CONFIGURATION):
        if not (adapter / name).is_file():
            raise InputError(
                f"{adapter / name} is missing; a study of imported logs has no adapters, and of others "
                "`erce run` trains a cell again once its folder is deleted"
            )
    if f"{adapter.name}/{WEIGHTS}" in changed_files(adapter.parent, study.results[chosen]):
        raise DamagedError(f"{adapter / WEIGHTS} is not as its run left it; {MADE_AGAIN}")
    model = study.recipe.model
    hub = base or (model if is_hub_name(model) and not is_here(model) else None)
    settings = read_json(adapter / CONFIGURATION) | {"base_model_name_or_path": hub}
    with new_folder(out) as folder:
        shutil.copyfile(adapter / WEIGHTS, folder / WEIGHTS)
        text = json.dumps(settings, indent=2, sort_keys=True)
        (folder / CONFIGURATION).write_text(f"{text}\n", encoding="utf-8")
        (folder / README).write_text(card(summary, chosen, hub=hub), encoding="utf-8")
    return out / README


def names_base(folder: Path) -> bool:
    """Return whether the adapter in a card's folder names its base model, which AutoPeftModel needs."""
    return read_json(folder / CONFIGURATION)["base_model_name_or_path"] is not None


def card(summary: Summary, cell: Cell, *, hub: str | None) -> str:
    """Return the card's text; `hub` is the base model's name on the hub, None without one."""
    recipe = summary.study.recipe
    rows = [(summary.name(arm), arm_cells(summary, cell.task, arm)) for arm in summary.arms(cell.task)]
    return (
        environment(_plain)
        .get_template("model_card.md")
        .render(
            summary=summary,
            recipe=recipe,
            cell=cell,
            hub=hub,
            base=hub or model_origin(recipe.model),
            metadata=Markup(_metadata(summary, cell, hub).to_yaml()),
            own=recipe.own_samples if cell.learns_own and recipe.can_run else None,
            is_chosen=summary.choice is None or cell.arm in _preferred(summary),
            headings=HEADINGS,
            rows=[(name, [Markup(text.strip()) for text in cells]) for name, cells in rows],
            scores=_own_scores(summary, cell),
            n_problems=max(row.n_problems for row in summary.rows if row.task == cell.task),
            findings=[text for name, text in sentences(summary).items() if name in FINDINGS],
            cautions=cautions(summary),
            settings=Markup(json.dumps(_settings(summary, cell), indent=2, sort_keys=True)),
        )
    )


def _named(summary: Summary, name: str) -> Cell:
    """Return the trained and finished cell called `name`, or the cell that "best" means."""
    study = summary.study
    if name == BEST:
        best = to_take(summary)
        if best is None:
            raise InputError(f"no arm is chosen: {summary.no_choice}; name a cell with --cell")
        if best.is_base:
            raise InputError(
                "the arm to use is the base model, which has no adapter; name a cell with --cell"
            )
        return study.cells(study.recipe.task, best)[0]
    trained = {cell.name: cell for cell in study.results if cell.lam is not None}
    if name in trained:
        return trained[name]
    if name in {cell.name for cell in study.missing}:
        raise InputError(f"cell {name!r} is not done; run the study to its end first")
    raise InputError(f"no trained and finished cell {name!r}; {did_you_mean(name, trained)}")


def _preferred(summary: Summary) -> list[Arm]:
    return [found.arm for found in preferences(summary).values()]


def _metadata(summary: Summary, cell: Cell, hub: str | None) -> ModelCardData:
    data = HUB.get(cell.task) or hub_name(summary.study.recipe.data or "")
    results = [
        EvalResult(
            task_type="text-generation",
            dataset_type=data or file_name(cell.task),
            dataset_name=one_line(cell.task),
            dataset_split="test",
            metric_type="pass@1",
            metric_name=f"Pass@1, {decoding}",
            metric_value=round(score, 6),
        )
        for decoding, score in _own_scores(summary, cell).items()
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


def _own_scores(summary: Summary, cell: Cell) -> dict[str, float]:
    """Return decoding → the cell's own accuracy on the test problems."""
    scores = summary.study.results[cell]["scores"].get("test", {})
    return {name: scores[name]["pass@1"] for name in gains.DECODINGS if name in scores}


def _settings(summary: Summary, cell: Cell) -> dict[str, Any]:
    """Return what the cell was trained and sampled with, without paths, and the versions."""
    settings = as_settings(summary.study.recipe)
    kept = {name: settings[name] for name in ("penalty", "order", "split_seed", "training", "decoding")}
    if cell.learns_own:
        kept["own"] = asdict(replace(summary.study.recipe.own_samples, adapter=None))
    return kept | {"versions": summary.study.results[cell].get("versions", {})}


def _plain(text: str) -> str:
    """Escape a text, so that Markdown shows it letter by letter: no markup, HTML or link, on one line.

    >>> print(_plain("a_b <i>*c*</i> www.x.org 0.5\\n# d"))
    a\\_b \\<i\\>\\*c\\*\\</i\\> www\\.x\\.org 0.5 \\# d
    """
    return BEGINS.sub(r"\1\\\2", SPECIAL.sub(r"\\\g<0>", one_line(text)))
