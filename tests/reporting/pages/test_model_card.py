"""`erce card`: an adapter and a card that the hub's and PEFT's own tools read; same study, same bytes."""

import html
import json
import re
import shutil
from pathlib import Path

import pytest
import torch
from huggingface_hub import ModelCard
from markdown_it import MarkdownIt
from peft import LoraConfig, PeftModel, get_peft_model
from toys.studies import Fake, make_study

from erce.cli.main import main
from erce.hf.models import load_model
from erce.reporting.format import interval, percent
from erce.reporting.numbers.gains import summary
from erce.reporting.numbers.verdict import preferences
from erce.reporting.pages.model_card import _plain, write_card
from erce.reporting.words.cautions import cautions
from erce.reporting.words.sentences import sentences
from erce.study.folder import cell_folder
from erce.types import Arm

CONFIGURATION = {"peft_type": "LORA", "base_model_name_or_path": "/home/somebody/models/tiny", "r": 4}

TAGS = {"h1", "h2", "p", "ul", "li", "pre", "code", "table", "thead", "tbody", "tr", "th", "td"}


def study_with_adapters(root: Path, **changes):
    study = make_study(root, Fake(problems=12, validation=8, **changes))
    for cell in study.results:
        if cell.lam is not None:
            adapter = cell_folder(root, study.recipe, cell) / "adapter"
            adapter.mkdir()
            (adapter / "adapter_model.safetensors").write_text(f"the weights of {cell.name}")
            (adapter / "adapter_config.json").write_text(json.dumps(CONFIGURATION))
    return study


def test_the_best_is_the_first_seed_of_the_chosen_lam_and_the_bytes_are_the_same_again(tmp_path, capsys):
    study = study_with_adapters(tmp_path / "study", seeds=(3, 1, 2), control=None)
    assert summary(study).choice.lam == 0.5
    assert main(["card", str(tmp_path / "study"), "--out", str(tmp_path / "out")]) == 0
    assert f"model card: {tmp_path / 'out' / 'README.md'}" in capsys.readouterr().out
    assert (tmp_path / "out" / "adapter_model.safetensors").read_text() == "the weights of sums-lam0.5-seed3"
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert files == ["README.md", "adapter_config.json", "adapter_model.safetensors"]
    shutil.copytree(tmp_path / "study", tmp_path / "copy")
    write_card(tmp_path / "copy", tmp_path / "again")
    for name in files:
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "again" / name).read_bytes(), name


def test_the_table_has_the_reports_numbers(tmp_path):
    study = study_with_adapters(tmp_path / "study")
    study_summary, text = summary(study), write_card(tmp_path / "study", tmp_path / "out").read_text()
    rows = [
        [part.strip() for part in line.split("|")[1:-1]] for line in text.splitlines() if line[:2] == "| "
    ]
    names = [row[0] for row in rows]
    assert names == ["arm", "---", "base model", "λ = 0", "λ = 0.5", "λ = 1"]
    chosen = rows[names.index("λ = 0.5")]
    row = study_summary.row("sums", Arm(0.5), "sampled")
    allowing = preferences(study_summary)["sampled"]  # for the choice, as on the report's page
    assert chosen[3:] == [interval(allowing.over_base), interval(allowing.over_baseline), "12", "0"]
    assert chosen[2].startswith(f"{percent(row.mean)} ± ")
    assert chosen[2].endswith("★")
    scores = next(r for c, r in study.results.items() if c.name == "sums-lam0.5-seed0")["scores"]["test"]
    alone = ", ".join(f"{percent(scores[way]['pass@1'])} % {way}" for way in ("sampled", "greedy"))
    assert f"This adapter alone: {alone}." in text
    assert sentences(study_summary)["verdict"] in text
    assert text.count("\n- ") - text.split("---")[1].count("\n- ") == len(cautions(study_summary)) > 0


def test_the_front_matter_is_what_the_hub_reads(tmp_path):
    study = study_with_adapters(
        tmp_path / "study", task="gsm8k", control=None, model="Qwen/Qwen2.5-1.5B-Instruct"
    )
    card = ModelCard.load(write_card(tmp_path / "study", tmp_path / "out", cell="gsm8k-lam1-seed2"))
    assert (card.data.base_model, card.data.library_name) == ("Qwen/Qwen2.5-1.5B-Instruct", "peft")
    assert (card.data.datasets, card.data.model_name) == (["openai/gsm8k"], "gsm8k-lam1-seed2")
    scores = next(r for c, r in study.results.items() if c.name == "gsm8k-lam1-seed2")["scores"]["test"]
    results = {each.metric_name: each.metric_value for each in card.data.eval_results}
    assert results == {f"Pass@1, {way}": pytest.approx(scores[way]["pass@1"], abs=1e-6) for way in scores}
    assert {(e.task_type, e.dataset_type, e.dataset_split) for e in card.data.eval_results} == {
        ("text-generation", "openai/gsm8k", "test")
    }
    assert "Validation prefers another arm." in card.text


@pytest.mark.parametrize(
    ("data", "named"), [("owner/sums:main", ["owner/sums"]), ("secret/sums.jsonl", None)]
)
def test_a_users_data_set_of_the_hub_is_named_and_a_file_is_not(data, named, tmp_path):
    study_with_adapters(tmp_path / "study", control=None, data=data)
    card = ModelCard.load(write_card(tmp_path / "study", tmp_path / "out"))
    assert card.data.datasets == named
    assert {each.dataset_type for each in card.data.eval_results} == {*(named or ["sums"])}
    assert "secret" not in card.content


@pytest.mark.parametrize(("words", "base"), [([], None), (["--base-model", "owner/name"], "owner/name")])
def test_a_model_in_a_folder_is_asked_for_its_name_and_no_path_is_uploaded(
    words, base, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret" / "folder").mkdir(parents=True)  # whose path could be a name on the hub
    study_with_adapters(tmp_path / "study", model="secret/folder")
    assert main(["card", "study", "--out", "out", *words]) == 0
    assert ("make the card again with --base-model ID" in capsys.readouterr().err) is (not base)
    settings = json.loads((tmp_path / "out" / "adapter_config.json").read_text())
    assert settings == CONFIGURATION | {"base_model_name_or_path": base}
    text = (tmp_path / "out" / "README.md").read_text()
    assert "secret" not in text
    assert "somebody" not in text
    for asking in ("adapter for folder, a model in a folder,", '.from_pretrained(base, "THIS_FOLDER")'):
        assert (asking in text) is (not base)
    assert (f"base_model: {base}\n" in text) is bool(base)


@pytest.mark.parametrize("name", ["- <b>&amp;[x](y) | `c`* _d_ ![i](j) **k** http: ~~a~~", "1. a"])
def test_a_name_is_never_markup_and_a_completion_is_nowhere(name, tmp_path):
    study_with_adapters(tmp_path / "study", task=name, control=None, text=lambda *_: "SECRET 1")
    card = ModelCard.load(write_card(tmp_path / "study", tmp_path / "out"))
    assert "SECRET" not in card.content
    assert card.data.eval_results[0].dataset_name == name
    drawn = MarkdownIt("commonmark").enable("table").render(card.text)
    assert f"<h1>{html.escape(name.replace(':', '-'))}-lam0.5-seed0</h1>" in drawn
    assert f"demonstrations of the task {html.escape(name)} to minimise" in drawn
    assert f"<p>{html.escape(name)}: right on 12 test problems" in drawn
    assert set(re.findall(r"<(\w+)", drawn)) <= TAGS


@pytest.mark.parametrize(
    "text", ["www.x.org", "http://x.org", "https://x.org", "a@x.org", "---", "===", "+ a"]
)
def test_a_text_is_never_a_link_or_a_line_of_its_own(text):
    assert not _plain(text).startswith(text)
    assert not re.search(r"\w://", _plain(text))
    assert _plain(text).replace("\\", "") == text


@pytest.mark.parametrize(
    ("changes", "cell", "sentence"),
    [
        ({}, "sums-lam0.5-sed0", "no trained and finished cell 'sums-lam0.5-sed0'; did you mean 'sums-lam"),
        ({}, "sums-base", "no trained and finished cell 'sums-base'; did you mean 'sums-"),
        ({"skip": [("sums", 1.0, 2)]}, "sums-lam1-seed2", "cell 'sums-lam1-seed2' is not done; run "),
        ({"skip": [("sums", lam, 2) for lam in (0.0, 0.5, 1.0)]}, "best", "no arm is chosen: no λ of 'sums'"),
    ],
    ids=str,
)  # fmt: skip
def test_what_has_no_adapter_is_one_sentence(changes, cell, sentence, tmp_path, capsys):
    study_with_adapters(tmp_path / "study", **changes)
    assert main(["card", str(tmp_path / "study"), "--cell", cell, "--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.startswith(f"erce: {sentence}")
    assert not (tmp_path / "out").exists()


def test_nothing_is_written_over_and_nothing_made_up(tmp_path):
    study = study_with_adapters(tmp_path / "study")
    (tmp_path / "out").mkdir()
    with pytest.raises(ValueError, match="exists; delete it, or give another folder"):
        write_card(tmp_path / "study", tmp_path / "out")
    with pytest.raises(ValueError, match="'a b' is not a model's name on the hub"):
        write_card(tmp_path / "study", tmp_path / "new", base="a b")
    cell = study.cells("sums", Arm(0.5))[0]
    (cell_folder(tmp_path / "study", study.recipe, cell) / "adapter" / "adapter_config.json").unlink()
    with pytest.raises(ValueError, match=r"adapter_config.json is missing; a study of imported logs"):
        write_card(tmp_path / "study", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_the_cards_copy_of_an_adapter_loads_with_pefts_own_tools(tmp_path):
    study = study_with_adapters(tmp_path / "study", seeds=(0,), control=None)
    adapter = cell_folder(tmp_path / "study", study.recipe, study.cells("sums", Arm(0.5))[0]) / "adapter"
    shutil.rmtree(adapter)
    lora = LoraConfig(target_modules="all-linear", init_lora_weights=False)
    trained = get_peft_model(load_model("tiny"), lora).eval()
    trained.save_pretrained(adapter)
    uploaded = write_card(tmp_path / "study", tmp_path / "out").parent
    ids = torch.arange(8)[None]
    with torch.no_grad():
        reloaded = PeftModel.from_pretrained(load_model("tiny"), str(uploaded)).eval()(ids).logits
        assert torch.equal(reloaded, trained(ids).logits)
        assert not torch.equal(reloaded, load_model("tiny")(ids).logits)
