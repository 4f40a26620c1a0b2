"""More temperatures on a finished study: only they are sampled, and any stop leaves whole records."""

import shutil
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from toys.recipes import tiny_recipe

import erce.generate.transformers
from erce.files import read_json, read_rows
from erce.recipe import Cell, Decoding, Recipe, Training
from erce.study.cell import run_cell
from erce.study.folder import CELL, RESULT, Study, cell_folder
from erce.study.run import run
from erce.study.samples import COMPLETIONS, VERDICTS
from erce.study.schedule import decodings
from erce.study.stages import base_policy
from erce.types import BASELINE

RECIPE = tiny_recipe(
    lams=(0.0,),
    n_test=3,
    training=Training(epochs=1.0),
    decoding=Decoding(samples=2, temperature_samples=2, max_new_tokens=12),
)
BASE = Cell("mini-sums", None, 0, all_temperatures=True)


def wide(*temperatures: float) -> Recipe:
    return replace(RECIPE, decoding=replace(RECIPE.decoding, temperatures=temperatures))


def records(root: Path) -> dict[str, bytes]:
    paths = [path for name in (COMPLETIONS, VERDICTS, CELL) for path in sorted(root.rglob(name))]
    return {str(path.relative_to(root)): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def narrow(tmp_path_factory):
    """The finished study without further temperatures."""
    return run(RECIPE, out=tmp_path_factory.mktemp("narrow") / "mini").root


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, narrow):
    """The base model's cell with its temperatures from the start."""
    root = tmp_path_factory.mktemp("undisturbed") / "mini"
    run_cell(root, wide(0.2, 1.0), BASE)
    return root


@pytest.fixture
def drawn(monkeypatch):
    """What is drawn from here on: a temperature a call; and no one trains."""
    temperatures, generate = [], erce.generate.transformers.generate

    def noted(*args, decoding, **kwargs):
        temperatures.append(decoding.temperature)
        return generate(*args, decoding=decoding, **kwargs)

    monkeypatch.setattr("erce.generate.transformers.generate", noted)
    monkeypatch.setattr("erce.train.fine_tune.fine_tune", None)
    return temperatures


@pytest.fixture
def drawn_once(monkeypatch):
    """The same completions again where the same are asked for."""
    generate = erce.generate.transformers.generate
    known = {}

    def remembered(*args, decoding, **kwargs):
        asked = decoding, args[2][0].id
        if asked not in known:
            known[asked] = generate(*args, decoding=decoding, **kwargs)
        return known[asked]

    monkeypatch.setattr("erce.generate.transformers.generate", remembered)


def places(path: Path) -> list[tuple]:
    return [(row["split"], row["decoding"], row["problem"], row["sample"]) for row in read_rows(path)]


def test_more_temperatures_sample_only_what_is_new_and_keep_the_rest(
    narrow, undisturbed, tmp_path, drawn, capsys
):
    root = tmp_path / "mini"
    shutil.copytree(narrow, root)
    before = {path: (root / path).read_text().splitlines() for path in records(root)}
    study = run(wide(1.0, 0.2), out=root)
    assert drawn == [0.2, 1.0] * 4  # validation and test, the base model and λ = 0
    assert study.missing == []
    ends = [line for line in capsys.readouterr().err.splitlines() if line.startswith("done: ")]
    assert [line.split(" in ")[0] for line in ends] == [
        f"done: mini-sums-{name} at further temperatures" for name in ("base", "lam0-seed0")
    ]
    assert all("2 of 2 cells" in line for line in ends)
    for cell in study.results:
        names = [row[1] for row in places(cell_folder(root, RECIPE, cell) / COMPLETIONS) if row[0] == "test"]
        assert list(dict.fromkeys(names)) == ["greedy", "sampled", "T0.2", "T1"]
        assert list(study.results[cell]["scores"]["test"]) == ["greedy", "sampled", "T0.2", "T1"]
    for path, lines in before.items():
        if not path.endswith(CELL):
            assert [line for line in (root / path).read_text().splitlines() if '"T' not in line] == lines
    assert study.outcomes("mini-sums", BASELINE, split="test", decoding="T0.2").shape == (1, 3, 2)
    folder = cell_folder(root, RECIPE, BASE).relative_to(root)
    assert records(root / folder) == records(undisturbed / folder)
    old, grown = (read_json(each / folder / CELL) for each in (narrow, undisturbed))
    assert old["key"] == grown["key"]
    assert (grown["decoding"]["T0.2"]["temperature"], grown["drawn_by"]) == (0.2, "transformers")


def test_fewer_temperatures_run_nothing_and_what_they_leave_out_stays(narrow, tmp_path, drawn):
    root, folder = tmp_path / "mini", cell_folder(tmp_path / "mini", RECIPE, BASE)
    shutil.copytree(cell_folder(narrow, RECIPE, BASE), folder)
    run_cell(root, wide(0.2), BASE)
    kept = records(root)
    assert Study(root, RECIPE).has(BASE)
    drawn.clear()
    run_cell(root, RECIPE, BASE)
    assert (drawn, records(root)) == ([], kept)
    run_cell(root, wide(0.1), BASE)
    assert drawn == [0.1] * 2
    decodings = ["greedy", "sampled", "T0.1", "T0.2"]
    assert list(dict.fromkeys(place[1] for place in places(folder / COMPLETIONS))) == decodings
    assert list(read_json(folder / CELL)["decoding"]) == decodings


def test_a_stop_before_any_change_of_a_file_leaves_no_verdict_of_other_completions(
    narrow, undisturbed, tmp_path, monkeypatch, drawn_once
):
    allowed = 0

    def stopping(change):
        def perhaps(path, *args, **kwargs):
            nonlocal allowed
            if allowed == 0:
                raise KeyboardInterrupt
            allowed -= 1
            return change(path, *args, **kwargs)

        return perhaps

    for name in ("unlink", "replace"):
        monkeypatch.setattr(Path, name, stopping(getattr(Path, name)))
    # Of cell.json, result, verdicts, completions, the clock, journal, cell.json, verdicts, the clock, result.
    for stop in range(11):
        root, allowed = tmp_path / str(stop), stop
        folder = cell_folder(root, RECIPE, BASE)
        shutil.copytree(cell_folder(narrow, RECIPE, BASE), folder)
        with pytest.raises(KeyboardInterrupt) if stop < 10 else nullcontext():
            run_cell(root, wide(0.2, 1.0), BASE)
        assert not (folder / RESULT).is_file() or (folder / VERDICTS).is_file()
        if (folder / VERDICTS).is_file():
            assert places(folder / VERDICTS) == places(folder / COMPLETIONS)
        allowed = 100
        run_cell(root, wide(0.2, 1.0), BASE)
        assert records(root) == records(undisturbed)


def test_completions_of_another_adapter_are_not_added_to(narrow, tmp_path, drawn):
    root, cell = tmp_path / "mini", Cell("mini-sums", 0.0, 0, all_temperatures=True)
    shutil.copytree(narrow, root)
    weights = cell_folder(root, RECIPE, cell) / "adapter" / "adapter_model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    before = records(root)
    with pytest.raises(
        ValueError, match=r"sampled by another policy \(other adapter\).*; delete completions\."
    ):
        run_cell(root, wide(0.2), cell)
    assert (drawn, records(root)) == ([], before)


def test_a_stop_text_ends_the_completions_and_is_on_record(narrow, tmp_path):
    stop = replace(RECIPE, decoding=replace(RECIPE.decoding, stop=("=",)))
    run_cell(tmp_path, stop, BASE)
    folders = cell_folder(narrow, RECIPE, BASE), cell_folder(tmp_path, stop, BASE)
    free, stopped = ([row["text"] for row in read_rows(folder / COMPLETIONS)] for folder in folders)
    assert any("=" in text for text in free)
    assert stopped == [text.partition("=")[0] for text in free]
    stops = [each["stop"] for each in read_json(folders[1] / CELL)["decoding"].values()]
    assert stops == [[base_policy("tiny", "auto")[1].eos_token, "="]] * 2


def test_a_stop_text_and_compilation_reach_every_sample():
    stop = replace(RECIPE, decoding=replace(wide(0.2).decoding, stop=("END",), compile=True))
    drawn = decodings(stop, BASE)
    assert [(draw.stop, draw.compile) for draw in drawn.values()] == [(("END",), True)] * 3
    assert list(decodings(wide(0.2), replace(BASE, all_temperatures=False))) == ["greedy", "sampled"]
    assert [(draw.temperature, draw.samples) for draw in drawn.values()] == [(0.0, 1), (0.8, 2), (0.2, 2)]
