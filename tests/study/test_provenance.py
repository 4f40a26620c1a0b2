"""A study keeps what its base model is, by content, and refuses another one under the same name."""

import shutil
from dataclasses import replace

import pytest
from toys.recipes import tiny_recipe

from erce.catalog import EMBEDDED_MODELS
from erce.errors import InputError
from erce.files import read_json, write_json
from erce.study.provenance import base_model, checked_base_model, keep_base_model
from erce.study.run import run


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
    keep_base_model(root, checked_base_model(root, recipe, cells_run_here=True))
    assert checked_base_model(root, recipe, cells_run_here=True)
    change(tmp_path / "model")
    with pytest.raises(InputError, match=f"another base model under the name .*: it differs in {part}; put"):
        checked_base_model(root, recipe, cells_run_here=True)


def test_another_dtype_is_another_model_where_the_cells_run(recipe, tmp_path):
    write_json(tmp_path / "cells" / "one" / "cell.json", {"dtype": "float32"})
    checked_base_model(tmp_path, recipe, cells_run_here=True)
    with pytest.raises(InputError, match=r"it differs in dtype \(float32, not bfloat16\); put"):
        checked_base_model(tmp_path, replace(recipe, dtype="bfloat16"), cells_run_here=True)
    checked_base_model(tmp_path, replace(recipe, dtype="bfloat16"), cells_run_here=False)


def test_what_is_not_known_is_not_compared(tmp_path):
    assert base_model(tiny_recipe(model="nobody/has-this")) == {}
    assert base_model(tiny_recipe(model="no/such/folder/here")) == {}
    (tmp_path / "base.json").write_text('{"weights"')  # torn
    assert checked_base_model(tmp_path, tiny_recipe(), cells_run_here=False).keys() >= {"weights"}


def test_a_study_of_another_base_model_is_refused_before_anything_is_written(recipe, tmp_path):
    root = tmp_path / "runs"
    keep_base_model(root, checked_base_model(root, recipe, cells_run_here=True))
    add_to_template(tmp_path / "model")
    with pytest.raises(InputError, match="differs in chat template"):
        run(recipe, out=root)
    assert [path.name for path in root.iterdir()] == ["base.json"]
