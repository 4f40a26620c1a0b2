"""Real input through the same door: GSM8K from a folder of its original files, on the tiny model."""

import json
from pathlib import Path

import pytest
from toys.recipes import tiny_recipe

from erce.recipe import Decoding, Training
from erce.study.run import run
from erce.types import BASELINE
from scripts.paper.__main__ import main


def gsm8k_folder(folder: Path) -> Path:
    """Files in GSM8K's form, with its calculator annotations; the questions are ours."""
    for split, count, first in (("train", 24, 1), ("test", 6, 100)):
        rows = [
            {
                "question": f"Ada has {n} pens and buys {n + 1} boxes of 3. How many pens does she have?",
                "answer": f"The boxes hold {n + 1}*3=<<{n + 1}*3={3 * n + 3}>>{3 * n + 3} pens.\n"
                f"She has {n}+{3 * n + 3}=<<{n}+{3 * n + 3}={4 * n + 3}>>{4 * n + 3} pens.\n#### {4 * n + 3}",
            }
            for n in range(first, first + count)
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{split}.jsonl").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.filterwarnings("ignore::erce.tasks.source.ChecksumWarning")
def test_gsm8k_runs_to_the_end_on_a_folder_of_its_files(tmp_path, capsys):
    (tmp_path / "data").mkdir()
    recipe = tiny_recipe(
        task="gsm8k",
        data=str(gsm8k_folder(tmp_path / "data")),
        lams=(0.0,),
        n_validation=1,
        training=Training(epochs=1.0),
        decoding=Decoding(samples=2, max_new_tokens=12),
    )
    study = run(recipe, out=tmp_path / "runs")
    assert study.missing == []
    assert study.outcomes("gsm8k", BASELINE, split="test", decoding="sampled").shape == (1, 4, 2)
    problems = (tmp_path / "runs" / "problems.jsonl").read_text(encoding="utf-8")
    assert "<<" not in problems
    main(["--against", str(study.root)])
    printed = capsys.readouterr().out
    assert "gsm8k, greedy, beside the paper's" in printed
    assert "The model here is tiny, the paper's is Qwen/Qwen2.5-1.5B-Instruct" in printed
