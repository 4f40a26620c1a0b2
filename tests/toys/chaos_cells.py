"""Cells that go through `erce.study.cell.run_cell` with a toy training and a toy policy; torch stays out.

Import it before anything of erce: the modules that would load a model are toys from here on. Every training
writes its cell's folder name into the file that the variable TRAINED names, when it begins.
"""

import hashlib
import os
import sys
import time
from collections import namedtuple
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
from safetensors.numpy import save

PIECES = 4  # in which an adapter is written, with a moment between two
MOMENT = 0.015  # seconds, long enough for a kill to meet


def fine_tune(*operands, objective, seed, folder, **settings):
    with Path(os.environ["TRAINED"]).open("a") as file:
        file.write(f"{folder.parent.name}\n")
    folder.mkdir(parents=True)
    (folder / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    digest = hashlib.sha256(f"{objective.lam} {seed}".encode()).digest()
    content = save({"weights": np.frombuffer(digest * 160, dtype=np.uint8)})
    with (folder / "adapter_model.safetensors").open("wb") as file:
        for piece in np.array_split(np.frombuffer(content, dtype=np.uint8), PIECES):
            file.write(piece.tobytes())
            file.flush()
            time.sleep(MOMENT)
    return {"steps": 2, "seconds": time.monotonic(), "log": [{"step": 1, "ce": 1.5}, {"step": 2, "ce": 1.0}]}


class ToyBackend:
    name, in_cell_process, after_training = "transformers", True, False

    def __init__(self, recipe):
        self.recipe = recipe

    def check(self):
        pass

    def running(self, folder):
        return nullcontext()

    @contextmanager
    def generator(self, base, adapter):
        from erce.hf.adapter import check_adapter

        if adapter is not None:
            check_adapter(adapter)
        weights = b"" if adapter is None else (adapter / "adapter_model.safetensors").read_bytes()

        def draw(problems, *, decoding, seed):
            from erce.types import Completion

            time.sleep(MOMENT)
            rows = []
            for problem in problems:
                for sample in range(decoding.samples):
                    what = f"{problem.id} {sample} {decoding.temperature} {seed}".encode()
                    right = hashlib.sha256(weights + what).digest()[0] % 2
                    text = f"#### {problem.answer if right else 'none'}"
                    rows.append(
                        Completion(
                            problem=problem.id,
                            sample=sample,
                            text=text,
                            tokens=3,
                            finished=True,
                            logprob=-1.5,
                            entropy=0.25,
                        )
                    )
            return rows

        yield draw


class Tokenizer:
    chat_template, eos_token, eos_token_id = None, "<end>", 0

    def encode(self, text: str) -> list[int]:
        return [1 + ord(letter) for letter in text]

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        return [self.eos_token] * len(ids)


def _toys() -> dict[str, ModuleType]:
    model = SimpleNamespace(config=SimpleNamespace(_commit_hash=None), dtype="float32")
    contents = {
        "erce.hf.models": {
            "BasePolicy": namedtuple("BasePolicy", ["model", "tokenizer"]),
            "load_model": lambda name, *, dtype="auto": model,
            "dtype_here": lambda dtype, name: model.dtype,
            "load_tokenizer": lambda name: Tokenizer(),
        },
        "erce.generate.backend": {"Backend": ToyBackend, "backend_of": ToyBackend},
        "erce.train": {},
        "erce.train.fine_tune": {"fine_tune": fine_tune},
    }
    modules = {}
    for name, content in contents.items():
        modules[name] = ModuleType(name)
        vars(modules[name]).update(content)
    return modules


sys.modules.update(_toys())

from erce.recipe import Decoding  # noqa: E402
from erce.study import cell as experiment  # noqa: E402
from toys.recipes import tiny_recipe  # noqa: E402

assert "torch" not in sys.modules

RECIPE = tiny_recipe(seeds=(0, 1, 2), n_train=2, decoding=Decoding(samples=2, batch_size=4))


def run_cell(root, recipe, cell, **given):
    """Named here, so that a process that is to run it imports the toys."""
    experiment.run_cell(root, recipe, cell, **given)
