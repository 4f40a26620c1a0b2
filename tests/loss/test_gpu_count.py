"""`benchmarks/gpu_count.py`: what a card would be asked for, counted on tensors without memory."""

import importlib
from argparse import Namespace
from pathlib import Path

import pytest

CARD = {"rows": 4096, "vocab": 151_936, "width": 1536, "bandwidth": 3.0, "matmuls": 700, "gap": 3}
FROZEN, TRAINABLE = Namespace(**CARD, trainable=False), Namespace(**CARD, trainable=True)


@pytest.fixture
def gpu_count(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    return importlib.import_module("gpu_count")


@pytest.mark.parametrize(("shape", "share"), [(FROZEN, 1.0), (TRAINABLE, 1.05)], ids=["frozen", "trainable"])
def test_ours_holds_no_more_memory_than_trls(gpu_count, shape, share):
    pytest.importorskip("trl")
    peer = gpu_count.count("trl", shape.rows, shape)
    # What its allocator held at most on an H100, in MiB: the count is right.
    assert round(peer.peak / gpu_count.MIB) in ((1627, 1628) if shape.trainable else (292,))
    assert gpu_count.count("ours", shape.rows, shape).peak <= share * peer.peak


LONGER = Namespace(**CARD | {"rows": 16_384}, trainable=True)  # for which d weight is summed over chunks
CASES = {"frozen": (FROZEN, 2), "kept": (TRAINABLE, 1), "summed": (LONGER, 3)}


@pytest.mark.parametrize(("shape", "matmuls"), CASES.values(), ids=CASES)
def test_a_chunk_takes_its_matmuls_and_one_kernel(gpu_count, shape, matmuls):
    card = gpu_count.count("ours", shape.rows, shape)
    assert gpu_count.a_chunk("ours", card, shape) == matmuls + 1
