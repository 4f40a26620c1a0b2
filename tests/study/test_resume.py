"""A study stopped inside generation, politely and not, goes on to the bytes of one that was never stopped."""

import shutil
from dataclasses import replace

import pytest
from toys.recipes import tiny_recipe
from toys.studies import files

from erce.files import read_json
from erce.generate.transformers import generate
from erce.recipe import Decoding, Training
from erce.study.folder import CELL, JOURNAL
from erce.study.run import run

RECIPE = tiny_recipe(
    lams=(0.0,),
    n_validation=5,
    n_test=6,
    training=Training(epochs=1.0),
    decoding=Decoding(samples=2, batch_size=4, max_new_tokens=8),
)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return run(RECIPE, out=tmp_path_factory.mktemp("undisturbed") / "mini").root


@pytest.fixture
def stopped(monkeypatch):
    """The next call of `generate` after so many raises; returns what was drawn before, a pair a sample."""

    def after(calls: int) -> list[tuple[str, str, int]]:
        drawn = []

        def counted(policy, *args, **kwargs):
            if len(drawn) >= calls:
                raise KeyboardInterrupt
            drawn.append(generate(policy, *args, **kwargs))
            return drawn[-1]

        monkeypatch.setattr("erce.generate.transformers.generate", counted)
        return drawn

    return after


def test_a_run_stopped_inside_generation_samples_each_sample_once(undisturbed, stopped, tmp_path):
    first = stopped(9)
    with pytest.raises(KeyboardInterrupt):
        run(RECIPE, out=tmp_path / "mini")
    second = stopped(10**6)
    run(RECIPE, out=tmp_path / "mini")
    assert files(tmp_path / "mini") == files(undisturbed)
    assert len(first) == 9
    # Two cells, each with 11 problems greedily and twice sampled.
    assert sum(map(len, first + second)) == 2 * 11 * 3


def test_the_journal_goes_when_the_completions_are_there(undisturbed, tmp_path):
    assert list(undisturbed.rglob(JOURNAL)) == []
    shutil.copytree(undisturbed, tmp_path / "mini")
    folder = next((tmp_path / "mini" / "cells").glob("*lam0*"))
    (folder / JOURNAL).write_bytes(b"left by a kill\n")
    (folder / "result.json").unlink()
    run(RECIPE, out=tmp_path / "mini")
    assert not (folder / JOURNAL).exists()


def test_every_stage_tells_how_far_it_is_and_a_resumed_one_what_was_there(stopped, tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr("erce.study.engines.progress.Display.hear", lambda display, event: told.append(event))
    stopped(6)
    with pytest.raises(KeyboardInterrupt):
        run(RECIPE, out=tmp_path / "mini")
    drawn = told[-1]
    assert (drawn.cell, drawn.stage, drawn.total) == ("mini-sums-base", "generation", 11 * 3)
    told.clear()
    stopped(10**6)
    run(RECIPE, out=tmp_path / "mini")
    last = {(event.cell, event.stage): event for event in told}
    first = {(event.cell, event.stage): event for event in reversed(told)}
    trained = "mini-sums-lam0-seed0"
    assert [(stage, event.done, event.total) for (cell, stage), event in last.items() if cell == trained] == [
        ("loading the model", 0, 0),
        ("training", 1, 1),
        ("generation", 33, 33),
        ("verification", 33, 33),
    ]
    assert last[trained, "training"].loss > 0
    assert last[trained, "generation"].tokens > 33
    assert first["mini-sums-base", "generation"].done == drawn.done
    assert last["mini-sums-base", "generation"].done == 33


def test_a_cell_that_was_begun_keeps_its_batch_size(undisturbed, stopped, tmp_path):
    """Another memory, and so other batches, would round otherwise."""
    stopped(6)
    with pytest.raises(KeyboardInterrupt):
        run(RECIPE, out=tmp_path / "mini")
    drawn = stopped(10**6)
    larger = replace(RECIPE, decoding=replace(RECIPE.decoding, batch_size=64))
    run(larger, out=tmp_path / "mini")
    assert [len(each) for each in drawn] == [2, 4, 4, 4, 5, 10, 6, 12]  # the second cell begins with the 5
    base = next(name for name in files(undisturbed) if "base" in name and "completions" in name)
    assert files(tmp_path / "mini")[base] == files(undisturbed)[base]


@pytest.mark.slow
def test_what_another_adapter_drew_is_sampled_again(stopped, tmp_path):
    """The base model's cell takes eleven calls; the next is stopped two calls in, and retrained."""
    stopped(13)
    with pytest.raises(KeyboardInterrupt):
        run(RECIPE, out=tmp_path / "mini")
    folder = next((tmp_path / "mini" / "cells").glob("*lam0*"))
    weights = folder / "adapter" / "adapter_model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    before = read_json(folder / CELL)
    second = stopped(10**6)
    run(RECIPE, out=tmp_path / "mini")
    after = read_json(folder / CELL)
    assert sum(map(len, second)) == 11 * 3
    assert {name for name in before if before[name] != after[name]} == {"adapter", "key"}
