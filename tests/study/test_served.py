"""A study whose completions come from a server: each cell's own adapter writes, and none stays loaded."""

from dataclasses import replace

import pytest
from toys.recipes import tiny_recipe
from toys.server import Engine, serving

from erce.cli.main import main
from erce.errors import InputError, ServerError
from erce.files import read_json, read_rows
from erce.generate.backend import backend_of
from erce.generate.server import Served, post, served_name
from erce.recipe import Cell, Decoding, Recipe, Serving
from erce.study.demonstrations import cell_splits
from erce.study.engines import ENGINES
from erce.study.folder import CELL, cell_folder
from erce.study.run import run
from erce.study.samples import COMPLETIONS
from erce.study.schedule import decodings
from erce.study.stages import base_policy

RECIPE = tiny_recipe(
    n_validation=1, n_test=2, decoding=Decoding(samples=2, temperatures=(0.2,), max_new_tokens=12)
)
ONE_CELL = Cell("mini-sums", 0.0, 0)

WEIGHTS = "adapter_model.safetensors"


@pytest.fixture(scope="module")
def fleet():
    """A small vLLM with the tiny model as "small"."""
    model, tokenizer = base_policy("tiny", "auto")
    fleet = Engine({"small": model}, tokenizer)
    with serving(fleet):
        yield fleet


@pytest.fixture(scope="module")
def study(fleet, tmp_path_factory):
    """A served study, run to its end."""
    return run(served(fleet), out=tmp_path_factory.mktemp("served") / "mini")


def served(fleet: Engine, **settings) -> Recipe:
    return replace(RECIPE, server=Serving(url=fleet.url, **{"model": "small"} | settings))


def test_every_cell_is_sampled_by_its_own_policy_and_no_adapter_stays(study, fleet):
    assert study.missing == []
    base, problems = base_policy("tiny", "auto"), cell_splits(RECIPE, "mini-sums").test
    for cell in study.results:
        folder = cell_folder(study.root, study.recipe, cell)
        greedy = decodings(RECIPE, cell)["greedy"]
        with backend_of(RECIPE).generator(base, None if cell.lam is None else folder / "adapter") as here:
            wanted = {each.problem: each.text for each in here(problems, decoding=greedy, seed=0)}
        rows = [row for row in read_rows(folder / COMPLETIONS) if row["split"] == "test"]
        assert {row["problem"]: row["text"] for row in rows if row["decoding"] == "greedy"} == wanted
        assert len(rows) == 2 * (1 + 2 + any(row["decoding"] == "T0.2" for row in rows))
    folders = [cell_folder(study.root, study.recipe, cell) for cell in study.results][1:]
    names = [served_name(folder / "adapter") for folder in folders]
    assert all(name.startswith(folder.name) for name, folder in zip(names, folders, strict=True))
    assert fleet.changes[:4] == [(change, name) for name in names for change in ("load", "unload")]
    assert list(fleet.policies) == ["small"]


def test_who_drew_is_on_record_and_the_study_ends_in_a_report(study):
    for cell in study.results:
        origin = read_json(cell_folder(study.root, study.recipe, cell) / CELL)
        assert (origin["drawn_by"], origin["dtype"], origin["model"]) == ("vllm", None, "tiny")
    assert main(["report", str(study.root)]) == 0


def drawing(fleet, folder):
    recipe = served(fleet)
    problems, base = cell_splits(RECIPE, "mini-sums").validation, base_policy("tiny", "auto")
    with backend_of(recipe).generator(base, folder / "adapter") as draw:
        return draw(problems, decoding=decodings(RECIPE, ONE_CELL)["greedy"], seed=0)


def test_an_adapter_is_unloaded_where_generation_fails_and_loaded_anew_where_a_killed_run_left_it(
    study, fleet, monkeypatch
):
    folder = cell_folder(study.root, study.recipe, list(study.results)[1])
    name = served_name(folder / "adapter")
    fleet.changes.clear()
    monkeypatch.setattr(fleet, "spoil", lambda answer: (400, {}, b"no"))
    with pytest.raises(ServerError, match="/completions refused, status 400: no"):
        drawing(fleet, folder)
    assert (fleet.changes, list(fleet.policies)) == ([("load", name), ("unload", name)], ["small"])
    fleet.changes.clear()
    monkeypatch.setattr(fleet, "spoil", None)
    fleet.policies[name] = fleet.policies["small"]
    assert len(drawing(fleet, folder)) == 1
    assert [change for change, _ in fleet.changes] == ["unload", "load", "unload"]
    monkeypatch.setattr(fleet, "spoil", lambda answer: (400, {}, b"no"))
    monkeypatch.setattr("erce.generate.server.unload_adapter", refusing)
    with pytest.raises(ServerError, match="/completions refused, status 400: no"):
        drawing(fleet, folder)
    del fleet.policies[name]


def test_an_adapter_whose_loading_gets_no_answer_is_unloaded(study, fleet, monkeypatch):
    folder = cell_folder(study.root, study.recipe, list(study.results)[1])
    fleet.changes.clear()

    def lost(server, path, body):
        post(server, path, body)
        if path == "/load_lora_adapter":
            raise ServerError("no answer")

    monkeypatch.setattr("erce.generate.server.post", lost)
    with pytest.raises(ServerError, match="no answer"):
        drawing(fleet, folder)
    assert [change for change, _ in fleet.changes] == ["load", "unload"]


def refusing(server):
    raise ServerError(f"no unloading of {server.model}")


@pytest.mark.parametrize(
    ("settings", "listing", "sentence"),
    [
        ({"url": "http://127.0.0.1:1/v1"}, None, "no list of models at http://127.0.0.1:1/v1/models"),
        ({"model": None}, None, "serves no 'tiny' but small"),
        ({}, (200, '{"data": []}'), "serves no 'small' but nothing"),
        ({}, (401, "who?"), "no list of models"),
        ({}, (200, "[]"), "no list of models"),
        ({}, (200, '{"data": [{}]}'), "no list of models"),
        ({"api_key_variable": "NO_SUCH_KEY"}, None, "'NO_SUCH_KEY' is not set; export NO_SUCH_KEY=… first"),
    ],
)
def test_a_server_that_cannot_sample_is_said_before_anything_is_written(
    fleet, tmp_path, monkeypatch, settings, listing, sentence
):
    monkeypatch.setattr(fleet, "listing", listing)
    with pytest.raises((InputError, ServerError), match=r"\A[^\n]*\Z") as refused:
        run(replace(RECIPE, server=replace(served(fleet).server, **settings)), out=tmp_path / "mini")
    assert sentence in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_the_key_comes_from_the_environment_and_the_settings_reach_the_server(fleet, monkeypatch):
    monkeypatch.setenv("SERVED_KEY", "secret")
    recipe = served(fleet, api_key_variable="SERVED_KEY", concurrency=2)
    backend_of(recipe).check()
    assert "Bearer secret" in fleet.keys
    base = Served(recipe).base()
    assert (base.concurrency, base.timeout) == (2, 600.0)


@pytest.mark.parametrize("key", ["secret\n", "secret\r", " secret", "se\u00e9cret"])
def test_a_key_that_no_header_can_hold_is_refused_and_not_shown(monkeypatch, key):
    monkeypatch.setenv("THE_KEY", key)
    serving = Serving(url="http://127.0.0.1:1/v1", api_key_variable="THE_KEY")
    with pytest.raises(ValueError, match="THE_KEY") as refused:
        Served(replace(RECIPE, server=serving)).base()
    assert "cret" not in str(refused.value)


@pytest.mark.parametrize("engine", [name for name, engine in ENGINES.items() if not engine.shares_folder])
def test_a_server_does_not_go_with_an_engine_that_keeps_adapters_elsewhere(tmp_path, engine):
    recipe = replace(RECIPE, server=Serving(url="http://127.0.0.1:1/v1"))
    with pytest.raises(ValueError, match=rf"\[server\] cannot run on engine '{engine}'.*; use --jobs"):
        run(recipe, out=tmp_path / "study", engine=engine)
    assert not (tmp_path / "study").exists()
