"""A folder with the hooks of Axolotl 0.19.0, ms-swift 4.6.0, LLaMA-Factory 0.9.5 and torchtitan 0.3.0.

Those packages pin other versions than ours and cannot be installed beside them; `make integrations` runs the
real ones in environments of their own.
"""

import sys
import types
from pathlib import Path
from typing import Any

FILES = {
    "axolotl/integrations/base.py": """
import importlib

class BasePlugin:
    def get_input_args(self): ...
    def post_model_load(self, cfg, model): ...
    def post_trainer_create(self, cfg, trainer): ...

class PluginManager:
    _instance = None

    def __init__(self):
        self.plugins = {}

    @staticmethod
    def get_instance():
        PluginManager._instance = PluginManager._instance or PluginManager()
        return PluginManager._instance

    def register(self, plugin_name):
        module, name = plugin_name.rsplit(".", 1)
        self.plugins[plugin_name] = getattr(importlib.import_module(module), name)()

    def get_input_args(self):
        return [plugin.get_input_args() for plugin in self.plugins.values()]

    def post_model_load(self, cfg, model):
        for plugin in self.plugins.values():
            plugin.post_model_load(cfg, model)

    def post_trainer_create(self, cfg, trainer):
        for plugin in self.plugins.values():
            plugin.post_trainer_create(cfg, trainer)
""",
    "swift/loss/__init__.py": """
class BaseLoss:
    def __init__(self, args, trainer):
        self.args, self.trainer = args, trainer
        self.is_megatron = "BaseMegatronTrainer" in [kind.__name__ for kind in type(trainer).__mro__]

loss_map = {}
""",
    "torchtitan/components/loss.py": """
from abc import ABC
from dataclasses import dataclass

class BaseLoss(ABC):
    @dataclass(kw_only=True, slots=True)
    class Config:
        def build(self, **kwargs):
            return self._owner(config=self, **kwargs)

    def __init_subclass__(cls):
        cls.Config._owner = cls

    def __call__(self, pred, labels, global_valid_tokens=None, **kwargs):
        loss = self.fn(pred, labels)
        return (loss if global_valid_tokens is None else loss / global_valid_tokens), {}
""",
    "llamafactory/train/sft/workflow.py": """
MADE, TRAINED = None, []  # what is loaded, what came to the trainer

def load_model(tokenizer, model_args, finetuning_args, is_trainable=False, add_valuehead=False):
    return MADE

def run_sft(model_args, data_args, training_args, finetuning_args, generating_args, callbacks=None):
    TRAINED.append(load_model(None, model_args, finetuning_args, True))
""",
    "llamafactory/train/tuner.py": """
from llamafactory.train.sft import workflow

RAY, ARGS = None, None

def get_ray_args(args=None):
    return RAY

def get_train_args(args=None):
    return ARGS

def run_exp(args=None, callbacks=None):
    get_ray_args(args)
    arguments = get_train_args(args)
    workflow.run_sft(*arguments)
""",
}


class Anything(types.ModuleType):
    """A module that has every name; each is a class of its own."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__ = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (), {"__init__": lambda self, *args, **kwargs: None})
        setattr(self, name, made)
        return made


def install(folder: Path, monkeypatch: Any, name: str) -> None:
    """The stub of the framework `name`, on the path, imported by nobody yet."""
    forget(name)
    for path, text in FILES.items():
        if path.startswith(f"{name}/"):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
    monkeypatch.syspath_prepend(str(folder))


def forget(name: str) -> None:
    """Nothing of the framework, nor of our file for it, is loaded."""
    ours = "erce.integrations.axolotl"
    for each in [key for key in sys.modules if key in (name, ours) or key.startswith(f"{name}.")]:
        del sys.modules[each]


def stand_in(monkeypatch: Any, *names: str, **contents: Any) -> None:
    """Modules that have every name, `contents` among them."""
    for name in names:
        module = Anything(name)
        for key, value in contents.items():
            setattr(module, key, value)
        monkeypatch.setitem(sys.modules, name, module)
