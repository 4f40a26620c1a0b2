"""What is stale in a folder, and why: a changed file is made again, another base model is refused."""

import shutil
import sys
from dataclasses import replace
from functools import lru_cache, partial
from importlib import import_module, reload
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from toys.recipes import tiny_recipe

import erce.verify
from erce.catalog import EMBEDDED_MODELS
from erce.errors import InputError
from erce.files import read_json, write_json, write_rows
from erce.recipe import Cell, Training
from erce.reporting.numbers.gains import summary
from erce.reporting.words.cautions import cautions
from erce.study.demonstrations import cell_splits
from erce.study.folder import read_study
from erce.study.freshness import (
    ADAPTER_FILE,
    Reason,
    changed_files,
    checked_base_model,
    drop_stale,
    refuse_other_limit,
    spoiled_files,
    stale_parts,
)
from erce.study.provenance import (
    BLOCK_BYTES,
    BLOCKS,
    WHOLE_BYTES,
    base_model,
    digests,
    file_digest,
    keep_base_model,
    verifier_version,
    write_verifier,
)
from erce.study.run import run
from erce.study.samples import VerifiedSample, write_completions, write_verdicts
from erce.study.schedule import cell_sampling
from erce.tasks import TASKS
from erce.types import Completion, Verdict


@pytest.fixture
def recipe(tmp_path):
    shutil.copytree(EMBEDDED_MODELS["tiny"], tmp_path / "model")
    return tiny_recipe(model=str(tmp_path / "model"), dtype="float32")


def add_to_template(folder):
    path = next(folder.glob("chat_template*"))
    path.write_text(path.read_text() + " ")


def save_other_weights(folder):
    path = next(folder.glob("*.safetensors"))
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def edit_config(folder):
    write_json(folder / "config.json", read_json(folder / "config.json") | {"rope_theta": 1.0})


@pytest.mark.parametrize(
    ("change", "part"),
    [(add_to_template, "chat template"), (save_other_weights, "weights"), (edit_config, "configuration")],
)
def test_a_folder_whose_content_changed_is_another_model(change, part, recipe, tmp_path):
    root = tmp_path / "runs"
    keep_base_model(root, checked_base_model(root, recipe, sampled_here=True))
    assert checked_base_model(root, recipe, sampled_here=True)
    change(tmp_path / "model")
    with pytest.raises(InputError, match=f"another base model under the name .*: it differs in {part}; put"):
        checked_base_model(root, recipe, sampled_here=True)


def test_another_dtype_is_another_model_where_the_cells_run(recipe, tmp_path):
    write_json(tmp_path / "cells" / "one" / "cell.json", {"dtype": "float32"})
    checked_base_model(tmp_path, recipe, sampled_here=True)
    with pytest.raises(InputError, match=r"it differs in dtype \(float32, not bfloat16\); put"):
        checked_base_model(tmp_path, replace(recipe, dtype="bfloat16"), sampled_here=True)
    checked_base_model(tmp_path, replace(recipe, dtype="bfloat16"), sampled_here=False)


def test_what_is_not_known_is_not_compared(tmp_path):
    assert base_model("nobody/has-this") == {}
    assert base_model("no/such/folder/here") == {}
    (tmp_path / "base.json").write_text('{"weights"')  # torn
    assert checked_base_model(tmp_path, tiny_recipe(), sampled_here=False).keys() >= {"weights"}


def test_a_study_of_another_base_model_is_refused_before_anything_is_written(recipe, tmp_path):
    root = tmp_path / "runs"
    keep_base_model(root, checked_base_model(root, recipe, sampled_here=True))
    add_to_template(tmp_path / "model")
    with pytest.raises(InputError, match="differs in chat template"):
        run(recipe, out=root)
    assert [path.name for path in root.iterdir()] == ["base.json"]


RECIPE = tiny_recipe(lams=(0.0,), training=Training(epochs=0.5, learning_rate=1e-3))
ADAPTER = ("adapter_model.safetensors", "adapter_config.json")


def write_cell(folder):
    """Write a finished cell, with files of any content."""
    (folder / "adapter").mkdir(parents=True)
    save_file({"weight": np.ones(2)}, folder / ADAPTER_FILE)
    write_json(folder / "adapter" / "adapter_config.json", {"peft_type": "LORA"})
    write_json(folder / "training.json", {"log": []})
    write_json(folder / "cell.json", {"key": "0"})
    for name in ("completions.jsonl", "verdicts.jsonl"):
        write_rows(folder / name, [{"sample": 0}])
    write_json(folder / "result.json", {"scores": {}, "digests": digests(folder)})


@pytest.fixture
def cell(tmp_path):
    write_cell(tmp_path / "cell")
    return tmp_path / "cell"


def rows_of(cell, problems, *, lacking=()):
    """All completions that the recipe asks of a cell, without those of some decodings."""
    return [
        (
            place,
            Completion(
                problem=str(number), sample=0, text="", tokens=1, finished=True, logprob=0.0, entropy=0.0
            ),
        )
        for place, count in cell_sampling(WIDE, cell, problems).sizes.items()
        for number in range(count if place.decoding not in lacking else 0)
    ]


WIDE = replace(RECIPE, decoding=replace(RECIPE.decoding, temperatures=(0.4,)))
TRAINED, BASE = Cell(WIDE.task, 0.0, 0, all_temperatures=True), Cell(WIDE.task, None, 0)
SCORES = {"scores": {split: {"sampled": {}, "T0.4": {}} for split in ("validation", "test")}}
MISSING, SPOILED, VERIFIER = Reason


def torn(name):
    return lambda folder: (folder / name).write_bytes(b"[")


def gone(*names):
    return lambda folder: [(folder / name).unlink() for name in names]


def changed(name):
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes() + b" ")


def lacks_a_temperature(folder):
    write_json(folder / "result.json", {"scores": {"test": {"sampled": {}}}})
    write_completions(folder, rows_of(TRAINED, cell_splits(WIDE, WIDE.task), lacking=("T0.4",)))


def of_another_verifier(folder):
    write_json(folder / "cell.json", {"key": "0", "verifier": "0.0+0"})


@pytest.mark.parametrize(
    ("damage", "reasons"),
    [
        ([], {}),
        (
            [shutil.rmtree],
            {"adapter": MISSING, "completions": MISSING, "verdicts": MISSING, "scores": MISSING},
        ),
        ([gone("result.json")], {"scores": MISSING}),
        ([gone("result.json", "verdicts.jsonl")], {"verdicts": MISSING, "scores": MISSING}),
        ([gone("verdicts.jsonl")], {"verdicts": SPOILED, "scores": MISSING}),
        ([gone(ADAPTER_FILE)], {}),
        ([gone(ADAPTER_FILE, "result.json")], {"scores": MISSING}),
        (
            [gone(ADAPTER_FILE), changed("completions.jsonl")],
            {"adapter": MISSING, "completions": SPOILED, "verdicts": MISSING, "scores": MISSING},
        ),
        (
            [gone("result.json", "completions.jsonl")],
            {"completions": MISSING, "verdicts": SPOILED, "scores": MISSING},
        ),
        (
            [gone(ADAPTER_FILE, "result.json", "completions.jsonl", "verdicts.jsonl")],
            dict.fromkeys(("adapter", "completions", "verdicts", "scores"), MISSING),
        ),
        (
            [gone("result.json", "training.json")],
            {"adapter": MISSING, "completions": MISSING, "verdicts": MISSING, "scores": MISSING},
        ),
        (
            [gone("result.json", "cell.json")],
            {"completions": MISSING, "verdicts": MISSING, "scores": MISSING},
        ),
        ([lacks_a_temperature], {"completions": MISSING, "verdicts": MISSING, "scores": MISSING}),
        ([torn("result.json")], {"scores": SPOILED}),
        ([lambda folder: write_json(folder / "result.json", {})], {"scores": MISSING}),
        ([torn("verdicts.jsonl")], {"verdicts": SPOILED, "scores": MISSING}),
        ([torn("cell.json")], {"completions": SPOILED, "verdicts": MISSING, "scores": MISSING}),
        ([changed("completions.jsonl")], {"completions": SPOILED, "verdicts": MISSING, "scores": MISSING}),
        (
            [changed("training.json")],
            {"adapter": SPOILED, "completions": MISSING, "verdicts": MISSING, "scores": MISSING},
        ),
        (
            [torn(ADAPTER_FILE)],
            {"adapter": SPOILED, "completions": MISSING, "verdicts": MISSING, "scores": MISSING},
        ),
        ([of_another_verifier], {"verdicts": VERIFIER, "scores": MISSING}),
        ([of_another_verifier, gone("result.json")], {"verdicts": VERIFIER, "scores": MISSING}),
    ],
)
def test_what_a_folder_lacks_decides_what_is_stale(tmp_path, damage, reasons):
    problems, folder = cell_splits(WIDE, WIDE.task), tmp_path / "cell"
    sampling = cell_sampling(WIDE, TRAINED, problems)
    (folder / "adapter").mkdir(parents=True)
    save_file({"weight": np.ones(2)}, folder / ADAPTER_FILE)
    write_json(folder / "adapter" / "adapter_config.json", {"peft_type": "LORA"})
    write_json(folder / "training.json", {"log": []})
    write_json(folder / "cell.json", {"key": "0"})
    write_completions(folder, rows := rows_of(TRAINED, problems))
    write_verdicts(folder, [VerifiedSample(*row, Verdict(False, "different")) for row in rows])
    write_json(folder / "result.json", SCORES | {"digests": digests(folder)})
    for each in damage:
        each(folder)
    stale = stale_parts(folder, sampling)
    assert stale == reasons
    # Once what is spoiled is dropped, what is there is fresh: the same parts are made, no more is dropped.
    drop_stale({folder: sampling})
    again = stale_parts(folder, sampling)
    assert [*again] == [*stale]
    assert {*again.values()} <= {MISSING}
    assert drop_stale({folder: sampling}) == []


def test_the_base_model_has_no_adapter(tmp_path):
    sampling = cell_sampling(WIDE, BASE, cell_splits(WIDE, WIDE.task))
    assert [*stale_parts(tmp_path / "cell", sampling)] == ["completions", "verdicts", "scores"]


def test_files_as_the_run_left_them_stay(cell):
    assert list(digests(cell)) == [ADAPTER_FILE, "training.json", "completions.jsonl", "verdicts.jsonl"]
    assert spoiled_files(cell) == []


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("verdicts.jsonl", {*ADAPTER, "training.json", "completions.jsonl", "cell.json"}),
        ("cell.json", {*ADAPTER, "training.json", "completions.jsonl"}),
        ("completions.jsonl", {*ADAPTER, "training.json"}),
        ("training.json", set()),
        (ADAPTER_FILE, set()),
    ],
)
def test_what_was_made_from_a_changed_file_is_made_again(tmp_path, name, kept):
    folder = tmp_path / "cell"
    write_cell(folder)
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[:-7] + bytes(7))
    sampling = cell_sampling(RECIPE, Cell(RECIPE.task, 0.0, 0), cell_splits(RECIPE, RECIPE.task))
    assert drop_stale({folder: sampling}) == [f"{folder.name}/{name} is not as its run left it; made again."]
    assert {path.name for path in folder.rglob("*") if path.is_file()} == kept


def test_an_adapter_that_was_deleted_is_not_missed_and_verdicts_are(cell):
    (cell / ADAPTER_FILE).unlink()
    assert changed_files(cell, read_json(cell / "result.json")) == []
    (cell / "verdicts.jsonl").unlink()
    assert changed_files(cell, read_json(cell / "result.json")) == ["verdicts.jsonl"]


def test_of_a_large_file_the_size_and_evenly_spaced_blocks_count(tmp_path):
    size = WHOLE_BYTES + 1000
    (tmp_path / "large").write_bytes(bytes(size))
    before = file_digest(tmp_path / "large")
    for place in (0, (size - BLOCK_BYTES) // (BLOCKS - 1) + 5, size - 1):
        content = bytearray(size)
        content[place] = 1
        (tmp_path / "other").write_bytes(content)
        assert file_digest(tmp_path / "other") != before
    (tmp_path / "other").write_bytes(bytes(size + 1))
    assert file_digest(tmp_path / "other") != before


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return run(RECIPE, out=tmp_path_factory.mktemp("digests") / "mini").root


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("verdicts.jsonl", lambda content: content.replace(b'"accepted": false', b'"accepted": true', 1)),
        ("completions.jsonl", lambda content: content.replace(b'"text": "', b'"text": "#### ', 1)),
        (
            ADAPTER_FILE,
            lambda content: content[: len(content) // 2] + bytes(len(content) - len(content) // 2),
        ),
    ],
)
def test_a_report_says_first_that_a_file_changed_after_its_result(finished, name, edit):
    [path] = finished.glob(f"cells/*lam0*/{name}")
    before = path.read_bytes()
    path.write_bytes(edit(before))
    sentence = cautions(summary(read_study(finished)))[0]
    path.write_bytes(before)
    assert f"changed after the run wrote them: {path.relative_to(finished / 'cells').as_posix()}." in sentence
    assert "changed after the run" not in " ".join(cautions(summary(read_study(finished))))


def test_a_verifiers_version_covers_the_room_of_verifiers_and_the_functions_own_file(tmp_path, monkeypatch):
    copy = shutil.copytree(erce.verify.__path__[0], tmp_path / "verify")
    monkeypatch.setattr(erce.verify, "__path__", [str(copy)])
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "checks_of_a_user.py").write_text("def verify(problem, completion):\n    return True\n")
    own = partial(import_module("checks_of_a_user").verify)
    (tmp_path / "task_of_a_user.py").write_text("")

    def versions() -> dict[str, str]:
        return {
            "gsm8k": verifier_version(TASKS["gsm8k"].verify, task="gsm8k"),
            "own": verifier_version(lru_cache(own), task="checks_of_a_user:verify"),
            "task": verifier_version(own, task="task_of_a_user:TASK"),
        }

    def changed_by(path: Path) -> set[str]:
        before = versions()
        with path.open("a", encoding="utf-8") as source:
            source.write("# a comment\n")
        return {name for name, version in versions().items() if version != before[name]}

    assert changed_by(copy / "answers" / "reference.py") == {"gsm8k", "own", "task"}
    assert changed_by(tmp_path / "checks_of_a_user.py") == set()  # this process has the function as it was
    before = versions()
    reload(sys.modules["checks_of_a_user"])
    assert {name for name, version in versions().items() if version != before[name]} == {"own", "task"}
    sys.modules.pop("checks_of_a_user")
    assert changed_by(tmp_path / "checks_of_a_user.py") == {"own", "task"}
    assert changed_by(tmp_path / "task_of_a_user.py") == {"task"}


def test_completions_that_were_cut_off_at_another_limit_are_not_added_to(finished):
    study = read_study(finished)
    cell = next(iter(study.results))
    longer = replace(study.recipe, decoding=replace(study.recipe.decoding, max_new_tokens=9))
    problems = cell_splits(study.recipe, cell.task)
    refuse_other_limit({study.folder(cell): cell_sampling(study.recipe, cell, problems)})
    with pytest.raises(InputError, match=r"was sampled with max_new_tokens = \d+, and now it is 9; put that"):
        refuse_other_limit({study.folder(cell): cell_sampling(longer, cell, problems)})


def test_a_cell_keeps_what_its_verifier_says_of_itself_and_nothing_of_a_class_or_a_library(tmp_path):
    def judge(problem, completion):
        """Return whether the query finds
        the reference's rows.

        It runs in SQLite.
        """
        return True

    for verify, checks in (
        (judge, "Return whether the query finds the reference's rows."),
        (lambda problem, completion: True, ""),
        (partial(judge), ""),
    ):
        write_verifier(tmp_path, verify, task="mine:judge")
        assert read_json(tmp_path / "cell.json")["checks"] == checks
