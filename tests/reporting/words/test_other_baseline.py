"""A report of a grid on another base loss measures from that loss at λ = 0, and says so everywhere."""

import json
import re

import numpy as np
import pytest
from toys.studies import TASK, make_study

from erce.reporting import report
from erce.reporting.numbers.gains import summary
from erce.reporting.pages.model_card import card
from erce.reporting.words.sentences import sentences
from erce.types import Arm

FOCAL_4, CROSS_ENTROPY = Arm(4.0, "focal:2"), Arm(0.0)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return make_study(
        tmp_path_factory.mktemp("other") / "runs",
        base_loss="dft",
        methods=("cross-entropy", "focal:2 + 4"),
        temperatures=(0.4,),
        problems=60,
    )


def test_gains_are_over_the_grids_base_loss_and_the_choice_is_among_its_lams(study):
    study_summary = summary(study)
    labels = [study_summary.name(arm) for arm in study_summary.arms(TASK)]
    assert labels == ["base model", "dft", "dft + 0.5", "dft + 1", "cross-entropy", "focal:2 + 4"]
    assert study_summary.baseline == Arm(0.0, "dft")
    assert study_summary.chosen is not None
    assert study_summary.chosen.method == "dft"
    for arm in (Arm(1.0, "dft"), CROSS_ENTROPY, FOCAL_4):
        treated, baseline = (
            study.outcomes(TASK, each, split="test", decoding="sampled") for each in (arm, Arm(0.0, "dft"))
        )
        gain = study_summary.row(TASK, arm, "sampled").gain
        assert gain is not None
        assert gain.gain == pytest.approx(float(np.mean(treated)) - float(np.mean(baseline)))


@pytest.mark.slow
def test_no_text_calls_the_baseline_cross_entropy(study, tmp_path, capsys):
    report(study.root, json=tmp_path / "numbers.json")
    printed = capsys.readouterr().out
    page = (study.root / "report" / "index.html").read_text(encoding="utf-8")
    numbers = json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8"))
    study_summary = summary(study)
    cell = study.cells(TASK, Arm(1.0, "dft"))[0]
    texts = [*sentences(study_summary).values(), *numbers["sentences"], *numbers["cautions"]]
    assert "dft" in " ".join(texts)
    for text in (*texts, printed.partition("±: ")[2]):
        assert "cross-entropy" not in text.lower().replace("completions of cross-entropy on", "")
    assert re.search(r" [+−][0-9.]+ (over|against) dft \(", page.replace("\u00a0", " "))
    assert "| over λ = 0 |" in card(study_summary, cell, hub=None)
    assert "to minimise dft + λ · Shannon’s entropy, λ = 1" in card(study_summary, cell, hub=None).replace(
        "\\", ""
    )
    tables = study.root / "report" / "tables"
    for suffix, opening in (("md", "| {} |"), ("tex", "{} & ")):
        table = (tables / f"{TASK}-sampled.{suffix}").read_text(encoding="utf-8")
        for label in ("dft", "dft + 1", "cross-entropy"):
            assert "\n" + opening.format(label) in table.replace(" ★", "").replace(r"$^{\star}$", "")
    assert "0 <small>cross-entropy" not in page
