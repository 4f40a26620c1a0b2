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
def copies():
    """Both modules of kernels once more, to be interpreted on any machine, in blocks of 64 columns."""
    language = pytest.importorskip("triton.language")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_INTERPRET", "1")
        copies = loaded_again("erce.loss.row_kernels"), loaded_again("erce.loss.settle_kernel")
    for copy in copies:
        copy.core = (
            language.core
        )  # the interpreter puts back only what it patched in a kernel's own namespace
    copies[0].MEASURE_BLOCK = copies[0].WRITE_BLOCK = 64
    return copies


@pytest.fixture
def kernels(copies, monkeypatch):
    from triton.runtime.interpreter import InterpretedFunction

    for name in ("max", "sum"):  # compiled, as the variable was not set when Triton was imported
        monkeypatch.setattr(copies[0].tl, name, InterpretedFunction(getattr(copies[0].tl, name).fn))
    return copies[0]


@pytest.fixture
def settle_kernel(copies, kernels):
    return copies[1]


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
def on_kernels(kernels, settle_kernel, monkeypatch):
    """Has the loss use them, where it would use PyTorch."""
    import erce.loss

    monkeypatch.setenv("TRITON_INTERPRET", "1")
    for module in (kernels, settle_kernel):
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setattr(erce.loss, module.__name__.rpartition(".")[2], module, raising=False)
    return kernels
