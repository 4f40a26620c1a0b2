"""A study as rows: each sample once with all that made it, in files that data tools read, and as arrays."""

from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest

from erce.cli.side_by_side import reverify_file
from erce.files import write_json, write_rows
from erce.generate.backend import backend_of
from erce.hf.models import BasePolicy, load_model, load_tokenizer
from erce.recipe import Cell, Decoding, Recipe
from erce.study.export import export, outcome_arrays, records
from erce.study.folder import CELL, RESULT, cell_folder, open_study, read_record, read_study
from erce.study.provenance import origin_of, write_origin, write_verifier
from erce.study.schedule import CellSampling, decodings
from erce.tasks import load_task
from erce.types import BASE_MODEL, Arm, Problem, SampleRow

RECIPE = Recipe(
    task="mini-sums", lams=(0.0, 0.5), seeds=(0, 1), methods=("dft",), decoding=Decoding(samples=2)
)
PROBLEMS = [Problem(id=name, prompt=f"{name}+1=", demonstration="") for name in ("7", "8")]
HOSTILE = "</script>\u2028\x00 é 𝄞 \\ud800 \"'\n"


@cache
def tiny():
    return BasePolicy(load_model("tiny"), load_tokenizer("tiny"))


def key_of(folder, recipe, cell, problems, *, adapter):
    """Write cell.json as for completions of these test problems, and return their key."""
    sampling = CellSampling(cell, {"test": problems}, decodings(recipe, cell))
    origin = origin_of(recipe, sampling, base=tiny(), adapter=adapter, backend=backend_of(recipe))
    return write_origin(folder, origin, sampling, ends=[tiny().tokenizer.eos_token], backend="transformers")


def fill(root, cell, *, origin=True):
    """A finished cell: the first sample of each problem is right, the second was cut off."""
    folder = cell_folder(root, RECIPE, cell)
    (folder / "adapter").mkdir(parents=True)
    (folder / "adapter" / "adapter_model.safetensors").write_bytes(cell.name.encode())
    if origin:
        key_of(folder, RECIPE, cell, PROBLEMS, adapter=folder)
        write_verifier(folder, load_task(cell.task).verify, task=cell.task)
    places = [
        {"split": "test", "decoding": "sampled", "problem": problem.id, "sample": sample}
        for problem in PROBLEMS
        for sample in range(2)
    ]
    drawn = {"text": HOSTILE, "tokens": 5, "logprob": -1.5, "entropy": 0.25}
    write_rows(
        folder / "completions.jsonl", [each | drawn | {"finished": each["sample"] == 0} for each in places]
    )
    verdicts = [
        each | {"accepted": each["sample"] == 0, "reason": "exact", "extracted": None} for each in places
    ]
    write_rows(folder / "verdicts.jsonl", verdicts)
    write_json(folder / RESULT, {"scores": {}})
    return folder


@pytest.fixture
def study(tmp_path):
    rows = [
        {"task": "mini-sums", "split": split, "problem": problem.id, "prompt": problem.prompt + split}
        | {"demonstration": "", "answer": problem.id, "tests": []}
        for problem in PROBLEMS
        for split in ("train", "test")
    ]
    open_study(tmp_path / "study", RECIPE, rows)
    for cell in RECIPE.cells():
        fill(tmp_path / "study", cell)
    return read_study(tmp_path / "study")


def test_a_row_says_what_drew_it_and_what_was_said_of_it(study):
    row = next(row for row in records(study) if row.arm == "lam0.5" and row.sample == 1)
    assert row.prompt_hash == "70f90067bc3e3fd8"
    assert vars(row) | {"key": "", "study": "", "adapter": "", "prompt_hash": "", "verifier": ""} == {
        "key": "",
        "study": "",
        "task": "mini-sums",
        "arm": "lam0.5",
        "lam": 0.5,
        "method": "cross-entropy",
        "penalty": "shannon",
        "order": 1.0,
        "seed": 0,
        "model": "tiny",
        "revision": None,
        "dtype": "float32",
        "adapter": "",
        "split": "test",
        "decoding": "sampled",
        "temperature": 0.8,
        "top_p": 1.0,
        "top_k": 0,
        "repetition_penalty": 1.0,
        "max_new_tokens": load_task("mini-sums").max_new_tokens,
        "stop": [load_tokenizer("tiny").eos_token],
        "problem": "7",
        "prompt_hash": "",
        "answer": "7",
        "tests": None,
        "sample": 1,
        "completion": HOSTILE,
        "tokens": 5,
        "finish": "length",
        "logprob": -1.5,
        "entropy": 0.25,
        "accepted": False,
        "flexible": None,
        "reason": "exact",
        "extracted": None,
        "warning": None,
        "verifier": "",
    }


def test_every_sample_has_one_row_with_its_arm_and_a_key_of_its_own(study):
    rows = list(records(study))
    assert len(rows) == len({row.key for row in rows}) == 7 * 2 * 2
    assert {row.arm: (row.lam, row.method, row.penalty) for row in rows} == {
        "base": (None, None, None),
        "lam0": (0.0, "cross-entropy", "shannon"),
        "lam0.5": (0.5, "cross-entropy", "shannon"),
        "dft": (0.0, "dft", "shannon"),
    }
    arrays = outcome_arrays(rows)
    assert list(arrays) == ["base", "lam0", "lam0.5", "dft"]
    for arm, name in ((Arm(0.5), "lam0.5"), (BASE_MODEL, "base"), (Arm(0.0, "dft"), "dft")):
        own = study.outcomes("mini-sums", arm, split="test", decoding="sampled")
        np.testing.assert_array_equal(arrays[name], own)


@pytest.mark.parametrize(
    "change",
    [
        lambda recipe, cell, problems: (replace(recipe, split_seed=1), cell, problems),
        lambda recipe, cell, problems: (recipe, replace(cell, seed=1), problems),
        lambda recipe, cell, problems: (
            recipe,
            cell,
            [*problems, Problem(id="9", prompt="9", demonstration="")],
        ),
        lambda recipe, cell, problems: (replace(recipe, decoding=Decoding(samples=3)), cell, problems),
    ],
)
def test_the_key_is_of_everything_that_decides_a_completion(study, change):
    cell = Cell("mini-sums", 0.5, 0)
    folder = cell_folder(study.root, RECIPE, cell)
    key = partial(key_of, folder, adapter=folder / "adapter")
    first = key(RECIPE, cell, PROBLEMS)
    assert key(RECIPE, cell, PROBLEMS) == first != key(*change(RECIPE, cell, PROBLEMS))
    (folder / "adapter" / "adapter_model.safetensors").write_bytes(b"other weights")
    assert key(RECIPE, cell, PROBLEMS) != first


def test_verifying_again_changes_the_verifier_and_no_key(study):
    folder = cell_folder(study.root, RECIPE, Cell("mini-sums", 0.5, 0))
    before = read_record(folder)
    write_verifier(folder, load_task("mini-sums-answer-only").verify, task="mini-sums")
    assert {name for name, value in read_record(folder).items() if before[name] != value} <= {
        "verifier",
        "checks",
    }
    write_verifier(folder, test_verifying_again_changes_the_verifier_and_no_key, task="mini-sums")
    assert {name for name, value in read_record(folder).items() if before[name] != value} == {
        "verifier",
        "checks",
    }


def test_a_study_sampled_without_cell_json_is_read_and_says_less(study):
    for path in study.root.rglob(CELL):
        path.unlink()
    rows = list(records(study))
    assert {(row.key, row.adapter, row.temperature) for row in rows} == {(None, None, None)}
    assert {row.arm for row in rows} == {"base", "lam0", "lam0.5", "dft"}


def test_verdicts_of_other_samples_are_refused(study):
    path = cell_folder(study.root, RECIPE, Cell("mini-sums", 0.5, 0)) / "verdicts.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(reversed(lines)), encoding="utf-8")
    with pytest.raises(ValueError, match=r"verdicts\.jsonl does not match .* makes it again"):
        list(records(study))


def test_an_export_is_read_by_pandas_and_datasets_in_one_line_and_verified_again(study, tmp_path):
    pandas, datasets = pytest.importorskip("pandas"), pytest.importorskip("datasets")
    path = tmp_path / "rows.jsonl"
    rows = list(records(study))
    assert export(study, path) == len(rows)
    assert len(reverify_file(path, kind="number", workers=1)) == len(rows)
    cache = str(tmp_path / "cache")
    table = datasets.load_dataset("json", data_files=str(path), split="train", cache_dir=cache)
    assert table.to_list() == [vars(row) for row in rows]
    frame = pandas.read_json(path, lines=True, dtype=False)
    assert list(frame.columns) == list(vars(rows[0]))
    assert frame["problem"].tolist() == [row.problem for row in rows]
    assert frame["completion"].tolist() == [row.completion for row in rows]
    assert frame.groupby("arm")["accepted"].mean().to_dict() == dict.fromkeys(frame["arm"].unique(), 0.5)


@pytest.mark.parametrize(
    ("name", "sentence"), [("rows.csv", r"written to \.jsonl"), ("no/rows.jsonl", "is not a folder; make it")]
)
def test_an_export_that_cannot_be_written_is_refused(study, tmp_path, name, sentence):
    with pytest.raises(ValueError, match=sentence):
        export(study, tmp_path / name)


def test_an_export_that_fails_leaves_no_file_of_that_name(study, tmp_path):
    rows = [replace(next(records(study)), logprob=float("nan"))]
    with pytest.raises(ValueError, match="JSON"):
        export(rows, tmp_path / "rows.jsonl")
    assert not (tmp_path / "rows.jsonl").exists()


def run(arm, accepted, *, seed=0):
    """One greedy sample a problem; `accepted` maps a problem to its verdict."""
    shared = {"task": "gsm8k", "arm": arm, "seed": seed, "split": "test", "decoding": "greedy", "sample": 0}
    return [SampleRow(**shared, problem=problem, accepted=verdict) for problem, verdict in accepted.items()]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda rows: rows[:-1], r"arm 'b', seed 0, problem '2', sample 0 is missing \(1 in all\)"),
        (lambda rows: [*rows, rows[0]], "arm 'a', seed 0, problem '1', sample 0 is there twice"),
        (lambda rows: [replace(rows[0], accepted=None), *rows[1:]], "has no verdict"),
        (lambda rows: [replace(rows[0], task="math"), *rows[1:]], "select one task, split and decoding"),
        (lambda rows: [replace(rows[0], decoding="sampled"), *rows[1:]], "select one task"),
        (lambda rows: [], "nothing to compare"),
    ],
)
def test_nothing_missing_is_ever_scored(change, sentence):
    rows = run("a", {"1": True, "2": False}) + run("b", {"1": True, "2": False})
    with pytest.raises(ValueError, match=sentence):
        outcome_arrays(change(rows))
