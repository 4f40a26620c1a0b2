"""`make gpu`'s order and limits, its page, and its own two parts, in a tiny form on a CPU."""

import itertools
import sys
import tomllib

import pytest

from erce.recipe import load_recipe
from scripts import gpu
from scripts.gpu import Part

TINY = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}


def python(code: str) -> tuple[str, ...]:
    return sys.executable, "-c", code


def test_each_part_survives_the_failure_of_another(tmp_path, capsys):
    page = tmp_path / "gpu.md"
    lines = "import sys; print(*range(99), sep='\\n'); print('why', file=sys.stderr); sys.exit(3)"
    sleeps = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1, flush=True); input()'])"
    seen = f"print(*[line for line in open({str(page)!r}) if 'running' in line])"
    parts = [
        Part("one", 1, python(lines)),
        Part("two", 0.03, ("sh", "-c", "echo begun; sleep 60 & sleep 60")),
        Part("three", 1, python(sleeps), "there is no card"),
        Part("four", 1, python(seen)),
    ]
    assert not gpu.run_all(parts, page)
    assert capsys.readouterr().out.splitlines()[-1] == "four: passed"
    text = page.read_text()
    assert "| one | failed with exit status 3 |" in text
    assert "| two | failed: not done after 0.03 minutes |" in text
    assert "\n49\n" not in text
    assert "\n98\nwhy\n~~~" in text
    assert "~~~text\nbegun\n~~~" in text
    assert "## three: skipped" in text
    assert "~~~text\nthere is no card\n~~~" in text
    assert "~~~text\n| four | running | |\n~~~" in text
    assert gpu.run_all(parts[2:], page)


def test_all_parts_take_12_minutes_at_the_most_and_without_a_card_the_self_check_alone_runs(
    monkeypatch,
):
    parts = gpu.parts(None, has_card=True, has_model=True)
    assert sum(part.minutes for part in parts) <= 12
    assert [part.skipped is None for part in parts if part.name[:4] != "vLLM"] == [True] * 6 + [False]
    monkeypatch.setattr("shutil.which", str)
    assert not any(part.skipped for part in gpu.parts("data", has_card=True, has_model=True))
    without = gpu.parts("data", has_card=False, has_model=True)
    assert [part.name for part in without if not part.skipped] == ["self-check"]
    assert gpu.parts("data", has_card=True, has_model=False)[-1].skipped


@pytest.mark.parametrize(
    ("command", "lams", "seeds"), [(gpu.CELLS, (0, 1), (3, 4, 5)), (gpu.SERVED, (0, 2), (0,))]
)
def test_the_studies_are_ones_that_their_recipes_take(command, lams, seeds):
    name, *options = command.split()
    changes = "\n".join(change for flag, change in itertools.pairwise(options) if flag == "--set")
    recipe = load_recipe(f"recipes/{name}.toml", **tomllib.loads(changes))
    assert (recipe.lams, recipe.seeds, recipe.methods) == (lams, seeds, ())


def test_the_lora_part(capsys, monkeypatch):
    monkeypatch.setenv("ERCE_KERNELS", "auto")  # it sets the variable
    gpu.lora("cpu", rows=2, length=12, vocab_size=70, **TINY)
    assert "seconds per step; loss" in capsys.readouterr().out


def test_the_generation_part(capsys, monkeypatch):
    monkeypatch.setenv("TORCHDYNAMO_DISABLE", "1")
    gpu.generation("cpu", problems=4, tokens=3, **TINY)
    assert "compile=True" in capsys.readouterr().out
