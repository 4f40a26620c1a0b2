"""The Triton kernels, interpreted on the CPU of any machine; and processes that run functions together."""

import importlib.util
import sys
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def processes(tmp_path_factory):
    from toys.processes import Processes

    with Processes(tmp_path_factory.mktemp("processes")) as processes:
        yield processes


@pytest.fixture(scope="module")
def interpreted_copy():
    """The module of kernels once more, to be interpreted on any machine, in blocks of 64 columns."""
    language = pytest.importorskip("triton.language")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_INTERPRET", "1")
        copy = loaded_again("erce.loss.triton_kernels")
    copy.core = language.core  # the interpreter puts back only what it patched in a kernel's own namespace
    copy.BLOCK = 64
    return copy


@pytest.fixture
def kernels(interpreted_copy, monkeypatch):
    from triton.runtime.interpreter import InterpretedFunction

    for name in ("max", "sum"):  # compiled, as the variable was not set when Triton was imported
        monkeypatch.setattr(
            interpreted_copy.tl, name, InterpretedFunction(getattr(interpreted_copy.tl, name).fn)
        )
    return interpreted_copy


@pytest.fixture(scope="session")
def load_again():
    """Makes another copy of a module."""
    return loaded_again


def loaded_again(name: str) -> ModuleType:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def on_kernels(kernels, monkeypatch):
    """Has the loss use them, unchecked, where it would use PyTorch."""
    import erce.loss

    monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.setenv("ERCE_KERNELS", "triton")
    monkeypatch.setitem(sys.modules, kernels.__name__, kernels)
    monkeypatch.setattr(erce.loss, "triton_kernels", kernels, raising=False)
    return kernels
