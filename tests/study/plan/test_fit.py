"""Batch sizes that a recipe leaves out fit the memory that is free, and a minute on a CPU."""

from dataclasses import replace

import pytest
from toys.recipes import tiny_recipe

from erce.catalog import EMBEDDED_MODELS
from erce.recipe import Decoding, Training
from erce.study.demonstrations import cell_splits
from erce.study.plan import fit
from erce.study.plan.architecture import Architecture
from erce.study.plan.fit import BatchSizes, Lengths, batch_sizes, fitting, free_memory
from erce.study.plan.needs import drawing_memory, training_memory
from erce.study.run import run
from erce.study.samples import Journal

SMOLLM2 = Architecture(
    hidden=576,
    intermediate=1536,
    layers=30,
    heads=9,
    kv_heads=3,
    head_width=64,
    vocabulary=49_152,
    tied=True,
    biased=False,
)
LENGTHS = Lengths(trained=512, drawn=900, new=512)
GB = 1e9
LEFT_OUT = tiny_recipe(model="some/model", training=Training(), decoding=Decoding())


def fitted(free: float, *, device: str = "h100", **changes) -> BatchSizes:
    recipe = replace(LEFT_OUT, dtype="bfloat16", **changes)
    return fitting(recipe, SMOLLM2, LENGTHS, device=device, free=free * GB)


@pytest.mark.parametrize(
    ("free", "completions", "sequences"), [(1, 1, 1), (3.2, 32, 1), (6, 128, 4), (40, 512, 8), (400, 512, 8)]
)
def test_more_memory_takes_larger_batches_up_to_the_largest(free, completions, sequences):
    assert fitted(free) == BatchSizes(completions, sequences, free * GB)


@pytest.mark.parametrize("free", [3, 4, 6, 9, 15, 25])
def test_the_sizes_are_the_largest_that_fit(free):
    sizes, room = fitted(free), fit.USED_SHARE * free * GB - fit.LIBRARY_BYTES

    def drawn(rows: int) -> int:
        return drawing_memory(SMOLLM2, LEFT_OUT, longest=900, rows=rows, width=2).total

    def trained(sequences: int) -> int:
        return training_memory(SMOLLM2, LEFT_OUT, longest=512, width=2, sequences=sequences).total

    assert drawn(sizes.completions) <= room
    assert trained(sizes.sequences) <= room
    assert sizes.completions == 512 or drawn(2 * sizes.completions) > room
    assert sizes.sequences == 8 or trained(2 * sizes.sequences) > room


def test_a_batch_on_a_cpu_ends_within_a_minute(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    sizes = fitted(400, device="cpu")
    assert sizes.completions == 32
    seconds = 512 * 2 * SMOLLM2.weights * 32 / (2 * fit.THREAD_FLOPS["bfloat16"])
    assert seconds < 60 < 2 * seconds


def test_what_a_recipe_sets_stays():
    set_here = {"training": Training(micro_batch_size=16), "decoding": Decoding(batch_size=300)}
    assert fitted(1, **set_here) == BatchSizes(300, 16)
    assert fitted(1, training=Training(micro_batch_size=16)).sequences == 16
    assert fitted(1, decoding=Decoding(batch_size=300)).completions == 300


def test_sequences_share_a_batch_equally():
    assert fitted(400, training=Training(batch_size=12)).sequences == 6
    assert fitted(6, training=Training(batch_size=12)).sequences == 4


@pytest.mark.parametrize("model", EMBEDDED_MODELS)
def test_an_embedded_model_has_the_same_batches_on_every_machine(model, monkeypatch):
    monkeypatch.setattr(fit, "free_memory", lambda: 0.0)
    assert batch_sizes(replace(LEFT_OUT, model=model), {}, share=1.0) == BatchSizes(512, 8)


def test_a_container_s_limit_counts(tmp_path):
    assert free_memory(tmp_path) > 0
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("2000\n")
    assert free_memory(tmp_path) == 3000.0
    (tmp_path / "memory.max").write_text("max\n")
    assert free_memory(tmp_path) > 3000.0


def test_a_study_takes_the_sizes_says_them_once_and_has_the_same_texts(tmp_path, monkeypatch, capsys):
    """The embedded model as a folder, so that it counts as one of the user's own."""
    small = tiny_recipe(
        model=str(EMBEDDED_MODELS["tiny"]),
        lams=(0.0,),
        n_validation=2,
        n_test=6,
        training=Training(epochs=1.0, batch_size=4),
        decoding=Decoding(samples=2, max_new_tokens=8),
    )
    taken = []
    completed = Journal.completed

    def noted(self, *args, **settings):
        taken.append(settings["batch_size"])
        return completed(self, *args, **settings)

    monkeypatch.setattr(Journal, "completed", noted)
    monkeypatch.setattr(fit, "free_memory", lambda: 1.265 * GB)
    sizes = batch_sizes(small, {small.task: cell_splits(small, small.task)}, share=1.0)
    assert 1 < sizes.completions < 512
    run(small, out=tmp_path / "fitted")
    assert set(taken) == {sizes.completions}
    said = f"{sizes.completions} completions at a time, {sizes.sequences} sequences a forward pass"
    assert capsys.readouterr().err.count(f"{said}, in 1.3 GB of free memory") == 1
