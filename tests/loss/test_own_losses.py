"""A user-defined penalty and base loss in a study, as docs/recipes.md shows them, from the command line."""

import json
import re
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from erce.cli.main import main
from erce.files import read_json, read_rows
from erce.study.folder import read_study

PAGE = Path(__file__).parents[2] / "docs" / "recipes.md"
SMALL = """
n_train = 16
n_validation = 2
n_test = 4

[training]
epochs = 1.0
learning_rate = 1e-3

[decoding]
samples = 2
max_new_tokens = 8
"""


def section(title):
    """The page's Python blocks and its other ones under a heading."""
    text = PAGE.read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [code for kind, code in blocks if kind == "python"], [
        code for kind, code in blocks if kind != "python"
    ]


@contextmanager
def entered(folder):
    """A folder with the page's mylosses.py and its recipe, where the command is given."""
    (penalty, *_), (recipe, _) = section("A penalty")
    (base_loss, *_), _ = section("A base loss")
    (folder / "mylosses.py").write_text(penalty + base_loss, encoding="utf-8")
    (folder / "own.toml").write_text(recipe + SMALL, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "path", [each for each in sys.path if each not in ("", str(folder))])
        sys.modules.pop("mylosses", None)
        yield folder
        sys.modules.pop("mylosses", None)


@pytest.fixture
def here(tmp_path):
    with entered(tmp_path) as folder:
        yield folder


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The same after the study was run, in runs/own."""
    with entered(tmp_path_factory.mktemp("finished")) as folder:
        assert main(["run", "own.toml"]) == 0
    return folder


def logs(root):
    """Each trained cell and its log, a dict a step."""
    folders = [path.parent for path in root.glob("cells/*/training.json")]
    return [
        (read_json(path / "result.json")["cell"], read_json(path / "training.json")["log"])
        for path in folders
    ]


@pytest.mark.slow
def test_a_study_trains_on_what_it_names(finished):
    shannon, below = finished / "shannon", []
    others = ["--set", 'penalty="shannon"', "--set", "lams=[0]", "--set", "methods=[]"]
    assert main(["run", str(finished / "own.toml"), "--out", str(shannon), *others]) == 0
    ((_, (first, *_)),) = logs(shannon)
    for cell, log in logs(finished / "runs" / "own"):
        assert log[0]["ce"] == pytest.approx(first["ce"], rel=1e-4)
        assert 0 < log[0]["entropy"] < 0.9 * first["entropy"]  # log x ≤ x − 1: Gini's is the smaller one
        for entry in log:
            if cell["method"] == "mylosses:Truncated:1":
                below.append(entry["objective"] - entry["ce"])
            elif cell["method"] == "cross-entropy":
                assert entry["objective"] == pytest.approx(entry["ce"] + cell["lam"] * entry["entropy"])
    assert min(below) < -1e-3
    assert max(below) < 1e-6


def test_everything_that_a_study_writes_has_the_names_as_they_were_given(finished):
    root, names = finished / "runs" / "own", ("mylosses:Truncated", "mylosses:Truncated:1")
    study = read_study(root)
    assert study.recipe.penalty == "mylosses:Gini"
    assert [cell.arm.name() for cell in study.results] == ["base model", "λ = 0", "λ = 2", *names]
    assert {cell.name for cell in study.results if cell.method in names} == {
        "mini-sums-mylosses-Truncated-seed0",
        "mini-sums-mylosses-Truncated-1-seed0",
    }
    page = (root / "report" / "index.html").read_text(encoding="utf-8")
    assert re.search(r"mylosses:Gini\s+as penalty", page)
    assert names[1] in page
    rows = finished / "rows.jsonl"
    assert main(["records", str(root), str(rows)]) == 0
    trained = {(row["penalty"], row["method"]) for row in read_rows(rows) if row["method"]}
    assert trained == {("mylosses:Gini", name) for name in ("cross-entropy", *names)}


def test_a_study_is_read_and_reported_without_the_code_of_its_losses(finished):
    """Whoever opens a folder of somebody else's runs nothing of theirs."""
    assert "mylosses" not in sys.modules
    assert main(["report", str(finished / "runs" / "own"), "--json", str(finished / "numbers.json")]) == 0
    assert json.loads((finished / "numbers.json").read_text(encoding="utf-8"))
    assert "mylosses" not in sys.modules


@pytest.mark.parametrize("flags", [[], ["--dry-run"]], ids=["run", "dry run"])
def test_a_wrong_derivative_ends_the_run_with_the_pages_sentence_before_anything_is_written(
    here, capsys, flags
):
    _, (_, sentence) = section("A penalty")
    file = here / "mylosses.py"
    file.write_text(file.read_text(encoding="utf-8").replace("-2 * p * (", "-p * ("), encoding="utf-8")
    assert main(["run", "own.toml", *flags]) == 2
    assert capsys.readouterr().err == sentence
    assert not (here / "runs").exists()


@pytest.mark.slow
def test_other_processes_find_them_too(here, capsys):
    settings = ["--set", 'methods=["mylosses:Truncated"]', "--set", "training.micro_batch_size=4"]
    assert main(["run", "own.toml", *settings, "--jobs", "2"]) == 0
