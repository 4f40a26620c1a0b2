"""Recipes: what is read, what is refused and with which sentence, and what makes two studies the same."""

import json
import re
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from erce.recipe import (
    Cell,
    Columns,
    Decoding,
    Recipe,
    Resources,
    Serving,
    Training,
    Verification,
    as_settings,
    folder_name,
    further_temperatures,
    identity,
    load_recipe,
    parse_recipe,
    temperatures,
)

GSM8K = {"task": "gsm8k", "lams": [0, 1], "seeds": [0]}
RECIPE = Recipe(task="mini-sums", lams=(0.0, 0.5), seeds=(0, 1), control="mini-sums-answer-only")


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_what_is_left_out_has_the_papers_value():
    training = parse_recipe(GSM8K | {"training": {"epochs": 3}}).training
    assert isinstance(training.epochs, float)
    assert (training.rank, training.lora_alpha, training.dropout) == (16, 32, 0.05)
    assert (training.learning_rate, training.warmup, training.epochs) == (2e-4, 0.03, 3.0)
    assert (training.batch_size, training.micro_batch_size, training.max_grad_norm) == (16, None, 1.0)


INF, NAN = float("inf"), float("nan")
HERE = {"url": "http://here"}
VALUES = {  # setting → values that no run could use; the error shows each
    "lams": (1, [0, "one"], [0, True], [0, NAN], [1, 2], [0, 1, 1], [0, 1.0000001, 1.0000002], []),
    "seeds": ([0.5], [-1], [3, 3]),
    "data": (3,),
    "control": ("gsm8k",),
    "order": (2,),
    "columns": ("question",),
    "methods": ("dft", [2], ["self", "self + 0"], ["eaft", "dft", "eaft"], ["focal:2", "focal:2.0"]),
    "resources.gpus": (2, 1.5, -1, INF, NAN),
    "resources.threads": (0,),
    "training": (3,),
    "training.learning_rate": (0, INF),
    "training.warmup": (1.5,),
    "training.lam_warmup": (0.2,),
    "training.checkpoint_minutes": (-1,),
    "training.gradient_checkpointing": (1,),
    "decoding.temperature": (0, INF),
    "decoding.temperatures": (0.2, [0, 0.2], [NAN], [INF], [0.2, 1, 0.2], [0.8], [0.1234567]),
    "decoding.stop": ("END", ["END", ""], ["\ufffd"]),
    "server": ("http://here",),
    "server.url": ("here:8000",),
}


@pytest.mark.parametrize(("setting", "value"), [(name, value) for name in VALUES for value in VALUES[name]])
def test_a_value_that_no_run_could_use_is_refused_and_shown_with_a_way_out(setting, value):
    section, _, name = setting.rpartition(".")
    with pytest.raises(ValueError, match=r"\A[^\n]*\Z") as refused:
        parse_recipe(GSM8K | ({section: {name: value}} if section else {name: value}))
    shown = re.search(rf"{name}(\[\d\])? = (.*)", str(refused.value))
    assert shown
    assert isinstance(value, list) or shown[2].startswith((repr(value), f"{value}"))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"lambs": [0]}, "'lambs'; did you mean 'lams'?"),
        ({"zzz": 1}, "no setting 'zzz'; there are task"),
        ({"samples": 4}, "no setting 'samples'; it stands in [decoding] or [own]"),
        ({"lam": [0, 1]}, "no setting 'lam'; it stands in [own]; did you mean 'lams'?"),
        ({"lams": 4}, "write lams = [0, 4]"),
        ({"seeds": 2}, "write seeds = [0, 1], one number per seed"),
        ({"training": {"epoch": 1}}, "[training] no setting 'epoch'; did you mean 'epochs'?"),
        ({"server": {}}, "url = '' is not a server's address; write url ="),
        ({"server": HERE | {"args": ["--seed", "1"]}}, "args are for a server that erce starts"),
        ({"server": HERE | {"gpus": "0"}}, "gpus and args are for a server that erce starts"),
        (
            {"server": {"url": "http://there:80/v1", "start": True}},
            "'http://there:80/v1'; leave kind",
        ),
        ({"server": {"kind": "openai", "start": True}}, "kind = 'openai'"),
        ({"dtype": "float12"}, "'float12'; did you mean 'float32'?"),
        ({"verify": {"unproven": "never"}}, "no [verify] unproven 'never'"),
        ({"training": {"normalize": "batch"}}, "no [training] normalize 'batch'"),
        ({"training": {"lam_schedule": "linaer"}}, "'linaer'; did you mean 'linear'?"),
        ({"training": {"lam_schedule": "linear", "lam_warmup": 1.5}}, "lam_warmup = 1.5"),
        ({"server": HERE | {"kind": "vlm"}}, "'vlm'; did you mean 'vllm'?"),
        ({"server": HERE | {"concurrency": 0}}, "concurrency = 0"),
        ({"server": HERE | {"api_key_variable": "sk-1"}}, "api_key_variable"),
        ({"server": HERE, "decoding": {"compile": True}}, "compile = true"),
        ({"resources": {"gpus": 2}}, "gpus = 2 must be 0, or a share of a device up to 1 (--jobs N"),
        ({"training": {"head": "trl", "normalize": "sequence"}}, "normalize = 'sequence'"),
        ({"training": {"head": "trl"}, "methods": ["dft"]}, "methods = ['dft']; leave"),
        ({"penalty": "renyi", "order": INF}, "order = inf must be finite; write 1000"),
        ({"penalty": "support-size", "order": 2e6}, "order = 2e+06"),
        ({"penalty": "shanon"}, "'shanon'; did you mean 'shannon'?"),
        ({"base_loss": "dfd"}, "'dfd'; did you mean 'dft'?"),
        ({"base_loss": "self"}, 'write methods = ["self"]'),
        ({"base_loss": "dft", "methods": ["dft"]}, "dft is λ = 0"),
        ({"methods": ["dft", "focla:2"]}, "'focla'; did you mean 'focal'?"),
        ({"methods": ["rft:2"]}, "'rft:2'; did you mean 'rft'?"),
        ({"methods": ["cross-entropy + 4"]}, "write 4 in lams"),
        ({"methods": ["mine:SOFT:x"]}, "'mine:SOFT:x'"),
        ({"methods": ["mine:SOFT:2", "mine:SOFT:2.0"]}, "names an arm twice"),
        ({"methods": ["dft + 4", "dft", "dft + 4.0"]}, "names an arm twice"),
        ({"methods": ["dft + much"]}, "'dft + much' has no finite λ"),
        ({"methods": ["dft"], "own": {}}, 'write methods = ["rft", "self"]'),
        ({"methods": ["rft"], "own": {"keep": 0}}, "[own] keep = 0"),
    ],
)
def test_a_recipe_that_cannot_run_is_refused_with_the_value_and_the_way_out(change, sentence):
    with pytest.raises(ValueError, match=r"\A[^\n]*\Z") as refused:
        parse_recipe(GSM8K | change)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "me:SECRET@here:8000",
        "http://me:SEC/RET@here",
        "http://here/v1?key=SECRET",
        "http://here/v1#SECRET",
    ],
)
def test_a_secret_in_a_servers_address_is_refused_and_not_shown(url):
    with pytest.raises(ValueError, match=r"^\[server\] url has an @, .*: api_key_variable$") as refused:
        replace(RECIPE, server=Serving(url=url))
    assert "SEC" not in str(refused.value)


def test_a_recipe_comes_back_from_plain_values():
    server = Serving(url="http://here", api_key_variable="KEY")
    for recipe in (
        RECIPE,
        replace(RECIPE, decoding=Decoding(temperatures=(0.2,), stop=("END",)), server=server),
    ):
        assert parse_recipe(json.loads(json.dumps(asdict(recipe)))) == recipe


@pytest.mark.parametrize(
    ("text", "sentence"), [("task = gsm8k", "not valid TOML"), ("lambs = [0]", "'lambs'")]
)
def test_the_file_is_named_in_its_errors(tmp_path, text, sentence):
    with pytest.raises(ValueError, match=r"mine\.toml: .*" + sentence):
        load_recipe(written(tmp_path, text))


@pytest.mark.parametrize(
    ("model", "meant"),
    [("smolm2", "smollm2"), ("SmolLM2", "smollm2"), ("tinny", "tiny"), ("tiny_styles", "tiny-styles")],
)
def test_a_misspelt_model_is_refused_when_the_recipe_is_read(model, meant, tmp_path):
    file = written(tmp_path, 'task = "gsm8k"\nlams = [0]\nseeds = [0]\n')
    with pytest.raises(ValueError, match=f"no model '{model}'; did you mean '{meant}'?"):
        load_recipe(file, model=model)


@pytest.mark.parametrize("model", ["gpt2", "Qwen/Qwen2.5-1.5B-Instruct", "owner/smolm2", "there"])
def test_a_model_of_the_hub_or_a_folder_is_not_taken_for_a_misspelt_one(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    file = written(tmp_path, 'task = "gsm8k"\nlams = [0]\nseeds = [0]\n')
    assert load_recipe(file, model=model).model == model


def test_overrides_win_and_none_overrides_nothing(tmp_path):
    path = written(tmp_path, 'task = "gsm8k"\nlams = [0]\nseeds = [0]\nmodel = "big"\n[training]\nrank = 4\n')
    recipe = load_recipe(path, model="tiny", data=None, training={"epochs": 1.0})
    assert (recipe.model, recipe.data, recipe.training.rank, recipe.training.epochs) == ("tiny", None, 4, 1.0)


def test_data_that_a_generated_task_would_not_read_are_refused(tmp_path):
    path = written(tmp_path, 'task = "mini-sums"\nlams = [0]\nseeds = [0]\n')
    with pytest.raises(ValueError, match=r"'my\.jsonl' has no effect on 'mini-sums', which generates its"):
        load_recipe(path, data="my.jsonl")


def test_an_adapter_beside_the_recipe_is_meant(tmp_path, monkeypatch):
    (tmp_path / "there" / "adapter").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    text = 'task = "mini-sums"\nlams = [0]\nseeds = [0]\nmethods = ["rft"]\n[own]\nadapter = "adapter"\n'
    own = load_recipe(written(tmp_path / "there", text)).own
    assert own is not None
    assert own.adapter == "there/adapter"


def test_the_grid_has_one_base_cell_a_task_and_every_lam_and_seed():
    cells = RECIPE.cells()
    assert len(cells) == len(set(cells)) == 2 * (1 + 2 * 2)
    assert [cell for cell in cells if cell.lam is None] == [
        Cell("mini-sums", None, 0),
        Cell("mini-sums-answer-only", None, 0),
    ]


def test_a_grid_on_another_base_loss_is_another_study_with_that_name_in_every_name():
    recipe = replace(RECIPE, base_loss="dft", methods=("cross-entropy", "focal:2 + 4"), seeds=(0,))
    arms = [cell.arm for cell in recipe.cells()[1:5]]
    assert [arm.slug for arm in arms] == ["dft", "dft-lam0.5", "lam0", "focal:2-lam4"]
    assert [arm.name("dft") for arm in arms] == ["dft", "dft + 0.5", "cross-entropy", "focal:2 + 4"]
    assert [recipe.is_other(arm) for arm in arms] == [False, False, True, True]
    assert recipe.baseline == arms[0]
    assert recipe.cells()[4].name == "mini-sums-focal-2-lam4-seed0"
    assert parse_recipe(as_settings(recipe)) == recipe
    assert identity(recipe) == identity(RECIPE) | {"base_loss": "dft"}
    first = Recipe(task="mini-sums", lams=(0.0,), seeds=(0,), base_loss="dft")
    assert folder_name(first, Cell("mini-sums", None, 0)) == "mini-sums-base-5b2a1a62"
    negative = replace(RECIPE, methods=("dft + -0.5", "focal:2 - 1"))
    assert (
        replace(negative, methods=tuple(arm.name() for arm in negative.other_arms)).cells()
        == negative.cells()
    )
    mixed = replace(RECIPE, methods=("dft + 4",))
    assert identity(mixed) == identity(RECIPE)
    assert {folder_name(mixed, Cell("mini-sums", lam, 0, "dft")) for lam in (0.0, 4.0)}.isdisjoint(
        folder_name(recipe, Cell("mini-sums", lam, 0, "dft")) for lam in (0.0, 4.0)
    )


def test_a_cells_folder_is_the_same_in_every_version():
    """Another name would train finished studies again."""
    recipe = replace(RECIPE, lams=(0.0, 0.5, -0.1), methods=("dft",))
    folders = [folder_name(recipe, cell) for cell in recipe.cells() if cell.method != "dft"]
    assert folders[:4] + folders[7:9] == [
        "mini-sums-base-73501d96",
        "mini-sums-lam0-seed0-7052e80c",
        "mini-sums-lam0.5-seed0-fda645a7",
        "mini-sums-lam-0.1-seed0-07b4ae86",
        "mini-sums-answer-only-base-d5d8770e",
        "mini-sums-answer-only-lam0-seed0-9293b918",
    ]
    assert folder_name(recipe, Cell("mini-sums", 0.0, 1, "dft")) == "mini-sums-dft-seed1-0a285c64"


def test_every_temperature_has_a_name_and_only_a_cell_that_asks_for_them_has_the_further():
    recipe = replace(RECIPE, decoding=Decoding(temperatures=(1.0, 0.25), temperature=0.6))
    assert temperatures(recipe) == {0.0: "greedy", 0.25: "T0.25", 0.6: "sampled", 1.0: "T1"}
    assert list(temperatures(recipe)) == [0.0, 0.25, 0.6, 1.0]
    assert further_temperatures(recipe, Cell("mini-sums", 0.0, 0, all_temperatures=True)) == {
        "T0.25": 0.25,
        "T1": 1.0,
    }
    assert further_temperatures(recipe, Cell("mini-sums", 0.0, 0)) == {}


def test_the_temperatures_and_where_a_server_is_make_no_other_study():
    cell, decoding = Cell("mini-sums", 0.5, 1), RECIPE.decoding
    served = replace(RECIPE, server=Serving(url="http://here"))
    there = replace(RECIPE, server=Serving(url="http://there", model="tiny", concurrency=1, timeout=1.0))
    started = replace(RECIPE, server=Serving(start=True, gpus="1", args=("--seed", "1")))
    homes = {
        "plain": RECIPE,
        "samples": replace(RECIPE, decoding=replace(decoding, temperature_samples=2)),
        "stop": replace(RECIPE, decoding=replace(decoding, stop=("END",))),
        "compile": replace(RECIPE, decoding=replace(decoding, compile=True)),
        "served": served,
        "kind": replace(RECIPE, server=Serving(url="http://here", kind="openai")),
        "name": replace(RECIPE, server=Serving(url="http://here", model="small")),
        "linear": replace(RECIPE, training=Training(lam_schedule="linear")),
        "slower": replace(RECIPE, training=Training(lam_schedule="linear", lam_warmup=0.2)),
    }
    folders = {name: folder_name(recipe, cell) for name, recipe in homes.items()}
    assert len(set(folders.values())) == len(folders)
    longer = replace(RECIPE, decoding=replace(decoding, temperatures=(0.2, 0.4)))
    assert folder_name(longer, cell) == folders["plain"]
    keyed = Serving(url="http://here", api_key_variable="KEY", concurrency=2)
    for same in (there, started, replace(RECIPE, server=keyed)):
        assert folder_name(same, cell) == folders["served"]


@pytest.mark.parametrize(
    "change",
    [
        {"data": "owner/name", "columns": Columns(prompt="question")},
        {"verify": Verification(unproven="refuse")},
        {"lams": (0.0, 0.5, 4.0), "seeds": (0, 1, 2), "methods": ("dft",)},
        {"resources": Resources(gpus=1, threads=3), "decoding": Decoding(batch_size=3)},
        {"training": Training(report_to="wandb", checkpoint_minutes=1.0)},
    ],
)
def test_what_no_completion_depends_on_makes_no_other_study(change):
    cell, other = Cell("mini-sums", 0.5, 1), replace(RECIPE, **change)
    assert folder_name(other, cell) == folder_name(RECIPE, cell)
    assert folder_name(replace(other, n_train=10), cell) != folder_name(RECIPE, cell)
    assert parse_recipe(as_settings(other)) == other
    assert not {"columns", "verify"} & {*as_settings(RECIPE)}  # study.json is as it was


def taken(check, cases):
    """Return the cases that the check does not refuse."""
    accepted = []
    for case in cases:
        try:
            check(case)
        except ValueError:
            continue
        accepted.append(case)
    return accepted


def test_a_recipe_takes_the_penalties_and_orders_that_the_loss_takes():
    from erce.loss import PENALTIES, make_penalty

    orders = (-1.0, 0.0, 1e-3, 0.5, 1.0, 2.0, 1e6, 2e6, float("nan"))
    cases = [(name, order) for name in PENALTIES for order in orders]
    accepted = taken(lambda case: replace(RECIPE, penalty=case[0], order=case[1]), cases)
    assert accepted == taken(lambda case: make_penalty(*case), cases)
    assert {name for name, _ in accepted} == set(PENALTIES)


def test_a_recipe_takes_the_base_losses_and_numbers_that_the_loss_takes():
    from erce.loss import BASE_LOSSES, make_base_loss
    from erce.types import CROSS_ENTROPY

    numbers = ("", ":", ":-1", ":0", ":0.5", ":1", ":2", ":2.5", ":20", ":nan", ":inf", ":x")
    cases = [name + number for name in BASE_LOSSES if name != CROSS_ENTROPY for number in numbers]
    accepted = taken(lambda name: replace(RECIPE, methods=(name,)), cases)
    assert accepted == taken(make_base_loss, cases)
    assert len(accepted) > len(BASE_LOSSES)


def test_a_path_without_a_recipe_is_refused():
    with pytest.raises(ValueError, match=r"no recipe at 'nowhere\.toml'"):
        load_recipe("nowhere.toml")


def test_a_study_that_asks_for_no_compiling_is_the_one_that_says_nothing_of_it():
    before = replace(RECIPE, decoding=replace(RECIPE.decoding, compile=False))
    assert identity(before) == identity(RECIPE)
    assert identity(replace(before, decoding=replace(before.decoding, compile=True))) != identity(RECIPE)
